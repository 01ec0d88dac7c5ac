"""One run in detail: windows over its branches, budgets, totals, graph and artifacts; and its panes."""

import pytest

from contract.artifacts import ArtifactView
from contract.errors import ValidationFailure
from contract.events import MessageView
from contract.limits import READ_BUDGET_BYTES
from contract.runs import (
    EvidenceRequest,
    Pane,
    RunDetail,
)
from runs.cursors import WindowPosition, decode_stream, encode_window
from tests.builders import artifact, branch, graph, message, messages, signal, status
from tests.fakes.clocks import START_AT
from tests.runs.state.stores import Store

MEGABYTE = "x" * 1_000_000


def contents(detail: RunDetail) -> dict[str, list[object]]:
    return {branch.name: [view.content for view in branch.messages] for branch in detail.branches}


async def windows(store: Store, message_limit: int) -> list[RunDetail]:
    """Walk a run from its tail to its start."""
    found = [await store.detail("r", message_limit=message_limit)]
    while found[-1].next_cursor is not None:
        found.append(await store.detail("r", message_limit=message_limit, cursor=found[-1].next_cursor))
    return found


async def test_a_missing_run_is_none(store: Store) -> None:
    assert await store.reads.get_run("unknown", message_limit=10, cursor=None) is None


async def test_a_new_run_has_nothing_but_its_first_transition(store: Store) -> None:
    process = store.probe.start(7)
    await store.start("r", process=process)

    detail = await store.detail("r")

    assert (detail.branches, detail.artifacts, detail.graph, detail.next_cursor) == ((), (), None, None)
    assert detail.process == process
    assert [(move.from_status, move.to_status, move.actor) for move in detail.transitions] == [
        (None, "running", "producer")
    ]


async def test_windows_are_tails_and_older_ones_follow_by_cursor(store: Store) -> None:
    await store.start("r")
    await store.record("r", *(message(number) for number in range(1, 8)), message("s", branch="side"))

    found = [contents(detail) for detail in await windows(store, 3)]

    assert found == [{"main": [5, 6, 7], "side": ["s"]}, {"main": [2, 3, 4], "side": []}, {"main": [1], "side": []}]


async def test_an_older_window_stays_where_it_was_while_messages_arrive(store: Store) -> None:
    await store.start("r")
    await store.record("r", *(message(number) for number in range(1, 6)))
    tail = await store.detail("r", message_limit=2)
    await store.record("r", *messages(3), message("first of its branch", branch="new"))

    older = await store.detail("r", message_limit=2, cursor=tail.next_cursor)

    assert contents(older) == {"main": [2, 3], "new": []}


@pytest.mark.parametrize("position", [WindowPosition(99, 0), WindowPosition(3, 0)])
async def test_a_window_cursor_ahead_of_the_run_is_refused(store: Store, position: WindowPosition) -> None:
    await store.start("r")
    await store.record("r", *messages(2))

    with pytest.raises(ValidationFailure):
        await store.detail("r", cursor=encode_window("r", 200, position))


async def test_a_detail_carries_bounded_content_newest_first(store: Store) -> None:
    await store.start("r")
    for _ in range(5):
        await store.record("r", message(MEGABYTE), message(MEGABYTE))

    [main] = (await store.detail("r")).branches

    carried = [view for view in main.messages if view.content is not None]
    assert sum(view.size_bytes for view in carried) <= READ_BUDGET_BYTES
    assert [view.withheld for view in main.messages] == [*[True] * 6, *[False] * 4]
    assert {view.size_bytes for view in main.messages} == {1_000_000}


async def test_the_budget_counts_bytes_and_is_shared_by_the_branches(store: Store) -> None:
    await store.start("r")
    for name in ("main", "side"):
        await store.record("r", *(message("🎈" * 250_000, branch=name) for _ in range(3)))

    branches = (await store.detail("r")).branches

    assert [[view.withheld for view in found.messages] for found in branches] == [
        [False] * 3,
        [True, True, False],
    ]


async def test_totals_are_of_the_whole_run_whatever_the_window(store: Store) -> None:
    await store.start("r")
    await store.record("r", *messages(5, role="user"), *messages(2, role="tool"), signal(), artifact())

    totals = (await store.detail("r", message_limit=1)).totals

    assert totals.messages_by_role == {"user": 5, "tool": 2}
    assert (totals.signals, totals.artifacts, totals.transitions) == (1, 1, 1)


async def test_a_branch_is_described_by_what_was_said_last(store: Store) -> None:
    await store.start("r")
    await store.record("r", branch("side", parent="main", model="m1", provider="p", agent_name="a"))
    store.clock.advance(1)
    await store.record("r", branch("side", model="m2"), message(branch="side"))
    store.clock.advance(1)
    await store.record("r", message(branch="side"))

    [side] = (await store.detail("r")).branches

    assert (side.parent, side.model, side.provider, side.agent_name) == ("main", "m2", "p", "a")
    assert (side.first_message_at, side.last_message_at, side.message_count) == (START_AT + 1, START_AT + 2, 2)


