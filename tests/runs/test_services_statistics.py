"""Statistics over in-memory ports: counts that add up, the window of spend, and what is unknown."""

from typing import Any

import pytest

from contract.errors import ValidationFailure
from contract.limits import STATS_PROJECTS_MAX
from contract.stats import Stats, StatsQuery
from runs.services.statistics import get_stats
from runs.transitions import STATUSES
from studio_project.scheduled_runs import ScheduleTotals
from tests.builders import start_run, status, usage
from tests.fakes.clocks import FixedClock
from tests.fakes.run_removal import InMemoryStats
from tests.fakes.runs import InMemoryRuns
from tests.fakes.schedules import InMemorySchedules

DAY = 86_400.0


@pytest.fixture
def runs() -> InMemoryRuns:
    return InMemoryRuns(clock=FixedClock())


async def stats_of(runs: InMemoryRuns, **query: Any) -> Stats:
    schedules = ScheduleTotals(states=InMemorySchedules(), clock=runs.clock)
    return await get_stats(query=StatsQuery(**query), stats=InMemoryStats(runs), schedules=schedules, clock=runs.clock)


async def spent(runs: InMemoryRuns, run_id: str, cost_usd: float | None = None, **fields: Any) -> None:
    await runs.start_run(run_id, start_run(**fields), at=runs.clock.now())
    if cost_usd is not None:
        await runs.record_events(run_id, [usage(cost_usd)], at=runs.clock.now())


async def test_an_empty_store_has_every_status_with_no_run(runs: InMemoryRuns) -> None:
    stats = await stats_of(runs)

    assert stats.runs_by_status == dict.fromkeys(STATUSES, 0)
    assert (stats.runs_total, stats.spend.projects) == (0, ())
    assert stats.schedules is not None
    assert stats.schedules.firings_by_outcome == {"fired": 0, "skipped": 0, "deferred": 0}
    assert (stats.spend.total.runs, stats.spend.total.cost_usd) == (0, None)


async def test_counts_by_status_add_up(runs: InMemoryRuns) -> None:
    for number, end in enumerate(("completed", "completed", "failed", None)):
        await runs.start_run(f"r{number}", start_run(), at=runs.clock.now())
        if end is not None:
            await runs.record_events(f"r{number}", [status(end)], at=runs.clock.now())

    stats = await stats_of(runs)

    assert stats.runs_total == sum(stats.runs_by_status.values()) == 4
    assert (stats.runs_by_status["completed"], stats.runs_by_status["running"]) == (2, 1)


async def test_spend_is_of_the_last_day_by_default_and_by_project(runs: InMemoryRuns) -> None:
    now = runs.clock.now()
    await spent(runs, "before", 100.0, project="p", started_at=now - DAY - 1)
    await spent(runs, "first", 1.0, project="p", started_at=now - DAY)
    await spent(runs, "last", 2.0, started_at=now - 1)
    await spent(runs, "silent", started_at=now - 1, project="p")

    spend = (await stats_of(runs)).spend

    assert (spend.since, spend.until) == (now - DAY, now)
    assert [(found.project, found.cost_usd, found.runs_without_cost) for found in spend.projects] == [
        (None, 2.0, 0),
        ("p", 1.0, 1),
    ]
    assert (spend.total.runs, spend.total.cost_usd, spend.total.runs_without_cost) == (3, 3.0, 1)


async def test_a_window_begins_with_its_first_instant_and_ends_before_its_last(runs: InMemoryRuns) -> None:
    for number in range(4):
        await spent(runs, f"r{number}", started_at=1_000.0 + number)

    assert (await stats_of(runs, since=1_001.0, until=1_003.0)).spend.total.runs == 2


async def test_a_window_without_a_beginning_is_a_day(runs: InMemoryRuns) -> None:
    assert (await stats_of(runs, until=2 * DAY)).spend.since == DAY


async def test_one_project_can_be_asked_for(runs: InMemoryRuns) -> None:
    for project in ("p", "q", None):
        await spent(runs, f"of {project}", 1.0, project=project, started_at=runs.clock.now() - 1)

    spend = (await stats_of(runs, project="p")).spend

    assert ([found.project for found in spend.projects], spend.total.runs) == (["p"], 1)


async def test_no_more_projects_than_the_bound_are_shown_and_the_total_is_of_all(runs: InMemoryRuns) -> None:
    for number in range(STATS_PROJECTS_MAX + 1):
        await spent(runs, f"r{number}", 1.0 + number, project=f"p{number:03}", started_at=runs.clock.now() - 1)

    spend = (await stats_of(runs)).spend

    assert (len(spend.projects), spend.truncated, spend.total.runs) == (STATS_PROJECTS_MAX, True, 101)
    assert "p000" not in {found.project for found in spend.projects}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"since": 5.0, "until": 5.0}, "until"),
        ({"since": 6.0, "until": 5.0}, "until"),
        ({"since": 9_000_000_000.0}, "since"),
    ],
)
async def test_a_window_that_ends_before_it_begins_is_refused(
    runs: InMemoryRuns, query: dict[str, float], field: str
) -> None:
    with pytest.raises(ValidationFailure) as refused:
        await stats_of(runs, **query)

    assert [(failure.path, failure.code) for failure in refused.value.field_errors] == [((field,), "order")]
