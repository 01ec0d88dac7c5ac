"""Listing runs: every filter alone and combined, every sort, on every store."""

import pytest

from contract.runs import RunSort
from tests.builders import status, usage
from tests.fakes.clocks import START_AT
from tests.runs.state.stores import Store

EACH_SORT = pytest.mark.parametrize("sort", ["recent", "started", "cost"])


async def test_an_empty_list_is_an_empty_page(store: Store) -> None:
    page = await store.page(limit=5)

    assert (page.items, page.offset, page.limit, page.has_next, page.next_cursor) == ((), 0, 5, False, None)


async def test_each_exact_filter_finds_its_own(store: Store) -> None:
    await store.start("plain")
    await store.start("full", kind="flow", playbook_name="p", agent_name="a", project="x", invocation_id="i")

    assert await store.ids(kind="flow") == ["full"]
    assert await store.ids(playbook="p") == ["full"]
    assert await store.ids(agent="a") == ["full"]
    assert await store.ids(project="x") == ["full"]
    assert await store.ids(invocation_id="i") == ["full"]
    assert await store.ids(project_is_null=True) == ["plain"]


@pytest.mark.parametrize("query", [{"kind": "Flow"}, {"project": "X"}, {"agent": "a%"}, {"playbook": "p_"}])
async def test_exact_filters_are_exact(store: Store, query: dict[str, str]) -> None:
    await store.start("full", kind="flow", playbook_name="p1", agent_name="ab", project="x")

    assert await store.ids(**query) == []


async def test_statuses_are_alternatives(store: Store) -> None:
    for run_id, end in (("a", "completed"), ("b", "failed"), ("c", "cancelled")):
        await store.start(run_id)
        await store.record(run_id, status(end))
    await store.start("d")
    await store.queue("e")

    assert await store.ids(status=("failed",)) == ["b"]
    assert await store.ids(status=("running", "completed", "queued")) == ["e", "d", "a"]
    assert await store.ids(status=("failed", "failed")) == ["b"]
    assert await store.ids(status=("timed_out",)) == []


async def test_filters_combine(store: Store) -> None:
    await store.start("wanted", project="x", kind="flow", tags=("t",), name="Find me")
    await store.start("other kind", project="x", kind="agent", tags=("t",), name="Find me")
    await store.start("other project", project="y", kind="flow", tags=("t",), name="Find me")
    await store.start("no tag", project="x", kind="flow", name="Find me")
    await store.start("other name", project="x", kind="flow", tags=("t",), name="Lost")
    await store.start("ended", project="x", kind="flow", tags=("t",), name="Find me")
    await store.record("ended", status("completed"))

    found = await store.ids(project="x", kind="flow", tags=("t",), search="FIND", status=("running", "queued"))

    assert found == ["wanted"]


async def test_tags_match_all_unless_any_is_asked_for(store: Store) -> None:
    await store.start("ab", tags=("a", "b"))
    await store.start("bc", tags=("b", "c"))
    await store.start("none")

    assert await store.ids(tags=("b",)) == ["bc", "ab"]
    assert await store.ids(tags=("a", "b")) == ["ab"]
    assert await store.ids(tags=("a", "c")) == []
    assert await store.ids(tags=("a", "c", "b"), tags_match="any") == ["bc", "ab"]
    assert await store.ids(tags=("a", "a"), tags_match="any") == ["ab"]
    assert await store.ids(tags=("A",)) == []


async def test_any_of_many_tags_shows_a_run_once(store: Store) -> None:
    tags = tuple(f"t{number}" for number in range(50))
    await store.start("all", tags=tags)
    await store.start("last", tags=tags[-1:])
    await store.record("last", status("failed"))

    found = await store.ids(tags=tags, tags_match="any", status=("running", "queued", "failed", "completed"))

    assert found == ["last", "all"]


async def test_the_largest_query_there_can_be_is_answered(store: Store) -> None:
    tags = tuple(f"t{number}" for number in range(50))
    await store.start("r", tags=tags[7:9], project="x", name="a b")
    statuses = ("queued", "running", "completed", "completed_empty", "failed", "timed_out", "aborted", "cancelled")

    assert await store.ids(tags=tags, tags_match="any", status=statuses, project="x", search="b") == ["r"]


@pytest.mark.parametrize(
    ("search", "name", "found"),
    [
        ("deploy", "Deploy to PROD", True),
        ("DEPLOY TO", "Deploy to PROD", True),
        ("strasse", "Große Straße", True),
        ("ÉCOLE", "école", True),
        ("e\u0301cole", "École", True),
        ("日本", "報告書 日本語", True),
        ("🎈", "party 🎈", True),
        ("100%", "done 100% now", True),
        ("100%", "done 1000 now", False),
        ("a_b", "a_b", True),
        ("a_b", "axb", False),
        ("\\", "back\\slash", True),
        ("'", "it's", True),
        ("ecole", "école", False),
    ],
)
async def test_search_finds_text_whatever_its_case_and_nothing_like_a_pattern(
    store: Store, search: str, name: str, found: bool
) -> None:
    await store.start("r", name=name)

    assert await store.ids(search=search) == (["r"] if found else [])


