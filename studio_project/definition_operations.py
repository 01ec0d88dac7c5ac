"""The operations on definitions, bound: a part of Studio that needs no adapter by its name."""

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
from definitions.services import capturing, reading, reconciling, saving
from definitions.services.ports import DefinitionHistoryPort, FileDefinitionPort, ReconciliationPort
from definitions.services.writing import DefinitionWriter


class DefinitionOperations:
    """Every operation on definitions and reconciliations, over ports."""

    def __init__(
        self,
        *,
        history: DefinitionHistoryPort,
        reconciliations: ReconciliationPort,
        files: FileDefinitionPort,
        writer: DefinitionWriter,
    ) -> None:
        """Bind."""
        self._history = history
        self._reconciliations = reconciliations
        self._files = files
        self._writer = writer

    async def list_definitions(self, query: DefinitionQuery) -> Page[DefinitionSummary]:
        """Return one page of definitions."""
        return await reading.list_definitions(query=query, history=self._history, files=self._files)

    async def get_definition(self, kind: str, name: str) -> DefinitionDetail:
        """Return the file and how the history stands to it."""
        return await reading.get_definition(kind=kind, name=name, history=self._history, files=self._files)

    async def save_file_definition(self, command: SaveDefinition) -> SaveResult:
        """Store content in history and file."""
        return await saving.save_file_definition(command=command, writer=self._writer)

    async def list_definition_versions(
        self, kind: str, name: str, query: VersionQuery
    ) -> Page[DefinitionVersionSummary]:
        """Return one page of a history."""
        return await reading.list_definition_versions(kind=kind, name=name, query=query, history=self._history)

    async def get_definition_version(self, kind: str, name: str, version: int) -> DefinitionVersion:
        """Return one version with its content."""
        return await reading.get_definition_version(kind=kind, name=name, version=version, history=self._history)

    async def diff_definition(self, kind: str, name: str, query: DiffQuery) -> DefinitionDiff:
        """Compare two versions, or a version and the file."""
        return await reading.diff_definition(
            kind=kind, name=name, query=query, history=self._history, files=self._files
        )

    async def rollback_definition(self, kind: str, name: str, command: RollbackDefinition) -> SaveResult:
        """Store an earlier version's content as the newest."""
        return await saving.rollback_definition(kind=kind, name=name, command=command, writer=self._writer)

    async def delete_definition(self, kind: str, name: str, command: DeleteDefinition) -> SaveResult:
        """Record the deletion and remove the file."""
        return await saving.delete_definition(kind=kind, name=name, command=command, writer=self._writer)

    async def snapshot_definitions(self, command: SnapshotDefinitions) -> SnapshotResult:
        """Make versions of what was done to files by hand."""
        return await capturing.snapshot_definitions(command=command, writer=self._writer)

    async def list_reconciliations(self, query: ReconciliationQuery) -> Page[Reconciliation]:
        """Return one page of reconciliations."""
        return await reconciling.list_reconciliations(query=query, reconciliations=self._reconciliations)

    async def get_reconciliation(self, reconciliation_id: str) -> ReconciliationDetail:
        """Return a reconciliation with its log."""
        return await reconciling.get_reconciliation(
            reconciliation_id=reconciliation_id, reconciliations=self._reconciliations, files=self._files
        )

    async def resolve_reconciliation(self, reconciliation_id: str, command: ResolveReconciliation) -> Reconciliation:
        """Settle a reconciliation."""
        return await reconciling.resolve_reconciliation(
            reconciliation_id=reconciliation_id,
            command=command,
            reconciliations=self._reconciliations,
            writer=self._writer,
        )
