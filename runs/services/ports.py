"""What the operations on runs need from the outside.

Every port raises StateUnavailable when its store cannot answer. A missing run is None, never an error: the
operations turn it into NotFound. One call is one transaction.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from contract.artifacts import ArtifactView
from contract.base import Page
from contract.events import (
    ArtifactEvent,
    MessageView,
    ProcessIdentity,
    RecordResult,
    RunEvent,
    SignalView,
)
from contract.runs import (
    CancelResult,
    EvidencePage,
    EvidenceRequest,
    InvocationDetail,
    InvocationQuery,
    InvocationSummary,
    RunDetail,
    RunQuery,
    RunSummary,
    StartRun,
    TagsResult,
)

Entries = Literal["messages", "signals"]


class RunReadPort(Protocol):
    """Reads runs and what belongs to them. Queries and cursors have been checked before."""

    async def list_runs(self, query: RunQuery) -> Page[RunSummary]:
        """Return one page in the query's order; ties are broken by registration, newest first."""
        ...

    async def get_run(self, run_id: str, *, message_limit: int, cursor: str | None) -> RunDetail | None:
        """Return a run with one window of its messages, all from one state of the store."""
        ...


class RunEvidencePort(Protocol):
    """Reads one pane of a run."""

    async def read_evidence(self, request: EvidenceRequest) -> EvidencePage | None:
        """Return entries after the request's cursor, oldest first."""
        ...


class InvocationReadPort(Protocol):
    """Reads invocations."""

    async def list_invocations(self, query: InvocationQuery) -> Page[InvocationSummary]:
        """Return one page, newest first."""
        ...

    async def get_invocation(self, invocation_id: str) -> InvocationDetail | None:
        """Return an invocation with its runs."""
        ...


class RunWritePort(Protocol):
    """Changes runs. Each change is published to the change feed after its commit."""

    async def start_run(self, run_id: str, command: StartRun, *, at: float) -> RunSummary:
        """Insert a running run with its first transition. Conflict when the id is taken."""
        ...

    async def record_events(self, run_id: str, events: Sequence[RunEvent], *, at: float) -> RecordResult | None:
        """Store a batch, all or nothing; events whose id is known are counted as duplicates.

        Batches of one run are serialized; each message and signal gets the next `seq`.
        """
        ...

    async def request_cancel(self, run_id: str, *, reason: str | None, at: float) -> CancelResult | None:
        """End a queued run, mark a running one; asking again changes nothing. Conflict when it has ended."""
        ...

    async def change_tags(
        self, run_id: str, *, add: frozenset[str], remove: frozenset[str], at: float
    ) -> TagsResult | None:
        """Add and remove tags. ValidationFailure when the run would have too many."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHead:
    """How far a run is: its newest position and its status, both of one instant."""

    last_seq: int
    status: str
    reason_code: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPage:
    """Entries of one kind, oldest first; everything of the kind up to `through` is in or before it."""

    items: tuple[MessageView | SignalView, ...]
    through: int


class RunTailPort(Protocol):
    """Reads the newest of runs, for those who follow them."""

    async def heads(self, run_ids: Sequence[str]) -> dict[str, RunHead]:
        """Return the head of every run that exists, with one query."""
        ...

    async def entries(self, run_id: str, kind: Entries, *, after: int, up_to: int) -> EntryPage:
        """Return one bounded page of entries with `after < seq <= up_to`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningProcess:
    """A running run and the process that its producer named."""

    run_id: str
    number: int
    process: ProcessIdentity


class RunSettlementPort(Protocol):
    """Finds and ends running runs whose process is gone, but for those that a worker holds: they are the reaper's."""

    async def running_processes(self, *, after: int, limit: int) -> tuple[RunningProcess, ...]:
        """Return running runs with a recorded process, by `number`, from after a number."""
        ...

    async def settle_gone(self, run_ids: Sequence[str], *, at: float) -> int:
        """Fail those that still run with `run.failed.process_gone`; return how many were."""
        ...


class ProcessProbe(Protocol):
    """Looks at processes of this machine."""

    def alive(self, process: ProcessIdentity) -> bool | None:
        """Whether this very process lives; None when that cannot be known (another host, not enough recorded)."""
        ...

    def elsewhere(self, process: ProcessIdentity) -> bool:
        """Whether the process belongs to another host."""
        ...


class RunProjectRows(Protocol):
    """The projects' part of the transaction that registers a run. Synchronous, as below."""

    def ensure(self, name: str, *, at: float) -> None:
        """Insert a project unless there is one, and keep it from being renamed or removed until the run is there."""
        ...


class RunArtifactRows(Protocol):
    """The artifacts' part of a run's transaction. Synchronous: it runs inside the state adapter's own work."""

    def upsert(self, run_id: str, events: Sequence[ArtifactEvent], *, at: float) -> None:
        """Insert or replace by natural key (run, kind, name), keeping id and created_at."""
        ...

    def of_run(self, run_id: str, *, after: int, limit: int) -> Iterator[tuple[int, ArtifactView]]:
        """Read artifacts one by one with their row number, oldest first, from after a row number."""
        ...

    def count(self, run_id: str) -> int:
        """Count the run's artifacts."""
        ...
