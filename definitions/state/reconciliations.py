"""DjangoReconciliations: ReconciliationPort over the ORM.

A definition's row names the reconciliation that is pending there. So whoever resolves one locks that row by it, and
finds none when it was resolved already.
"""

from functools import partial
from typing import Final

from django.db.models import F

from contract.base import Page
from contract.definitions import (
    DefinitionVersion,
    DefinitionVersionDraft,
    ReconcileAction,
    Reconciliation,
    ReconciliationAttempt,
    ReconciliationQuery,
)
from contract.events import ProcessIdentity
from contract.ports import IdGenerator
from definitions.models import DefinitionRecord, DefinitionVersionRecord, ReconciliationAttemptRecord
from definitions.state import listing, rows
from definitions.state.appending import Entry, append_to
from definitions.state.locking import later, locked, set_write_status
from definitions.state.resolving import resolve
from definitions.state.rows import NO_WRITER, writer_columns
from definitions.state.settling import settle_written
from studio_project.statedb import StateDB

# What a writer is given: the newest version of its definition, and whose it is.
_CLAIMED: Final = DefinitionVersionRecord.objects.filter(version_id=F("definition__latest_version_id")).values(
    *rows.VERSION_COLUMNS, "definition__kind", "definition__name"
)


class DjangoReconciliations:
    """Reads and resolves reconciliations."""

    def __init__(self, db: StateDB, *, ids: IdGenerator) -> None:
        """Take the executor, and what names versions."""
        self._db = db
        self._ids = ids

    async def list_reconciliations(
        self, query: ReconciliationQuery, *, before: tuple[float, str] | None
    ) -> Page[Reconciliation]:
        """Return one page: one query, nothing counted."""
        return await self._db.read(partial(listing.reconciliations_page, query, before))

    async def find_reconciliation(self, reconciliation_id: str) -> Reconciliation | None:
        """Return one."""
        row = await self._db.read(listing.RECONCILIATIONS.filter(reconciliation_id=reconciliation_id).first)
        return None if row is None else rows.reconciliation(row)

    async def attempts(self, reconciliation_id: str) -> tuple[ReconciliationAttempt, ...]:
        """Return its log."""
        return await self._db.read(partial(_attempts, reconciliation_id))

    async def claim(self, reconciliation_id: str, *, writer: ProcessIdentity, at: float) -> DefinitionVersion | None:
        """Become the writer by one filtered update."""
        return await self._db.write(partial(_claim, reconciliation_id, writer, at))

    async def close_written(
        self, reconciliation_id: str, *, action: ReconcileAction, reason: str | None, actor: str, at: float
    ) -> bool:
        """Resolve by `action`; the version is written and nobody is at work on it any more."""
        return await self._db.write(partial(_close, reconciliation_id, action, reason, actor, at))

    async def accept(
        self, reconciliation_id: str, draft: DefinitionVersionDraft, *, after: int, reason: str | None, at: float
    ) -> DefinitionVersion | None:
        """Append and resolve in one transaction."""
        held = None if draft.deleted else draft.content_sha256
        entry = Entry(draft=draft, version_id=self._ids.new_id(), after=after, at=at, file_sha256=held)
        return await self._db.write(partial(_accept, reconciliation_id, entry, reason))

    async def dismiss(self, reconciliation_id: str, *, reason: str, actor: str, at: float) -> bool:
        """Resolve; False, too, while a writer is at work on the version."""
        return await self._db.write(partial(_dismiss, reconciliation_id, reason, actor, at))


def _attempts(reconciliation_id: str) -> tuple[ReconciliationAttempt, ...]:
    found = ReconciliationAttemptRecord.objects.filter(reconciliation__reconciliation_id=reconciliation_id).order_by(
        "id"
    )
    return tuple(rows.attempt(row) for row in found.values(*rows.ATTEMPT_COLUMNS))


def _claim(reconciliation_id: str, writer: ProcessIdentity, at: float) -> DefinitionVersion | None:
    free = DefinitionRecord.objects.filter(pending_reconciliation_id=reconciliation_id, writer_version_id=None)
    if not free.update(**writer_columns(writer, F("latest_version_id"), at), updated_at=later(at)):
        return None
    row = _CLAIMED.get(definition__pending_reconciliation_id=reconciliation_id)
    set_write_status([row["version_id"]], "pending")
    row["write_status"] = "pending"
    return rows.version(row, kind=row.pop("definition__kind"), name=row.pop("definition__name"))


def _close(reconciliation_id: str, action: ReconcileAction, reason: str | None, actor: str, at: float) -> bool:
    record = _locked(reconciliation_id)
    if record is None:
        return False
    settle_written([record], at=at, actor=actor, resolution=action, reason=reason)
    return True


def _accept(reconciliation_id: str, entry: Entry, reason: str | None) -> DefinitionVersion | None:
    record = _locked(reconciliation_id)
    return None if record is None else append_to(record, entry, resolution="accept_file", reason=reason)


def _dismiss(reconciliation_id: str, reason: str, actor: str, at: float) -> bool:
    record = _locked(reconciliation_id)
    if record is None or record.writer_version_id is not None:
        return False
    set_write_status([record.latest_version_id], "dismissed")
    DefinitionRecord.objects.filter(pk=record.pk).update(
        **NO_WRITER, pending_reconciliation_id=None, updated_at=later(at)
    )
    resolve([reconciliation_id], "dismiss", actor=actor, at=at, reason=reason)
    return True


def _locked(reconciliation_id: str) -> DefinitionRecord | None:
    return locked(pending_reconciliation_id=reconciliation_id)
