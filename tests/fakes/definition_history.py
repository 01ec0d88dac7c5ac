"""InMemoryDefinitionHistory: DefinitionHistoryPort and ReconciliationPort, over one store of records.

Each call is atomic, as its transaction is: once it is reached it changes everything without giving way to others.
"""

from collections.abc import Sequence

from contract.definitions import (
    DefinitionVersion,
    DefinitionVersionDraft,
    DefinitionWriteFailure,
    ReconcileAction,
    Reconciliation,
    Resolution,
)
from contract.errors import Conflict, NotFound
from contract.events import ProcessIdentity
from definitions.errors import HeadMoved
from definitions.names import name_key
from definitions.services.ports import Capture, DefinitionHead, Settlement, Writer
from tests.fakes.definition_reads import InMemoryDefinitionReads


class InMemoryDefinitionHistory(InMemoryDefinitionReads):
    """Appends versions, settles what became of them, and resolves reconciliations."""

    async def append_version(
        self,
        draft: DefinitionVersionDraft,
        *,
        after: int,
        at: float,
        file_sha256: str | None,
        writer: ProcessIdentity | None = None,
    ) -> DefinitionVersion:
        await self.reach("append_version")
        return self._append(draft, after=after, at=at, file_sha256=file_sha256, writer=writer)

    async def append_captured(self, captures: Sequence[Capture]) -> tuple[DefinitionVersion | Conflict | None, ...]:
        await self.reach("append_captured")
        return tuple(map(self._captured, captures))

    async def mark_written(self, version_id: str, *, at: float) -> bool:
        await self.reach("mark_written")
        return self._settle(version_id, None, at=at, actor="system")

    async def withdraw(self, version_id: str, *, at: float) -> None:
        await self.reach("withdraw")
        head = self.working_on(version_id)
        if head is not None:
            self.set_write_status(head, "superseded" if head.reconciliation_id is None else "failed")
            self.change_head(head, at=at, writer=None)

    async def record_reconciliation(
        self, failure: DefinitionWriteFailure, *, at: float, actor: str = "operator"
    ) -> str:
        await self.reach("record_reconciliation")
        if not self._settle(failure.version_id, failure, at=at, actor=actor):
            return self._late_failure(failure, at=at, actor=actor)
        return next(
            entry.id for entry in reversed(self.reconciliations.values()) if entry.version_id == failure.version_id
        )

    async def settle(self, settlements: Sequence[Settlement], *, at: float, actor: str) -> int:
        await self.reach("settle")
        return sum(self._settle(each.version_id, each.failure, at=at, actor=actor) for each in settlements)

    async def claim(self, reconciliation_id: str, *, writer: ProcessIdentity, at: float) -> DefinitionVersion | None:
        await self.reach("claim")
        head = self.waiting_for(reconciliation_id)
        if head is None or head.writer is not None:
            return None
        self.change_head(head, at=at, writer=Writer(process=writer, version_id=head.version_id, claimed_at=at))
        return self.set_write_status(head, "pending")

    async def close_written(
        self, reconciliation_id: str, *, action: ReconcileAction, reason: str | None, actor: str, at: float
    ) -> bool:
        await self.reach("close_written")
        head = self.waiting_for(reconciliation_id)
        if head is None:
            return False
        self._written(head, action, actor=actor, at=at, reason=reason)
        return True

    async def accept(
        self, reconciliation_id: str, draft: DefinitionVersionDraft, *, after: int, reason: str | None, at: float
    ) -> DefinitionVersion | None:
        await self.reach("accept")
        if self.waiting_for(reconciliation_id) is None:
            return None
        held = None if draft.deleted else draft.content_sha256
        return self._append(draft, after=after, at=at, file_sha256=held, resolution="accept_file", reason=reason)

    async def dismiss(self, reconciliation_id: str, *, reason: str, actor: str, at: float) -> bool:
        await self.reach("dismiss")
        head = self.waiting_for(reconciliation_id)
        if head is None or head.writer is not None:
            return False
        self.set_write_status(head, "dismissed")
        self.change_head(head, at=at, writer=None, reconciliation_id=None)
        self.resolve(reconciliation_id, "dismiss", actor=actor, at=at, reason=reason)
        return True

    def _append(
        self,
        draft: DefinitionVersionDraft,
        *,
        after: int,
        at: float,
        file_sha256: str | None,
        writer: ProcessIdentity | None = None,
        resolution: Resolution = "superseded",
        reason: str | None = None,
    ) -> DefinitionVersion:
        head = self.records.get((draft.kind, draft.name))
        if head is None and after == 0:
            self._refuse_namesake(draft)
        if after != (0 if head is None else head.version) or (head is not None and head.writer is not None):
            raise HeadMoved(draft.name)
        version = DefinitionVersion(
            **draft.model_dump(),
            id=self.ids.new_id(),
            version=after + 1,
            created_at=at,
            write_status="written" if writer is None else "pending",
            size_bytes=len(draft.content.encode()),
        )
        self.histories.setdefault((draft.kind, draft.name), []).append(version)
        self.records[draft.kind, draft.name] = _advanced(head, version, file_sha256, writer)
        if head is not None and head.reconciliation_id is not None:
            self.set_write_status(head, "superseded")
            self.resolve(head.reconciliation_id, resolution, actor=draft.actor, at=at, reason=reason)
        return version

    def _captured(self, capture: Capture) -> DefinitionVersion | Conflict | None:
        try:
            return self._append(capture.draft, after=capture.after, at=capture.at, file_sha256=capture.file_sha256)
        except HeadMoved:
            return None
        except Conflict as conflict:
            return conflict

    def _refuse_namesake(self, draft: DefinitionVersionDraft) -> None:
        for other in self.records.values():
            if other.kind == draft.kind and name_key(other.name) == name_key(draft.name):
                sentence = f"`{draft.name}` collides with `{other.name}`: the names differ only in case or form"
                raise Conflict("definition", expected=draft.name, actual=other.name, detail=sentence)

    def _settle(self, version_id: str, failure: DefinitionWriteFailure | None, *, at: float, actor: str) -> bool:
        head = self.working_on(version_id)
        if head is None:
            return False
        if failure is None:
            self._written(head, "recovered", actor=actor, at=at)
        else:
            self._failed(head, failure, actor=actor, at=at)
        return True

    def _written(
        self, head: DefinitionHead, resolution: Resolution, *, actor: str, at: float, reason: str | None = None
    ) -> None:
        self.set_write_status(head, "written")
        self.change_head(head, at=at, writer=None, file_sha256=head.sha256, reconciliation_id=None)
        if head.reconciliation_id is not None:
            self.resolve(head.reconciliation_id, resolution, actor=actor, at=at, reason=reason)

    def _failed(self, head: DefinitionHead, failure: DefinitionWriteFailure, *, actor: str, at: float) -> None:
        version = self.set_write_status(head, "failed")
        number = head.reconciliation_id
        if number is None:
            number = self._open(version, failure, actor=actor, at=at)
        else:
            found = self.reconciliations[number]
            changes = {
                "error_code": failure.error_code,
                "error_detail": failure.detail,
                "attempts": found.attempts + 1,
                "updated_at": max(found.updated_at, at),
            }
            self.reconciliations[number] = found.model_copy(update=changes)
            self.log(number, "failed", actor=actor, detail=failure.detail, at=at)
        self.change_head(head, at=at, writer=None, file_sha256=failure.observed_sha256, reconciliation_id=number)

    def _open(self, version: DefinitionVersion, failure: DefinitionWriteFailure, *, actor: str, at: float) -> str:
        opened = Reconciliation(
            id=self.ids.new_id(),
            version_id=version.id,
            kind=version.kind,
            name=version.name,
            version=version.version,
            deleted=version.deleted,
            relative_path=version.relative_path,
            expected_sha256=failure.expected_sha256,
            observed_sha256=failure.observed_sha256,
            error_code=failure.error_code,
            error_detail=failure.detail,
            status="pending",
            attempts=1,
            created_at=at,
            updated_at=at,
        )
        self.reconciliations[opened.id] = opened
        self.log(opened.id, "opened", actor=actor, detail=failure.detail, at=at)
        return opened.id

    def _late_failure(self, failure: DefinitionWriteFailure, *, at: float, actor: str) -> str:
        """Return the last reconciliation of a settled version, or a new one that is resolved already."""
        version = self.version_of(failure.version_id)
        if version is None:
            raise NotFound("definition version", failure.version_id)
        known = [entry.id for entry in self.reconciliations.values() if entry.version_id == version.id]
        if known:
            return known[-1]
        number = self._open(version, failure, actor=actor, at=at)
        self.resolve(number, "recovered" if version.write_status == "written" else "superseded", actor=actor, at=at)
        return number


def _advanced(
    head: DefinitionHead | None, version: DefinitionVersion, file_sha256: str | None, writer: ProcessIdentity | None
) -> DefinitionHead:
    at = version.created_at
    return DefinitionHead(
        kind=version.kind,
        name=version.name,
        relative_path=version.relative_path,
        version=version.version,
        version_id=version.id,
        sha256=None if version.deleted else version.content_sha256,
        file_sha256=file_sha256,
        size_bytes=version.size_bytes,
        created_at=at if head is None else head.created_at,
        updated_at=at if head is None else max(head.updated_at, at),
        writer=None if writer is None else Writer(process=writer, version_id=version.id, claimed_at=at),
    )
