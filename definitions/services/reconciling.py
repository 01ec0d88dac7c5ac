"""Operations on reconciliations: list, read, resolve."""

from contract.base import Page
from contract.definitions import (
    DefinitionVersion,
    DefinitionVersionDraft,
    Reconciliation,
    ReconciliationDetail,
    ReconciliationQuery,
    ResolveReconciliation,
)
from contract.errors import Conflict, NotFound, PermissionDenied, ReconciliationRequired
from contract.lookup import require_possible
from definitions.content import sha256_of
from definitions.cursors import after_reconciliation, read_reconciliations
from definitions.errors import FileChanged, HeadMoved, WriteFault
from definitions.resolution import (
    possible_actions,
    refuse_changed,
    refuse_problem,
    require_reason,
    settled_by,
    wanted_hash,
)
from definitions.services.ports import FileDefinitionPort, FileObservation, ReconciliationPort
from definitions.services.writing import OPERATOR, DefinitionWriter, Turn, finished


async def list_reconciliations(
    *, query: ReconciliationQuery, reconciliations: ReconciliationPort
) -> Page[Reconciliation]:
    """Return one page, newest first. ValidationFailure for a foreign cursor."""
    page = await reconciliations.list_reconciliations(query, before=read_reconciliations(query))
    if not page.has_next:
        return page
    return page.model_copy(update={"next_cursor": after_reconciliation(query, page.items[-1])})


async def get_reconciliation(
    *, reconciliation_id: str, reconciliations: ReconciliationPort, files: FileDefinitionPort
) -> ReconciliationDetail:
    """Return a reconciliation with its log and the file as it is now. NotFound."""
    found = await _get(reconciliation_id, reconciliations)
    (seen,) = await files.observe(found.kind, [found.name])
    return ReconciliationDetail(
        **dict(found),
        file_sha256=seen.sha256,
        problem=seen.problem,
        actions=possible_actions(found, seen.sha256, readable=seen.problem is None),
        log=await reconciliations.attempts(reconciliation_id),
    )


async def resolve_reconciliation(
    *,
    reconciliation_id: str,
    command: ResolveReconciliation,
    reconciliations: ReconciliationPort,
    writer: DefinitionWriter,
) -> Reconciliation:
    """Settle a reconciliation; the same action again returns it as it is.

    NotFound; Conflict when it was resolved otherwise or the file changed; ReconciliationRequired when the write failed.
    """
    require_reason(command)
    settling = _Settling(command, reconciliations, writer)
    turn = Turn(writer.clock)
    while True:
        found = await _get(reconciliation_id, reconciliations)
        if found.status == "resolved":
            return settled_by(found, command.action)
        if not await finished(settling.attempt(found)):
            await settling.pass_others(found, turn)


async def _get(reconciliation_id: str, reconciliations: ReconciliationPort) -> Reconciliation:
    require_possible("reconciliation", reconciliation_id)
    found = await reconciliations.find_reconciliation(reconciliation_id)
    if found is None:
        raise NotFound("reconciliation", reconciliation_id)
    return found


class _Settling:
    """One request to settle a reconciliation. Each attempt is true when nobody else was in between."""

    def __init__(
        self, command: ResolveReconciliation, reconciliations: ReconciliationPort, writer: DefinitionWriter
    ) -> None:
        self._action = command.action
        self._reason = command.reason
        self._actor = command.actor or OPERATOR
        self._reconciliations = reconciliations
        self._writer = writer

    async def attempt(self, found: Reconciliation) -> bool:
        if self._action == "dismiss":
            return await self._dismiss(found)
        (seen,) = await self._writer.files.observe(found.kind, [found.name])
        refuse_problem(found, seen.problem)
        if seen.sha256 == wanted_hash(found):
            return await self._close_written(found)
        if self._action == "accept_file":
            return await self._accept(found, seen)
        refuse_changed(found, seen.sha256)
        return await self._retry(found)

    async def pass_others(self, found: Reconciliation, turn: Turn) -> None:
        head = await self._writer.history.find_head(found.kind, found.name)
        if head is not None and head.writer is not None:
            await self._writer.pass_writer(head, turn)
        else:
            await turn.wait(found.name)

    async def _dismiss(self, found: Reconciliation) -> bool:
        return await self._reconciliations.dismiss(
            found.id, reason=self._reason or "", actor=self._actor, at=self._writer.clock.now()
        )

    async def _close_written(self, found: Reconciliation) -> bool:
        return await self._reconciliations.close_written(
            found.id, action=self._action, reason=self._reason, actor=self._actor, at=self._writer.clock.now()
        )

    async def _accept(self, found: Reconciliation, seen: FileObservation) -> bool:
        try:
            current = await self._writer.files.read_current(found.kind, found.name)
        except PermissionDenied as denied:  # it became a link, or closed, within the last moment
            raise Conflict("definition file", found.observed_sha256, None, str(denied)) from None
        content = "" if current is None else current.content
        draft = DefinitionVersionDraft(
            kind=found.kind,
            name=found.name,
            relative_path=seen.relative_path,
            content=content,
            content_sha256=sha256_of(content),
            message=self._reason or f"the file, accepted instead of version {found.version}",
            origin="external",
            deleted=current is None,
            actor=self._actor,
        )
        at = self._writer.clock.now()
        try:
            accepted = await self._reconciliations.accept(
                found.id, draft, after=found.version, reason=self._reason, at=at
            )
        except HeadMoved:
            return False
        return accepted is not None

    async def _retry(self, found: Reconciliation) -> bool:
        version = await self._reconciliations.claim(found.id, writer=self._writer.own(), at=self._writer.clock.now())
        if version is None:
            return False
        try:
            await self._writer.put(version, replacing=found.observed_sha256)
        except (FileChanged, WriteFault) as fault:
            raise ReconciliationRequired(await self._failed(version, fault, found.observed_sha256)) from fault
        return await self._close_written(found)

    async def _failed(self, version: DefinitionVersion, fault: FileChanged | WriteFault, replacing: str | None) -> str:
        why = fault if isinstance(fault, WriteFault) else WriteFault("changed_meanwhile")
        return await self._writer.record(version, why, replacing=replacing, actor=self._actor)
