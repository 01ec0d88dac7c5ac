"""DjangoDefinitionHistory: DefinitionHistoryPort over the ORM."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from contract.base import Page
from contract.definitions import (
    DefinitionKind,
    DefinitionVersion,
    DefinitionVersionDraft,
    DefinitionVersionSummary,
    DefinitionWriteFailure,
    VersionQuery,
)
from contract.events import ProcessIdentity
from contract.ports import IdGenerator
from definitions.models import DefinitionRecord
from definitions.services.ports import Capture, DefinitionHead, Settlement
from definitions.state import appending, listing, rows, settling
from definitions.state.capturing import Outcome, append_captured
from definitions.state.contents import known
from definitions.state.locking import chunks
from studio_project.statedb import StateDB

# Who a version's end is put down to when nobody asked for it.
_SYSTEM: Final = "system"
_HEADS: Final = DefinitionRecord.objects.values(*rows.HEAD_COLUMNS)


class DjangoDefinitionHistory:
    """Appends versions and settles what becomes of them; the row of the definition is locked meanwhile."""

    def __init__(self, db: StateDB, *, ids: IdGenerator) -> None:
        """Take the executor, and what names versions and reconciliations."""
        self._db = db
        self._ids = ids

    async def latest_version(self, kind: DefinitionKind, name: str) -> int:
        """Return the newest version's number, 0 for none."""
        head = await self.find_head(kind, name)
        return 0 if head is None else head.version

    async def append_version(
        self,
        draft: DefinitionVersionDraft,
        *,
        after: int,
        at: float,
        file_sha256: str | None,
        writer: ProcessIdentity | None = None,
    ) -> DefinitionVersion:
        """Append, or begin a history; HeadMoved, Conflict."""
        entry = appending.Entry(
            draft=draft, version_id=self._ids.new_id(), after=after, at=at, file_sha256=file_sha256, writer=writer
        )
        return await self._db.write(partial(appending.append, entry))

    async def append_captured(self, captures: Sequence[Capture]) -> tuple[Outcome, ...]:
        """Append many in one transaction."""
        entries = [
            appending.Entry(
                draft=capture.draft,
                version_id=self._ids.new_id(),
                after=capture.after,
                at=capture.at,
                file_sha256=capture.file_sha256,
            )
            for capture in captures
        ]
        return await self._db.write(partial(append_captured, entries))

    async def mark_written(self, version_id: str, *, at: float) -> bool:
        """Settle one version as written. A reconciliation that is pending for it is resolved as recovered.

        Not durable: a machine that loses its power leaves a writer that is gone, and the file says the same again.
        """
        settled = await self._settle({version_id: None}, at=at, actor=_SYSTEM, durable=False)
        return version_id in settled

    async def withdraw(self, version_id: str, *, at: float) -> None:
        """Settle one version as superseded; one that was claimed for its reconciliation goes back to failed."""
        await self._db.write(partial(settling.withdraw, version_id, at))

    async def record_reconciliation(
        self, failure: DefinitionWriteFailure, *, at: float, actor: str = "operator"
    ) -> str:
        """Settle one version as failed. When somebody else has settled it, nothing changes.

        The id is then that of its last reconciliation, or of a new one that is resolved already: superseded, or
        recovered for a version that is written. NotFound for an unknown version.
        """
        return await self._db.write(partial(self._fail, failure, at, actor))

    async def settle(self, settlements: Sequence[Settlement], *, at: float, actor: str) -> int:
        """Settle many in one transaction; of two for one version the first counts."""
        outcomes = {settlement.version_id: settlement.failure for settlement in reversed(settlements)}
        return len(await self._settle(outcomes, at=at, actor=actor))

    async def find_head(self, kind: DefinitionKind, name: str) -> DefinitionHead | None:
        """Return one head."""
        row = await self._db.read(_HEADS.filter(kind=kind, name=name).first)
        return None if row is None else rows.head(row)

    async def heads(self, kind: DefinitionKind, names: Sequence[str]) -> dict[str, DefinitionHead]:
        """Return the heads that are there: one query for each chunk of names."""
        return await self._db.read(partial(_heads, kind, names))

    async def names(self, kind: DefinitionKind, *, deleted: bool) -> tuple[str, ...]:
        """Return names, in the order of their characters on every database."""
        return await self._db.read(partial(_names, kind, deleted=deleted))

    async def at_work(self) -> tuple[DefinitionHead, ...]:
        """Return the heads with a writer, by their partial index."""
        return await self._db.read(_at_work)

    async def list_versions(
        self, kind: DefinitionKind, name: str, query: VersionQuery, *, before: int | None
    ) -> Page[DefinitionVersionSummary] | None:
        """Return one page; no content is read."""
        return await self._db.read(partial(listing.versions_page, kind, name, query, before))

    async def find_version(self, kind: DefinitionKind, name: str, version: int) -> DefinitionVersion | None:
        """Return one version."""
        row = await self._db.read(listing.version_rows(kind, name, version).first)
        return None if row is None else rows.version(row, kind=kind, name=name)

    async def known_contents(
        self, kind: DefinitionKind, contents: Sequence[tuple[str, bytes]], *, last: int
    ) -> tuple[bool, ...]:
        """Ask by hash; only the last versions of those that no version has are read."""
        return await self._db.read(partial(known, kind, contents, last))

    async def _settle(
        self, outcomes: settling.Outcomes, *, at: float, actor: str, durable: bool = True
    ) -> settling.Settled:
        work = partial(settling.settle, outcomes, at=at, actor=actor, new_id=self._ids.new_id)
        return await self._db.write(work, durable=durable)

    def _fail(self, failure: DefinitionWriteFailure, at: float, actor: str) -> str:
        new_id = self._ids.new_id
        settled = settling.settle({failure.version_id: failure}, at=at, actor=actor, new_id=new_id)
        recorded = settled.get(failure.version_id)
        return recorded or settling.late_failure(failure, at=at, actor=actor, new_id=new_id)


def _heads(kind: DefinitionKind, names: Sequence[str]) -> dict[str, DefinitionHead]:
    found = (rows.head(row) for chunk in chunks(names) for row in _HEADS.filter(kind=kind, name__in=chunk))
    return {head.name: head for head in found}


def _names(kind: DefinitionKind, *, deleted: bool) -> tuple[str, ...]:
    records = DefinitionRecord.objects.filter(kind=kind)
    kept = records if deleted else records.filter(latest_sha256__isnull=False)
    return tuple(sorted(kept.values_list("name", flat=True)))


def _at_work() -> tuple[DefinitionHead, ...]:
    found = _HEADS.filter(writer_version_id__isnull=False)
    return tuple(rows.head(row) for row in found.order_by("writer_version_id"))
