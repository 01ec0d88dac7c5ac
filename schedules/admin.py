"""Admin pages of schedules and of their firings."""

from collections.abc import Awaitable, Callable
from typing import Any, Final, get_args

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from contract.actions import ActionKind
from contract.folding import fold
from contract.schedule_operations import ScheduleOperations
from contract.schedules import FireSchedule, FiringCause, FiringOutcome, SetScheduleEnabled
from schedules.models import FiringRecord, ScheduleRecord
from schedules.reasons import DISABLED_REASONS, FIRING_REASONS
from studio_project.admin import ReadOnlyAdmin, dollars, instant
from studio_project.admin_actions import SteeringAdmin
from studio_project.admin_filters import fixed_filter, presence_filter, text_filter
from studio_project.admin_values import NOTHING
from studio_project.composition import get_studio

# The kinds of the contract's triggers.
_TRIGGERS: Final = ("cron", "interval", "github_poll", "at")
# What is done with one schedule, given by its id.
_Step = Callable[[ScheduleOperations, str], Awaitable[object]]


@admin.display(description="firings")
def firings(schedule: ScheduleRecord) -> SafeString:
    """Link to what was decided for a schedule."""
    query = urlencode({"schedule": schedule.schedule_id})
    return format_html('<a href="{}?{}">its firings</a>', reverse("admin:schedules_firingrecord_changelist"), query)


@admin.display(description="schedule")
def schedule_link(firing: FiringRecord) -> SafeString:
    """Link to the schedule of a firing."""
    address = reverse("admin:schedules_schedulerecord_change", args=[firing.schedule_id])
    return format_html('<a href="{}">{}</a>', address, firing.schedule.name)


@admin.display(description="run")
def run_link(firing: FiringRecord) -> SafeString | str:
    """Link to the run that was fired."""
    return _run(firing.run_id)


@admin.display(description="last run")
def last_run(schedule: ScheduleRecord) -> SafeString | str:
    """Link to the run that was fired last."""
    return _run(schedule.last_run_id)


@admin.display(description="parent run")
def parent_run(firing: FiringRecord) -> SafeString | str:
    """Link to the run that a chained one follows on."""
    return _run(firing.parent_run_id)


def _run(run_id: str | None) -> SafeString | str:
    if run_id is None:
        return NOTHING
    query = urlencode({"q": run_id})
    return format_html('<a href="{}?{}">{}</a>', reverse("admin:runs_runrecord_changelist"), query, run_id)


@admin.register(ScheduleRecord)
class ScheduleAdmin(SteeringAdmin):
    """Schedules by name."""

    list_display = (
        "name",
        "enabled",
        "paused",
        "trigger_kind",
        "action_kind",
        "project",
        instant("next_fire_at"),
        instant("last_fired_at"),
        "last_run_status",
        "run_count",
        dollars("spent_micros"),
        "disabled_reason",
        firings,
    )
    also_read = ("schedule_id",)
    sortable_by = ("name",)
    list_filter = (
        "enabled",
        "paused",
        fixed_filter("trigger_kind", _TRIGGERS, "trigger"),
        fixed_filter("action_kind", get_args(ActionKind), "action"),
        text_filter("project"),
        text_filter("last_run_status"),
        fixed_filter("disabled_reason", tuple(DISABLED_REASONS)),
        presence_filter("poll_fault", "poll_fault"),
    )
    search_fields = ("schedule_id", "search_text")
    search_help_text = "A whole schedule id, or a part of a name"
    ordering = ("name",)
    json_fields = ("trigger", "action", "poll_seen")
    text_fields = ("description", "poll_fault")
    extras = (firings, last_run)
    sections = (
        (
            "",
            (
                "schedule_id",
                "name",
                "description",
                "project",
                "trigger_kind",
                "trigger",
                "zone",
                "action_kind",
                "action",
            ),
        ),
        ("Standing", ("enabled", "paused", "disabled_reason", "next_fire_at", "anchor_at", "created_at", "updated_at")),
        ("Policy", ("missed_fire_policy", "overlap_policy", "max_runs", "budget_micros", "budget_tokens")),
        (
            "Runs",
            (
                "run_count",
                "spent_micros",
                "spent_tokens",
                "last_fired_at",
                "last_run_id",
                "last_run_status",
                "consecutive_failures",
            ),
        ),
        (
            "Poller",
            (
                "poll_last_at",
                "poll_last_ok_at",
                "poll_not_before",
                "poll_failures",
                "poll_fault",
                "poll_cursor_at",
                "poll_seen",
                "poll_etag",
            ),
        ),
        ("Keys", ("id", "revision", "search_text")),
    )
    actions = ("enable", "disable", "fire", "fire_forced", "skip_next")

    def get_search_results(
        self,
        request: HttpRequest,  # noqa: ARG002 (Django's signature)
        queryset: QuerySet[Any],
        search_term: str,
    ) -> tuple[QuerySet[Any], bool]:
        """Find one schedule by its id; else, as the API's `search` does, by a part of its name."""
        term = search_term.strip()
        if not term:
            return queryset, False
        exact = queryset.filter(schedule_id=term)
        return (exact if exact.exists() else queryset.filter(search_text__contains=fold(term))), False

    @admin.action(description="Enable", permissions=["steer"])
    def enable(self, request: HttpRequest, queryset: QuerySet[ScheduleRecord]) -> None:
        """Let the chosen schedules fire."""
        self._each(request, queryset, _enabled, told="Enabled", logged="enabled")

    @admin.action(description="Disable", permissions=["steer"])
    def disable(self, request: HttpRequest, queryset: QuerySet[ScheduleRecord]) -> None:
        """Let the chosen schedules not fire."""
        self._each(request, queryset, _disabled, told="Disabled", logged="disabled")

    @admin.action(description="Fire now", permissions=["steer"])
    def fire(self, request: HttpRequest, queryset: QuerySet[ScheduleRecord]) -> None:
        """Fire the chosen schedules, as their policies and caps allow."""
        self._each(request, queryset, _fired, told="Fired", logged="fired")

    @admin.action(description="Fire now, whatever policies and caps say", permissions=["steer"])
    def fire_forced(self, request: HttpRequest, queryset: QuerySet[ScheduleRecord]) -> None:
        """Fire the chosen schedules."""
        self._each(request, queryset, _forced, told="Fired", logged="fired, forced")

    @admin.action(description="Skip the next instant", permissions=["steer"])
    def skip_next(self, request: HttpRequest, queryset: QuerySet[ScheduleRecord]) -> None:
        """Drop the next instant of the chosen schedules."""
        self._each(request, queryset, _skipped, told="Skipped", logged="skipped the next instant")

    def _each(
        self, request: HttpRequest, queryset: QuerySet[ScheduleRecord], step: _Step, *, told: str, logged: str
    ) -> None:
        async def take(chosen: ScheduleRecord) -> None:
            await step(get_studio(), chosen.schedule_id)

        self.steer(request, queryset.only("schedule_id", "name"), take, told=told, logged=logged)


