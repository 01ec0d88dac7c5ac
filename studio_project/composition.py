"""The composition root: the only module that names concrete adapters and binds the operations to them."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final

from artifacts.state import DjangoRunArtifactRows
from contract import limits
from contract.application import ContractInfo
from contract.base import Page
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

CAPABILITIES: Final = ("runs", "run-events/1", "run-streams", "invocations")


class Studio:
    """Every operation, bound to adapters: StudioApplication in process, and the life of what serves it."""

    def __init__(self, config: StudioConfig, *, clock: Clock, ids: IdGenerator, probe: ProcessProbe) -> None:
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

    async def reconcile(self) -> None:
        """Bring the store in line with the world: part of the start-up."""
        self.readiness.enter("reconcile runs")
        await control.settle_gone_runs(
            runs=self._writes, probe=self._probe, clock=self.clock, progress=self.readiness.advance
        )

    async def keep_reconciled(self) -> None:
        """Do the same again every minute, until cancelled."""
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
    probe: ProcessProbe | None = None,
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
