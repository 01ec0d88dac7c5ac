"""The operations on runs, invocations and their streams: a part of StudioApplication."""

from collections.abc import AsyncIterator
from typing import Protocol

from contract.actions import LaunchResult, LaunchRun
from contract.base import Page
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


class RunOperations(Protocol):
    """Every operation on runs, invocations and their streams."""

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
