"""The schedules' part of the statistics."""

from schedules.services.ports import FiringTotals
from schedules.services.totals import schedule_stats
from tests.fakes.clocks import FixedClock
from tests.fakes.schedules import InMemorySchedules


class Totals(InMemorySchedules):
    """A store that was asked for these totals."""

    def __init__(self, *lateness_seconds: float) -> None:
        super().__init__()
        self.lateness_seconds = lateness_seconds
        self.since: float | None = None

    async def totals(self, *, since: float) -> FiringTotals:
        self.since = since
        return FiringTotals(
            enabled=2,
            disabled=1,
            oldest_due_at=5.0,
            by_outcome={"fired": len(self.lateness_seconds)},
            lateness_seconds=self.lateness_seconds,
        )


async def test_without_firings_lateness_is_unknown_and_every_outcome_is_counted() -> None:
    clock, store = FixedClock(), Totals()

    stats = await schedule_stats(states=store, clock=clock)

    assert stats.firings_by_outcome == {"fired": 0, "skipped": 0, "deferred": 0}
    assert (stats.enabled, stats.disabled, stats.oldest_due_at) == (2, 1, 5.0)
    assert (stats.lateness_p50_seconds, stats.lateness_p99_seconds) == (None, None)
    assert store.since == clock.now() - 86_400.0


async def test_percentiles_are_values_that_were_met() -> None:
    stats = await schedule_stats(states=Totals(*(float(n) for n in range(100, 0, -1))), clock=FixedClock())

    assert (stats.lateness_p50_seconds, stats.lateness_p95_seconds, stats.lateness_p99_seconds) == (50.0, 95.0, 99.0)
    one = await schedule_stats(states=Totals(0.25), clock=FixedClock())
    assert (one.lateness_p50_seconds, one.lateness_p99_seconds) == (0.25, 0.25)
