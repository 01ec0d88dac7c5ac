"""A small working Studio for the transport's tests: runs in a dictionary, streams from a list, nothing stored."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from contract.actions import LaunchResult, LaunchRun
from contract.application import ContractInfo
from contract.base import Page
from contract.errors import Conflict, NotFound, StudioError, ValidationFailure
from contract.events import (
    DoneFrame,
    MessageView,
    RecordEvents,
    RecordResult,
    ShutdownFrame,
    StreamFrame,
)
from contract.limits import CONTRACT_VERSION, PUBLISHED
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
    RunTotals,
    StartRun,
    TagsResult,
)
from studio_project.config import StudioConfig, load_config
from studio_project.readiness import Readiness

NOW = 1_700_000_000.0


def config_of(**environ: str) -> StudioConfig:
    """Return a configuration as `STUDIO_<NAME>` variables would set it."""
    named = {f"STUDIO_{name.upper()}": value for name, value in environ.items()}
    return load_config({"STUDIO_HOME": "/nowhere/studio", **named})


def message(seq: int, content: str = "hello") -> StreamFrame:
    view = MessageView(seq=seq, branch="main", role="user", content=content, recorded_at=NOW)
    return StreamFrame(cursor=f"c{seq}", payload=view)


def done(cursor: str) -> StreamFrame:
    return StreamFrame(cursor=cursor, payload=DoneFrame(status="completed"))


class ScriptedStudio:
    """Knows the runs it was given or told to start; every stream plays `frames`, then fails or waits as told."""

    def __init__(self, config: StudioConfig | None = None, *, runs: Sequence[str] = ("r1",)) -> None:
        self.config = config or config_of()
        self.readiness = Readiness()
        self.store_fault_text: str | None = None
        self.runs = {run_id: StartRun(run_id=run_id) for run_id in runs}
        self.frames: Sequence[StreamFrame] = (message(1), message(2), done("c2"))
        self.fault: Exception | None = None
        self.stream_fault: Exception | None = None
        self.stays_open = False
        self.open_streams = 0
        self.resumed_from: list[str | None] = []
        self._stopping = asyncio.Event()

    def store_fault(self) -> str | None:
        return self.store_fault_text

    def _known(self, run_id: str) -> str:
        if self.fault is not None:
            raise self.fault
        if run_id not in self.runs:
            raise NotFound("run", run_id)
        return run_id

    def summary(self, run_id: str) -> RunSummary:
        return RunSummary(**_summary(run_id))

    async def describe_contract(self) -> ContractInfo:
        return ContractInfo(version=CONTRACT_VERSION, capabilities=("runs",), limits=dict(PUBLISHED))

    async def list_runs(self, query: RunQuery) -> Page[RunSummary]:
        if self.fault is not None:
            raise self.fault
        items = tuple(self.summary(run_id) for run_id in self.runs)[: query.limit]
        return Page[RunSummary](items=items, offset=query.offset, limit=query.limit, has_next=False)

    async def get_run(self, run_id: str, query: RunReadQuery) -> RunDetail:
        totals = RunTotals(
            messages_by_role={}, signals=0, artifacts=0, transitions=0, usage_reports=0, usage_reports_without_cost=0
        )
        return RunDetail(
            **_summary(self._known(run_id)), totals=totals, message_limit=query.message_limit, stream_cursor="c0"
        )

    async def read_evidence(self, request: EvidenceRequest) -> EvidencePage:
        run_id = self._known(request.run_id)
        return EvidencePage(run_id=run_id, pane=request.pane, items=(), limit=request.limit, has_next=False)

    async def start_run(self, command: StartRun) -> RunSummary:
        run_id = command.run_id or f"run-{len(self.runs)}"
        if run_id in self.runs:
            raise Conflict("run", None, run_id)
        self.runs[run_id] = command
        return self.summary(run_id)

    async def launch_run(self, command: LaunchRun) -> LaunchResult:
        run_id = command.launch_key or f"run-{len(self.runs)}"
        repeated = run_id in self.runs
        self.runs[run_id] = StartRun(run_id=run_id)
        return LaunchResult(run_id=run_id, status="queued", launch_key=run_id, created_at=NOW, repeated=repeated)

    async def record_events(self, run_id: str, command: RecordEvents) -> RecordResult:
        count = len(command.events)
        return RecordResult(run_id=self._known(run_id), accepted=count, duplicates=0, last_seq=count)

    async def cancel_run(self, run_id: str, command: CancelRun) -> CancelResult:
        return CancelResult(run_id=self._known(run_id), status=command.reason or "running", cancel_requested_at=NOW)

    async def change_run_tags(self, run_id: str, command: ChangeTags) -> TagsResult:
        return TagsResult(run_id=self._known(run_id), tags=command.add)

    async def list_invocations(self, query: InvocationQuery) -> Page[InvocationSummary]:
        return Page[InvocationSummary](items=(), offset=query.offset, limit=query.limit, has_next=False)

    async def get_invocation(self, invocation_id: str) -> InvocationDetail:
        raise NotFound("invocation", invocation_id)

    def stream_messages(self, run_id: str, cursor: str | None) -> AsyncIterator[StreamFrame]:
        return self._play(run_id, cursor)

    def stream_signals(self, run_id: str, cursor: str | None) -> AsyncIterator[StreamFrame]:
        return self._play(run_id, cursor)

    async def _play(self, run_id: str, cursor: str | None) -> AsyncIterator[StreamFrame]:
        self._known(run_id)
        if cursor == "garbled":
            raise ValidationFailure.at("cursor", code="cursor", message="is not a cursor of this run")
        self.resumed_from.append(cursor)
        self.open_streams += 1
        try:
            for frame in self.frames:
                yield frame
            if self.stream_fault is not None:
                raise self.stream_fault
            if self.stays_open:
                await self._stopping.wait()
                yield StreamFrame(cursor="c0", payload=ShutdownFrame())
        finally:
            self.open_streams -= 1

    async def reconcile(self) -> None:
        self.readiness.enter("reconcile", total=1)

    def stopping(self) -> None:
        self._stopping.set()

    async def close(self) -> None:
        self.stopping()


def unforeseen() -> Exception:
    return RuntimeError("a secret detail")


def every_member() -> list[type[StudioError]]:
    """Return every concrete error class of the tree."""
    found: list[type[StudioError]] = []
    waiting: list[type[StudioError]] = [StudioError]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if "code" in vars(kind):
            found.append(kind)
    return found


def _summary(run_id: str) -> dict[str, Any]:
    nothing = dict.fromkeys(
        (
            "effective_health",
            "playbook_name",
            "agent_name",
            "invocation_kind",
            "invocation_id",
            "project",
            "started_at",
            "ended_at",
            "updated_at",
        )
    )
    return {"run_id": run_id, "status": "running", **nothing}
