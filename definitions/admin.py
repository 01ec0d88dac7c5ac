"""Admin pages of definitions: the files' histories, and the inbox of what did not reach its file."""

from typing import Any, Final, get_args

from asgiref.sync import async_to_sync
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from contract.definitions import (
    CapturedFile,
    DefinitionOrigin,
    DeleteDefinition,
    ReconcileAction,
    ReconciliationStatus,
    Resolution,
    ResolveReconciliation,
    RollbackDefinition,
    SnapshotDefinitions,
    WriteStatus,
)
from contract.errors import Conflict, StudioError
from contract.parsing import parse_model
from definitions.diffs import compare
from definitions.errors import WRITE_FAULTS
from definitions.models import (
    DefinitionRecord,
    DefinitionVersionRecord,
    ReconciliationAttemptRecord,
    ReconciliationRecord,
)
from definitions.names import KINDS
from definitions.services.text_work import COMPARISONS
from studio_project.admin import ReadOnlyAdmin, head, instant
from studio_project.admin_actions import SteeringAdmin, actor_of, reason_of
from studio_project.admin_diffs import difference, offered_versions
from studio_project.admin_filters import fixed_filter, presence_filter, text_filter
from studio_project.admin_values import FIELD_MAX_CHARS, NOTHING, cut
from studio_project.composition import get_studio

_DIFF_CONTEXT_LINES: Final = 3
# What the actions on reconciliations are called in their list.
_ACTION_LABELS: Final[dict[ReconcileAction, str]] = {
    "retry_write": "Write the version to its file",
    "accept_file": "Accept the file as a new version",
    "dismiss": "Dismiss, with a reason",
}


@admin.display(description="versions")
def history(definition: DefinitionRecord) -> SafeString:
    """Link to the versions of a definition."""
    query = urlencode({"kind": definition.kind, "name": definition.name})
    address = reverse("admin:definitions_definitionversionrecord_changelist")
    return format_html('<a href="{}?{}">{} versions</a>', address, query, definition.latest_version)


@admin.display(description="pending reconciliation")
def pending(definition: DefinitionRecord) -> SafeString | str:
    """Link to the pending reconciliation of a definition."""
    return _reconciliation_link(definition.pending_reconciliation_id)


@admin.display(description="deleted", boolean=True)
def deleted(definition: DefinitionRecord) -> bool:
    """Whether the newest version records a deletion."""
    return definition.latest_sha256 is None


@admin.display(description="definition")
def definition(record: Any) -> SafeString:
    """Link to the definition a record belongs to."""
    address = reverse("admin:definitions_definitionrecord_change", args=[record.definition_id])
    return format_html('<a href="{}">{}</a>', address, record.definition)


@admin.display(description="reconciliation")
def reconciliation_link(attempt: ReconciliationAttemptRecord) -> SafeString | str:
    """Link to the reconciliation an entry belongs to."""
    return _reconciliation_link(attempt.reconciliation_id)


def _reconciliation_link(reconciliation_id: str | None) -> SafeString | str:
    if reconciliation_id is None:
        return NOTHING
    address = reverse("admin:definitions_reconciliationrecord_changelist")
    return format_html('<a href="{}?{}">{}</a>', address, urlencode({"q": reconciliation_id}), reconciliation_id)


@admin.register(DefinitionRecord)
class DefinitionAdmin(SteeringAdmin):
    """Definitions with a history. Files that were never versioned are listed by the API and the commands."""

    list_display = (
        "name",
        "kind",
        history,
        deleted,
        pending,
        "latest_size_bytes",
        instant("updated_at", sort="updated_at"),
    )
    also_read = ("latest_version", "latest_sha256", "pending_reconciliation_id")
    list_filter = (
        fixed_filter("kind", KINDS),
        presence_filter("pending_reconciliation_id", "pending"),
        presence_filter("latest_sha256", "deleted", present="no"),
    )
    sortable_by = ("name", "updated_at")
    search_fields = ("name",)
    search_help_text = "A part of a name"
    ordering = ("kind", "name")
    json_fields = ("writer_process",)
    extras = (history, pending)
    actions = ("snapshot", "delete")

    @admin.action(description="Snapshot what was done to the files by hand", permissions=["steer"])
    def snapshot(self, request: HttpRequest, queryset: QuerySet[DefinitionRecord]) -> None:
        """Make versions of what was done to the chosen files by hand."""
        said = {"message": reason_of(request), "actor": actor_of(request)}
        captured: list[CapturedFile] = []

        async def snapshot(chosen: DefinitionRecord) -> None:
            command = parse_model(SnapshotDefinitions, {"kind": chosen.kind, "name": chosen.name, **said})
            result = await get_studio().snapshot_definitions(command)
            for skipped in result.skipped:
                raise Conflict("definition file", None, None, skipped.reason)
            captured.extend(result.captured)

        self.steer(request, queryset, snapshot, told="Looked at", logged="snapshot")
        told = ", ".join(f"{file.kind}/{file.name} (version {file.version})" for file in captured) or "nothing"
        self.message_user(request, f"Captured: {cut(told, FIELD_MAX_CHARS)}.", messages.SUCCESS)

    @admin.action(description="Delete, restorably", permissions=["steer"])
    def delete(self, request: HttpRequest, queryset: QuerySet[DefinitionRecord]) -> None:
        """Record a deletion of the chosen definitions and remove their files."""
        said = {"message": reason_of(request), "actor": actor_of(request)}

        async def delete(chosen: DefinitionRecord) -> None:
            await get_studio().delete_definition(chosen.kind, chosen.name, parse_model(DeleteDefinition, said))

        self.steer(request, queryset, delete, told="Deleted", logged="deleted")


