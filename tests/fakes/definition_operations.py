"""The operations on definitions, the real ones, over in-memory files and history."""

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
from definitions.services.writing import DefinitionWriter
from tests.fakes.clocks import FixedClock
from tests.fakes.definition_files import InMemoryDefinitionFiles
from tests.fakes.definition_history import InMemoryDefinitionHistory
from tests.fakes.processes import FakeProcesses


class InMemoryDefinitionOperations:
    """The half of StudioApplication that is about definitions."""

    def __init__(self) -> None:
        self.files = InMemoryDefinitionFiles()
        self.history = InMemoryDefinitionHistory()
        self._writer = DefinitionWriter(
            history=self.history, files=self.files, writers=FakeProcesses(), clock=FixedClock()
        )

    async def list_definitions(self, query: DefinitionQuery) -> Page[DefinitionSummary]:
        return await reading.list_definitions(query=query, history=self.history, files=self.files)

    async def get_definition(self, kind: str, name: str) -> DefinitionDetail:
        return await reading.get_definition(kind=kind, name=name, history=self.history, files=self.files)

    async def save_file_definition(self, command: SaveDefinition) -> SaveResult:
        return await saving.save_file_definition(command=command, writer=self._writer)

    async def list_definition_versions(
        self, kind: str, name: str, query: VersionQuery
    ) -> Page[DefinitionVersionSummary]:
        return await reading.list_definition_versions(kind=kind, name=name, query=query, history=self.history)

    async def get_definition_version(self, kind: str, name: str, version: int) -> DefinitionVersion:
        return await reading.get_definition_version(kind=kind, name=name, version=version, history=self.history)

    async def diff_definition(self, kind: str, name: str, query: DiffQuery) -> DefinitionDiff:
        return await reading.diff_definition(kind=kind, name=name, query=query, history=self.history, files=self.files)

    async def rollback_definition(self, kind: str, name: str, command: RollbackDefinition) -> SaveResult:
        return await saving.rollback_definition(kind=kind, name=name, command=command, writer=self._writer)

    async def delete_definition(self, kind: str, name: str, command: DeleteDefinition) -> SaveResult:
        return await saving.delete_definition(kind=kind, name=name, command=command, writer=self._writer)

    async def snapshot_definitions(self, command: SnapshotDefinitions) -> SnapshotResult:
        return await capturing.snapshot_definitions(command=command, writer=self._writer)

    async def list_reconciliations(self, query: ReconciliationQuery) -> Page[Reconciliation]:
        return await reconciling.list_reconciliations(query=query, reconciliations=self.history)

    async def get_reconciliation(self, reconciliation_id: str) -> ReconciliationDetail:
        return await reconciling.get_reconciliation(
            reconciliation_id=reconciliation_id, reconciliations=self.history, files=self.files
        )

    async def resolve_reconciliation(self, reconciliation_id: str, command: ResolveReconciliation) -> Reconciliation:
        return await reconciling.resolve_reconciliation(
            reconciliation_id=reconciliation_id,
            command=command,
            reconciliations=self.history,
            writer=self._writer,
        )
