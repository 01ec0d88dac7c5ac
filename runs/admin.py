"""Admin pages of runs and what belongs to them."""

from typing import Any, ClassVar, Final, get_args

from django.contrib import admin
from django.contrib.admin import SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from contract.events import Role
from contract.parsing import parse_model
from contract.runs import CancelRun
from runs.models import (
    BranchRecord,
    EventReceiptRecord,
    GraphRecord,
    InvocationRecord,
    LaunchRecord,
    MessageRecord,
    RunRecord,
    RunTagRecord,
    SignalRecord,
    TransitionRecord,
    UsageRecord,
)
from runs.naming import fold
from runs.reasons import REASONS
from runs.transitions import STATUSES
from studio_project.admin import ReadOnlyAdmin, dollars, head, instant
from studio_project.admin_actions import SteeringAdmin, reason_of
from studio_project.admin_filters import fixed_filter, presence_filter, text_filter
from studio_project.composition import get_studio

# What belongs to a run: title, list, and the counter of the run's row where it has one.
_BELONGINGS: Final = (
    ("Branches", "runs_branchrecord", "branch_count"),
    ("Messages", "runs_messagerecord", "message_count"),
    ("Signals", "runs_signalrecord", "signal_count"),
    ("Transitions", "runs_transitionrecord", None),
    ("Usage reports", "runs_usagerecord", None),
    ("Tags", "runs_runtagrecord", None),
    ("Graph", "runs_graphrecord", None),
    ("Launch", "runs_launchrecord", None),
    ("Artifacts", "artifacts_artifactrecord", None),
    ("Event receipts", "runs_eventreceiptrecord", None),
)


@admin.display(description="lists")
def belongings(run: RunRecord) -> SafeString:
    """Link to the lists of what belongs to a run."""
    links = (
        (f"{reverse(f'admin:{name}_changelist')}?{urlencode({'run': run.run_id})}", title, _counted(run, counter))
        for title, name, counter in _BELONGINGS
    )
    return format_html_join(" · ", '<a href="{}">{}{}</a>', links)


def _counted(run: RunRecord, counter: str | None) -> str:
    return f" ({getattr(run, counter):,})" if counter else ""


@admin.display(description="run")
def run_link(record: Any) -> SafeString:
    """Link to the run a record belongs to."""
    return format_html(
        '<a href="{}">{}</a>', reverse("admin:runs_runrecord_change", args=[record.run_id]), record.run.run_id
    )


@admin.display(description="runs")
def invocation_runs(invocation: InvocationRecord) -> SafeString:
    """Link to the runs of an invocation."""
    query = urlencode({"invocation": invocation.invocation_id})
    return format_html('<a href="{}?{}">its runs</a>', reverse("admin:runs_runrecord_changelist"), query)