async def test_the_last_graph_replaces_the_one_before(store: Store) -> None:
    await store.start("r")
    await store.record("r", graph("a", "b"))
    await store.record("r", graph("x", "y", "z"))

    found = (await store.detail("r")).graph

    assert found is not None
    assert [node.id for node in found.nodes] == ["x", "y", "z"]
    assert [(edge.source, edge.target) for edge in found.edges] == [("x", "y"), ("y", "z")]


async def test_an_artifact_of_the_same_kind_and_name_replaces_its_content_and_keeps_its_id(store: Store) -> None:
    await store.start("r")
    await store.record("r", artifact("a", content={"v": 1}, path="a.txt", media_type="text/plain"), artifact("b"))
    [first, _] = (await store.detail("r")).artifacts
    store.clock.advance(1)

    await store.record("r", artifact("a", content=[2, "🎈"]), artifact("a", kind="picture"))

    views = (await store.detail("r")).artifacts
    assert [(view.kind, view.name) for view in views] == [("document", "a"), ("document", "b"), ("picture", "a")]
    replaced = {"content": [2, "🎈"], "content_bytes": 11, "path": None, "media_type": None, "updated_at": START_AT + 1}
    assert views[0] == first.model_copy(update=replaced)
    assert len({view.artifact_id for view in views}) == 3


async def test_artifacts_of_two_runs_are_apart(store: Store) -> None:
    for run_id in ("r", "other"):
        await store.start(run_id)
        await store.record(run_id, artifact("a", content=run_id))

    [view] = (await store.detail("r")).artifacts

    assert view.content == "r"


async def test_the_stream_cursor_is_the_position_of_the_detail(store: Store) -> None:
    await store.start("r")
    await store.record("r", message(), signal())

    assert decode_stream((await store.detail("r")).stream_cursor, "r") == 2


async def test_a_detail_shows_the_newest_transitions_of_many(store: Store) -> None:
    await store.start("r")
    await store.record("r", status("completed"))
    for _ in range(2):
        await store.record("r", *(status("failed") for _ in range(150)))

    detail = await store.detail("r")

    assert len(detail.transitions) == 200
    assert all(move.refused for move in detail.transitions)
    assert detail.totals.transitions == 302


async def test_a_pane_of_a_missing_run_is_none(store: Store) -> None:
    assert await store.evidence.read_evidence(EvidenceRequest(run_id="unknown", pane="output")) is None


@pytest.mark.parametrize("pane", ["messages", "signals", "artifacts", "transitions", "output"])
async def test_every_pane_is_walked_once_from_the_oldest(store: Store, pane: Pane) -> None:
    await store.start("r")
    await store.record("r", status("completed"))
    for number in range(10):
        await store.record("r", message(role="user"), message(role="output"), signal(), artifact(f"a{number}"))
        await store.record("r", status("failed"))

    found: list[object] = []
    cursor: str | None = None
    while True:
        page = await store.pane("r", pane, limit=3, cursor=cursor)
        found += page.items
        cursor = page.next_cursor
        assert page.has_next == (cursor is not None)
        if cursor is None:
            break

    everything = (await store.pane("r", pane, limit=1_000)).items
    assert tuple(found) == everything
    assert len(everything) == {"messages": 20, "transitions": 12}.get(pane, 10)


async def test_the_output_pane_has_output_only(store: Store) -> None:
    await store.start("r")
    await store.record("r", message("a", role="output"), message("b", role="user"), message("c", role="output"))

    items = (await store.pane("r", "output")).items

    assert [item.content for item in items if isinstance(item, MessageView)] == ["a", "c"]


async def test_a_pane_page_carries_bounded_content_and_goes_on(store: Store) -> None:
    await store.start("r")
    for _ in range(5):
        await store.record("r", message(MEGABYTE), message(MEGABYTE))

    first = await store.pane("r", "messages")
    rest = await store.pane("r", "messages", cursor=first.next_cursor)

    assert (len(first.items), len(rest.items)) == (4, 4)
    assert not any(item.withheld for item in (*first.items, *rest.items) if isinstance(item, MessageView))


async def test_what_was_cut_when_recorded_does_not_use_up_a_page(store: Store) -> None:
    await store.start("r")
    await store.record("r", *(message("cut", size_bytes=10**12, withheld=True) for _ in range(3)), message("after"))

    assert len((await store.pane("r", "messages")).items) == 4
    assert contents(await store.detail("r")) == {"main": ["cut", "cut", "cut", "after"]}


async def test_entries_recorded_while_a_pane_is_walked_come_at_its_end(store: Store) -> None:
    await store.start("r")
    await store.record("r", artifact("a"), artifact("b"))
    first = await store.pane("r", "artifacts", limit=1)
    await store.record("r", artifact("c"), artifact("a", content=2))

    rest = await store.pane("r", "artifacts", cursor=first.next_cursor)

    assert [item.name for item in rest.items if isinstance(item, ArtifactView)] == ["b", "c"]
