"""The composition root: the only module that names concrete adapters and binds the operations to them."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Final, Protocol

from artifacts.state import DjangoRunArtifactRows
from contract import limits
from contract.application import ContractInfo
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
from contract.errors import StudioApplicationError
from contract.events import ProcessIdentity, RecordEvents, RecordResult, StreamFrame
from contract.ports import Clock, IdGenerator
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
from definitions.files.disk import DiskDefinitionFiles
from definitions.services import capturing, reconciling, recovering, saving
from definitions.services import reading as definition_reading
from definitions.services.ports import WriterProbe
from definitions.services.writing import DefinitionWriter
from definitions.state.history import DjangoDefinitionHistory
from definitions.state.reconciliations import DjangoReconciliations
from runs.processes import LocalProcesses, identify
from runs.services import control, reading, recording
from runs.services.following import RunFollower
from runs.services.ports import ProcessProbe
from runs.state.reading import DjangoRunReads
from runs.state.tailing import DjangoRunTail
from runs.state.writing import DjangoRunWrites
from studio_project.change_feed import DatabaseChangeFeed
from studio_project.config import StudioConfig, current_config
from studio_project.readiness import Readiness
from studio_project.statedb import StateDB
from studio_project.system import RandomIds, SystemClock

# How long a run whose process has died may still be shown as running.
_RECONCILE_SECONDS: Final = 60.0

_log = logging.getLogger(__name__)

CAPABILITIES: Final = ("runs", "run-events/1", "run-streams", "invocations", "definitions")


class Processes(ProcessProbe, WriterProbe, Protocol):
    """This machine's processes, as runs and definitions look at them."""


