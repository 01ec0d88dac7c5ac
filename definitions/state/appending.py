"""How a version gets into a history. Runs in a transaction of its caller."""

from dataclasses import dataclass

from contract.definitions import DefinitionVersion, DefinitionVersionDraft, Resolution
from contract.errors import Conflict
from contract.events import ProcessIdentity
from definitions.errors import HeadMoved
from definitions.models import DefinitionRecord, DefinitionVersionRecord
from definitions.names import name_key
from definitions.state.locking import locked, set_write_status
from definitions.state.resolving import resolve
from definitions.state.rows import NO_WRITER, Row, writer_columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A version on its way into the history: what `append_version` is asked for, and the id it gets."""

    draft: DefinitionVersionDraft
    version_id: str
    after: int
    at: float
    file_sha256: str | None
    writer: ProcessIdentity | None = None


def append(entry: Entry) -> DefinitionVersion:
    """Append to a history, or begin one. HeadMoved; Conflict for a name that resembles another."""
    draft = entry.draft
    record = locked(kind=draft.kind, name=draft.name) if entry.after else _begun(draft, entry.at)
    return append_to(record, entry)


def append_to(
    record: DefinitionRecord | None, entry: Entry, *, resolution: Resolution = "superseded", reason: str | None = None
) -> DefinitionVersion:
    """Append to a locked definition and resolve what was pending there; HeadMoved."""
    if record is None or has_moved(record, entry):
        raise HeadMoved(f"{entry.draft.kind} {entry.draft.name} has moved on from version {entry.after}, or is written")
    overtaken, pending = record.latest_version_id, record.pending_reconciliation_id
    version = version_of(entry)
    row_of(record, version).save(force_insert=True)
    DefinitionRecord.objects.filter(pk=record.pk).update(**advanced(record, version, entry))
    if pending is not None:
        set_write_status([overtaken], "superseded")
        resolve([pending], resolution, actor=version.actor, at=entry.at, reason=reason)
    return version


def has_moved(record: DefinitionRecord, entry: Entry) -> bool:
    """Whether a locked definition is not where the entry was to follow, or a writer is at work there."""
    return record.latest_version != entry.after or record.writer_version_id is not None


def new_record(draft: DefinitionVersionDraft, at: float) -> DefinitionRecord:
    """Return the row of a definition without versions."""
    return DefinitionRecord(
        kind=draft.kind,
        name=draft.name,
        name_key=name_key(draft.name),
        relative_path=draft.relative_path,
        latest_version=0,
        latest_version_id="",
        latest_size_bytes=0,
        created_at=at,
        updated_at=at,
    )


def namesake_conflict(record: DefinitionRecord, name: str) -> Conflict:
    """Return what is said of a name where another definition has one that resembles it."""
    sentence = f"`{name}` collides with `{record.name}`: the names differ only in case or form"
    return Conflict("definition", expected=name, actual=record.name, detail=sentence)


def _begun(draft: DefinitionVersionDraft, at: float) -> DefinitionRecord:
    """Insert a definition without versions, unless one is there, and lock it. The unique constraints settle races."""
    new = new_record(draft, at)
    DefinitionRecord.objects.bulk_create([new], ignore_conflicts=True)
    record = DefinitionRecord.objects.select_for_update().get(kind=new.kind, name_key=new.name_key)
    if record.name != new.name:
        raise namesake_conflict(record, new.name)
    return record


def version_of(entry: Entry) -> DefinitionVersion:
    """Return the version that an entry becomes."""
    draft = entry.draft
    return DefinitionVersion(
        **draft.model_dump(),
        id=entry.version_id,
        version=entry.after + 1,
        created_at=entry.at,
        write_status="pending" if entry.writer else "written",
        size_bytes=len(draft.content.encode()),
    )


def row_of(record: DefinitionRecord, version: DefinitionVersion) -> DefinitionVersionRecord:
    """Return the row of a new version of a definition."""
    columns = version.model_dump(exclude={"id", "kind", "name"})
    return DefinitionVersionRecord(definition_id=record.pk, version_id=version.id, **columns)


def advanced(record: DefinitionRecord, version: DefinitionVersion, entry: Entry) -> Row:
    """Return the columns of a definition that a new version changes."""
    writer = writer_columns(entry.writer, version.id, entry.at) if entry.writer else NO_WRITER
    return {
        "relative_path": version.relative_path,
        "latest_version": version.version,
        "latest_version_id": version.id,
        "latest_sha256": None if version.deleted else version.content_sha256,
        "latest_size_bytes": version.size_bytes,
        "file_sha256": entry.file_sha256,
        "pending_reconciliation_id": None,
        "updated_at": max(record.updated_at, entry.at),
        **writer,
    }
