"""The tables of projects behind the ports: DjangoProjects, and DjangoRunProjectRows for the transactions of runs."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from django.db import IntegrityError, connection
from django.db.models import F, QuerySet, Value
from django.db.models.functions import Collate, StrIndex

from contract.base import Page
from contract.errors import Conflict
from contract.folding import fold
from contract.ports import ChangeFeed
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
from projects.models import ProjectRecord
from projects.services.ports import ProjectPlace, ProjectReferences, ProjectRuns
from studio_project.change_feed import notify_others
from studio_project.statedb import StateDB

T = TypeVar("T")
Row = dict[str, Any]

# What the change feed calls it when a project, or which runs it has, changed.
PROJECTS_TOPIC: Final = "projects"
# Compares code points, which SQLite does by itself.
_PLAIN_ORDER: Final = "C"
_COLUMNS: Final = ("name", "path", "description", "created_at", "updated_at")
_ROWS: Final[QuerySet[ProjectRecord, Row]] = ProjectRecord.objects.values(*_COLUMNS)


class DjangoProjects:
    """Reads and changes projects; publishes each change after its commit."""

    def __init__(
        self, db: StateDB, *, feed: ChangeFeed, runs: ProjectRuns, references: Sequence[ProjectReferences]
    ) -> None:
        """Take the executor, and what a project's transaction touches beside its own table."""
        self._db = db
        self._feed = feed
        self._runs = runs
        self._references = references

    async def list_projects(self, query: ProjectQuery, *, after: str | None) -> Page[ProjectSummary]:
        """Return one page: one query for projects and one for all of their runs, of one snapshot."""
        return await self._db.read(partial(self._page, query, after), snapshot=True)

    async def find_project(self, name: str) -> ProjectSummary | None:
        """Return one project, of one snapshot."""
        return await self._db.read(partial(self._found, name), snapshot=True)

    async def find_place(self, name: str) -> ProjectPlace | None:
        """Return one project's place."""
        rows = ProjectRecord.objects.filter(name=name).values_list("name", "path")
        found = await self._db.read(rows.first)
        return None if found is None else ProjectPlace(*found)

    async def find_place_at(self, folders: Sequence[str]) -> ProjectPlace | None:
        """Return the nearest: one query, however many folders."""
        return await self._db.read(partial(_place_at, tuple(folders)))

    async def create_project(self, command: CreateProject, *, at: float) -> ProjectSummary:
        """Insert; the unique name settles races."""
        try:
            return await self._write(partial(self._create, command, at))
        except IntegrityError:
            raise _taken(command.name) from None

    async def patch_project(self, name: str, command: PatchProject, *, at: float) -> ProjectSummary | None:
        """Change under the row's lock; the unique name settles races for a new one."""
        try:
            return await self._write(partial(self._patch, name, command, at))
        except IntegrityError:
            raise _taken(str(command.name)) from None

    async def delete_project(self, name: str, *, detach: bool) -> ProjectDeleted | None:
        """Remove under the row's lock: whoever gives it another run meanwhile waits, and finds it gone."""
        return await self._write(partial(self._delete, name, detach=detach))

    async def assign_runs(self, name: str, command: AssignRuns) -> AssignResult | None:
        """Change the runs while the project is kept from going."""
        return await self._write(partial(self._assign, name, command))

    async def _write(self, work: Callable[[], T]) -> T:
        result = await self._db.write(partial(_told, work))
        self._feed.publish((PROJECTS_TOPIC,))
        return result

    def _page(self, query: ProjectQuery, after: str | None) -> Page[ProjectSummary]:
        found = list(project_walk(query, after))
        return Page[ProjectSummary](
            items=self._summaries(found[: query.limit]),
            offset=query.offset,
            limit=query.limit,
            has_next=len(found) > query.limit,
        )

    def _found(self, name: str) -> ProjectSummary | None:
        return next(iter(self._summaries(list(_ROWS.filter(name=name)))), None)

    def _changed(self, project: ProjectRecord) -> ProjectSummary:
        (summary,) = self._summaries([_ROWS.get(pk=project.pk)])
        return summary

    def _summaries(self, rows: Sequence[Row]) -> tuple[ProjectSummary, ...]:
        activity = self._runs.activity([row["name"] for row in rows]) if rows else {}
        none = ProjectActivity()
        return tuple(ProjectSummary(**row, **activity.get(row["name"], none).model_dump()) for row in rows)

    def _create(self, command: CreateProject, at: float) -> ProjectSummary:
        fields = {"name": command.name, "path": command.path, "description": command.description}
        return self._changed(ProjectRecord.objects.create(**_columns(fields), created_at=at, updated_at=at))

    def _patch(self, name: str, command: PatchProject, at: float) -> ProjectSummary | None:
        project = _locked(name)
        if project is None:
            return None
        current = {field: getattr(project, field) for field in CHANGEABLE}
        changed = changed_fields(current, command, updated_at=project.updated_at)
        new_name = changed.get("name") or name
        if changed:
            columns = _columns(changed) | {"updated_at": later(project.updated_at, at)}
            ProjectRecord.objects.filter(pk=project.pk).update(**columns)
        if new_name != name:
            for referring in self._references:
                referring.rename(name, new_name)
        return self._changed(project)

    def _delete(self, name: str, *, detach: bool) -> ProjectDeleted | None:
        project = _locked(name)
        if project is None:
            return None
        if not detach:
            require_unused(name, {referring.named: referring.count(name) for referring in self._references})
        detached = {referring.named: referring.detach(name) for referring in self._references}
        project.delete()
        return ProjectDeleted(name=name, **{f"detached_{named}": count for named, count in detached.items()})

    def _assign(self, name: str, command: AssignRuns) -> AssignResult | None:
        if not _kept(name):
            return None
        if command.unassigned:
            return AssignResult(name=name, assigned=self._runs.assign_unassigned(name))
        return AssignResult(name=name, assigned=self._runs.assign(name, command.run_ids))


