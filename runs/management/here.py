"""The project of the folder in which a command is given: looked for on this disk, decided by the application."""

from collections.abc import Callable

from contract.application import StudioApplication
from contract.errors import StudioError, ValidationFailure
from contract.projects import DetectProject
from studio_project.command_input import absolute

Look = Callable[[str], DetectProject]
Note = Callable[[str], None]


class ProjectHere:
    """The field `project` for a run that is given none, from `folder` and those above it.

    `wanted` is whether anything is looked for at all. What keeps the project from being told is noted, and no error.
    """

    def __init__(self, folder: str, *, wanted: bool, look: Look, note: Note) -> None:
        self._folder = folder
        self._wanted = wanted
        self._look = look
        self._note = note

    async def fields(self, studio: StudioApplication) -> dict[str, object]:
        """Return the field, or nothing."""
        if not self._wanted:
            return {}
        try:
            found = await studio.detect_project(self._look(absolute(self._folder)))
        except StudioError as fault:
            self._note(f"the run gets no project of this folder: {fault}")
            return {}
        return {} if found.name is None else {"project": found.name}


def require_one(project: str | None, *, no_project: bool) -> None:
    """Refuse a project together with none. ValidationFailure."""
    if project is not None and no_project:
        raise ValidationFailure.at("project", code="exclusive", message="cannot be given together with --no-project")