@admin.display(description="changes")
def changes(version: Any) -> SafeString:
    """Show how a version differs from the one it is compared with."""
    against = version.compared_with
    offered = offered_versions(version.version, newest=version.definition.latest_version)
    before = "" if against == 0 else _content(version.definition_id, against)
    if before is None:
        return format_html("{} There is no version {}.", offered, against)
    told = format_html("{} Against version {}:", offered, against or "0 (nothing)")
    diff = COMPARISONS.submit(compare, before, version.content, context=_DIFF_CONTEXT_LINES).result()
    return format_html("{}{}", told, difference(diff.hunks, added=diff.added, removed=diff.removed, coarse=diff.coarse))


def _content(definition_id: int, version: int) -> str | None:
    versions = DefinitionVersionRecord.objects.filter(definition_id=definition_id, version=version)
    return versions.values_list("content", flat=True).first()


@admin.register(DefinitionVersionRecord)
class DefinitionVersionAdmin(SteeringAdmin):
    """Versions of definitions, newest first."""

    list_display = (
        "version",
        definition,
        "origin",
        "write_status",
        "deleted",
        "actor",
        head("message"),
        "size_bytes",
        instant("created_at"),
    )
    also_read = ("definition__kind", "definition__name")
    list_select_related = ("definition",)
    heads = ("message",)
    list_filter = (
        fixed_filter("definition__kind", KINDS, "kind"),
        text_filter("definition__name", "name"),
        fixed_filter("origin", get_args(DefinitionOrigin)),
        fixed_filter("write_status", get_args(WriteStatus)),
        "deleted",
    )
    sortable_by = ()
    search_fields = ("version_id__exact",)
    search_help_text = "A whole version id"
    text_fields = ("content",)
    sections = (
        ("", ("definition", "version", "message", "origin", "deleted", "actor", "write_status", "created_at")),
        ("Content", ("content",)),
        ("Keys", ("id", "version_id", "relative_path", "content_sha256", "size_bytes")),
    )
    extras = (changes,)
    actions = ("rollback",)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Return a version, with the number of the one that the page compares it with: `?against=`."""
        version: Any = super().get_object(request, object_id, from_field)
        if version is not None:
            wanted = request.GET.get("against", "")
            version.compared_with = int(wanted) if _is_number(wanted) else version.version - 1
        return version

    def named(self, record: Any) -> str:
        """Return the version's number with the definition."""
        return f"Version {record.version} of {record.definition}"

    @admin.action(description="Roll back to this version", permissions=["steer"])
    def rollback(self, request: HttpRequest, queryset: QuerySet[DefinitionVersionRecord]) -> None:
        """Store the content of the one chosen version as the newest."""
        if queryset.count() != 1:
            self.message_user(request, "Choose one version to roll back to.", messages.ERROR)
            return
        said = {"message": reason_of(request), "actor": actor_of(request)}

        async def rollback(chosen: DefinitionVersionRecord) -> None:
            command = parse_model(RollbackDefinition, {"version": chosen.version, **said})
            await get_studio().rollback_definition(chosen.definition.kind, chosen.definition.name, command)

        chosen = queryset.select_related("definition").defer("content")
        self.steer(request, chosen, rollback, told="Rolled back", logged="rolled back to this version")


def _is_number(text: str) -> bool:
    """Whether text is the number of a version that a column can hold."""
    return text.isascii() and text.isdigit() and len(text) < len(str(2**63 - 1))


@admin.display(description="version")
def version(reconciliation: ReconciliationRecord) -> SafeString:
    """Link to the version that did not reach its file."""
    record = reconciliation.version
    address = reverse("admin:definitions_definitionversionrecord_change", args=[record.pk])
    return format_html('<a href="{}">{}</a>', address, record.version)


