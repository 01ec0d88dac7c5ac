"""Operations on schedules, over HTTP: a part of RemoteStudio."""

from contract.base import Page
from contract.http_exchange import query_of, segment
from contract.remote_part import RemotePart
from contract.schedule_sets import ApplyResult, ApplySchedules, ScheduleSet
from contract.schedules import (
    ChangeSchedule,
    CreateSchedule,
    DeleteSchedule,
    EmptyCommand,
    EnableSchedule,
    FireSchedule,
    Firing,
    FiringQuery,
    PatchSchedule,
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

_SCHEDULES = "/api/v1/schedules/"


class RemoteSchedules(RemotePart):
    """Schedules, at the other end of an exchange."""

    async def mutate_schedule(self, command: ScheduleCommand) -> ScheduleResult:
        """Create, change, enable or disable a schedule."""
        if isinstance(command, CreateSchedule):
            return await self._exchange.send(ScheduleResult, "POST", _SCHEDULES, command, repeatable=False)
        path = _schedule(command.schedule_id)
        if isinstance(command, PatchSchedule):
            change = ChangeSchedule(expected_updated_at=command.expected_updated_at, changes=command.changes)
            return await self._exchange.send(ScheduleResult, "PATCH", path, change, repeatable=False)
        enable = EnableSchedule(enabled=command.enabled, expected_updated_at=command.expected_updated_at)
        return await self._exchange.send(ScheduleResult, "PUT", f"{path}/enabled", enable, repeatable=False)

    async def list_schedules(self, query: ScheduleQuery) -> Page[ScheduleSummary]:
        """Return one page of schedules."""
        return await self._exchange.get(Page[ScheduleSummary], _SCHEDULES, query_of(query))

    async def get_schedule(self, schedule_id: str) -> ScheduleDetail:
        """Return a schedule."""
        return await self._exchange.get(ScheduleDetail, _schedule(schedule_id))

    async def delete_schedule(self, schedule_id: str, command: DeleteSchedule) -> ScheduleDeleted:
        """Remove a schedule. Sent again it would not be found."""
        path = _schedule(schedule_id)
        return await self._exchange.delete(ScheduleDeleted, path, query_of(command), repeatable=False)

    async def fire_schedule(self, schedule_id: str, command: FireSchedule) -> Firing:
        """Fire now. Sent again without a `fire_key` it would fire twice."""
        path = _schedule(schedule_id, "/fire")
        return await self._exchange.send(Firing, "POST", path, command, repeatable=command.fire_key is not None)

    async def list_firings(self, schedule_id: str, query: FiringQuery) -> Page[Firing]:
        """Return one page of a schedule's firings."""
        return await self._exchange.get(Page[Firing], _schedule(schedule_id, "/firings/"), query_of(query))

    async def preview_schedule(self, query: PreviewSchedule) -> SchedulePreview:
        """Return the next instants of a trigger."""
        return await self._exchange.send(SchedulePreview, "POST", f"{_SCHEDULES}preview", query, repeatable=True)

    async def get_schedule_limits(self) -> ScheduleLimits:
        """Return the bounds of schedules."""
        return await self._exchange.get(ScheduleLimits, f"{_SCHEDULES}limits")

    async def explain_schedule(self, schedule_id: str) -> ScheduleExplanation:
        """Say why a schedule did what it did."""
        return await self._exchange.get(ScheduleExplanation, _schedule(schedule_id, "/why"))

    async def skip_next(self, schedule_id: str) -> Firing:
        """Drop the next occurrence. Sent again it would drop another."""
        path = _schedule(schedule_id, "/skip-next")
        return await self._exchange.send(Firing, "POST", path, EmptyCommand(), repeatable=False)

    async def pause_schedules(self) -> PauseResult:
        """Disable every enabled schedule, and remember which they were."""
        return await self._exchange.send(PauseResult, "POST", f"{_SCHEDULES}pause-all", EmptyCommand(), repeatable=True)

    async def resume_schedules(self) -> PauseResult:
        """Enable exactly those that a pause disabled."""
        return await self._exchange.send(
            PauseResult, "POST", f"{_SCHEDULES}resume-all", EmptyCommand(), repeatable=True
        )

    async def apply_schedules(self, command: ApplySchedules) -> ApplyResult:
        """Make the schedules those of a set. Sent again it changes nothing."""
        return await self._exchange.send(ApplyResult, "POST", f"{_SCHEDULES}apply", command, repeatable=True)

    async def export_schedules(self) -> ScheduleSet:
        """Return every schedule as a specification."""
        return await self._exchange.get(ScheduleSet, f"{_SCHEDULES}export")


def _schedule(schedule_id: str, room: str = "") -> str:
    return f"{_SCHEDULES}{segment('schedule', schedule_id)}{room}"