async def test_search_looks_in_name_and_agent_but_not_across(store: Store) -> None:
    await store.start("by name", name="alpha", agent_name="beta")
    await store.start("by agent", name="beta", agent_name="Alpha")
    await store.start("neither", name=None, agent_name=None)

    assert await store.ids(search="ALPHA") == ["by agent", "by name"]
    assert await store.ids(search="alphabeta") == []


async def test_the_longest_names_are_stored_and_found(store: Store) -> None:
    name = "\N{LATIN SMALL LIGATURE FFI}" * 200
    agent = "".join(chr(0x10400 + number % 40) for number in range(200))

    await store.start("r", name=name, agent_name=agent)

    assert await store.ids(search="ffi") == await store.ids(search=agent.upper()) == ["r"]


async def test_started_after_is_inclusive_and_started_before_exclusive(store: Store) -> None:
    for number in range(4):
        await store.start(f"r{number}", started_at=START_AT + number)

    assert await store.ids(started_after=START_AT + 2) == ["r3", "r2"]
    assert await store.ids(started_before=START_AT + 2) == ["r1", "r0"]
    assert await store.ids(started_after=START_AT + 1, started_before=START_AT + 3) == ["r2", "r1"]
    assert await store.ids(started_after=START_AT + 1, started_before=START_AT + 1) == []


async def test_a_queued_run_has_not_started_at_any_time(store: Store) -> None:
    await store.queue("waiting")

    assert await store.ids() == ["waiting"]
    assert await store.ids(started_after=0.0) == []
    assert await store.ids(started_before=START_AT + 1_000) == []


async def test_recent_is_the_newest_change_first(store: Store) -> None:
    for run_id in ("a", "b", "c"):
        await store.start(run_id)
        store.clock.advance(1)

    await store.record("a", usage(1.0))

    assert await store.ids() == ["a", "c", "b"]


async def test_started_is_the_newest_start_first_and_queued_runs_count_from_their_registration(store: Store) -> None:
    await store.start("late", started_at=START_AT + 50)
    await store.start("early", started_at=START_AT - 50)
    await store.queue("waiting")
    await store.start("now")

    assert await store.ids(sort="started") == ["late", "now", "waiting", "early"]


async def test_cost_is_the_dearest_first_free_behind_and_unknown_last(store: Store) -> None:
    for run_id, cost_usd in (("cheap", 0.5), ("unknown", None), ("dear", 2.0), ("free", 0.0), ("tokens only", None)):
        await store.start(run_id)
        await store.record(run_id, usage(cost_usd, input_tokens=5))

    assert await store.ids(sort="cost") == ["dear", "cheap", "free", "tokens only", "unknown"]


@EACH_SORT
async def test_ties_are_broken_by_registration_newest_first(store: Store, sort: RunSort) -> None:
    run_ids = [f"r{number}" for number in range(9)]
    for run_id in run_ids:
        await store.start(run_id, tags=("t",))

    assert await store.ids(sort=sort) == run_ids[::-1]
    assert await store.ids(sort=sort, tags=("t",)) == run_ids[::-1]
    assert await store.ids(sort=sort, tags=("t", "u"), tags_match="any", status=("running", "failed")) == run_ids[::-1]


@EACH_SORT
async def test_a_tag_s_list_is_in_the_order_of_the_whole_list(store: Store, sort: RunSort) -> None:
    for number, cost_usd in enumerate((0.3, None, 0.1, 0.2)):
        await store.start(f"r{number}", tags=("t",), started_at=START_AT - number % 3)
        store.clock.advance(1)
        await store.record(f"r{number}", usage(cost_usd))
    await store.record("r1", usage(5.0))

    assert await store.ids(sort=sort, tags=("t",)) == await store.ids(sort=sort)


async def test_a_summary_shows_what_was_registered_and_counted(store: Store) -> None:
    process = store.probe.start(7)
    await store.start(
        "r",
        kind="flow",
        name="Nightly",
        playbook_name="p",
        agent_name="a",
        invocation_id="i",
        project="x",
        model="m",
        provider="v",
        tags=("b", "a", "b"),
        process=process,
    )

    [run] = (await store.page()).items

    assert (run.run_id, run.status, run.effective_health) == ("r", "running", "healthy")
    assert (run.invocation_kind, run.name, run.playbook_name, run.agent_name) == ("flow", "Nightly", "p", "a")
    assert (run.invocation_id, run.project, run.model, run.provider) == ("i", "x", "m", "v")
    assert run.tags == ("a", "b")
    assert run.started_at == run.created_at == run.updated_at == run.last_activity_at == START_AT
    assert (run.ended_at, run.cost_usd, run.input_tokens, run.output_tokens) == (None, None, None, None)
    assert run.status_reason_code == "run.running.registered"
