"""HTTP endpoints of schedules: parse, one call, answer."""

from django.http import HttpRequest, HttpResponse
from ninja import Router

from contract.base import ContractModel, Page
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
    ScheduleDeleted,
    ScheduleDetail,
    ScheduleExplanation,
    ScheduleLimits,
    ScheduleQuery,
    ScheduleResult,
    ScheduleSummary,
    SetScheduleEnabled,
)
from contract.triggers import PreviewSchedule, SchedulePreview
from studio_project.api import body_of, optional_body_of, query_of, respond
from studio_project.composition import get_studio
from studio_project.http_errors import ACCEPTED, CREATED
from studio_project.openapi import describes

router = Router(tags=["schedules"])


@router.get("/schedules/", **describes(Page[ScheduleSummary], query=ScheduleQuery))
async def list_schedules(request: HttpRequest) -> HttpResponse:
    """One page of schedules by name."""
    query = query_of(ScheduleQuery, request)
    return respond(await get_studio().list_schedules(query))


@router.post("/schedules/", **describes(ScheduleResult, status=CREATED, body=CreateSchedule, errors=("conflict",)))
async def create_schedule(request: HttpRequest) -> HttpResponse:
    """Make a schedule."""
    command = body_of(CreateSchedule, request)
    return respond(await get_studio().mutate_schedule(command), status=CREATED)


@router.get("/schedules/limits", **describes(ScheduleLimits))
async def get_schedule_limits(request: HttpRequest) -> HttpResponse:
    """The bounds of schedules."""
    query_of(ContractModel, request)
    return respond(await get_studio().get_schedule_limits())


@router.get("/schedules/export", **describes(ScheduleSet))
async def export_schedules(request: HttpRequest) -> HttpResponse:
    """Every schedule as a specification."""
    query_of(ContractModel, request)
    return respond(await get_studio().export_schedules())


@router.post("/schedules/preview", **describes(SchedulePreview, body=PreviewSchedule))
async def preview_schedule(request: HttpRequest) -> HttpResponse:
    """The next instants of a trigger."""
    query = body_of(PreviewSchedule, request)
    return respond(await get_studio().preview_schedule(query))


@router.post("/schedules/apply", **describes(ApplyResult, body=ApplySchedules))
async def apply_schedules(request: HttpRequest) -> HttpResponse:
    """Make the schedules those of a set, all or nothing."""
    command = body_of(ApplySchedules, request)
    return respond(await get_studio().apply_schedules(command))


@router.post("/schedules/pause-all", **describes(PauseResult, body=EmptyCommand, body_required=False))
async def pause_schedules(request: HttpRequest) -> HttpResponse:
    """Disable every enabled schedule, and remember which they were."""
    optional_body_of(EmptyCommand, request)
    return respond(await get_studio().pause_schedules())


@router.post("/schedules/resume-all", **describes(PauseResult, body=EmptyCommand, body_required=False))
async def resume_schedules(request: HttpRequest) -> HttpResponse:
    """Enable exactly those that a pause disabled."""
    optional_body_of(EmptyCommand, request)
    return respond(await get_studio().resume_schedules())


@router.get("/schedules/{schedule_id}", **describes(ScheduleDetail, errors=("not_found",)))
async def get_schedule(request: HttpRequest, schedule_id: str) -> HttpResponse:
    """A schedule with its action, its poller and its last firings."""
    query_of(ContractModel, request)
    return respond(await get_studio().get_schedule(schedule_id))


@router.patch(
    "/schedules/{schedule_id}", **describes(ScheduleResult, body=ChangeSchedule, errors=("not_found", "conflict"))
)
async def patch_schedule(request: HttpRequest, schedule_id: str) -> HttpResponse:
    """Change what is given; null clears."""
    change = body_of(ChangeSchedule, request)
    command = PatchSchedule(
        schedule_id=schedule_id, expected_updated_at=change.expected_updated_at, changes=change.changes
    )
    return respond(await get_studio().mutate_schedule(command))


@router.delete(
    "/schedules/{schedule_id}", **describes(ScheduleDeleted, query=DeleteSchedule, errors=("not_found", "conflict"))
)
async def delete_schedule(request: HttpRequest, schedule_id: str) -> HttpResponse:
    """Remove a schedule; its runs stay."""
    command = query_of(DeleteSchedule, request)
    return respond(await get_studio().delete_schedule(schedule_id, command))


@router.put(
    "/schedules/{schedule_id}/enabled",
    **describes(ScheduleResult, body=EnableSchedule, errors=("not_found", "conflict")),
)
async def set_schedule_enabled(request: HttpRequest, schedule_id: str) -> HttpResponse:
    """Let a schedule fire, or not."""
    change = body_of(EnableSchedule, request)
    command = SetScheduleEnabled(
        schedule_id=schedule_id, enabled=change.enabled, expected_updated_at=change.expected_updated_at
    )
    return respond(await get_studio().mutate_schedule(command))


@router.post(
    "/schedules/{schedule_id}/fire",
    **describes(Firing, status=ACCEPTED, body=FireSchedule, body_required=False, errors=("not_found", "conflict")),
)
async def fire_schedule(request: HttpRequest, schedule_id: str) -> HttpResponse:
    """Fire now."""
    command = optional_body_of(FireSchedule, request)
    return respond(await get_studio().fire_schedule(schedule_id, command), status=ACCEPTED)


@router.post(
    "/schedules/{schedule_id}/skip-next",
    **describes(Firing, body=EmptyCommand, body_required=False, errors=("not_found", "conflict")),
)
async def skip_next(request: HttpRequest, schedule_id: str) -> HttpResponse:
    """Drop the next occurrence and leave its row."""
    optional_body_of(EmptyCommand, request)
    return respond(await get_studio().skip_next(schedule_id))


@router.get("/schedules/{schedule_id}/firings/", **describes(Page[Firing], query=FiringQuery, errors=("not_found",)))
async def list_firings(request: HttpRequest, schedule_id: str) -> HttpResponse:
    """One page of a schedule's firings, newest first."""
    query = query_of(FiringQuery, request)
    return respond(await get_studio().list_firings(schedule_id, query))


@router.get("/schedules/{schedule_id}/why", **describes(ScheduleExplanation, errors=("not_found",)))
async def explain_schedule(request: HttpRequest, schedule_id: str) -> HttpResponse:
    """In words: what was decided, and what the next decision depends on."""
    query_of(ContractModel, request)
    return respond(await get_studio().explain_schedule(schedule_id))
