"""Operations that read definitions, their history, and what differs."""

from collections.abc import Sequence
from dataclasses import dataclass

from contract.base import Page
from contract.definitions import (
    DefinitionDetail,
    DefinitionKind,
    DefinitionQuery,
    DefinitionSummary,
    DefinitionVersion,
    DefinitionVersionSummary,
    VersionQuery,
)
from contract.diffs import DefinitionDiff, DiffQuery
from contract.errors import Conflict, NotFound, PermissionDenied, ValidationFailure
from definitions.cursors import after_definition, after_version, read_definitions, read_versions
from definitions.diffs import compare, unified
from definitions.heads import drift_of
from definitions.names import KINDS, flat_place, known_kind
from definitions.services.ports import (
    DefinitionHead,
    DefinitionHistoryPort,
    FileDefinitionPort,
    FileObservation,
)
from definitions.services.text_work import COMPARISONS, in_turn

Place = tuple[DefinitionKind, str]


async def list_definitions(
    *, query: DefinitionQuery, history: DefinitionHistoryPort, files: FileDefinitionPort
) -> Page[DefinitionSummary]:
    """Return one page by kind and name: what has a file, and what should have one.

    ValidationFailure for a foreign cursor.
    """
    after = read_definitions(query)
    places = [place for place in await _places(query, history, files) if after is None or place > after]
    chosen = places[query.offset : query.offset + query.limit]
    has_next = len(places) > query.offset + query.limit
    return Page[DefinitionSummary](
        items=await _summaries(chosen, history, files),
        offset=query.offset,
        limit=query.limit,
        has_next=has_next,
        next_cursor=after_definition(query, *chosen[-1]) if has_next else None,
    )


async def _places(query: DefinitionQuery, history: DefinitionHistoryPort, files: FileDefinitionPort) -> list[Place]:
    search = (query.search or "").casefold()
    places: list[Place] = []
    for kind in KINDS if query.kind is None else (query.kind,):
        names = {*await _on_disk(kind, files), *await history.names(kind, deleted=query.deleted)}
        places += [(kind, name) for name in sorted(names) if search in name.casefold()]
    return places


async def _on_disk(kind: DefinitionKind, files: FileDefinitionPort) -> tuple[str, ...]:
    """Return the names that a root has; of one that cannot be looked into none: what should be there is missing."""
    try:
        return await files.names(kind)
    except (Conflict, PermissionDenied):
        return ()


async def _summaries(
    places: Sequence[Place], history: DefinitionHistoryPort, files: FileDefinitionPort
) -> tuple[DefinitionSummary, ...]:
    found: list[DefinitionSummary] = []
    for kind in KINDS:
        names = [name for place_kind, name in places if place_kind == kind]
        if not names:
            continue
        heads = await history.heads(kind, names)
        observations = await files.observe(kind, names)
        found += [_summary(kind, name, heads.get(name), seen) for name, seen in zip(names, observations, strict=True)]
    return tuple(found)


def _summary(kind: DefinitionKind, name: str, head: DefinitionHead | None, seen: FileObservation) -> DefinitionSummary:
    return DefinitionSummary(
        kind=kind,
        name=name,
        relative_path=seen.relative_path,
        version=0 if head is None else head.version,
        sha256=seen.sha256,
        size_bytes=seen.size_bytes,
        deleted=head is not None and head.sha256 is None,
        drift=drift_of(head, seen.sha256, readable=seen.problem is None),
        problem=_problem(seen),
        reconciliation_id=None if head is None else head.reconciliation_id,
        created_at=None if head is None else head.created_at,
        updated_at=None if head is None else head.updated_at,
    )


def _problem(seen: FileObservation) -> str | None:
    if seen.problem is None and seen.shadowed is not None:
        return f"{seen.shadowed} has the same name and is not used"
    return seen.problem


