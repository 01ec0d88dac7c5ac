"""The operations on schedules, bound: a part of Studio that needs no adapter by its name."""

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
from schedules.services import firing, mutating, reading, sets
from schedules.services.needs import ScheduleNeeds


class ScheduleOperations:
    """Every operation on schedules, over ports."""

    def __init__(self, *, schedules: ScheduleNeeds) -> None:
        """Bind."""
        self._schedules = schedules

    async def mutate_schedule(self, command: ScheduleCommand) -> ScheduleResult:
        """Create, change, enable or disable a schedule."""
        return await mutating.mutate_schedule(command=command, needs=self._schedules)

    async def list_schedules(self, query: ScheduleQuery) -> Page[ScheduleSummary]:
        """Return one page of schedules."""
        return await reading.list_schedules(query=query, needs=self._schedules)

    async def get_schedule(self, schedule_id: str) -> ScheduleDetail:
        """Return a schedule with its last firings."""
        return await reading.get_schedule(schedule_id=schedule_id, needs=self._schedules)

    async def delete_schedule(self, schedule_id: str, command: DeleteSchedule) -> ScheduleDeleted:
        """Remove a schedule; its runs stay."""
        return await mutating.delete_schedule(schedule_id=schedule_id, command=command, needs=self._schedules)

    async def fire_schedule(self, schedule_id: str, command: FireSchedule) -> Firing:
        """Fire now."""
        return await firing.fire_schedule(schedule_id=schedule_id, command=command, needs=self._schedules)

    async def list_firings(self, schedule_id: str, query: FiringQuery) -> Page[Firing]:
        """Return one page of a schedule's firings."""
        return await reading.list_firings(schedule_id=schedule_id, query=query, needs=self._schedules)

    async def preview_schedule(self, query: PreviewSchedule) -> SchedulePreview:
        """Return the next instants of a trigger."""
        return await reading.preview_schedule(query=query, needs=self._schedules)

    async def get_schedule_limits(self) -> ScheduleLimits:
        """Return the bounds of schedules."""
        return reading.schedule_limits(needs=self._schedules)

    async def explain_schedule(self, schedule_id: str) -> ScheduleExplanation:
        """Say in words what was decided and what the next decision depends on."""
        return await reading.explain_schedule(schedule_id=schedule_id, needs=self._schedules)

    async def skip_next(self, schedule_id: str) -> Firing:
        """Drop the next occurrence and leave its row."""
        return await firing.skip_next(schedule_id=schedule_id, needs=self._schedules)

    async def pause_schedules(self) -> PauseResult:
        """Disable every enabled schedule, and remember which they were."""
        return await sets.pause_schedules(needs=self._schedules)

    async def resume_schedules(self) -> PauseResult:
        """Enable exactly those that a pause disabled."""
        return await sets.resume_schedules(needs=self._schedules)

    async def apply_schedules(self, command: ApplySchedules) -> ApplyResult:
        """Make the schedules those of a set, all or nothing."""
        return await sets.apply_schedules(command=command, needs=self._schedules)

    async def export_schedules(self) -> ScheduleSet:
        """Return every schedule as a specification."""
        return await sets.export_schedules(needs=self._schedules)
