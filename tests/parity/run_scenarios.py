"""Runs: registered, told about, read, steered."""

from collections.abc import Sequence
from typing import Any, get_args

from contract.application import StudioApplication
from contract.base import FieldFailure, Page
from contract.errors import Conflict, NotFound, ValidationFailure
from contract.events import ProcessIdentity, RecordEvents, RecordResult
from contract.limits import BRANCHES_PER_RUN_MAX, EVENT_MAX_BYTES, EVENTS_PER_BATCH_MAX, TAGS_PER_RUN_MAX
from contract.parsing import parse_model
from contract.runs import (
    CancelRun,
    ChangeTags,
    EvidencePage,
    EvidenceRequest,
    Pane,
    RunQuery,
    RunReadQuery,
    RunSummary,
    StartRun,
)
from tests.parity.catalogue import scenario
from tests.parity.witness import refused

AT = 1_000_000_000.0
PANES: Sequence[Pane] = get_args(Pane)
# Nothing can be called like this; each would mean something else in a URL, a file name or a database.
IMPOSSIBLE_IDS = (
    "", ".", "..", "a/b", "../../etc/passwd", "a b", "a?b=c", "a#b", "%2e%2e", "a%2Fb", "ä", "\x00", "a\nb", "\ud800",
    "-rf", "x" * 129, "x" * 5_000,
)  # fmt: skip


async def start(studio: StudioApplication, run_id: str, **fields: Any) -> RunSummary:
    return await studio.start_run(StartRun(run_id=run_id, **fields))


async def record(studio: StudioApplication, run_id: str, *events: dict[str, Any]) -> RecordResult:
    return await studio.record_events(run_id, parse_model(RecordEvents, {"events": list(events)}))


async def end(studio: StudioApplication, run_id: str, status: str = "completed", **more: Any) -> RecordResult:
    return await record(studio, run_id, {"type": "status", "status": status, **more})


def message(content: object, **more: Any) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": content, **more}


def places(failure: ValidationFailure) -> list[tuple[tuple[str | int, ...], str]]:
    return [(error.path, error.code) for error in failure.field_errors]


async def read_panes(studio: StudioApplication, run_id: str) -> dict[Pane, EvidencePage]:
    return {pane: await studio.read_evidence(EvidenceRequest(run_id=run_id, pane=pane)) for pane in PANES}


@scenario
async def contract_is_described(studio: StudioApplication, own: str) -> None:
    info = await studio.describe_contract()

    assert "runs" in info.capabilities


@scenario
async def started_run_is_shown_everywhere(studio: StudioApplication, own: str) -> None:
    process = ProcessIdentity(host="another-host", pid=7, started_at=AT, boot_id="b")
    fields: dict[str, Any] = {
        "kind": "flow",
        "name": "A Ω 🜁",
        "playbook_name": "p",
        "agent_name": "a",
        "invocation_id": own,
    }
    fields |= {"project": own, "model": "m", "provider": "v", "tags": ("x", "b:ü"), "started_at": AT}
    await start(studio, own, process=process, **fields)

    detail = await studio.get_run(own, RunReadQuery())
    page = await studio.list_runs(RunQuery(project=own))
    await read_panes(studio, own)

    assert detail.tags == ("b:ü", "x")
    assert [run.run_id for run in page.items] == [own]


@scenario
async def run_without_an_id_gets_one(studio: StudioApplication, own: str) -> None:
    summary = await studio.start_run(StartRun(project=own))

    # Not its detail: that has a cursor, which holds a mark of the id.
    assert run_ids(await studio.list_runs(RunQuery(project=own))) == [summary.run_id]


@scenario
async def taken_run_id_is_a_conflict(studio: StudioApplication, own: str) -> None:
    await start(studio, own, name="first")

    conflict = await refused(Conflict, start(studio, own, name="second"))

    assert (conflict.resource, conflict.actual) == ("run", own)
    assert (await studio.get_run(own, RunReadQuery())).name == "first"