async def get_definition(
    *, kind: str, name: str, history: DefinitionHistoryPort, files: FileDefinitionPort
) -> DefinitionDetail:
    """Return the file and how the history stands to it. NotFound; PermissionDenied, Conflict for what is no text."""
    known = known_kind(kind, name)
    current = await files.read_current(known, name)
    if current is None:
        raise NotFound("definition", f"{kind}/{name}")
    head = await history.find_head(known, name)
    (seen,) = await files.observe(known, [name])
    return DefinitionDetail(
        **dict(current.model_copy(update={"version": 0 if head is None else head.version})),
        size_bytes=len(current.content.encode()),
        drift=drift_of(head, current.sha256, readable=True),
        problem=_problem(seen),
        reconciliation_id=None if head is None else head.reconciliation_id,
        created_at=None if head is None else head.created_at,
        updated_at=None if head is None else head.updated_at,
    )


async def list_definition_versions(
    *, kind: str, name: str, query: VersionQuery, history: DefinitionHistoryPort
) -> Page[DefinitionVersionSummary]:
    """Return one page of a history, newest first. NotFound; ValidationFailure for a foreign cursor."""
    known = known_kind(kind, name)
    page = await history.list_versions(known, name, query, before=read_versions(query, known, name))
    if page is None:
        raise NotFound("definition", f"{kind}/{name}")
    if not page.has_next:
        return page
    return page.model_copy(update={"next_cursor": after_version(known, name, page.items[-1].version)})


async def get_definition_version(
    *, kind: str, name: str, version: int, history: DefinitionHistoryPort
) -> DefinitionVersion:
    """Return one version with its content. NotFound."""
    known = known_kind(kind, name, version=version)
    found = await history.find_version(known, name, version) if version > 0 else None
    if found is None:
        raise NotFound("definition version", f"{kind}/{name}/{version}")
    return found


async def diff_definition(
    *, kind: str, name: str, query: DiffQuery, history: DefinitionHistoryPort, files: FileDefinitionPort
) -> DefinitionDiff:
    """Compare two versions, or a version and the file. NotFound; ValidationFailure for both `to` and `file`."""
    if query.file and query.to is not None:
        raise ValidationFailure.at("to", code="exclusive", message="cannot be given together with file")
    known = known_kind(kind, name)
    newest = await history.latest_version(known, name)
    to = None if query.file else (query.to or newest)
    start = query.from_ if query.from_ is not None else (newest if to is None else max(to - 1, 0))
    before = await _side(known, name, start, history, files)
    after = await _side(known, name, to, history, files)
    if newest == 0 and after.sha256 is None:
        raise NotFound("definition", f"{kind}/{name}")
    return await in_turn(COMPARISONS, _difference, known, name, before, after, query.context)


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of a comparison: a version, 0 for nothing, None for the file; no hash: nothing is there."""

    version: int | None
    label: str
    text: str = ""
    sha256: str | None = None


async def _side(
    kind: DefinitionKind,
    name: str,
    version: int | None,
    history: DefinitionHistoryPort,
    files: FileDefinitionPort,
) -> _Side:
    """Read a version, nothing (0), or the file (None)."""
    if version is None:
        current = await files.read_current(kind, name)
        if current is None:
            return _Side(None, f"{flat_place(kind, name)} (no file)")
        return _Side(None, f"{current.relative_path} (file)", current.content, current.sha256)
    if version == 0:
        return _Side(0, "(nothing)")
    found = await get_definition_version(kind=kind, name=name, version=version, history=history)
    label = f"{found.relative_path} (version {version})"
    return _Side(version, label) if found.deleted else _Side(version, label, found.content, found.content_sha256)


def _difference(kind: DefinitionKind, name: str, before: _Side, after: _Side, context: int) -> DefinitionDiff:
    """Compare two sides. Slow: up to half a second for two large texts."""
    found = compare(before.text, after.text, context=context)
    return DefinitionDiff(
        kind=kind,
        name=name,
        from_version=before.version or 0,
        to_version=after.version,
        from_sha256=before.sha256,
        to_sha256=after.sha256,
        added=found.added,
        removed=found.removed,
        coarse=found.coarse,
        hunks=found.hunks,
        unified=unified(found.hunks, from_label=before.label, to_label=after.label),
    )
