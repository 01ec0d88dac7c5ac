"""Operations on projects, over HTTP: a part of RemoteStudio."""

from urllib.parse import quote

from contract.base import Page, unsafe_text
from contract.errors import NotFound
from contract.http_exchange import query_of
from contract.projects import (
    AssignResult,
    AssignRuns,
    CreateProject,
    DeleteProject,
    DetectedProject,
    DetectProject,
    PatchProject,
    ProjectDeleted,
    ProjectQuery,
    ProjectSummary,
    project_name_fault,
)
from contract.remote_part import RemotePart

_PROJECTS = "/api/v1/projects/"


class RemoteProjects(RemotePart):
    """Projects, at the other end of an exchange."""

    async def list_projects(self, query: ProjectQuery) -> Page[ProjectSummary]:
        """Return one page of projects."""
        return await self._exchange.get(Page[ProjectSummary], _PROJECTS, query_of(query))

    async def get_project(self, name: str) -> ProjectSummary:
        """Return a project."""
        return await self._exchange.get(ProjectSummary, _project(name))

    async def create_project(self, command: CreateProject) -> ProjectSummary:
        """Make a project. Sent again it would be a Conflict with itself."""
        return await self._exchange.send(ProjectSummary, "POST", _PROJECTS, command, repeatable=False)

    async def patch_project(self, name: str, command: PatchProject) -> ProjectSummary:
        """Change a project. Sent again after a new name it would not be found."""
        return await self._exchange.send(ProjectSummary, "PATCH", _project(name), command, repeatable=False)

    async def delete_project(self, name: str, command: DeleteProject) -> ProjectDeleted:
        """Remove a project. Sent again it would not be found."""
        return await self._exchange.delete(ProjectDeleted, _project(name), query_of(command), repeatable=False)

    async def assign_runs(self, name: str, command: AssignRuns) -> AssignResult:
        """Give runs a project. Sent again it would count none."""
        return await self._exchange.send(AssignResult, "POST", f"{_project(name)}/assign", command, repeatable=False)

    async def detect_project(self, query: DetectProject) -> DetectedProject:
        """Say which project a folder belongs to."""
        return await self._exchange.send(DetectedProject, "POST", f"{_PROJECTS}detect", query, repeatable=True)


def _project(name: str) -> str:
    """Return the path of a project; its slashes stay. What no project can be called is not asked for."""
    if not name or project_name_fault(name) or unsafe_text(name):
        raise NotFound("project", name)
    return _PROJECTS + quote(name, safe="/")
