"""Admin page of artifacts."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from artifacts.models import ArtifactRecord
from studio_project.admin import ReadOnlyAdmin, instant
from studio_project.admin_filters import text_filter


@admin.display(description="run")
def owner_run(artifact: ArtifactRecord) -> SafeString | str:
    """Link to the run that made it, if one did. The apps share no keys, so this is a list of one run."""
    if artifact.run_id is None:
        return "-"
    query = urlencode({"run_id": artifact.run_id})
    return format_html('<a href="{}?{}">{}</a>', reverse("admin:runs_runrecord_changelist"), query, artifact.run_id)


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
    extras = (owner_run,)

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
