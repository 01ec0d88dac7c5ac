"""What `definition edit` begins with."""

from dataclasses import dataclass

from contract.application import StudioApplication
from contract.definitions import DefinitionKind, DefinitionVersionSummary, SnapshotDefinitions, VersionQuery
from contract.errors import NotFound


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The text that is edited, and the newest version as of it, 0 for none. `notes` say what is special about it."""

    kind: DefinitionKind
    name: str
    content: str = ""
    version: int = 0
    notes: tuple[str, ...] = ()


async def read_start(studio: StudioApplication, kind: DefinitionKind, name: str, actor: str | None) -> Start:
    """Return the file as it is; what was done to it by hand becomes a version first, so that `version` is true."""
    try:
        detail = await studio.get_definition(kind, name)
    except NotFound:
        return await _start_without_file(studio, kind, name, actor)
    notes: list[str] = []
    if detail.drift is not None:
        notes += await _capture(studio, kind, name, actor)
        detail = await studio.get_definition(kind, name)
    if detail.reconciliation_id is not None:
        notes.append(
            f"reconciliation {detail.reconciliation_id} is pending: the file does not hold version {detail.version};"
            " what you save takes the place of both"
        )
    return Start(kind=kind, name=name, content=detail.content, version=detail.version, notes=tuple(notes))


async def _start_without_file(studio: StudioApplication, kind: DefinitionKind, name: str, actor: str | None) -> Start:
    newest = await _find_newest(studio, kind, name)
    if newest is None:
        return Start(kind=kind, name=name, notes=(f"{kind}/{name} is new",))
    notes: list[str] = []
    if not newest.deleted:
        notes += await _capture(studio, kind, name, actor)
        newest = await _find_newest(studio, kind, name) or newest
    notes.append(f"{kind}/{name} has no file any more; `rollback` restores an earlier version")
    return Start(kind=kind, name=name, version=newest.version, notes=tuple(notes))


async def _find_newest(studio: StudioApplication, kind: DefinitionKind, name: str) -> DefinitionVersionSummary | None:
    try:
        page = await studio.list_definition_versions(kind, name, VersionQuery(limit=1))
    except NotFound:
        return None
    return page.items[0]


async def _capture(studio: StudioApplication, kind: DefinitionKind, name: str, actor: str | None) -> list[str]:
    result = await studio.snapshot_definitions(SnapshotDefinitions(kind=kind, name=name, actor=actor))
    return [
        f"{kind}/{name} was {'removed' if file.deleted else 'changed'} by hand; that is version {file.version} now"
        for file in result.captured
    ]
