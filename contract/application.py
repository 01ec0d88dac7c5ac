"""StudioApplication: every operation of Studio, in process (`Studio`) and over HTTP (`RemoteStudio`) alike.

Every operation raises members of `contract.errors.StudioApplicationError`; the remote one also
`RequestRefused`. Invalid input is a ValidationFailure before anything is read or written.
"""

from collections.abc import AsyncIterator
from typing import Protocol

from contract.actions import LaunchResult, LaunchRun
from contract.base import ContractModel, Page
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
from contract.events import RecordEvents, RecordResult, StreamFrame
from contract.runs import (
    CancelResult,
    CancelRun,
    ChangeTags,
    EvidencePage,
    EvidenceRequest,
    InvocationDetail,
    InvocationQuery,
    InvocationSummary,
    RunDetail,
    RunQuery,
    RunReadQuery,
    RunSummary,
    StartRun,
    TagsResult,
)


class ContractInfo(ContractModel):
    """What a daemon speaks: contract version, capabilities by name, and every published limit."""

    version: str
    capabilities: tuple[str, ...]
    limits: dict[str, int | float]


class StudioApplication(Protocol):
    """The operations, grouped by capability."""

    async def describe_contract(self) -> ContractInfo:
        """Return version, capabilities and limits."""
        ...

    async def list_runs(self, query: RunQuery) -> Page[RunSummary]:
        """Return one page of runs; empty pages are typed, never None."""
        ...

    async def get_run(self, run_id: str, query: RunReadQuery) -> RunDetail:
        """Return a run's detail. NotFound; ValidationFailure for a cursor of another run or limit."""
        ...

    async def read_evidence(self, request: EvidenceRequest) -> EvidencePage:
        """Return one page of a pane. NotFound; ValidationFailure for a foreign cursor."""
        ...

    async def start_run(self, command: StartRun) -> RunSummary:
        """Register a running run. Conflict when the chosen `run_id` is taken."""
        ...

    async def launch_run(self, command: LaunchRun) -> LaunchResult:
        """Queue a run that Studio executes, once for each `launch_key`.

        ValidationFailure for what could not be executed; Conflict when the key was used for another action.
        """
        ...

    async def record_events(self, run_id: str, command: RecordEvents) -> RecordResult:
        """Store a batch atomically. NotFound; ValidationFailure names the event and field."""
        ...

    async def cancel_run(self, run_id: str, command: CancelRun) -> CancelResult:
        """Ask a run to stop; idempotent. NotFound; Conflict when the run has ended."""
        ...

    async def change_run_tags(self, run_id: str, command: ChangeTags) -> TagsResult:
        """Add and remove tags; idempotent. NotFound; ValidationFailure over the bound."""
        ...

    async def list_invocations(self, query: InvocationQuery) -> Page[InvocationSummary]:
        """Return one page of invocations, newest first."""
        ...

    async def get_invocation(self, invocation_id: str) -> InvocationDetail:
        """Return an invocation with its runs. NotFound."""
        ...

    def stream_messages(self, run_id: str, cursor: str | None) -> AsyncIterator[StreamFrame]:
        """Follow a run's messages from after `cursor` (None: the start) until it is done.

        The first step raises NotFound or ValidationFailure. Every message comes exactly once, in `seq` order.
        """
        ...

    def stream_signals(self, run_id: str, cursor: str | None) -> AsyncIterator[StreamFrame]:
        """Follow a run's signals; the same rules as for messages."""
        ...

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