async def _enabled(studio: ScheduleOperations, schedule_id: str) -> None:
    await studio.mutate_schedule(SetScheduleEnabled(schedule_id=schedule_id, enabled=True))


async def _disabled(studio: ScheduleOperations, schedule_id: str) -> None:
    await studio.mutate_schedule(SetScheduleEnabled(schedule_id=schedule_id, enabled=False))


async def _fired(studio: ScheduleOperations, schedule_id: str) -> None:
    await studio.fire_schedule(schedule_id, FireSchedule())


async def _forced(studio: ScheduleOperations, schedule_id: str) -> None:
    await studio.fire_schedule(schedule_id, FireSchedule(force=True))


async def _skipped(studio: ScheduleOperations, schedule_id: str) -> None:
    await studio.skip_next(schedule_id)


@admin.register(FiringRecord)
class FiringAdmin(ReadOnlyAdmin):
    """What was decided, newest first."""

    list_display = (
        "firing_id",
        schedule_link,
        "outcome",
        "reason_code",
        "cause",
        "depth",
        run_link,
        "run_status",
        instant("due_at"),
        instant("decided_at"),
    )
    also_read = ("schedule__name", "run_id")
    list_select_related = ("schedule",)
    sortable_by = ()
    list_filter = (
        text_filter("schedule__schedule_id", "schedule"),
        fixed_filter("outcome", get_args(FiringOutcome)),
        fixed_filter("cause", get_args(FiringCause)),
        fixed_filter("reason_code", tuple(FIRING_REASONS)),
        text_filter("run_status"),
    )
    search_fields = ("firing_id", "run_id")
    search_help_text = "A whole firing id or run id"
    json_fields = ("action",)
    text_fields = ("reason_summary",)
    extras = (schedule_link, run_link, parent_run)
    sections = (
        ("", ("firing_id", "schedule", "slot", "due_at", "decided_at", "cause", "event")),
        ("Decision", ("outcome", "reason_code", "reason_summary", "action", "run_id", "run_status")),
        ("Chain", ("depth", "root_firing_id", "parent_run_id")),
        ("Keys", ("id",)),
    )

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """Return the order of one schedule's firings, which an index has, or of all."""
        return ("-decided_at", "-id") if request.GET.get("schedule") else self.ordering

    def get_search_results(
        self,
        request: HttpRequest,  # noqa: ARG002 (Django's signature)
        queryset: QuerySet[Any],
        search_term: str,
    ) -> tuple[QuerySet[Any], bool]:
        """Find one firing by its id, else by its run."""
        term = search_term.strip()
        if not term:
            return queryset, False
        exact = queryset.filter(firing_id=term)
        return (exact if exact.exists() else queryset.filter(run_id=term)), False
