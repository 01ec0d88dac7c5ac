"""The artifact tables: behind the operations' own ports, and behind those of other capabilities."""

import json
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final

from django.db.models import Q, QuerySet, Value
from django.db.models.functions import Coalesce

from artifacts.cursors import after_artifact
from artifacts.models import ArtifactRecord
from artifacts.naming import FILE_KIND, name_of_file
from artifacts.places import place_of
from artifacts.services.ports import ArtifactDraft, MeasuredFile, Owner
from contract.artifacts import ArtifactListQuery, ArtifactMetadata, ArtifactSummary, ArtifactView
from contract.base import Page
from contract.events import ArtifactEvent
from contract.ports import IdGenerator
from studio_project.prepared_query import PreparedQuery
from studio_project.statedb import StateDB

Row = dict[str, Any]

_OF_RUN: Final = PreparedQuery(
    ArtifactRecord.objects.filter(run_id="?", id__gt=-1).order_by("id").values(
        "id", "artifact_id", "kind", "name", "relative_path", "media_type", "content", "created_at", "updated_at",
        "sha256", "size_bytes",
    ),
    *("?", -1),
)  # fmt: skip
# Built once: naming its columns is half the work of such a query.
_METADATA: Final[QuerySet[Any, Any]] = ArtifactRecord.objects.values(
    "artifact_id", "kind", "name", "content", "relative_path", "sha256", "media_type", "size_bytes", "run_id",
    "invocation_id", "created_at", "updated_at",
)  # fmt: skip
_SUMMARIES: Final[QuerySet[Any, Any]] = ArtifactRecord.objects.order_by("id").values(
    "id", "artifact_id", "run_id", "invocation_id", "kind", "name", "relative_path", "media_type", "sha256",
    "size_bytes", "created_at", "updated_at",
)  # fmt: skip
# Contents read ahead: each may have a mebibyte.
_CHUNK: Final = 8


class DjangoArtifacts:
    """ArtifactRecordPort over the ORM."""

    def __init__(self, db: StateDB, *, ids: IdGenerator) -> None:
        """Take the executor, and what names new artifacts."""
        self._db = db
        self._ids = ids

    async def get(self, artifact_id: str) -> ArtifactMetadata | None:
        """Look an artifact up in the index of its id: one query."""
        return await self._db.read(partial(_get, artifact_id))

    async def list_artifacts(self, owner: Owner, query: ArtifactListQuery, *, after: int) -> Page[ArtifactSummary]:
        """Walk the index of an owner's artifacts: one query, nothing counted."""
        return await self._db.read(partial(_page, owner, query, after))

    async def files_of(self, run_id: str, *, limit: int) -> tuple[ArtifactSummary, ...]:
        """Walk the index of a run's artifacts."""
        return await self._db.read(partial(_files_of, run_id, limit))

    async def save(self, draft: ArtifactDraft, *, at: float) -> ArtifactMetadata:
        """Insert or replace; the unique constraints settle races."""
        return await self._db.write(partial(self._save, draft, at))

    async def unmeasured(self, run_id: str, *, paths: Sequence[str] | None, limit: int) -> tuple[str, ...]:
        """Return paths of files that no size is known of."""
        return await self._db.read(partial(_unmeasured, run_id, paths, limit))

    async def measure(self, run_id: str, files: Sequence[MeasuredFile]) -> None:
        """Write what was found, row by row, in one transaction."""
        await self._db.write(partial(_measure, run_id, files))

    async def add_files(self, run_id: str, files: Sequence[MeasuredFile], *, at: float) -> None:
        """Insert what has no row yet, in a few statements."""
        await self._db.write(partial(self._add_files, run_id, files, at))

    def _save(self, draft: ArtifactDraft, at: float) -> ArtifactMetadata:
        described = {
            "content": json.dumps(draft.content, ensure_ascii=False),
            "relative_path": draft.path,
            "media_type": draft.media_type,
            "sha256": draft.sha256,
            "size_bytes": draft.size_bytes,
            "updated_at": at,
        }
        record, _ = ArtifactRecord.objects.update_or_create(
            **_of(draft.owner),
            kind=draft.kind,
            name=draft.name,
            defaults=described,
            create_defaults={**described, "artifact_id": self._ids.new_id(), "created_at": at},
        )
        return _metadata(_METADATA.filter(pk=record.pk).get())

    def _add_files(self, run_id: str, files: Sequence[MeasuredFile], at: float) -> None:
        recorded = list(ArtifactRecord.objects.filter(run_id=run_id).values_list("kind", "name", "relative_path"))
        taken = {name for kind, name, _ in recorded if kind == FILE_KIND}
        named = {path for _, _, path in recorded}
        ArtifactRecord.objects.bulk_create(
            (
                ArtifactRecord(
                    artifact_id=self._ids.new_id(),
                    run_id=run_id,
                    kind=FILE_KIND,
                    name=name_of_file(file.path, taken),
                    content="null",
                    relative_path=file.path,
                    media_type=file.media_type,
                    sha256=file.sha256,
                    size_bytes=file.size_bytes,
                    created_at=at,
                    updated_at=at,
                )
                for file in files
                if file.path not in named
            ),
            ignore_conflicts=True,  # whoever recorded one of that name meanwhile knew more
        )


