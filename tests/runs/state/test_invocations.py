"""Invocations follow from their runs."""

from contract.runs import InvocationQuery, InvocationSummary
from tests.builders import status
from tests.fakes.clocks import START_AT
from tests.runs.state.stores import Store


async def listed(store: Store, **query: object) -> list[InvocationSummary]:
    page = await store.invocations.list_invocations(InvocationQuery.model_validate(query))
    return list(page.items)


async def test_a_missing_invocation_is_none(store: Store) -> None:
    assert await store.invocations.get_invocation("unknown") is None
    assert await listed(store) == []


async def test_the_first_run_makes_the_invocation(store: Store) -> None:
    await store.start("a", invocation_id="i", kind="flow")
    store.clock.advance(1)
    await store.start("b", invocation_id="i", kind="agent")

    [found] = await listed(store)

    assert found == InvocationSummary(
        invocation_id="i", kind="flow", status="running", run_count=2, open_run_count=2, created_at=START_AT
    )


async def test_it_ends_with_the_last_of_its_runs_and_shows_the_worst(store: Store) -> None:
    for run_id in ("a", "b", "c"):
        await store.start(run_id, invocation_id="i")
    await store.record("a", status("completed"))
    store.clock.advance(1)
    await store.record("b", status("failed"))
    half = await store.invocation("i")
    store.clock.advance(1)
    await store.record("c", status("completed"))

    whole = await store.invocation("i")

    assert (half.status, half.open_run_count, half.ended_at) == ("running", 1, None)
    assert (whole.status, whole.open_run_count, whole.ended_at) == ("failed", 0, START_AT + 2)


async def test_a_detail_shows_its_runs_newest_change_first(store: Store) -> None:
    for run_id in ("a", "b", "c"):
        await store.start(run_id, invocation_id="i")
        store.clock.advance(1)
    await store.start("other", invocation_id="j")
    await store.record("a", status("completed"))

    detail = await store.invocation("i")

    assert [run.run_id for run in detail.runs] == ["a", "c", "b"]
    assert not detail.runs_truncated


async def test_a_detail_of_many_runs_is_truncated_and_counts_all(store: Store) -> None:
    for number in range(201):
        await store.start(f"r{number}", invocation_id="i")

    detail = await store.invocation("i")

    assert (len(detail.runs), detail.runs_truncated, detail.run_count) == (200, True, 201)


async def test_invocations_are_listed_newest_first_and_by_kind(store: Store) -> None:
    for number, kind in enumerate(("agent", "flow", "agent")):
        await store.start(f"r{number}", invocation_id=f"i{number}", kind=kind)
        store.clock.advance(1)

    assert [found.invocation_id for found in await listed(store)] == ["i2", "i1", "i0"]
    assert [found.invocation_id for found in await listed(store, kind="agent")] == ["i2", "i0"]
    assert [found.invocation_id for found in await listed(store, kind="agent", offset=1, limit=1)] == ["i0"]
