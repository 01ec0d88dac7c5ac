"""The operations on projects, bound: a part of Studio that needs no adapter by its name."""

from contract.base import Page
from contract.ports import Clock
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
)
from projects.services import changing, reading
from projects.services.ports import ProjectPort


class ProjectOperations:
    """Every operation on projects, over ports."""

    def __init__(self, *, projects: ProjectPort, clock: Clock) -> None:
        """Bind."""
        self._projects = projects
        self._project_clock = clock

    async def list_projects(self, query: ProjectQuery) -> Page[ProjectSummary]:
        """Return one page of projects."""
        return await reading.list_projects(query=query, projects=self._projects)

    async def get_project(self, name: str) -> ProjectSummary:
        """Return a project."""
        return await reading.get_project(name=name, projects=self._projects)

    async def create_project(self, command: CreateProject) -> ProjectSummary:
        """Make a project."""
        return await changing.create_project(command=command, projects=self._projects, clock=self._project_clock)

    async def patch_project(self, name: str, command: PatchProject) -> ProjectSummary:
        """Change a project."""
        return await changing.patch_project(
            name=name, command=command, projects=self._projects, clock=self._project_clock
        )

    async def delete_project(self, name: str, command: DeleteProject) -> ProjectDeleted:
        """Remove a project."""
        return await changing.delete_project(name=name, command=command, projects=self._projects)

    async def assign_runs(self, name: str, command: AssignRuns) -> AssignResult:
        """Give runs a project."""
        return await changing.assign_runs(name=name, command=command, projects=self._projects)

    async def detect_project(self, query: DetectProject) -> DetectedProject:
        """Say which project a folder belongs to."""
        return await reading.detect_project(query=query, projects=self._projects)
