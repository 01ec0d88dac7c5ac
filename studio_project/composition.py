"""The composition root: the only module that names concrete adapters and binds the operations to them."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Final, Protocol

from artifacts.state import DjangoRunArtifactRows
from contract import limits
from contract.actions import LaunchResult, LaunchRun
from contract.application import ContractInfo
from contract.base import Page
from contract.errors import StateUnavailable, StudioApplicationError
from contract.events import RecordEvents, RecordResult, StreamFrame
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
from definitions.services import recovering
from definitions.services.ports import WriterProbe
from definitions.services.sourcing import PlaybookSources
from definitions.services.writing import DefinitionWriter
from definitions.state.history import DjangoDefinitionHistory
from definitions.state.reconciliations import DjangoReconciliations
from runs.actions import LaunchRules
from runs.demo import demo_agent
from runs.execution.executing import RunExecution
from runs.execution.planning import LaunchPlanner, clear_abandoned
from runs.execution.reaper import Reaper
from runs.execution.worker import Worker
from runs.processes import LocalProcesses
from runs.services import control, launching, reading, recording
from runs.services.execution_ports import ClaimedLaunch
from runs.services.following import RunFollower
from runs.services.ports import ProcessProbe
from runs.state.launching import DjangoLaunches
from runs.state.queueing import DjangoRunQueue
from runs.state.reading import DjangoRunReads
from runs.state.supervising import DjangoSupervisedRuns
from runs.state.tailing import DjangoRunTail
from runs.state.writing import DjangoRunWrites
from studio_project.banner import root_url
from studio_project.change_feed import DatabaseChangeFeed
from studio_project.config import StudioConfig, child_environment, current_config
from studio_project.definition_operations import DefinitionOperations
from studio_project.machine import LocalMachine
from studio_project.readiness import Readiness
from studio_project.statedb import StateDB
from studio_project.system import RandomIds, SystemClock

# How soon a worker that is gone is noticed, besides what its lease takes.
_REAP_SECONDS: Final = 10.0
# How long a run whose process has died may still be shown as running.
_RECONCILE_SECONDS: Final = 60.0

_log = logging.getLogger(__name__)

CAPABILITIES: Final = ("runs", "run-events/1", "run-streams", "invocations", "definitions", "execution")


class Processes(ProcessProbe, WriterProbe, Protocol):
    """This machine's processes, as runs and definitions look at them."""