class DjangoRunArtifactRows:
    """A run's artifacts, read and written inside the transaction of whoever asks."""

    def __init__(self, ids: IdGenerator) -> None:
        """Take what names new artifacts."""
        self._ids = ids

    def upsert(self, run_id: str, events: Sequence[ArtifactEvent], *, at: float) -> None:
        """Insert or replace by (run, kind, name); the unique constraint settles races."""
        for event in events:
            ArtifactRecord.objects.update_or_create(
                run_id=run_id,
                kind=event.kind,
                name=event.name,
                defaults=(described := _described(event, at)),
                create_defaults={**described, "artifact_id": self._ids.new_id(), "created_at": at},
            )

    def of_run(self, run_id: str, *, after: int, limit: int) -> Iterator[tuple[int, ArtifactView]]:
        """Read artifacts one by one, oldest first, with their row number."""
        for row in islice(_OF_RUN.stream(run_id, after, chunk=_CHUNK), limit):
            yield row.pop("id"), _view(row)

    def count(self, run_id: str) -> int:
        """Count the run's artifacts."""
        return ArtifactRecord.objects.filter(run_id=run_id).count()


class DjangoArtifactRemoval:
    """The artifacts of runs that are removed, inside the transaction of whoever removes them."""

    # Those that are deleted from.
    tables: Final = (ArtifactRecord._meta.db_table,)  # noqa: SLF001 (Django's own name for it)

    def count_of_runs(self, run_ids: Collection[str]) -> int:
        """Count the artifacts of these runs."""
        return ArtifactRecord.objects.filter(run_id__in=run_ids).count()

    def remove_of_runs(self, run_ids: Collection[str]) -> None:
        """Remove them in one statement."""
        gone = ArtifactRecord.objects.filter(run_id__in=run_ids)
        gone._raw_delete(gone.db)  # noqa: SLF001 (Django's own way may load every row first)

    def owning_invocations(self, invocation_ids: Collection[str]) -> frozenset[str]:
        """Return those of the invocations that have artifacts of their own."""
        owned = ArtifactRecord.objects.filter(invocation_id__in=invocation_ids)
        return frozenset(
            owner for owner in owned.values_list("invocation_id", flat=True).distinct() if owner is not None
        )


def _of(owner: Owner) -> Row:
    return {f"{owner.kind}_id": owner.identifier}


def _get(artifact_id: str) -> ArtifactMetadata | None:
    row = _METADATA.filter(artifact_id=artifact_id).first()
    return None if row is None else _metadata(row)


def _metadata(row: Row) -> ArtifactMetadata:
    """Return one artifact, taking its row over."""
    row["id"] = row.pop("artifact_id")
    content = json.loads(row["content"])
    row["content"] = content if isinstance(content, dict) else {} if content is None else {"value": content}
    if row["relative_path"] is not None:
        row["relative_path"] = place_of(row["run_id"], row["relative_path"])
    return ArtifactMetadata(**row)


def walk_of(owner: Owner, query: ArtifactListQuery, after: int) -> QuerySet[Any, Row]:
    """Return the rows of one page and one more, oldest first."""
    found = _SUMMARIES.filter(**_of(owner), id__gt=after)
    if query.kind is not None:
        found = found.filter(kind=query.kind)
    return found[query.offset : query.offset + query.limit + 1]


def _page(owner: Owner, query: ArtifactListQuery, after: int) -> Page[ArtifactSummary]:
    found = list(walk_of(owner, query, after))
    shown, has_next = found[: query.limit], len(found) > query.limit
    cursor = after_artifact(query, str(owner), shown[-1]["id"]) if has_next else None
    return Page[ArtifactSummary](
        items=tuple(map(_summary, shown)),
        offset=query.offset,
        limit=query.limit,
        has_next=has_next,
        next_cursor=cursor,
    )


def _summary(row: Row) -> ArtifactSummary:
    """Return an artifact of a list, taking its row over."""
    del row["id"]
    row["path"] = row.pop("relative_path")
    return ArtifactSummary(**row)


def _files_of(run_id: str, limit: int) -> tuple[ArtifactSummary, ...]:
    found = _SUMMARIES.filter(run_id=run_id, relative_path__isnull=False)
    return tuple(map(_summary, found[:limit]))


def _without_size(run_id: str, paths: Sequence[str] | None) -> QuerySet[ArtifactRecord]:
    found = ArtifactRecord.objects.filter(run_id=run_id, relative_path__isnull=False, size_bytes__isnull=True)
    return found if paths is None else found.filter(relative_path__in=paths)


def _unmeasured(run_id: str, paths: Sequence[str] | None, limit: int) -> tuple[str, ...]:
    found = _without_size(run_id, paths).order_by("id").values_list("relative_path", flat=True)
    # Two artifacts may name one file.
    return tuple(dict.fromkeys(path for path in found[:limit] if path is not None))


def _measure(run_id: str, files: Sequence[MeasuredFile]) -> None:
    by_path = {file.path: file for file in files}
    waiting = _without_size(run_id, list(by_path)).values_list("id", "relative_path")
    for number, path in list(waiting):
        file = by_path[path or ""]
        same = Q(sha256__isnull=True) | Q(sha256=file.sha256)
        ArtifactRecord.objects.filter(same, id=number, relative_path=path, size_bytes__isnull=True).update(
            sha256=file.sha256,
            size_bytes=file.size_bytes,
            media_type=Coalesce("media_type", Value(file.media_type)),
        )


def _described(event: ArtifactEvent, at: float) -> Row:
    return {
        "content": json.dumps(event.content, ensure_ascii=False),
        "relative_path": event.path,
        "media_type": event.media_type,
        "sha256": event.sha256,
        # Of a file that is named again nothing is known but what is told.
        "size_bytes": None,
        "updated_at": at,
    }


def _view(row: Row) -> ArtifactView:
    content = row.pop("content")
    size = len(content) if content.isascii() else len(content.encode())
    return ArtifactView(path=row.pop("relative_path"), content=json.loads(content), content_bytes=size, **row)
