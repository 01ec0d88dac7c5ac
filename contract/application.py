"""StudioApplication: every operation of Studio, in process (`Studio`) and over HTTP (`RemoteStudio`) alike.

Every operation raises members of `contract.errors.StudioApplicationError`; the remote one also
`RequestRefused`. Invalid input is a ValidationFailure before anything is read or written.
"""

from collections.abc import AsyncIterator
from typing import Protocol

from contract.base import ContractModel, Page
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
