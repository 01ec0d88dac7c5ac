"""ArtifactRecordPort and ArtifactOwnerPort over the in-memory runs, whose artifacts are the ones that events name."""

import json
from collections.abc import Sequence
from typing import Any

from artifacts.cursors import after_artifact
from artifacts.naming import FILE_KIND, name_of_file
from artifacts.places import place_of
from artifacts.services.ports import ArtifactDraft, MeasuredFile, Owner
from contract.artifacts import ArtifactListQuery, ArtifactMetadata, ArtifactSummary, ArtifactView
from contract.base import Page
from tests.fakes.run_records import StoredRun, stored_json
from tests.fakes.runs import InMemoryRuns

Rows = dict[tuple[str, str], tuple[int, ArtifactView]]


class InMemoryArtifacts:
    """Reads and writes artifacts; each call is atomic, as its transaction is."""

    def __init__(self, runs: InMemoryRuns | None = None) -> None:
        self.runs = runs or InMemoryRuns()
        self._of_invocations: dict[str, Rows] = {}

    async def get(self, artifact_id: str) -> ArtifactMetadata | None:
        await self.runs.reach("get")
        found = (
            _metadata(owner, view)
            for owner, rows in self._owners()
            for _, view in rows.values()
            if view.artifact_id == artifact_id
        )
        return next(found, None)

    async def list_artifacts(self, owner: Owner, query: ArtifactListQuery, *, after: int) -> Page[ArtifactSummary]:
        await self.runs.reach("list_artifacts")
        rows = [(number, view) for number, view in self._sorted(owner) if number > after]
        rows = [row for row in rows if query.kind in (None, row[1].kind)][query.offset :]
        shown, has_next = rows[: query.limit], len(rows) > query.limit
        return Page[ArtifactSummary](
            items=tuple(_summary(owner, view) for _, view in shown),
            offset=query.offset,
            limit=query.limit,
            has_next=has_next,
            next_cursor=after_artifact(query, str(owner), shown[-1][0]) if has_next else None,
        )

    async def files_of(self, run_id: str, *, limit: int) -> tuple[ArtifactSummary, ...]:
        await self.runs.reach("files_of")
        owner = Owner("run", run_id)
        found = [_summary(owner, view) for _, view in self._sorted(owner) if view.path is not None]
        return tuple(found[:limit])

    async def save(self, draft: ArtifactDraft, *, at: float) -> ArtifactMetadata:
        await self.runs.reach("save")
        rows = self._rows(draft.owner)
        key = (draft.kind, draft.name)
        number, before = rows.get(key, (self.runs.number("artifact"), None))
        view = ArtifactView(
            artifact_id=before.artifact_id if before else self.runs.ids.new_id(),
            kind=draft.kind,
            name=draft.name,
            path=draft.path,
            media_type=draft.media_type,
            content=stored_json(draft.content),
            content_bytes=len(json.dumps(draft.content, ensure_ascii=False).encode()),
            sha256=draft.sha256,
            size_bytes=draft.size_bytes,
            created_at=before.created_at if before else at,
            updated_at=at,
        )
        rows[key] = (number, view)
        return _metadata(draft.owner, view)

    async def unmeasured(self, run_id: str, *, paths: Sequence[str] | None, limit: int) -> tuple[str, ...]:
        await self.runs.reach("unmeasured")
        waiting = [
            view.path
            for _, view in self._sorted(Owner("run", run_id))
            if view.path is not None and view.size_bytes is None and (paths is None or view.path in paths)
        ]
        return tuple(dict.fromkeys(waiting[:limit]))

    async def measure(self, run_id: str, files: Sequence[MeasuredFile]) -> None:
        await self.runs.reach("measure")
        rows = self._rows(Owner("run", run_id))
        by_path = {file.path: file for file in files}
        for key, (number, view) in list(rows.items()):
            file = by_path.get(view.path or "")
            if file is None or view.size_bytes is not None or view.sha256 not in (None, file.sha256):
                continue
            found = {"sha256": file.sha256, "size_bytes": file.size_bytes}
            rows[key] = (
                number,
                view.model_copy(update={**found, "media_type": view.media_type or file.media_type}),
            )

    async def add_files(self, run_id: str, files: Sequence[MeasuredFile], *, at: float) -> None:
        await self.runs.reach("add_files")
        rows = self._rows(Owner("run", run_id))
        taken = {name for kind, name in rows if kind == FILE_KIND}
        named = {view.path for _, view in rows.values()}
        for file in files:
            if file.path in named:
                continue
            name = name_of_file(file.path, taken)
            view = ArtifactView(
                artifact_id=self.runs.ids.new_id(),
                kind=FILE_KIND,
                name=name,
                path=file.path,
                media_type=file.media_type,
                content_bytes=4,
                sha256=file.sha256,
                size_bytes=file.size_bytes,
                created_at=at,
                updated_at=at,
            )
            rows.setdefault((FILE_KIND, name), (self.runs.number("artifact"), view))

    async def exists(self, owner: Owner) -> bool:
        await self.runs.reach("exists")
        known = self.runs.runs if owner.kind == "run" else self.runs.invocations
        return owner.identifier in known

    def _owners(self) -> list[tuple[Owner, Rows]]:
        runs: list[StoredRun] = list(self.runs.runs.values())
        return [
            *((Owner("run", run.run_id), run.artifacts) for run in runs),
            *((Owner("invocation", name), rows) for name, rows in self._of_invocations.items()),
        ]

    def _rows(self, owner: Owner) -> Rows:
        if owner.kind == "invocation":
            return self._of_invocations.setdefault(owner.identifier, {})
        run = self.runs.runs.get(owner.identifier)
        return {} if run is None else run.artifacts

    def _sorted(self, owner: Owner) -> list[tuple[int, ArtifactView]]:
        return sorted(self._rows(owner).values(), key=lambda row: row[0])


def _owner_fields(owner: Owner) -> dict[str, Any]:
    return {"run_id": None, "invocation_id": None, f"{owner.kind}_id": owner.identifier}


def _metadata(owner: Owner, view: ArtifactView) -> ArtifactMetadata:
    content = view.content
    return ArtifactMetadata(
        id=view.artifact_id,
        kind=view.kind,
        name=view.name,
        content=content if isinstance(content, dict) else {} if content is None else {"value": content},
        relative_path=None if view.path is None else place_of(owner.identifier, view.path),
        sha256=view.sha256,
        media_type=view.media_type,
        size_bytes=view.size_bytes,
        created_at=view.created_at,
        updated_at=view.updated_at,
        **_owner_fields(owner),
    )


def _summary(owner: Owner, view: ArtifactView) -> ArtifactSummary:
    shared = view.model_dump(exclude={"type", "content", "content_bytes", "withheld"})
    return ArtifactSummary(**shared, **_owner_fields(owner))
