"""Admin page of projects."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from contract.folding import fold
from contract.projects import DeleteProject
from projects.models import ProjectRecord
from studio_project.admin import instant
from studio_project.admin_actions import SteeringAdmin
from studio_project.composition import get_studio


@admin.display(description="runs")
def project_runs(project: ProjectRecord) -> SafeString:
    """Link to the runs of a project. None is counted: that is what the list over HTTP does, for all at once."""
    query = urlencode({"project": project.name})
    return format_html('<a href="{}?{}">its runs</a>', reverse("admin:runs_runrecord_changelist"), query)


@admin.register(ProjectRecord)
class ProjectAdmin(SteeringAdmin):
    """Projects, newest first."""

    list_display = (
        "name",
        project_runs,
        "path",
        "description",
        instant("created_at"),
        instant("updated_at"),
    )
    sortable_by = ()
    search_fields = ("search_text",)
    search_help_text = "A part of a name"
    extras = (project_runs,)
    actions = ("remove",)

    def get_search_results(
        self,
        request: HttpRequest,  # noqa: ARG002 (Django's signature)
        queryset: "QuerySet[ProjectRecord]",
        search_term: str,
    ) -> "tuple[QuerySet[ProjectRecord], bool]":
        """Find by a part of the name, as the API's `search` does."""
        term = search_term.strip()
        return (queryset.filter(search_text__contains=fold(term)) if term else queryset), False

    @admin.action(description="Remove", permissions=["steer"])
    def remove(self, request: HttpRequest, queryset: "QuerySet[ProjectRecord]") -> None:
        """Remove the chosen projects that no run has, and tell what became of each."""

        async def remove(project: ProjectRecord) -> None:
            await get_studio().delete_project(project.name, DeleteProject())

        self.steer(request, queryset.only("name"), remove, told="Removed", logged="removed")
