"""What launches ask about projects: where one is, and which one a folder belongs to."""

from contract.errors import StudioApplicationError
from projects.names import is_name
from projects.services.ports import FolderPort, ProjectPort
from projects.services.reading import detect_project


class ProjectFolders:
    """Says where projects are, and which project a folder of this machine belongs to."""

    def __init__(self, projects: ProjectPort, folders: FolderPort) -> None:
        """Take the projects and the disk."""
        self._projects = projects
        self._folders = folders

    async def project_path(self, name: str) -> str | None:
        """Return the path of a project; None for one without, or without a row. StateUnavailable."""
        place = await self._projects.find_place(name) if is_name(name) else None
        return None if place is None else place.path

    async def project_of(self, folder: str) -> str | None:
        """Return the project that an absolute folder belongs to, None for none, or where that cannot be told."""
        try:
            found = await detect_project(query=await self._folders.survey(folder), projects=self._projects)
        except StudioApplicationError:
            return None
        return found.name
