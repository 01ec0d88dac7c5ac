"""The operations on definitions and reconciliations: a part of StudioApplication."""

from typing import Protocol

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


class DefinitionOperations(Protocol):
    """Every operation on definitions and reconciliations."""

    async def list_definitions(self, query: DefinitionQuery) -> Page[DefinitionSummary]:
        """Return one page of definitions by kind and name, each compared with its file as it is now."""
        ...

    async def get_definition(self, kind: str, name: str) -> DefinitionDetail:
        """Return the file and how the history stands to it.

        NotFound without a file; PermissionDenied for a symbolic link; Conflict for what is no text file.
        """
        ...

    async def save_file_definition(self, command: SaveDefinition) -> SaveResult:
        """Store content in history and file. A file that was edited by hand becomes a version of its own before.

        ValidationFailure with line and column; Conflict for a stale `expected_version`, or a name that can be taken for
        another; ReconciliationRequired when the history has it and the file does not.
        """
        ...

    async def list_definition_versions(
        self, kind: str, name: str, query: VersionQuery
    ) -> Page[DefinitionVersionSummary]:
        """Return one page of a history, newest first. NotFound without a history."""
        ...

    async def get_definition_version(self, kind: str, name: str, version: int) -> DefinitionVersion:
        """Return one version with its content. NotFound."""
        ...

    async def diff_definition(self, kind: str, name: str, query: DiffQuery) -> DefinitionDiff:
        """Compare two versions, or a version and the file. NotFound."""
        ...

    async def rollback_definition(self, kind: str, name: str, command: RollbackDefinition) -> SaveResult:
        """Store an earlier version's content as the newest; else as a save. NotFound; Conflict for a deletion."""
        ...

    async def delete_definition(self, kind: str, name: str, command: DeleteDefinition) -> SaveResult:
        """Record the deletion as a version and remove the file; else as a save. NotFound when there is neither."""
        ...

    async def snapshot_definitions(self, command: SnapshotDefinitions) -> SnapshotResult:
        """Make versions of what was done to files by hand; idempotent. NotFound for a name that nothing has."""
        ...

    async def list_reconciliations(self, query: ReconciliationQuery) -> Page[Reconciliation]:
        """Return one page of reconciliations, newest first."""
        ...

    async def get_reconciliation(self, reconciliation_id: str) -> ReconciliationDetail:
        """Return a reconciliation with its log and the file as it is now. NotFound."""
        ...

    async def resolve_reconciliation(self, reconciliation_id: str, command: ResolveReconciliation) -> Reconciliation:
        """Settle a reconciliation. Again by the same action returns it as it is; by another one is a Conflict.

        NotFound; Conflict when the file changed since; ReconciliationRequired when the write failed again.
        """
        ...
