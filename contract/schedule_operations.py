"""The operations on schedules: a part of StudioApplication."""

from typing import Protocol

from contract.base import Page
from contract.schedule_sets import ApplyResult, ApplySchedules, ScheduleSet
from contract.schedules import (
    DeleteSchedule,
    FireSchedule,
    Firing,
    FiringQuery,
    PauseResult,
    ScheduleCommand,
    ScheduleDeleted,
    ScheduleDetail,
    ScheduleExplanation,
    ScheduleLimits,
    ScheduleQuery,
    ScheduleResult,
    ScheduleSummary,
)
from contract.triggers import PreviewSchedule, SchedulePreview


class ScheduleOperations(Protocol):
    """Every operation on schedules."""

    async def mutate_schedule(self, command: ScheduleCommand) -> ScheduleResult:
        """Create, change, enable or disable a schedule.

        ValidationFailure for what could never be due or executed, with the path into chains; NotFound; Conflict for a
        taken name, a stale `expected_updated_at`, or enabling what its caps have closed.
        """
        ...

    async def list_schedules(self, query: ScheduleQuery) -> Page[ScheduleSummary]:
        """Return one page of schedules by name."""
        ...

    async def get_schedule(self, schedule_id: str) -> ScheduleDetail:
        """Return a schedule with its last firings. NotFound."""
        ...

    async def delete_schedule(self, schedule_id: str, command: DeleteSchedule) -> ScheduleDeleted:
        """Remove a schedule; its runs stay. NotFound; Conflict while a run of it is open, unless told to cancel it."""
        ...

    async def fire_schedule(self, schedule_id: str, command: FireSchedule) -> Firing:
        """Fire now, enabled or not, once for each `fire_key`. What was refused is a firing as well.

        NotFound; Conflict when overlap or a cap refuses it and it was not forced.
        """
        ...

    async def list_firings(self, schedule_id: str, query: FiringQuery) -> Page[Firing]:
        """Return one page of a schedule's firings, newest first. NotFound."""
        ...

    async def preview_schedule(self, query: PreviewSchedule) -> SchedulePreview:
        """Return the next instants of a trigger. ValidationFailure for what could never be due."""
        ...

    async def get_schedule_limits(self) -> ScheduleLimits:
        """Return the bounds of schedules."""
        ...

    async def explain_schedule(self, schedule_id: str) -> ScheduleExplanation:
        """Say in words what was decided and what the next decision depends on. NotFound."""
        ...

    async def skip_next(self, schedule_id: str) -> Firing:
        """Drop the next occurrence and leave its row. NotFound; Conflict when nothing is due."""
        ...

    async def pause_schedules(self) -> PauseResult:
        """Disable every enabled schedule, and remember which they were."""
        ...

    async def resume_schedules(self) -> PauseResult:
        """Enable exactly those that a pause disabled; what came due meanwhile is not replayed."""
        ...

    async def apply_schedules(self, command: ApplySchedules) -> ApplyResult:
        """Make the schedules those of a set, all or nothing. ValidationFailure with paths into the set."""
        ...

    async def export_schedules(self) -> ScheduleSet:
        """Return every schedule as a specification."""
        ...
