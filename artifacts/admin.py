"""Admin page of artifacts."""

from typing import Any, Final

from asgiref.sync import async_to_sync
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from artifacts.models import ArtifactRecord
from contract.artifacts import ArtifactCheck, ArtifactQuery, ArtifactResult, ArtifactVerification
from contract.errors import StudioError
from studio_project.admin import ReadOnlyAdmin, instant, text_block
from studio_project.admin_filters import text_filter
from studio_project.admin_values import FIELD_MAX_CHARS, NOTHING, cut
from studio_project.composition import get_studio

# What a page shows of a text, in bytes that surely hold as many characters as a field may have.
_PREVIEW_BYTES: Final = 4 * FIELD_MAX_CHARS
# One click; a run may have a thousand files to hash.
_RUNS_AT_ONCE_MAX: Final = 20
_TOLD_MAX: Final = 20


@admin.display(description="run")
def owner_run(artifact: ArtifactRecord) -> SafeString | str:
    """Link to the run that made it, if one did. The apps share no keys, so this is a list of one run."""
    if artifact.run_id is None:
        return "-"
    query = urlencode({"run_id": artifact.run_id})
    return format_html('<a href="{}?{}">{}</a>', reverse("admin:runs_runrecord_changelist"), query, artifact.run_id)


@admin.display(description="preview")
def preview(artifact: ArtifactRecord) -> SafeString | str:
    """Show the beginning of a text as text; of anything else only what it is."""
    if artifact.relative_path is None:
        return NOTHING
    query = ArtifactQuery(artifact_id=artifact.artifact_id, include_preview=True, preview_limit_bytes=_PREVIEW_BYTES)
    try:
        return _shown(async_to_sync(get_studio().resolve_artifact)(query))
    except StudioError as error:
        return str(error)


def _shown(found: ArtifactResult) -> SafeString | str:
    if found.preview is None:
        return f"{found.display_path} is not there"
    if found.preview_kind != "text":
        return (
            f"{found.display_path}: {found.preview_kind}, {found.media_type}, {filesizeformat(found.size_bytes or 0)}"
        )
    text = found.preview.decode()
    shown = cut(text, FIELD_MAX_CHARS)
    is_whole = shown == text and not found.preview_truncated
    return text_block(shown if is_whole else f"{text[:FIELD_MAX_CHARS]}\n… of {filesizeformat(found.size_bytes or 0)}")


@admin.register(ArtifactRecord)
class ArtifactAdmin(ReadOnlyAdmin):
    """Artifacts, newest first; those of one run in the order of their making."""

    list_display = ("name", "kind", owner_run, "invocation_id", "media_type", "size_bytes", instant("updated_at"))
    list_filter = (
        text_filter("run_id", "run"),
        text_filter("invocation_id", "invocation"),
        text_filter("kind"),
        text_filter("name"),
    )
    also_read = ("run_id",)
    sortable_by = ()
    search_fields = ("artifact_id",)
    search_help_text = "A whole artifact id or run id"
    json_fields = ("content",)
    extras = (owner_run, preview)
    actions = ("verify",)

    @admin.action(description="Verify the files of their runs", permissions=["view"])
    def verify(self, request: HttpRequest, queryset: QuerySet[ArtifactRecord]) -> None:
        """Hash the files of the chosen artifacts' runs anew, and tell what is not as it was recorded."""
        chosen = queryset.filter(run_id__isnull=False).order_by("run_id").values_list("run_id", flat=True).distinct()
        run_ids = [run_id for run_id in chosen[: _RUNS_AT_ONCE_MAX + 1] if run_id is not None]
        if len(run_ids) > _RUNS_AT_ONCE_MAX:
            self.message_user(request, f"At most the files of {_RUNS_AT_ONCE_MAX} runs at once.", messages.ERROR)
            return
        for run_id in run_ids:
            try:
                self._tell(request, async_to_sync(get_studio().verify_artifacts)(run_id))
            except StudioError as error:
                self.message_user(request, f"Run {run_id}: {error}", messages.ERROR)

    def _tell(self, request: HttpRequest, found: ArtifactVerification) -> None:
        faults = [check for check in found.checks if check.outcome not in ("unchanged", "unhashed")]
        for check in faults[:_TOLD_MAX]:
            self.message_user(request, f"Run {found.run_id}: {_fault(check)}", messages.ERROR)
        unregistered = f", {len(found.unregistered)} unregistered" if found.unregistered else ""
        more = "; there is more than was looked at" if found.truncated else ""
        told = f"Run {found.run_id}: {len(found.checks)} verified, {len(faults)} not as recorded{unregistered}{more}."
        self.message_user(request, told, messages.WARNING if faults else messages.SUCCESS)

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """Return the order of one run's artifacts, or of all."""
        return ("run_id", "id") if request.GET.get("run") else ("-id",)

    def get_search_results(
        self,
        request: HttpRequest,  # noqa: ARG002 (Django's signature)
        queryset: QuerySet[Any],
        search_term: str,
    ) -> tuple[QuerySet[Any], bool]:
        """Find one artifact by its id; else all of a run."""
        term = search_term.strip()
        if not term:
            return queryset, False
        exact = queryset.filter(artifact_id=term)
        return (exact if exact.exists() else queryset.filter(run_id=term)), False


def _fault(check: ArtifactCheck) -> str:
    return f"{check.path} is {check.outcome}{f': {check.detail}' if check.detail else ''}"