class DjangoRunProjectRows:
    """The projects that runs are registered under, within the transaction that registers one."""

    def ensure(self, name: str, *, at: float) -> None:
        """Insert a project unless there is one, and keep it from being renamed or removed until the run is there."""
        while not _kept(name):
            record = ProjectRecord(**_columns({"name": name}), created_at=at, updated_at=at)
            ProjectRecord.objects.bulk_create([record], ignore_conflicts=True)


def project_walk(query: ProjectQuery, after: str | None) -> QuerySet[ProjectRecord, Row]:
    """Return the rows of one page and one more, in the order of the characters on every database."""
    key = Collate("name", _PLAIN_ORDER) if connection.vendor == "postgresql" else F("name")
    found = _ROWS.alias(key=key).order_by("key")
    if after is not None:
        found = found.filter(key__gt=after)
    if query.search is not None:
        # StrIndex compares bytes on both databases; LIKE would fold ASCII only on one of them.
        found = found.alias(found=StrIndex("search_text", Value(fold(query.search)))).filter(found__gt=0)
    return found[query.offset : query.offset + query.limit + 1]


def _place_at(folders: tuple[str, ...]) -> ProjectPlace | None:
    keys = [folder_key(folder) for folder in folders]
    found = ProjectRecord.objects.filter(path_key__in=keys).order_by("-id").values_list("path_key", "name", "path")
    # The older of two comes last, and stays.
    return nearest({key: ProjectPlace(name, path) for key, name, path in found if key}, folders)


def _columns(fields: dict[str, str | None]) -> Row:
    """Return the columns of these fields, with those that are made of them."""
    columns: Row = dict(fields)
    if name := fields.get("name"):
        columns["search_text"] = fold(name)
    if "path" in fields:
        columns["path_key"] = None if fields["path"] is None else folder_key(fields["path"])
    return columns


def _locked(name: str) -> ProjectRecord | None:
    """Read a project and keep others from changing it, or using it, until the transaction ends."""
    return ProjectRecord.objects.select_for_update().filter(name=name).first()


def _kept(name: str) -> bool:
    """Whether there is such a project; its name then stays until the transaction ends, and others may use it too."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            # Waits for who renames or removes it, and for nobody else.
            cursor.execute("SELECT 1 FROM projects_projectrecord WHERE name = %s FOR KEY SHARE", [name])
            return cursor.fetchone() is not None
    return ProjectRecord.objects.filter(name=name).exists()  # no second writer is there


def _taken(name: str) -> Conflict:
    return Conflict("project", None, name, f"a project {name} exists already")


def _told(work: Callable[[], T]) -> T:
    result = work()
    notify_others((PROJECTS_TOPIC,))
    return result
