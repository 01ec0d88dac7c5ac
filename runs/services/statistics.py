"""Statistics: one state of the store, counted and summed up."""

from dataclasses import dataclass
from typing import Final, Protocol

from contract.errors import ValidationFailure
from contract.limits import STATS_PROJECTS_MAX
from contract.ports import Clock
from contract.stats import QueueStats, ScheduleStats, SpendStats, Stats, StatsQuery, StoreStats
from runs.spending import Spend, by_dearest, spend_view, total_of
from runs.transitions import STATUSES

_DAY_SECONDS: Final = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What the store says, all of one state of it. Statuses that no run has may be missing."""

    runs_by_status: dict[str, int]
    spends: tuple[Spend, ...]
    queue: QueueStats
    store: StoreStats


class StatsPort(Protocol):
    """Counts and sums. Raises StateUnavailable."""

    async def figures(self, *, since: float, until: float, project: str | None) -> Figures:
        """Return counts of all runs, and what those that started in `since <= start < until` spent, by project."""
        ...


class ScheduleStatsPort(Protocol):
    """How schedules stand, which another capability knows."""

    async def schedule_stats(self) -> ScheduleStats:
        """Return the schedules' part of the statistics."""
        ...


async def get_stats(*, query: StatsQuery, stats: StatsPort, schedules: ScheduleStatsPort, clock: Clock) -> Stats:
    """Return the statistics of this instant. ValidationFailure for a window that ends before it begins."""
    at = clock.now()
    until = at if query.until is None else query.until
    since = until - _DAY_SECONDS if query.since is None else query.since
    if since >= until:
        field, message = ("since", "must be in the past") if query.until is None else ("until", "must be after `since`")
        raise ValidationFailure.at(field, code="order", message=message)
    found = await stats.figures(since=since, until=until, project=query.project)
    return Stats(
        at=at,
        runs_total=sum(found.runs_by_status.values()),
        runs_by_status=dict.fromkeys(STATUSES, 0) | found.runs_by_status,
        spend=_spend(found.spends, since=since, until=until),
        queue=found.queue,
        store=found.store,
        schedules=await schedules.schedule_stats(),
    )


def _spend(spends: tuple[Spend, ...], *, since: float, until: float) -> SpendStats:
    ordered = by_dearest(spends)
    return SpendStats(
        since=since,
        until=until,
        total=spend_view(total_of(spends)),
        projects=tuple(map(spend_view, ordered[:STATS_PROJECTS_MAX])),
        truncated=len(ordered) > STATS_PROJECTS_MAX,
    )