@admin.display(description="log")
def log(reconciliation: ReconciliationRecord) -> SafeString:
    """Show what was tried, oldest first."""
    entries = reconciliation.log.order_by("pk")
    rows = ((instant("at")(entry), entry, entry.actor, entry.detail) for entry in entries)
    # A form moves its lists to the right, by the width of a label that this one does not have.
    listed = format_html_join("", "<li>{}: {} by {} {}</li>", rows)
    return format_html('<ul style="margin: 0; padding: 0">{}</ul>', listed)


@admin.display(description="the file now")
def file_now(reconciliation: ReconciliationRecord) -> SafeString | str:
    """Say what stands in the file's place, and which actions would be taken."""
    try:
        found = async_to_sync(get_studio().get_reconciliation)(reconciliation.reconciliation_id)
    except StudioError as error:
        return str(error)
    holds = found.problem or (f"holds {found.file_sha256}" if found.file_sha256 else "there is no file")
    labels = "; ".join(_ACTION_LABELS[action] for action in found.actions) or "nothing, it is resolved"
    told = "{}; possible now: {} (the actions are in the list: {})"
    return format_html(told, holds, labels, _reconciliation_link(found.id))


@admin.register(ReconciliationRecord)
class ReconciliationAdmin(SteeringAdmin):
    """The inbox: versions that did not reach their file. Pending ones first, then newest first."""

    list_display = (
        "reconciliation_id",
        definition,
        version,
        "status",
        "error_code",
        "attempts",
        "resolution",
        "actor",
        instant("created_at"),
    )
    also_read = ("definition__kind", "definition__name", "version__version")
    list_select_related = ("definition", "version")
    list_filter = (
        fixed_filter("status", get_args(ReconciliationStatus)),
        fixed_filter("error_code", tuple(WRITE_FAULTS)),
        fixed_filter("resolution", get_args(Resolution)),
        fixed_filter("definition__kind", KINDS, "kind"),
        text_filter("definition__name", "name"),
    )
    sortable_by = ()
    search_fields = ("reconciliation_id__exact",)
    search_help_text = "A whole reconciliation id"
    # `pending` comes before `resolved`: the index by status is in this order.
    ordering = ("status", "-created_at", "-reconciliation_id")
    sections = (
        ("", ("reconciliation_id", "status", "error_code", "error_detail", "attempts", "created_at")),
        ("Settled", ("resolution", "reason", "actor", "result_version", "resolved_at")),
        ("Keys", ("id", "expected_sha256", "observed_sha256", "last_observed_sha256", "updated_at")),
    )
    extras = (definition, version, file_now, log)
    actions = ("retry_write", "accept_file", "dismiss")

    @admin.action(description=_ACTION_LABELS["retry_write"], permissions=["steer"])
    def retry_write(self, request: HttpRequest, queryset: QuerySet[ReconciliationRecord]) -> None:
        """Write the versions, where the files are still as they were."""
        self._resolve(request, queryset, "retry_write", "Written")

    @admin.action(description=_ACTION_LABELS["accept_file"], permissions=["steer"])
    def accept_file(self, request: HttpRequest, queryset: QuerySet[ReconciliationRecord]) -> None:
        """Append the files as they are."""
        self._resolve(request, queryset, "accept_file", "Accepted")

    @admin.action(description=_ACTION_LABELS["dismiss"], permissions=["steer"])
    def dismiss(self, request: HttpRequest, queryset: QuerySet[ReconciliationRecord]) -> None:
        """Leave histories and files as they are."""
        self._resolve(request, queryset, "dismiss", "Dismissed")

    def _resolve(
        self, request: HttpRequest, queryset: QuerySet[ReconciliationRecord], action: ReconcileAction, told: str
    ) -> None:
        reason = reason_of(request)
        said = {"action": action, "reason": reason, "actor": actor_of(request)}

        async def resolve(chosen: ReconciliationRecord) -> None:
            command = parse_model(ResolveReconciliation, said)
            await get_studio().resolve_reconciliation(chosen.reconciliation_id, command)

        logged = f"{action}: {reason}" if reason else action
        self.steer(request, queryset, resolve, told=told, logged=logged)


@admin.register(ReconciliationAttemptRecord)
class ReconciliationAttemptAdmin(ReadOnlyAdmin):
    """The log of reconciliations, newest first."""

    list_display = ("id", reconciliation_link, "action", "outcome", "actor", head("detail"), instant("at"))
    also_read = ("reconciliation",)
    heads = ("detail",)
    list_filter = (text_filter("reconciliation_id", "reconciliation"), fixed_filter("action", get_args(Resolution)))
    sortable_by = ()
    search_fields = ("reconciliation__reconciliation_id__exact",)
    search_help_text = "A whole reconciliation id"
    extras = (reconciliation_link,)