class Studio(DefinitionOperations):
    """Every operation, bound to adapters: StudioApplication in process, and the life of what serves it."""

    def __init__(self, config: StudioConfig, *, clock: Clock, ids: IdGenerator, probe: Processes) -> None:
        """Bind; nothing is opened before the first call."""
        self.config = config
        self.clock = clock
        self.readiness = Readiness()
        # Where its runs find the daemon; the daemon itself knows better, once it listens.
        self.url = config.url or root_url(config, config.port)
        self._ids = ids
        self._probe = probe
        self._db = StateDB()
        self._feed = DatabaseChangeFeed()
        artifacts = DjangoRunArtifactRows(ids)
        self._reads = DjangoRunReads(self._db, artifacts=artifacts, probe=probe, clock=clock)
        self._writes = DjangoRunWrites(self._db, feed=self._feed, artifacts=artifacts, probe=probe, clock=clock)
        self._follower = RunFollower(tail=DjangoRunTail(self._db), feed=self._feed)
        history = DjangoDefinitionHistory(self._db, ids=ids)
        files = DiskDefinitionFiles(config.home, tokens=ids)
        super().__init__(
            history=history,
            reconciliations=DjangoReconciliations(self._db, ids=ids),
            files=files,
            writer=DefinitionWriter(history=history, files=files, writers=probe, clock=clock),
        )
        self._sources = PlaybookSources(files, home=config.home)
        self._machine = LocalMachine(config.runtimes)
        self._policy = _policy_of(config)
        self._run_files = config.home / "launches"
        self._launches = DjangoLaunches(self._db, feed=self._feed)
        self.queue = DjangoRunQueue(self._db, feed=self._feed)
        self.supervised = DjangoSupervisedRuns(self._db, feed=self._feed, artifacts=artifacts)
        self._reaper = Reaper(
            queue=self.queue,
            runs=self.supervised,
            probe=probe,
            owner=probe.own(),
            clock=clock,
            grace_seconds=config.grace_seconds,
        )

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

    async def launch_run(self, command: LaunchRun) -> LaunchResult:
        """Queue a run that Studio executes."""
        return await launching.launch_run(
            command=command,
            policy=self._policy,
            launches=self._launches,
            sources=self._sources,
            machine=self._machine,
            clock=self.clock,
            ids=self._ids,
        )

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

    async def reconcile(self) -> None:
        """Bring the store in line with the world: part of the start-up."""
        self.readiness.enter("reconcile definitions")
        await self._recover_definitions(self.readiness.advance)
        self.readiness.enter("end runs of lost workers")
        await self._reaper.sweep()
        await clear_abandoned(self._run_files, self._held_runs)
        self.readiness.enter("reconcile runs")
        await control.settle_gone_runs(
            runs=self._writes, probe=self._probe, clock=self.clock, progress=self.readiness.advance
        )

    async def _held_runs(self) -> frozenset[str]:
        return frozenset(launch.lease.run_id for launch in await self.queue.held())

    async def _recover_definitions(self, progress: Callable[[int], None]) -> None:
        for note in await recovering.recover_definitions(writer=self._writer, progress=progress):
            _log.warning("definitions: %s", note)

    async def keep_reconciled(self) -> None:
        """Do the same again every minute, and look for lost workers more often, until cancelled."""
        await asyncio.gather(self._keep_runs_settled(), self._keep_definitions_recovered(), self._keep_reaping())

    async def _keep_reaping(self) -> None:
        while True:
            try:
                await self._reaper.sweep()
            except StateUnavailable as fault:
                _log.warning("lost workers were not looked for: %s", fault)
            except Exception:  # noqa: BLE001 (one sweep that fails ends no other)
                _log.exception("lost workers were not looked for")
            await asyncio.sleep(_REAP_SECONDS)

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

    async def work(self, *, only: str | None = None) -> None:
        """Execute queued runs, until cancelled; then end those that are being executed.

        With `only` just the run of this id, and without a place among those that `max_concurrent` counts.
        """
        await Worker(
            queue=self.queue,
            execute=self._execution,
            feed=self._feed,
            owner=self._probe.own(),
            cap=0 if only else self.config.max_concurrent,
            clock=self.clock,
            only=only,
        ).run()

    def _execution(self, launch: ClaimedLaunch) -> RunExecution:
        planner = LaunchPlanner(
            # Launched it can only be by who may (`allow_demo`), and once it is queued every worker may execute it.
            rules=_policy_of(allow_demo(self.config)).rules,
            sources=self._sources,
            folder=self._run_files,
            environment=child_environment(self.config, url=self.url),
        )
        return RunExecution(
            launch,
            runs=self.supervised,
            planner=planner,
            clock=self.clock,
            grace_seconds=self.config.grace_seconds,
            incident=lambda error: _log.error("a run could not be executed", exc_info=error),
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


def _policy_of(config: StudioConfig) -> launching.LaunchPolicy:
    rules = LaunchRules(
        runtimes=config.runtimes, default_runtime=config.default_runtime, command_allowlist=config.command_allowlist
    )
    root = None if config.execution_root is None else str(config.execution_root)
    return launching.LaunchPolicy(rules=rules, root=root, deadline_seconds=config.deadline_seconds)


def allow_demo(config: StudioConfig) -> StudioConfig:
    """Return the configuration with this installation's demo agent among the executables that may be launched."""
    return config.model_copy(update={"command_allowlist": (*config.command_allowlist, demo_agent())})


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
