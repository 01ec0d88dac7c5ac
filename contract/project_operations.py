"""The operations on projects: a part of StudioApplication."""

from typing import Protocol

from contract.base import Page
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


class ProjectOperations(Protocol):
    """Every operation on projects."""

    async def list_projects(self, query: ProjectQuery) -> Page[ProjectSummary]:
        """Return one page of projects by name."""
        ...

    async def get_project(self, name: str) -> ProjectSummary:
        """Return a project. NotFound."""
        ...

    async def create_project(self, command: CreateProject) -> ProjectSummary:
        """Make a project. Conflict when the name is taken."""
        ...

    async def patch_project(self, name: str, command: PatchProject) -> ProjectSummary:
        """Change a project; a new name goes to all that refers to it, at once.

        NotFound; Conflict for a taken name or a stale `expected_updated_at`.
        """
        ...

    async def delete_project(self, name: str, command: DeleteProject) -> ProjectDeleted:
        """Remove a project. NotFound; Conflict while runs or schedules refer to it, unless told to detach them."""
        ...

    async def assign_runs(self, name: str, command: AssignRuns) -> AssignResult:
        """Give runs a project, all or nothing. NotFound for the project or a run."""
        ...

    async def detect_project(self, query: DetectProject) -> DetectedProject:
        """Say which project a folder belongs to. Creates nothing."""
        ...