@scenario
async def every_type_of_event_is_stored(studio: StudioApplication, own: str) -> None:
    await start(studio, own)
    await record(
        studio,
        own,
        {"type": "branch", "name": "side", "parent": "main", "model": "m", "provider": "p", "agent_name": "a"},
        message({"nested": [1, 2.5, None, True, "x"]}, branch="side", at=AT, sender="s", recipient="r"),
        message("out", role="output", message_id="id-1"),
        {"type": "signal", "kind": "NodeStarted", "op_id": "n", "payload": {"a": 1}},
        {"type": "artifact", "kind": "report", "name": "r", "path": "a/b.md", "media_type": "text/markdown"},
        {"type": "artifact", "kind": "report", "name": "r", "content": {"replaced": True}},
        {"type": "usage", "input_tokens": 1, "output_tokens": 2, "cost_usd": 0.000_001, "model": "m"},
        {"type": "usage", "input_tokens": 5},
        {"type": "graph", "nodes": [{"id": "n", "label": "N"}, {"id": "m"}], "edges": [{"source": "n", "target": "m"}]},
        {"type": "status", "status": "failed", "reason_code": "run.failed.exit_nonzero", "reason_summary": "exit 3"},
    )

    panes = await read_panes(studio, own)
    detail = await studio.get_run(own, RunReadQuery())

    assert {pane: len(page.items) for pane, page in panes.items()} == {
        "messages": 2, "signals": 1, "artifacts": 1, "transitions": 2, "output": 1,
    }  # fmt: skip
    assert (detail.cost_usd, detail.input_tokens, detail.status) == (0.000_001, 6, "failed")


@scenario
async def repeated_events_are_counted_once(studio: StudioApplication, own: str) -> None:
    await start(studio, own)

    first = await record(studio, own, message("a", event_id="1"), message("a", event_id="1"), message("b"))
    again = await record(studio, own, message("a", event_id="1"), message("c", event_id="2"))

    assert (first.accepted, first.duplicates) == (2, 1)
    assert (again.accepted, again.duplicates, again.last_seq) == (1, 1, 3)


@scenario
async def hostile_evidence_is_kept_and_made_printable(studio: StudioApplication, own: str) -> None:
    await start(studio, own)
    deep: object = "bottom"
    for _ in range(150):
        deep = [deep]
    hostile = ("\x00", "\ud800x", {"\udfff": "\x00"}, 2**80, -(2**64), deep, float("inf"), "\u2028\x1b[0m")

    await record(studio, own, *(message(content) for content in hostile))
    await record(studio, own, {"type": "signal", "kind": "S", "payload": {"nul": "\x00", "big": 2**63}})
    panes = await read_panes(studio, own)

    assert len(panes["messages"].items) == len(hostile)


@scenario
async def oversized_message_is_withheld_with_its_size(studio: StudioApplication, own: str) -> None:
    await start(studio, own)
    await record(studio, own, message("x" * (EVENT_MAX_BYTES + 1)))

    page = await studio.read_evidence(EvidenceRequest(run_id=own, pane="messages"))

    (item,) = page.items
    assert item.type == "message"
    assert (item.withheld, item.size_bytes) == (True, EVENT_MAX_BYTES + 1)


@scenario
async def wrong_reason_codes_refuse_the_whole_batch(studio: StudioApplication, own: str) -> None:
    await start(studio, own)
    codes = ("made.up.code", "run.completed.ok")
    events = ({"type": "status", "status": "failed", "reason_code": code} for code in codes)

    failure = await refused(ValidationFailure, record(studio, own, message("a"), *events))

    assert [path for path, _ in places(failure)] == [("events", index, "reason_code") for index in (1, 2)]
    assert (await studio.get_run(own, RunReadQuery())).message_count == 0


@scenario
async def more_branches_than_a_run_may_have_refuse_the_batch(studio: StudioApplication, own: str) -> None:
    await start(studio, own)
    branches = [{"type": "branch", "name": f"b{number}"} for number in range(BRANCHES_PER_RUN_MAX + 1)]
    for first in range(0, BRANCHES_PER_RUN_MAX, EVENTS_PER_BATCH_MAX):
        await record(studio, own, *branches[first : first + EVENTS_PER_BATCH_MAX])

    failure = await refused(ValidationFailure, record(studio, own, branches[-1]))

    assert places(failure) == [(("events",), "too_many_branches")]


