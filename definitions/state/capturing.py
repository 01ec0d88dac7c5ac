"""How many edits by hand get into their histories at once. Runs in a transaction of its caller."""

from collections import defaultdict
from collections.abc import Sequence

from contract.definitions import DefinitionVersion
from contract.errors import Conflict
from definitions.models import DefinitionRecord, DefinitionVersionRecord
from definitions.names import name_key
from definitions.state.appending import Entry, advanced, has_moved, namesake_conflict, new_record, row_of, version_of
from definitions.state.locking import chunks, set_write_status
from definitions.state.resolving import resolve

# A definition, or another that may be taken for it: kind and name key.
_Key = tuple[str, str]
# In the place of an entry: its version, why its name is refused, or None when somebody was first.
Outcome = DefinitionVersion | Conflict | None


def append_captured(entries: Sequence[Entry]) -> tuple[Outcome, ...]:
    """Append entries without a writer, each by the rules of `append`: a few statements for each chunk of them."""
    return tuple(outcome for chunk in chunks(entries) for outcome in _append_chunk(chunk))


def _append_chunk(entries: Sequence[Entry]) -> list[Outcome]:
    held = _held(entries)
    batch = _Batch()
    outcomes = [batch.take(held.get(_key(entry)), entry) for entry in entries]
    batch.store()
    return outcomes


def _key(entry: Entry) -> _Key:
    return entry.draft.kind, name_key(entry.draft.name)


def _held(entries: Sequence[Entry]) -> dict[_Key, DefinitionRecord]:
    """Lock the definitions of entries; begin those that are to be new. In one order, so that no two wait crosswise."""
    new = sorted((entry for entry in entries if not entry.after), key=_key)
    DefinitionRecord.objects.bulk_create((new_record(entry.draft, entry.at) for entry in new), ignore_conflicts=True)
    keys: defaultdict[str, list[str]] = defaultdict(list)
    for kind, key in sorted(set(map(_key, entries))):
        keys[kind].append(key)
    return {
        (record.kind, record.name_key): record
        for kind, of_kind in keys.items()
        for record in DefinitionRecord.objects.select_for_update()
        .filter(kind=kind, name_key__in=of_kind)
        .order_by("id")
    }


class _Batch:
    """What one chunk changes, of locked definitions."""

    def __init__(self) -> None:
        self._records: dict[int, DefinitionRecord] = {}
        self._versions: list[DefinitionVersionRecord] = []
        self._columns: set[str] = set()
        # Versions that were pending, with their reconciliations, by who overtakes them and when.
        self._overtaken: defaultdict[tuple[str, float], dict[str, str]] = defaultdict(dict)

    def take(self, record: DefinitionRecord | None, entry: Entry) -> Outcome:
        """Let an entry follow, if it may."""
        if record is not None and record.name != entry.draft.name and not entry.after:
            return namesake_conflict(record, entry.draft.name)
        if record is None or record.name != entry.draft.name or has_moved(record, entry):
            return None
        version = version_of(entry)
        if record.pending_reconciliation_id is not None:
            overtaken = self._overtaken[version.actor, entry.at]
            overtaken[record.latest_version_id] = record.pending_reconciliation_id
        for column, value in advanced(record, version, entry).items():
            setattr(record, column, value)
            self._columns.add(column)
        self._records[record.pk] = record
        self._versions.append(row_of(record, version))
        return version

    def store(self) -> None:
        """Write it all."""
        if not self._records:
            return
        DefinitionVersionRecord.objects.bulk_create(self._versions)
        DefinitionRecord.objects.bulk_create(
            self._records.values(), update_conflicts=True, unique_fields=["id"], update_fields=sorted(self._columns)
        )
        for (actor, at), pending in self._overtaken.items():
            set_write_status(list(pending), "superseded")
            resolve(list(pending.values()), "superseded", actor=actor, at=at)
