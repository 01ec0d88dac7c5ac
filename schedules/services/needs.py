"""What the operations on schedules work with, and the write that holds against other writers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from contract.errors import Conflict, NotFound, StateUnavailable
from contract.lookup import require_possible
from contract.ports import Clock, IdGenerator
from schedules.schedule import ScheduleState
from schedules.services.checking import CheckNeeds
from schedules.services.ports import Commit, ScheduledRuns, SchedulerStateService

# A schedule that fires every second is changed by its firings; so often in a row nobody is beaten by them.
_TRIES: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleNeeds:
    """The ports, the zone of cron expressions that name none, and the bound on runs at a time (0: none)."""

    states: SchedulerStateService
    runs: ScheduledRuns
    clock: Clock
    ids: IdGenerator
    zone: str
    capacity: int

    def check(self) -> CheckNeeds:
        """Return what a check needs, at this instant."""
        return CheckNeeds(runs=self.runs, zone=self.zone, now=self.clock.now())

    async def get(self, schedule_id: str) -> ScheduleState:
        """Return a schedule. NotFound."""
        require_possible("schedule", schedule_id)
        found = await self.states.find(schedule_id)
        if found is None:
            raise NotFound("schedule", schedule_id)
        return found

    async def revise(
        self,
        schedule_id: str,
        revised: Callable[[ScheduleState], ScheduleState],
        *,
        expected_updated_at: float | None = None,
    ) -> ScheduleState:
        """Write what a function makes of the schedule; made anew when another change came between.

        Conflict when `expected_updated_at` is given and the schedule was edited since.
        """
        for _ in range(_TRIES):
            before = await self.get(schedule_id)
            if expected_updated_at is not None and before.updated_at != expected_updated_at:
                raise stale(before, expected_updated_at)
            after = revised(before)
            if after is before:
                return before
            (made,) = await self.states.commit([Commit(schedules=((before, after),))])
            if made:
                return after
        raise too_busy()


def stale(state: ScheduleState, expected: float) -> Conflict:
    """Return the conflict of an edit that was made on an older version."""
    detail = f"schedule {state.name} was changed since {expected!r}; now it is {state.updated_at!r}"
    return Conflict("schedule", repr(expected), repr(state.updated_at), detail)


def too_busy() -> StateUnavailable:
    """Return the error of a write that others were always faster than."""
    return StateUnavailable(retryable=True, detail="the schedule changes faster than it can be written; try again")
