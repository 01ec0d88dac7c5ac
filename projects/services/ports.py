"""What the operations on projects need from the outside.

Every asynchronous port raises StateUnavailable when its store cannot answer; one call is one transaction. A missing
project is None, never an error: the operations turn it into NotFound. The synchronous ports are what other
capabilities do within such a transaction, while the project's row is locked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from contract.base import Page
from contract.projects import (
    AssignResult,
    AssignRuns,
    CreateProject,
    DetectProject,
    PatchProject,
    ProjectActivity,
    ProjectDeleted,
    ProjectQuery,
    ProjectSummary,
)


@dataclass(frozen=True, slots=True)
class ProjectPlace:
    """A project that is registered, and its folder."""

    name: str
    path: str | None


class ProjectPort(Protocol):
    """Reads and changes projects. Each change is published to the change feed after its commit."""

    async def list_projects(self, query: ProjectQuery, *, after: str | None) -> Page[ProjectSummary]:
        """Return one page by name, in the order of the characters, from after a name. `next_cursor` stays null."""
        ...

    async def find_project(self, name: str) -> ProjectSummary | None:
        """Return a project with what its runs amount to."""
        ...

    async def find_place(self, name: str) -> ProjectPlace | None:
        """Return where a project is."""
        ...

    async def find_place_at(self, folders: Sequence[str]) -> ProjectPlace | None:
        """Return the project whose path is the first of these folders that any has; of two with one path the older."""
        ...

    async def create_project(self, command: CreateProject, *, at: float) -> ProjectSummary:
        """Insert a project. Conflict when the name is taken."""
        ...

    async def patch_project(self, name: str, command: PatchProject, *, at: float) -> ProjectSummary | None:
        """Change what is given and differs; a new name goes to all that refers to the project.

        Conflict for a taken name or a stale `expected_updated_at`. `updated_at` grows with every change.
        """
        ...

    async def delete_project(self, name: str, *, detach: bool) -> ProjectDeleted | None:
        """Remove a project, and with `detach` its name from all that refers to it; without, Conflict if any does."""
        ...

    async def assign_runs(self, name: str, command: AssignRuns) -> AssignResult | None:
        """Give runs a project, all or nothing. NotFound for a run."""
        ...


class ProjectReferences(Protocol):
    """Records of another capability that carry the name of a project. Synchronous."""

    @property
    def named(self) -> str:
        """What they are called, in the plural: `runs`."""
        ...

    def count(self, name: str) -> int:
        """Count those that refer to a project."""
        ...

    def rename(self, name: str, new_name: str) -> int:
        """Let all of them refer to another name; return how many did."""
        ...

    def detach(self, name: str) -> int:
        """Let all of them refer to none; return how many did."""
        ...


class ProjectRuns(Protocol):
    """The runs' part of what projects are asked and do. Synchronous."""

    def activity(self, names: Sequence[str]) -> dict[str, ProjectActivity]:
        """Return what the runs of each project amount to, with one query; a project without runs is left out."""
        ...

    def assign(self, name: str, run_ids: Sequence[str]) -> int:
        """Give these runs a project; return how many had another. NotFound for the first that is none."""
        ...

    def assign_unassigned(self, name: str) -> int:
        """Give a project to every run that has none; return how many."""
        ...


class FolderPort(Protocol):
    """Looks at folders of this machine, and changes nothing."""

    async def survey(self, folder: str) -> DetectProject:
        """Return what this folder and those above it say of their project. What cannot be read is as if not there.

        ValidationFailure for a configuration file that says something unusable.
        """
        ...
