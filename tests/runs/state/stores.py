"""The stores that the suite runs over: the in-memory one, and the Django adapters, by themselves and with jobs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest
from django.db import connection
from procrastinate.schema import SchemaManager

from artifacts.state import DjangoArtifactRemoval, DjangoRunArtifactRows
from contract.actions import LaunchResult
from contract.base import Page
from contract.events import ProcessIdentity, RecordResult, RunEvent
from contract.runs import (
    EvidencePage,
    EvidenceRequest,
    InvocationDetail,
    Pane,
    RunDetail,
    RunQuery,
    RunSummary,
)
from projects.state import DjangoRunProjectRows
from runs.execution.procrastinate_jobs import RunJobs
from runs.execution.worker import Worker
from runs.services.execution_ports import Announce, ClaimedLaunch, LaunchPort, Lease, RunQueue, SupervisedRunPort
from runs.services.ports import (
    InvocationReadPort,
    RunEvidencePort,
    RunReadPort,
    RunSettlementPort,
    RunTailPort,
    RunWritePort,
)
from runs.services.pruning import RunRemovalPort
from runs.services.statistics import StatsPort
from runs.state.launching import DjangoLaunches
from runs.state.queueing import DjangoRunQueue
from runs.state.reading import DjangoRunReads
from runs.state.removing import DjangoRunRemoval
from runs.state.statistics import DjangoStats
from runs.state.supervising import DjangoSupervisedRuns
from runs.state.tailing import DjangoRunTail
from runs.state.writing import DjangoRunWrites
from studio_project.statedb import StateDB
from tests.builders import start_run
from tests.fakes.change_feed import InMemoryChangeFeed
from tests.fakes.clocks import FixedClock, SequentialIds
from tests.fakes.processes import FakeProcesses
from tests.fakes.run_launches import InMemoryLaunches
from tests.fakes.run_removal import InMemoryRunRemoval, InMemoryStats, KeptRuns
from tests.fakes.runs import InMemoryRuns
from tests.runs.state.launches import child, draft, worker
from tests.runs.state.other_process import url_of

# Committed to by anyone, and empty again at the end.
DATABASE = pytest.mark.django_db(transaction=True)


@dataclass(kw_only=True)
class Store:
    """Every port of one store, the fakes around it, and short forms of what tests do all the time."""

    reads: RunReadPort
    evidence: RunEvidencePort
    invocations: InvocationReadPort
    writes: RunWritePort
    tail: RunTailPort
    settlement: RunSettlementPort
    launches: LaunchPort
    leases: RunQueue
    supervised: SupervisedRunPort
    removal: RunRemovalPort
    kept: KeptRuns
    stats: StatsPort
    clock: FixedClock
    probe: FakeProcesses
    feed: InMemoryChangeFeed
    close: Callable[[], None] = field(default=lambda: None)

    async def start(self, run_id: str, **fields: Any) -> RunSummary:
        """Register a run at the present instant."""
        return await self.writes.start_run(run_id, start_run(**fields), at=self.clock.now())

    async def queue(self, run_id: str, **fields: Any) -> LaunchResult:
        """Launch a run, which waits for a worker from the present instant on."""
        return await self.launches.launch(draft(run_id, **fields), at=self.clock.now())

    async def claim(
        self, *, limit: int = 100, cap: int = 0, owner: ProcessIdentity | None = None, only: str | None = None
    ) -> dict[str, ClaimedLaunch]:
        """Claim what there is at the present instant; by run id, in the order of the claim."""
        at = self.clock.now()
        claimed = await self.leases.claim(owner=owner or worker(), limit=limit, cap=cap, at=at, only=only)
        return {launch.lease.run_id: launch for launch in claimed}

    async def lease(self, run_id: str = "r") -> Lease:
        """Launch a run and claim it."""
        await self.queue(run_id)
        return (await self.claim())[run_id].lease

    async def child(self, run_id: str = "r") -> Lease:
        """Launch a run, claim it and let its process start."""
        lease = await self.lease(run_id)
        assert await self.supervised.started(lease, child(), at=self.clock.now())
        return lease

    async def record(self, run_id: str, *events: RunEvent) -> RecordResult:
        """Store a batch of a run that exists, at the present instant."""
        result = await self.writes.record_events(run_id, events, at=self.clock.now())
        assert result is not None
        return result

    async def page(self, **query: Any) -> Page[RunSummary]:
        return await self.reads.list_runs(RunQuery(**query))

    async def ids(self, **query: Any) -> list[str]:
        """Return the ids of one page."""
        return [run.run_id for run in (await self.page(**query)).items]

    async def detail(self, run_id: str, *, message_limit: int = 200, cursor: str | None = None) -> RunDetail:
        """Return a run that exists."""
        detail = await self.reads.get_run(run_id, message_limit=message_limit, cursor=cursor)
        assert detail is not None
        return detail

    async def pane(self, run_id: str, pane: Pane, **fields: Any) -> EvidencePage:
        """Return one page of a pane of a run that exists."""
        page = await self.evidence.read_evidence(EvidenceRequest(run_id=run_id, pane=pane, **fields))
        assert page is not None
        return page

    async def invocation(self, invocation_id: str) -> InvocationDetail:
        """Return an invocation that exists."""
        detail = await self.invocations.get_invocation(invocation_id)
        assert detail is not None
        return detail


def memory_store() -> Store:
    clock, probe, feed = FixedClock(), FakeProcesses(), InMemoryChangeFeed()
    runs = InMemoryRuns(clock=clock, probe=probe, feed=feed)
    launches, kept = InMemoryLaunches(runs), KeptRuns()
    return Store(
        reads=runs,
        evidence=runs,
        invocations=runs,
        writes=runs,
        tail=runs,
        settlement=runs,
        launches=launches,
        leases=launches,
        supervised=launches,
        removal=InMemoryRunRemoval(runs, references=(kept,)),
        kept=kept,
        stats=InMemoryStats(runs),
        clock=clock,
        probe=probe,
        feed=feed,
    )


def django_store(db: StateDB | None = None, *, announce: Announce = Worker.announce) -> Store:
    """Bind the adapters to the default database. To be closed, or its threads keep their connections."""
    db = db or StateDB()
    clock, probe, feed = FixedClock(), FakeProcesses(), InMemoryChangeFeed()
    artifacts, kept = DjangoRunArtifactRows(SequentialIds()), KeptRuns()
    reads = DjangoRunReads(db, artifacts=artifacts, probe=probe, clock=clock)
    projects = DjangoRunProjectRows()
    writes = DjangoRunWrites(db, feed=feed, artifacts=artifacts, projects=projects, probe=probe, clock=clock)
    return Store(
        reads=reads,
        evidence=reads,
        invocations=reads,
        writes=writes,
        tail=DjangoRunTail(db),
        settlement=writes,
        launches=DjangoLaunches(db, feed=feed, announce=announce, projects=projects),
        leases=DjangoRunQueue(db, feed=feed, announce=announce),
        supervised=DjangoSupervisedRuns(db, feed=feed, artifacts=artifacts),
        removal=DjangoRunRemoval(db, feed=feed, artifacts=DjangoArtifactRemoval(), references=(kept,)),
        kept=kept,
        stats=DjangoStats(db),
        clock=clock,
        probe=probe,
        feed=feed,
        close=db.close,
    )


def job_store() -> Store:
    """Bind the adapters with Procrastinate as the engine of the queue, on a PostgreSQL whose jobs are emptied."""
    with psycopg.connect(url_of(connection.settings_dict), autocommit=True) as direct:
        if direct.execute("SELECT to_regclass('procrastinate_jobs')").fetchone() == (None,):
            direct.execute(SchemaManager.get_schema())
        direct.execute("TRUNCATE procrastinate_jobs, procrastinate_workers, procrastinate_periodic_defers CASCADE")
    return django_store(announce=RunJobs.announce)