class Studio:
    """Every operation, bound to adapters: StudioApplication in process, and the life of what serves it."""

    def __init__(self, config: StudioConfig, *, clock: Clock, ids: IdGenerator, probe: Processes) -> None:
        """Bind; nothing is opened before the first call."""
        self.config = config
        self.clock = clock
        self.readiness = Readiness()
        self._ids = ids
        self._probe = probe
        self._db = StateDB()
        self._feed = DatabaseChangeFeed()
        artifacts = DjangoRunArtifactRows(ids)
        self._reads = DjangoRunReads(self._db, artifacts=artifacts, probe=probe, clock=clock)
        self._writes = DjangoRunWrites(self._db, feed=self._feed, artifacts=artifacts, probe=probe, clock=clock)
        self._follower = RunFollower(tail=DjangoRunTail(self._db), feed=self._feed)
        self._history = DjangoDefinitionHistory(self._db, ids=ids)
        self._reconciliations = DjangoReconciliations(self._db, ids=ids)
        self._files = DiskDefinitionFiles(config.home, tokens=ids)
        self._writer = DefinitionWriter(history=self._history, files=self._files, writers=probe, clock=clock)

    async def describe_contract(self) -> ContractInfo:
        """Return version, capabilities and limits."""
        return ContractInfo(version=limits.CONTRACT_VERSION, capabilities=CAPABILITIES, limits=limits.PUBLISHED)

    async def list_runs(self, query: RunQuery) -> Page[RunSummary]:
        """Return one page of runs."""
        return await reading.list_runs(query=query, runs=self._reads)

    async def get_run(self, run_id: str, query: RunReadQuery) -> RunDetail:
        """Return a run's detail."""
        return await reading.get_run(run_id=run_id, query=query, runs=self._reads)

    async def read_evidence(self, request: EvidenceRequest) -> EvidencePage:
        """Return one page of a pane."""
        return await reading.read_evidence(request=request, evidence=self._reads)

    async def start_run(self, command: StartRun) -> RunSummary:
        """Register a running run."""
        return await recording.start_run(command=command, runs=self._writes, clock=self.clock, ids=self._ids)

    async def record_events(self, run_id: str, command: RecordEvents) -> RecordResult:
        """Store a batch atomically."""
        return await recording.record_events(run_id=run_id, command=command, runs=self._writes, clock=self.clock)

    async def cancel_run(self, run_id: str, command: CancelRun) -> CancelResult:
        """Ask a run to stop."""
        return await control.cancel_run(run_id=run_id, command=command, runs=self._writes, clock=self.clock)

    async def change_run_tags(self, run_id: str, command: ChangeTags) -> TagsResult:
        """Add and remove tags."""
        return await control.change_run_tags(run_id=run_id, command=command, runs=self._writes, clock=self.clock)

    async def list_invocations(self, query: InvocationQuery) -> Page[InvocationSummary]:
        """Return one page of invocations."""
        return await reading.list_invocations(query=query, invocations=self._reads)

    async def get_invocation(self, invocation_id: str) -> InvocationDetail:
        """Return an invocation with its runs."""
        return await reading.get_invocation(invocation_id=invocation_id, invocations=self._reads)

    def stream_messages(self, run_id: str, cursor: str | None) -> AsyncIterator[StreamFrame]:
        """Follow a run's messages."""
        return self._follower.follow(run_id, cursor, "messages")

    def stream_signals(self, run_id: str, cursor: str | None) -> AsyncIterator[StreamFrame]:
        """Follow a run's signals."""
        return self._follower.follow(run_id, cursor, "signals")

    async def list_definitions(self, query: DefinitionQuery) -> Page[DefinitionSummary]:
        """Return one page of definitions."""
        return await definition_reading.list_definitions(query=query, history=self._history, files=self._files)

    async def get_definition(self, kind: str, name: str) -> DefinitionDetail:
        """Return the file and how the history stands to it."""
        return await definition_reading.get_definition(kind=kind, name=name, history=self._history, files=self._files)

    async def save_file_definition(self, command: SaveDefinition) -> SaveResult:
        """Store content in history and file."""
        return await saving.save_file_definition(command=command, writer=self._writer)

    async def list_definition_versions(
        self, kind: str, name: str, query: VersionQuery
    ) -> Page[DefinitionVersionSummary]:
        """Return one page of a history."""
        return await definition_reading.list_definition_versions(
            kind=kind, name=name, query=query, history=self._history
        )

    async def get_definition_version(self, kind: str, name: str, version: int) -> DefinitionVersion:
        """Return one version with its content."""
        return await definition_reading.get_definition_version(
            kind=kind, name=name, version=version, history=self._history
        )

    async def diff_definition(self, kind: str, name: str, query: DiffQuery) -> DefinitionDiff:
        """Compare two versions, or a version and the file."""
        return await definition_reading.diff_definition(
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

    async def reconcile(self) -> None:
        """Bring the store in line with the world: part of the start-up."""
        self.readiness.enter("reconcile definitions")
        await self._recover_definitions(self.readiness.advance)
        self.readiness.enter("reconcile runs")
        await control.settle_gone_runs(
            runs=self._writes, probe=self._probe, clock=self.clock, progress=self.readiness.advance
        )

    async def _recover_definitions(self, progress: Callable[[int], None]) -> None:
        for note in await recovering.recover_definitions(writer=self._writer, progress=progress):
            _log.warning("definitions: %s", note)

    async def keep_reconciled(self) -> None:
        """Do the same again every minute, until cancelled."""
        await asyncio.gather(self._keep_runs_settled(), self._keep_definitions_recovered())

    async def _keep_definitions_recovered(self) -> None:
        """Let no save that a dead process left half-done wait for the next start to be seen."""
        while True:
            await asyncio.sleep(_RECONCILE_SECONDS)
            try:
                await self._recover_definitions(lambda _: None)
            except StudioApplicationError as fault:
                _log.warning("definitions were not reconciled: %s", fault)

    async def _keep_runs_settled(self) -> None:
        await control.keep_settling(
            runs=self._writes,
            probe=self._probe,
            clock=self.clock,
            every_seconds=_RECONCILE_SECONDS,
            on_fault=lambda fault: _log.warning("runs were not reconciled: %s", fault),
        )

    def store_fault(self) -> str | None:
        """Say what keeps the store from being used, or None; cheap enough for every probe."""
        return self._db.fault()

    def stopping(self) -> None:
        """End every open stream with a shutdown frame. Idempotent."""
        self._follower.stop()

    async def close(self) -> None:
        """End the feed's watcher and the pools, when what runs in them is done."""
        await asyncio.to_thread(self._feed.close)
        await asyncio.to_thread(self._db.close)


_current: list[Studio] = []


def build_studio(
    config: StudioConfig,
    *,
    clock: Clock | None = None,
    ids: IdGenerator | None = None,
    probe: Processes | None = None,
) -> Studio:
    """Build a Studio over the configured database; every argument replaces one adapter."""
    return Studio(config, clock=clock or SystemClock(), ids=ids or RandomIds(), probe=probe or LocalProcesses())


def this_process() -> ProcessIdentity:
    """Return the identity of this process, for runs that it produces itself."""
    return identify(os.getpid())


def get_studio() -> Studio:
    """Return this process's Studio, built on first use. Call it inside a handler, never at import."""
    if not _current:
        _current.append(build_studio(current_config()))
    return _current[0]


def set_studio(studio: Studio | None) -> None:
    """Replace this process's Studio (serve, tests)."""
    with suppress(IndexError):
        _current.pop()
    if studio is not None:
        _current.append(studio)
