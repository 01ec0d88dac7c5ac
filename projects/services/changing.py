"""Operations that make, change and remove projects, and give runs to them."""

from contract.errors import NotFound
from contract.ports import Clock
from contract.projects import (
    AssignResult,
    AssignRuns,
    CreateProject,
    DeleteProject,
    PatchProject,
    ProjectDeleted,
    ProjectSummary,
)
from projects.names import require_possible
from projects.services.ports import ProjectPort


async def create_project(*, command: CreateProject, projects: ProjectPort, clock: Clock) -> ProjectSummary:
    """Make a project. Conflict when the name is taken."""
    return await projects.create_project(command, at=clock.now())


async def patch_project(*, name: str, command: PatchProject, projects: ProjectPort, clock: Clock) -> ProjectSummary:
    """Change a project. NotFound; Conflict for a taken name or a stale `expected_updated_at`."""
    require_possible(name)
    changed = await projects.patch_project(name, command, at=clock.now())
    if changed is None:
        raise NotFound("project", name)
    return changed


async def delete_project(*, name: str, command: DeleteProject, projects: ProjectPort) -> ProjectDeleted:
    """Remove a project. NotFound; Conflict while anything refers to it, unless told to detach that."""
    require_possible(name)
    deleted = await projects.delete_project(name, detach=command.detach)
    if deleted is None:
        raise NotFound("project", name)
    return deleted


async def assign_runs(*, name: str, command: AssignRuns, projects: ProjectPort) -> AssignResult:
    """Give runs a project, all or nothing. NotFound for the project or a run; nothing is made in passing."""
    require_possible(name)
    assigned = await projects.assign_runs(name, command)
    if assigned is None:
        raise NotFound("project", name)
    return assigned
