"""The schedules' part of the statistics."""

from collections.abc import Sequence
from typing import Final

from contract.ports import Clock
from contract.stats import ScheduleStats
from schedules.services.ports import SchedulerStateService

_DAY_SECONDS: Final = 86_400.0


async def schedule_stats(*, states: SchedulerStateService, clock: Clock) -> ScheduleStats:
    """Return how the schedules stand, and how the firings of the last day went."""
    totals = await states.totals(since=clock.now() - _DAY_SECONDS)
    lateness = sorted(totals.lateness_seconds)
    return ScheduleStats(
        enabled=totals.enabled,
        disabled=totals.disabled,
        oldest_due_at=totals.oldest_due_at,
        firings_by_outcome={"fired": 0, "skipped": 0, "deferred": 0} | totals.by_outcome,
        lateness_p50_seconds=_percentile(lateness, 0.50),
        lateness_p95_seconds=_percentile(lateness, 0.95),
        lateness_p99_seconds=_percentile(lateness, 0.99),
    )


def _percentile(ordered: Sequence[float], share: float) -> float | None:
    """Return the smallest value that at least this share of all do not exceed (the nearest rank); None of none."""
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)] if ordered else None
