"""Operations on definitions, over HTTP: a part of RemoteStudio."""

from contract.base import Page
from contract.definitions import (
    DefinitionDetail,
    DefinitionQuery,
    DefinitionSummary,
    DefinitionVersion,
    DefinitionVersionSummary,
    DeleteDefinition,
    Reconciliation,
    ReconciliationDetail,
    ReconciliationQuery,
    ResolveReconciliation,
    RollbackDefinition,
    SaveDefinition,
    SaveResult,
    SnapshotDefinitions,
    SnapshotResult,
    VersionQuery,
)
from contract.diffs import DefinitionDiff, DiffQuery
from contract.errors import NotFound
from contract.http_exchange import query_of, segment
from contract.remote_part import RemotePart

_DEFINITIONS = "/api/v1/definitions/"


class RemoteDefinitions(RemotePart):
    """Definitions and reconciliations, at the other end of an exchange."""

    async def list_definitions(self, query: DefinitionQuery) -> Page[DefinitionSummary]:
        """Return one page of definitions."""
        return await self._exchange.get(Page[DefinitionSummary], _DEFINITIONS, query_of(query))

    async def get_definition(self, kind: str, name: str) -> DefinitionDetail:
        """Return the file and how the history stands to it."""
        return await self._exchange.get(DefinitionDetail, _definition(kind, name))

    async def save_file_definition(self, command: SaveDefinition) -> SaveResult:
        """Store content in history and file. Sent again, it would make a second version, or be a Conflict."""
        return await self._exchange.send(SaveResult, "PUT", _place(command), command, repeatable=False)

    async def list_definition_versions(
        self, kind: str, name: str, query: VersionQuery
    ) -> Page[DefinitionVersionSummary]:
        """Return one page of a history."""
        path = _definition(kind, name, "/versions/")
        return await self._exchange.get(Page[DefinitionVersionSummary], path, query_of(query))

    async def get_definition_version(self, kind: str, name: str, version: int) -> DefinitionVersion:
        """Return one version with its content."""
        path = _definition(kind, name, f"/versions/{version}", version=version)
        return await self._exchange.get(DefinitionVersion, path)

    async def diff_definition(self, kind: str, name: str, query: DiffQuery) -> DefinitionDiff:
        """Compare two versions, or a version and the file."""
        return await self._exchange.get(DefinitionDiff, _definition(kind, name, "/diff"), query_of(query))

    async def rollback_definition(self, kind: str, name: str, command: RollbackDefinition) -> SaveResult:
        """Store an earlier version's content as the newest. Sent again, as a save."""
        path = _definition(kind, name, "/rollback", version=command.version)
        return await self._exchange.send(SaveResult, "POST", path, command, repeatable=False)

    async def delete_definition(self, kind: str, name: str, command: DeleteDefinition) -> SaveResult:
        """Record the deletion and remove the file. Sent again, as a save."""
        path = _definition(kind, name)
        return await self._exchange.delete(SaveResult, path, query_of(command), repeatable=False)

    async def snapshot_definitions(self, command: SnapshotDefinitions) -> SnapshotResult:
        """Make versions of what was done to files by hand."""
        path = f"{_DEFINITIONS}snapshot"
        return await self._exchange.send(SnapshotResult, "POST", path, command, repeatable=True)

    async def list_reconciliations(self, query: ReconciliationQuery) -> Page[Reconciliation]:
        """Return one page of reconciliations."""
        return await self._exchange.get(Page[Reconciliation], "/api/v1/reconciliations/", query_of(query))

    async def get_reconciliation(self, reconciliation_id: str) -> ReconciliationDetail:
        """Return a reconciliation with its log."""
        return await self._exchange.get(ReconciliationDetail, _reconciliation(reconciliation_id))

    async def resolve_reconciliation(self, reconciliation_id: str, command: ResolveReconciliation) -> Reconciliation:
        """Settle a reconciliation."""
        path = _reconciliation(reconciliation_id, "/resolve")
        return await self._exchange.send(Reconciliation, "POST", path, command, repeatable=True)


def _definition(kind: str, name: str, room: str = "", *, version: int | None = None) -> str:
    try:
        return f"{_DEFINITIONS}{segment('definition', kind)}/{segment('definition', name)}{room}"
    except NotFound:
        if version is None:
            raise NotFound("definition", f"{kind}/{name}") from None
        raise NotFound("definition version", f"{kind}/{name}/{version}") from None


def _place(command: SaveDefinition) -> str:
    """Return where a definition is saved.

    A name that no path carries travels in the body alone: what is wrong with it is for the daemon to say.
    """
    try:
        return _definition(command.kind, command.name)
    except NotFound:
        return _definition(command.kind, "-")


def _reconciliation(reconciliation_id: str, room: str = "") -> str:
    return f"/api/v1/reconciliations/{segment('reconciliation', reconciliation_id)}{room}"
