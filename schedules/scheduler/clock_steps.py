"""Clocks that are set, and machines that sleep: noticed, and what is due by them planned anew."""

from typing import Final, Literal

from contract.errors import ValidationFailure
from contract.limits import MISSED_AFTER_SECONDS
from contract.ports import Clock
from contract.triggers import GithubPollTrigger
from schedules.revising import due_after
from schedules.schedule import ScheduleState
from schedules.scheduler.deciding import due_key
from schedules.services.ports import SchedulerStateService

# A wall clock that lags so far behind the monotonic one was stepped back; less is drift that is being corrected.
_STEP_SECONDS: Final = 1.0
# Instants of one schedule that are looked at; what is decided after so many is passed when it is due.
_LOOKED_AT_MAX: Final = 100

# "first": nobody knows what was before. "back": set back. "forth": set forward, or asleep, by what makes an instant
# missed.
Step = Literal["first", "back", "forth"]


class ClockWatch:
    """Compares the wall clock with the monotonic one, which nobody sets."""

    def __init__(self, clock: Clock) -> None:
        """Take the clock."""
        self._clock = clock
        self._ahead: float | None = None

    def look(self) -> Step | None:
        """Say what happened to the wall clock since the last look."""
        ahead, before = self._clock.now() - self._clock.monotonic(), self._ahead
        if before is None or ahead < before - _STEP_SECONDS:
            self._ahead = ahead
            return "first" if before is None else "back"
        self._ahead = max(ahead, before)
        return "forth" if ahead > before + MISSED_AFTER_SECONDS else None


async def nearer_instant(
    state: ScheduleState, now: float, states: SchedulerStateService, *, waits: bool
) -> float | None:
    """Return an instant before the planned one, and after now, that is not decided; None for none.

    It is there after a clock that was ahead has planned. A poller's is as near as its server wants it, if it `waits`.
    """
    planned = state.next_fire_at
    try:
        nearer = due_after(state, now)
        if isinstance(state.trigger, GithubPollTrigger):
            wanted = state.poll.not_before if waits else None
            return _before(planned, nearer if nearer is None or wanted is None else max(nearer, wanted))
        for _ in range(_LOOKED_AT_MAX):
            if _before(planned, nearer) is None or nearer is None:
                return None
            if await states.find_firing(state.schedule_id, due_key(nearer)) is None:
                return nearer
            nearer = due_after(state, nearer)
    except ValidationFailure:  # when it is due, it is disabled
        return None
    return _before(planned, nearer)


def _before(planned: float | None, nearer: float | None) -> float | None:
    return nearer if planned is not None and nearer is not None and nearer < planned else None
