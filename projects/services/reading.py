"""Operations that read projects."""

from contract.base import Page
from contract.errors import NotFound
from contract.projects import DetectedProject, DetectProject, ProjectQuery, ProjectSummary
from projects.cursors import after_project, read_projects
from projects.detection import claimed
from projects.names import require_possible
from projects.services.ports import ProjectPort


async def list_projects(*, query: ProjectQuery, projects: ProjectPort) -> Page[ProjectSummary]:
    """Return one page of projects. ValidationFailure for a foreign cursor."""
    page = await projects.list_projects(query, after=read_projects(query))
    if not page.has_next:
        return page
    return page.model_copy(update={"next_cursor": after_project(query, page.items[-1].name)})


async def get_project(*, name: str, projects: ProjectPort) -> ProjectSummary:
    """Return a project. NotFound."""
    require_possible(name)
    found = await projects.find_project(name)
    if found is None:
        raise NotFound("project", name)
    return found


async def detect_project(*, query: DetectProject, projects: ProjectPort) -> DetectedProject:
    """Say which project a folder belongs to: what it claims, else the nearest path that a project has."""
    claim = claimed(query)
    if claim is not None:
        name, source = claim
        return DetectedProject(name=name, source=source, registered=await projects.find_place(name) is not None)
    place = await projects.find_place_at(query.folders)
    if place is None:
        return DetectedProject(name=None, source=None)
    return DetectedProject(name=place.name, source="path", registered=True)
