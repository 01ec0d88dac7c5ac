"""InMemoryProjects: ProjectPort over the records of an InMemoryRuns; each call is atomic, as its transaction is."""

from collections.abc import Sequence

from contract.base import Page
from contract.errors import Conflict, NotFound
from contract.folding import fold
from contract.projects import (
    AssignResult,
    AssignRuns,
    CreateProject,
    PatchProject,
    ProjectActivity,
    ProjectDeleted,
    ProjectQuery,
    ProjectSummary,
)
from projects.changes import CHANGEABLE, changed_fields, later, require_unused
from projects.folders import folder_key, nearest
from projects.services.ports import ProjectPlace
from tests.fakes.run_records import StoredProject, StoredRun
from tests.fakes.runs import InMemoryRuns

TOPIC = "projects"


class InMemoryProjects:
    """Projects of runs that are kept in memory."""

    def __init__(self, runs: InMemoryRuns) -> None:
        self.runs = runs

    async def list_projects(self, query: ProjectQuery, *, after: str | None) -> Page[ProjectSummary]:
        await self.runs.reach("list_projects")
        found = [project for _, project in sorted(self.runs.projects.items())]
        found = [project for project in found if after is None or project.name > after]
        found = [project for project in found if fold(query.search or "") in fold(project.name)]
        rest = found[query.offset :]
        return Page[ProjectSummary](
            items=tuple(map(self._summary, rest[: query.limit])),
            offset=query.offset,
            limit=query.limit,
            has_next=len(rest) > query.limit,
        )

    async def find_project(self, name: str) -> ProjectSummary | None:
        await self.runs.reach("find_project")
        found = self.runs.projects.get(name)
        return None if found is None else self._summary(found)

    async def find_place(self, name: str) -> ProjectPlace | None:
        await self.runs.reach("find_place")
        found = self.runs.projects.get(name)
        return None if found is None else ProjectPlace(found.name, found.path)

    async def find_place_at(self, folders: Sequence[str]) -> ProjectPlace | None:
        await self.runs.reach("find_place_at")
        older_last = sorted(self.runs.projects.values(), key=lambda project: -project.number)
        places = {folder_key(found.path): ProjectPlace(found.name, found.path) for found in older_last if found.path}
        return nearest(places, folders)

    async def create_project(self, command: CreateProject, *, at: float) -> ProjectSummary:
        await self.runs.reach("create_project")
        self._require_free(command.name)
        self.runs.ensure_project(command.name, at=at)
        project = self.runs.projects[command.name]
        project.path, project.description = command.path, command.description
        return self._published(project)

    async def patch_project(self, name: str, command: PatchProject, *, at: float) -> ProjectSummary | None:
        await self.runs.reach("patch_project")
        project = self.runs.projects.get(name)
        if project is None:
            return None
        current = {field: getattr(project, field) for field in CHANGEABLE}
        changed = changed_fields(current, command, updated_at=project.updated_at)
        new_name = changed.get("name") or name
        if new_name != name:
            self._require_free(new_name)
            self._move(self._runs_of(name), new_name)
            self.runs.projects[new_name] = self.runs.projects.pop(name)
        for field, value in changed.items():
            setattr(project, field, value)
        if changed:
            project.updated_at = later(project.updated_at, at)
        return self._published(project)

    async def delete_project(self, name: str, *, detach: bool) -> ProjectDeleted | None:
        await self.runs.reach("delete_project")
        if name not in self.runs.projects:
            return None
        runs = self._runs_of(name)
        if not detach:
            require_unused(name, {"runs": len(runs)})
        self._move(runs, None)
        del self.runs.projects[name]
        self.runs.feed.publish((TOPIC,))
        return ProjectDeleted(name=name, detached_runs=len(runs))

    async def assign_runs(self, name: str, command: AssignRuns) -> AssignResult | None:
        await self.runs.reach("assign_runs")
        if name not in self.runs.projects:
            return None
        for run_id in command.run_ids:
            if run_id not in self.runs.runs:
                raise NotFound("run", run_id)
        wanted = {self.runs.runs[run_id].run_id: self.runs.runs[run_id] for run_id in command.run_ids}
        runs = self._runs_of(None) if command.unassigned else list(wanted.values())
        others = [run for run in runs if run.command.project != name]
        self._move(others, name)
        self.runs.feed.publish((TOPIC,))
        return AssignResult(name=name, assigned=len(others))

    def _runs_of(self, name: str | None) -> list[StoredRun]:
        return [run for run in self.runs.runs.values() if run.command.project == name]

    def _move(self, runs: list[StoredRun], name: str | None) -> None:
        for run in runs:
            run.command = run.command.model_copy(update={"project": name})

    def _require_free(self, name: str) -> None:
        if name in self.runs.projects:
            raise Conflict("project", None, name, f"a project {name} exists already")

    def _published(self, project: StoredProject) -> ProjectSummary:
        self.runs.feed.publish((TOPIC,))
        return self._summary(project)

    def _summary(self, project: StoredProject) -> ProjectSummary:
        runs = self._runs_of(project.name)
        activity = ProjectActivity(
            run_count=len(runs),
            running_count=sum(run.status == "running" for run in runs),
            last_activity_at=max((run.last_activity_at for run in runs), default=None),
        )
        return ProjectSummary(
            name=project.name,
            path=project.path,
            description=project.description,
            created_at=project.created_at,
            updated_at=project.updated_at,
            **activity.model_dump(),
        )