@scenario
async def moves_out_of_an_end_are_refused_and_recorded(studio: StudioApplication, own: str) -> None:
    await start(studio, own)
    await end(studio, own, "timed_out")

    late = await record(studio, own, {"type": "status", "status": "completed"}, message("late"))
    same = await end(studio, own, "timed_out")

    assert (late.refused_transitions, same.refused_transitions) == (1, 0)
    assert (await studio.get_run(own, RunReadQuery())).status == "timed_out"
    await studio.read_evidence(EvidenceRequest(run_id=own, pane="transitions"))


@scenario
async def running_run_is_asked_to_stop_once(studio: StudioApplication, own: str) -> None:
    await start(studio, own)

    first = await studio.cancel_run(own, CancelRun(reason="enough"))
    again = await studio.cancel_run(own, CancelRun())
    told = await record(studio, own, message("still here"))
    await end(studio, own, "cancelled")
    after = await studio.cancel_run(own, CancelRun())

    assert first == again
    assert (told.cancel_requested, after.status) == (True, "cancelled")


@scenario
async def ended_run_cannot_be_cancelled(studio: StudioApplication, own: str) -> None:
    await start(studio, own)
    await end(studio, own)

    conflict = await refused(Conflict, studio.cancel_run(own, CancelRun()))

    assert (conflict.expected, conflict.actual) == ("queued or running", "completed")


@scenario
async def tags_are_added_and_removed(studio: StudioApplication, own: str) -> None:
    await start(studio, own, tags=("a", "b"))

    result = await studio.change_run_tags(own, ChangeTags(add=("c", "b"), remove=("a", "never")))
    await studio.change_run_tags(own, ChangeTags())

    assert result.tags == ("b", "c")


@scenario
async def tags_over_the_bound_change_nothing(studio: StudioApplication, own: str) -> None:
    full = tuple(f"t{number:02}" for number in range(TAGS_PER_RUN_MAX))
    await start(studio, own, tags=full)

    failure = await refused(ValidationFailure, studio.change_run_tags(own, ChangeTags(add=("more",))))
    swapped = await studio.change_run_tags(own, ChangeTags(add=("more",), remove=("t00",)))

    assert places(failure) == [(("add",), "too_many_tags")]
    assert len(swapped.tags) == TAGS_PER_RUN_MAX


@scenario
async def tag_to_add_and_remove_is_refused(studio: StudioApplication, own: str) -> None:
    await start(studio, own)

    command = ChangeTags(add=("a", "b", "c"), remove=("c", "b"))
    failure = await refused(ValidationFailure, studio.change_run_tags(own, command))

    assert places(failure) == [(("add", 1), "exclusive"), (("add", 2), "exclusive")]


@scenario
async def unknown_run_is_not_found_by_any_operation(studio: StudioApplication, own: str) -> None:
    for missing in (
        await refused(NotFound, studio.get_run(own, RunReadQuery())),
        await refused(NotFound, studio.read_evidence(EvidenceRequest(run_id=own, pane="messages"))),
        await refused(NotFound, record(studio, own, message("a"))),
        await refused(NotFound, studio.cancel_run(own, CancelRun())),
        await refused(NotFound, studio.change_run_tags(own, ChangeTags(add=("a",)))),
    ):
        assert (missing.resource, missing.identifier) == ("run", own)


@scenario
async def impossible_run_id_is_not_found_by_any_operation(studio: StudioApplication, own: str) -> None:
    for run_id in IMPOSSIBLE_IDS:
        await refused(NotFound, studio.get_run(run_id, RunReadQuery()))
        await refused(NotFound, studio.read_evidence(EvidenceRequest(run_id=run_id, pane="output")))
        await refused(NotFound, record(studio, run_id, message("a")))
        await refused(NotFound, studio.cancel_run(run_id, CancelRun()))
        await refused(NotFound, studio.change_run_tags(run_id, ChangeTags()))


def run_ids(page: Page[RunSummary]) -> list[str]:
    return [run.run_id for run in page.items]


def field_codes(failures: Sequence[FieldFailure]) -> set[tuple[str | int, str]]:
    return {(failure.path[0], failure.code) for failure in failures}
