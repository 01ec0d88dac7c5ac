"""The two stores that the suite runs over: the in-memory one, and the Django adapters."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from artifacts.state import DjangoRunArtifactRows
from contract.base import Page
from contract.events import RecordResult, RunEvent
from contract.runs import (
    EvidencePage,
    EvidenceRequest,
    InvocationDetail,
    Pane,
    RunDetail,
    RunQuery,
    RunSummary,
    StartRun,
)
from runs.batch import Move
from runs.models import RunRecord
from runs.naming import search_text
from runs.services.ports import (
    InvocationReadPort,
    RunEvidencePort,
    RunReadPort,
    RunSettlementPort,
    RunTailPort,
    RunWritePort,
)
from runs.state.reading import DjangoRunReads
from runs.state.tailing import DjangoRunTail
from runs.state.writing import DjangoRunWrites, add_transition
from studio_project.statedb import StateDB
from tests.builders import start_run
from tests.fakes.change_feed import InMemoryChangeFeed
from tests.fakes.clocks import FixedClock, SequentialIds
from tests.fakes.processes import FakeProcesses
from tests.fakes.runs import InMemoryRuns

# Committed to by anyone, and empty again at the end. Only the tables of these apps are emptied, or Django would also
# make every permission anew after each test, which takes longer than the tests do.
DATABASE = pytest.mark.django_db(transaction=True, available_apps=["runs", "artifacts"])


@dataclass(kw_only=True)
class Store:
    """Every port of one store, the fakes around it, and short forms of what tests do all the time."""

    reads: RunReadPort
    evidence: RunEvidencePort
    invocations: InvocationReadPort
    writes: RunWritePort
    tail: RunTailPort
    settlement: RunSettlementPort
    clock: FixedClock
    probe: FakeProcesses
    feed: InMemoryChangeFeed
    close: Callable[[], None] = field(default=lambda: None)

    async def start(self, run_id: str, **fields: Any) -> RunSummary:
        """Register a run at the present instant."""
        return await self.writes.start_run(run_id, start_run(**fields), at=self.clock.now())

    async def queue(self, run_id: str, **fields: Any) -> None:
        """Insert a run that waits for a worker."""
        command = start_run(**fields)
        if isinstance(self.writes, InMemoryRuns):
            self.writes.add_queued(run_id, command, at=self.clock.now())
        elif isinstance(self.writes, DjangoRunWrites):
            at = self.clock.now()
            await self.writes._db.write(lambda: _insert_queued(run_id, command, at))

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
    return Store(
        reads=runs,
        evidence=runs,
        invocations=runs,
        writes=runs,
        tail=runs,
        settlement=runs,
        clock=clock,
        probe=probe,
        feed=feed,
    )


def django_store(db: StateDB | None = None) -> Store:
    """Bind the adapters to the default database. To be closed, or its threads keep their connections."""
    db = db or StateDB()
    clock, probe, feed = FixedClock(), FakeProcesses(), InMemoryChangeFeed()
    artifacts = DjangoRunArtifactRows(SequentialIds())
    reads = DjangoRunReads(db, artifacts=artifacts, probe=probe, clock=clock)
    writes = DjangoRunWrites(db, feed=feed, artifacts=artifacts, probe=probe, clock=clock)
    return Store(
        reads=reads,
        evidence=reads,
        invocations=reads,
        writes=writes,
        tail=DjangoRunTail(db),
        settlement=writes,
        clock=clock,
        probe=probe,
        feed=feed,
        close=db.close,
    )


def _insert_queued(run_id: str, command: StartRun, at: float) -> None:
    run = RunRecord.objects.create(
        run_id=run_id,
        kind=command.kind,
        name=command.name,
        agent_name=command.agent_name,
        search_text=search_text(command.name, command.agent_name),
        status="queued",
        status_reason_code="run.queued.launched",
        created_at=at,
        updated_at=at,
        last_activity_at=at,
        sort_started_at=at,
    )
    first = Move(
        from_status=None, to_status="queued", reason_code="run.queued.launched", reason_summary=None, refused=False
    )
    add_transition(run, first, actor="producer", at=at)
