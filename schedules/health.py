"""How a schedule stands, from what its row says. Health is never a proof of success."""

from typing import Final

from contract.limits import MISSED_AFTER_SECONDS
from contract.schedules import ScheduleHealth

# An instant that nobody decided for so long, although policies decide on those that were missed: nobody schedules.
_OVERDUE_SECONDS: Final = 2 * MISSED_AFTER_SECONDS
# One failed poll is an accident; GitHub is away for a while now and then.
_POLL_FAILURES: Final = 3
_FAILED: Final = frozenset({"failed", "timed_out"})


def health_of(
    *,
    enabled: bool,
    next_fire_at: float | None,
    last_fired_at: float | None,
    last_run_status: str | None,
    poll_failures: int,
    now: float,
) -> ScheduleHealth:
    """Return the first that holds: disabled, poller failing, overdue, failing (its last run), never fired, healthy."""
    if not enabled:
        return "disabled"
    if poll_failures >= _POLL_FAILURES:
        return "poller_failing"
    if next_fire_at is not None and now - next_fire_at > _OVERDUE_SECONDS:
        return "overdue"
    if last_run_status in _FAILED:
        return "failing"
    return "never_fired" if last_fired_at is None else "healthy"
