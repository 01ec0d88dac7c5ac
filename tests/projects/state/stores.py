"""The two stores that the suite runs over: the in-memory one, and the Django adapters."""

import asyncio
from dataclasses import dataclass
from typing import Any

from contract.actions import ActionFields
from contract.projects import AssignRuns, CreateProject, PatchProject, ProjectQuery, ProjectSummary
from projects.services.ports import ProjectPort
from projects.state import DjangoProjects
from runs.state.projects import DjangoProjectRuns
from studio_project.statedb import StateDB
from tests.fakes.projects import InMemoryProjects
from tests.fakes.runs import InMemoryRuns
from tests.runs.state import stores as run_stores


@dataclass(kw_only=True)
class Store:
    """Projects and runs of one store, and short forms of what tests do all the time, at the present instant."""

    projects: ProjectPort
    runs: run_stores.Store

    async def create(self, name: str, **fields: Any) -> ProjectSummary:
        return await self.projects.create_project(CreateProject(name=name, **fields), at=self.runs.clock.now())

    async def patch(self, project: str, /, **fields: Any) -> ProjectSummary | None:
        return await self.projects.patch_project(project, PatchProject(**fields), at=self.runs.clock.now())

    async def start(self, run_id: str, project: str | None) -> None:
        """Register a run of a project."""
        await self.runs.start(run_id, project=project)

    async def queue(self, run_id: str, project: str | None) -> None:
        """Launch a run of a project."""
        await self.runs.queue(run_id, action=ActionFields(kind="agent", prompt="p", project=project))

    async def assign(self, name: str, *run_ids: str, unassigned: bool = False) -> int | None:
        result = await self.projects.assign_runs(name, AssignRuns(run_ids=run_ids, unassigned=unassigned))
        return None if result is None else result.assigned

    async def found(self, name: str) -> ProjectSummary:
        """Return a project that exists."""
        project = await self.projects.find_project(name)
        assert project is not None
        return project

    async def names(self, after: str | None = None, **query: Any) -> list[str]:
        """Return the names of one page."""
        page = await self.projects.list_projects(ProjectQuery(**query), after=after)
        return [project.name for project in page.items]

    async def labels(self, *run_ids: str) -> list[str | None]:
        """Return the projects of runs."""
        return [(await self.runs.detail(run_id)).project for run_id in run_ids]

    async def close(self) -> None:
        await asyncio.to_thread(self.runs.close)


def memory_store() -> Store:
    runs = run_stores.memory_store()
    assert isinstance(runs.reads, InMemoryRuns)
    return Store(projects=InMemoryProjects(runs.reads), runs=runs)


def django_store(db: StateDB | None = None) -> Store:
    """Bind the adapters to the default database. To be closed, or its threads keep their connections."""
    db = db or StateDB()
    runs = run_stores.django_store(db)
    of_projects = DjangoProjectRuns()
    projects = DjangoProjects(db, feed=runs.feed, runs=of_projects, references=(of_projects,))
    return Store(projects=projects, runs=runs)
