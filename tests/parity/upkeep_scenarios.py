"""Upkeep: runs that are removed, and the statistics of a store. Whatever the whole store decides is compared alone."""

from typing import Any

from contract.application import StudioApplication
from contract.errors import NotFound, ValidationFailure
from contract.retention import PruneResult, PruneRuns
from contract.runs import RunQuery, RunReadQuery
from contract.stats import StatsQuery
from tests.parity.catalogue import scenario
from tests.parity.run_scenarios import AT, end, message, places, record, start
from tests.parity.witness import refused


async def prune(studio: StudioApplication, own: str, **fields: Any) -> PruneResult:
    """Remove runs of the scenario's own project, however young."""
    return await studio.prune_runs(PruneRuns(**{"older_than_seconds": 0, "project": own, **fields}))


@scenario
async def old_runs_go_with_what_belongs_to_them(studio: StudioApplication, own: str) -> None:
    await start(studio, own, project=own, invocation_id=own, tags=("a",))
    await record(studio, own, message("a"), {"type": "signal", "kind": "S", "payload": {}})
    await record(studio, own, {"type": "artifact", "kind": "report", "name": "r"})
    await end(studio, own)

    told = await prune(studio, own, dry_run=True)
    result = await prune(studio, own)
    again = await prune(studio, own)

    assert (result.runs, result.messages, result.signals, result.artifacts) == (1, 1, 1, 1)
    assert told == result.model_copy(update={"dry_run": True})
    assert (again.runs, again.has_more) == (0, False)
    await refused(NotFound, studio.get_run(own, RunReadQuery()))
    await refused(NotFound, studio.get_invocation(own))
    assert not (await studio.list_runs(RunQuery(project=own))).items
    await start(studio, own, project=own, invocation_id=own)
    await studio.get_run(own, RunReadQuery())


@scenario
async def young_and_open_runs_stay(studio: StudioApplication, own: str) -> None:
    await start(studio, own, project=own)
    await start(studio, f"{own}-2", project=own, invocation_id=own)
    await start(studio, f"{own}-3", project=own, invocation_id=own)
    await end(studio, f"{own}-3")

    kept = await prune(studio, own)
    await end(studio, own)
    young = await prune(studio, own, older_than_seconds=3_600)

    assert (kept.runs, kept.kept_referenced) == (0, 1)
    assert (young.runs, young.kept_referenced) == (0, 0)
    assert len((await studio.list_runs(RunQuery(project=own))).items) == 3


@scenario
async def old_runs_go_a_few_at_a_time(studio: StudioApplication, own: str) -> None:
    for number in range(3):
        await start(studio, f"{own}-{number}", project=own)
        await end(studio, f"{own}-{number}", "failed" if number else "completed")

    first = await prune(studio, own, limit=2)
    last = await prune(studio, own, limit=2, cursor=first.next_cursor)

    assert [(result.runs, result.has_more) for result in (first, last)] == [(2, True), (1, False)]


@scenario
async def only_ended_statuses_can_be_removed(studio: StudioApplication, own: str) -> None:
    await start(studio, own, project=own)
    await end(studio, own)

    other = await prune(studio, own, status=("failed",))
    failure = await refused(ValidationFailure, prune(studio, own, status=("failed", "running", "no such")))

    assert other.runs == 0
    assert places(failure) == [(("status", 1), "unknown_status"), (("status", 2), "unknown_status")]


@scenario
async def foreign_cursors_of_removals_are_refused(studio: StudioApplication, own: str) -> None:
    for number in range(2):
        await start(studio, f"{own}-{number}", project=own)
        await end(studio, f"{own}-{number}")
    cursor = (await prune(studio, own, limit=1)).next_cursor

    for fields in ({"cursor": "garbled"}, {"cursor": cursor, "older_than_seconds": 1}):
        failure = await refused(ValidationFailure, prune(studio, own, **fields))
        assert places(failure) == [(("cursor",), "cursor")]


@scenario
async def spend_of_a_project_is_summed_up(studio: StudioApplication, own: str) -> None:
    window: dict[str, Any] = {"since": AT, "until": AT + 10, "project": own}
    await start(studio, own, project=own, started_at=AT)
    await record(studio, own, {"type": "usage", "cost_usd": 0.1, "input_tokens": 3}, {"type": "usage", "cost_usd": 0.2})
    await start(studio, f"{own}-2", project=own, started_at=AT + 9)
    await start(studio, f"{own}-3", project=own, started_at=AT + 10)

    spend = (await studio.get_stats(StatsQuery(**window))).spend

    (found,) = spend.projects
    assert (found.runs, found.cost_usd, found.input_tokens, found.output_tokens) == (2, 0.3, 3, None)
    assert (found.runs_without_cost, found.runs_without_tokens) == (1, 1)
    assert spend.total == found.model_copy(update={"project": None})


@scenario
async def a_window_that_ends_too_early_is_refused(studio: StudioApplication, own: str) -> None:
    late: dict[str, Any] = {"since": 9_000_000_000.0, "project": own}

    before = await refused(ValidationFailure, studio.get_stats(StatsQuery(since=AT, until=AT, project=own)))
    in_future = await refused(ValidationFailure, studio.get_stats(StatsQuery(**late)))

    assert (places(before), places(in_future)) == ([(("until",), "order")], [(("since",), "order")])