@admin.register(RunRecord)
class RunAdmin(SteeringAdmin):
    """Runs, newest change first."""

    list_display = (
        "run_id",
        "name",
        "status",
        "kind",
        "agent_name",
        "project",
        "message_count",
        "signal_count",
        dollars("cost_micros", sort="sort_cost"),
        instant("started_at", sort="sort_started_at"),
        instant("updated_at", sort="updated_at"),
    )
    sortable_by = ("cost_micros", "started_at", "updated_at")
    list_filter = (
        fixed_filter("status", STATUSES),
        text_filter("kind"),
        text_filter("project"),
        text_filter("playbook_name"),
        text_filter("agent_name"),
        text_filter("tag_rows__tag", "tag"),
        text_filter("invocation_id", "invocation"),
    )
    search_fields = ("run_id", "search_text")
    search_help_text = "A whole run id, or a part of a name or an agent"
    ordering = ("-updated_at", "-id")
    json_fields = ("tags", "messages_by_role")
    extras = (belongings,)
    sections = (
        ("", ("run_id", "name", "kind", "agent_name", "playbook_name", "project", "model", "provider", "tags")),
        ("Status", ("status", "status_reason_code", "status_reason_summary", "cancel_requested_at", "cancel_reason")),
        ("Times", ("created_at", "started_at", "ended_at", "updated_at", "last_activity_at")),
        ("Sums", ("branch_count", "message_count", "messages_by_role", "signal_count", "last_seq")),
        (
            "Usage",
            ("input_tokens", "output_tokens", "cost_micros", "usage_reports", "usage_reports_without_cost"),
        ),
        ("Process", ("process_host", "process_pid", "process_started_at", "process_started_ticks", "process_boot_id")),
        ("Keys", ("id", "invocation", "search_text", "sort_started_at", "sort_cost")),
    )
    actions = ("cancel",)

    def get_search_results(
        self,
        request: HttpRequest,  # noqa: ARG002 (Django's signature)
        queryset: QuerySet[Any],
        search_term: str,
    ) -> tuple[QuerySet[Any], bool]:
        """Find one run by its id; else, as the API's `search` does, by a part of its name or agent."""
        term = search_term.strip()
        if not term:
            return queryset, False
        exact = queryset.filter(run_id=term)
        return (exact if exact.exists() else queryset.filter(search_text__contains=fold(term))), False

    @admin.action(description="Cancel", permissions=["steer"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[RunRecord]) -> None:
        """Ask the chosen runs to stop, and tell what became of each."""
        reason = reason_of(request) or f"by {request.user.get_username()} in the admin"

        async def cancel(run: RunRecord) -> None:
            await get_studio().cancel_run(run.run_id, parse_model(CancelRun, {"reason": reason}))

        logged = f"asked to stop: {reason}"
        self.steer(request, queryset.only("run_id"), cancel, told="Asked to stop", logged=logged)


@admin.register(InvocationRecord)
class InvocationAdmin(ReadOnlyAdmin):
    """Invocations, newest first."""

    list_display = ("invocation_id", "kind", instant("created_at", sort="created_at"), invocation_runs)
    list_filter = (text_filter("kind"),)
    sortable_by = ("created_at",)
    search_fields = ("=invocation_id",)
    search_help_text = "A whole invocation id"
    ordering = ("-created_at", "-id")
    extras = (invocation_runs,)


class OfRunAdmin(ReadOnlyAdmin):
    """Records of runs, newest first; those of one run in its own order.

    `order_in_run` follows an index, `searched` is the text to search in once a run is chosen.
    """

    order_in_run: ClassVar[tuple[str, ...]] = ("run_id", "id")
    searched: ClassVar[str] = ""

    also_read: ClassVar[tuple[str, ...]] = ("run__run_id",)
    list_select_related: ClassVar[tuple[str, ...]] = ("run",)
    list_filter: ClassVar[tuple[type[SimpleListFilter] | str, ...]] = (text_filter("run__run_id", "run"),)
    search_fields = ("run__run_id",)
    search_help_text = "A whole run id"
    sortable_by = ()

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """Return the order of one run's records, or of all."""
        return self.order_in_run if request.GET.get("run") else self.ordering

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find by run; within a chosen run, by a part of the text, where there is one. No search reads every run's."""
        term = search_term.strip()
        if not term:
            return queryset, False
        if request.GET.get("run") and self.searched:
            return queryset.filter(**{f"{self.searched}__icontains": term}), False
        return queryset.filter(run__run_id=term), False


_TEXT_HELP: Final = "A whole run id; with a run chosen at the side, a part of the text"


@admin.register(BranchRecord)
class BranchAdmin(OfRunAdmin):
    """Branches of runs."""

    list_display = ("name", run_link, "parent", "agent_name", "model", "message_count", instant("last_message_at"))


@admin.register(MessageRecord)
class MessageAdmin(OfRunAdmin):
    """Messages of runs."""

    list_display = (
        "seq",
        run_link,
        "branch_name",
        "role",
        "sender",
        "recipient",
        head("content"),
        "size_bytes",
        instant("recorded_at"),
    )
    also_read = ("run__run_id", "branch__name")
    list_select_related = ("run", "branch")
    list_filter = (*OfRunAdmin.list_filter, fixed_filter("role", get_args(Role)), "withheld", "sanitized")
    order_in_run = ("run_id", "seq")
    searched = "content"
    heads = ("content",)
    json_fields = ("content",)

    @admin.display(description="branch")
    def branch_name(self, message: MessageRecord) -> str:
        """The branch's name."""
        return message.branch.name


@admin.register(SignalRecord)
class SignalAdmin(OfRunAdmin):
    """Signals of runs."""

    list_display = ("seq", run_link, "kind", "op_id", "branch", head("payload"), "size_bytes", instant("recorded_at"))
    list_filter = (*OfRunAdmin.list_filter, text_filter("kind"), text_filter("op_id"), "withheld", "sanitized")
    order_in_run = ("run_id", "seq")
    searched = "payload"
    heads = ("payload",)
    json_fields = ("payload",)


@admin.register(TransitionRecord)
class TransitionAdmin(OfRunAdmin):
    """Moves of runs' statuses."""

    list_display = ("id", run_link, "from_status", "to_status", "reason_code", "actor", "refused", instant("at"))
    list_filter = (
        *OfRunAdmin.list_filter,
        fixed_filter("to_status", STATUSES),
        fixed_filter("reason_code", tuple(REASONS)),
        "refused",
    )


@admin.register(UsageRecord)
class UsageAdmin(OfRunAdmin):
    """Reports of tokens and money."""

    list_display = (
        "id",
        run_link,
        "model",
        "input_tokens",
        "output_tokens",
        dollars("cost_micros"),
        instant("recorded_at"),
    )
    list_filter = (*OfRunAdmin.list_filter, text_filter("model"))


@admin.register(RunTagRecord)
class RunTagAdmin(OfRunAdmin):
    """Tags of runs."""

    list_display = ("tag", run_link, instant("updated_at"))
    list_filter = (*OfRunAdmin.list_filter, text_filter("tag"))
    order_in_run = ("run_id", "tag")


@admin.register(GraphRecord)
class GraphAdmin(OfRunAdmin):
    """Graphs of runs."""

    list_display = (run_link, instant("updated_at"))
    list_display_links = None
    json_fields = ("graph",)
    order_in_run = ("run_id",)


@admin.register(EventReceiptRecord)
class EventReceiptAdmin(OfRunAdmin):
    """Event ids that were accepted already."""

    list_display = ("event_id", run_link)
    order_in_run = ("run_id", "event_id")
    searched = "event_id"
    search_help_text = _TEXT_HELP


@admin.register(LaunchRecord)
class LaunchAdmin(OfRunAdmin):
    """How runs that Studio executes were asked for, who holds them, and how their processes ended."""

    list_display = (
        "launch_key",
        run_link,
        "run_status",
        "runtime",
        "attempts",
        "exit_code",
        "exit_signal",
        instant("queued_at"),
        instant("claimed_at"),
    )
    also_read = ("run__run_id", "run__status")
    list_filter = (*OfRunAdmin.list_filter, text_filter("runtime"), presence_filter("owner", "held"))
    order_in_run = ("run_id",)
    search_help_text = "A whole run id or launch key"
    json_fields = ("action", "owner")
    text_fields = ("output_tail",)
    sections = (
        ("", ("run", "launch_key", "action", "digest", "runtime", "cwd", "deadline_seconds", "queued_at")),
        ("Lease", ("owner", "fence", "renewals", "claimed_at", "attempts")),
        (
            "Process",
            ("exit_code", "exit_signal", "stdout_bytes", "stderr_bytes", "withheld_bytes", "output_tail"),
        ),
    )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find one launch by its key; else by its run."""
        by_key = queryset.filter(launch_key=search_term.strip())
        return (by_key, False) if by_key.exists() else super().get_search_results(request, queryset, search_term)

    @admin.display(description="status")
    def run_status(self, launch: LaunchRecord) -> str:
        """The status of the run."""
        return launch.run.status
