"""The run-event protocol v1: the one way evidence gets into a run.

Events come by HTTP batch, by CLI, or as lines of a supervised child's standard output. Order is the order of
arrival; `at` is the producer's clock, shown but never an order. An `event_id` makes an event idempotent within
its run.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from contract.artifacts import ArtifactBody, MediaType, RelativePath, Sha256
from contract.base import (
    SAFE,
    ContractModel,
    EvidenceJson,
    Identifier,
    Instant,
    Name,
    Summary,
    Token,
    Tup,
)
from contract.evidence import fitted_body, text_of
from contract.limits import (
    BODY_MAX_BYTES,
    EVENT_MAX_BYTES,
    EVENTS_PER_BATCH_MAX,
    GRAPH_EDGES_MAX,
    GRAPH_NODES_MAX,
    SAFE_INTEGER_MAX,
    USAGE_COST_USD_MAX,
    USAGE_TOKENS_MAX,
)

Role = Literal["system", "user", "assistant", "tool", "output"]
TerminalStatus = Literal["completed", "completed_empty", "failed", "timed_out", "aborted", "cancelled"]
DEFAULT_BRANCH = "main"
# Characters of a text that is kept when it is over the bound: UTF-8 needs at most four bytes for each.
_KEPT_CHARS = EVENT_MAX_BYTES // 4
_KEY_MAX_CHARS = 200


class EventBase(ContractModel):
    """What every event may carry."""

    event_id: Annotated[str, Field(min_length=1, max_length=_KEY_MAX_CHARS), SAFE] | None = None
    at: Instant | None = None
    branch: Name = DEFAULT_BRANCH


class _Evidence(EventBase):
    """An event with a body that is never refused for what it holds."""

    sanitized: bool = False
    withheld: bool = False
    size_bytes: Annotated[int, Field(ge=0, le=SAFE_INTEGER_MAX)] | None = None

    @classmethod
    def _fitted(cls, data: Any, key: str) -> Any:
        """Return the raw fields with the body clean, bounded and marked."""
        if not isinstance(data, dict) or key not in data:
            return data
        body, changed, size = fitted_body(data[key])
        fields = {**data, key: body}
        if changed:
            fields["sanitized"] = True
        if size > EVENT_MAX_BYTES:
            fields[key] = text_of(body)[:_KEPT_CHARS]
            fields["withheld"] = True
        claimed = fields.get("size_bytes")
        # A producer may know of more than it sends; less would let a reader's budget be evaded.
        if claimed is None or (type(claimed) is int and claimed < size):
            fields["size_bytes"] = size
        return fields


class BranchEvent(EventBase):
    """Declares or describes a branch; fields that are given overwrite, others stay."""

    type: Literal["branch"] = "branch"
    name: Name
    parent: Name | None = None
    model: Name | None = None
    provider: Name | None = None
    agent_name: Name | None = None


class MessageEvent(_Evidence):
    """One entry of a branch. A body over 1 MiB is stored truncated, marked `withheld`, with its size."""

    type: Literal["message"] = "message"
    role: Role
    content: EvidenceJson
    sender: Name | None = None
    recipient: Name | None = None
    message_id: Name | None = None

    @model_validator(mode="before")
    @classmethod
    def _fit(cls, data: Any) -> Any:
        return cls._fitted(data, "content")


class SignalEvent(_Evidence):
    """One lifecycle event, such as NodeStarted with the node's `op_id`."""

    type: Literal["signal"] = "signal"
    kind: Token
    op_id: Name | None = None
    payload: EvidenceJson = None

    @model_validator(mode="before")
    @classmethod
    def _fit(cls, data: Any) -> Any:
        return cls._fitted(data, "payload")


class ArtifactEvent(EventBase):
    """Metadata of a thing the run made; the same kind and name again replaces it."""

    type: Literal["artifact"] = "artifact"
    kind: Token
    name: Name
    path: RelativePath | None = None
    content: ArtifactBody = None
    media_type: MediaType | None = None
    sha256: Sha256 | None = None


class UsageEvent(EventBase):
    """Tokens and money spent since the last report. A missing cost is unknown, never zero."""

    type: Literal["usage"] = "usage"
    input_tokens: Annotated[int, Field(ge=0, le=USAGE_TOKENS_MAX)] | None = None
    output_tokens: Annotated[int, Field(ge=0, le=USAGE_TOKENS_MAX)] | None = None
    cost_usd: Annotated[float, Field(ge=0, le=USAGE_COST_USD_MAX)] | None = None
    model: Name | None = None


class GraphNode(ContractModel):
    """One node of a run's graph; signals refer to it by `op_id`."""

    id: Name
    label: Name | None = None
    kind: Name | None = None


class GraphEdge(ContractModel):
    """One edge of a run's graph."""

    source: Name
    target: Name
    condition: Summary | None = None


class RunGraph(ContractModel):
    """The shape of a run: what depends on what."""

    nodes: Annotated[Tup[GraphNode], Field(max_length=GRAPH_NODES_MAX)] = ()
    edges: Annotated[Tup[GraphEdge], Field(max_length=GRAPH_EDGES_MAX)] = ()


class GraphEvent(EventBase):
    """Replaces the run's graph."""

    type: Literal["graph"] = "graph"
    nodes: Annotated[Tup[GraphNode], Field(max_length=GRAPH_NODES_MAX)] = ()
    edges: Annotated[Tup[GraphEdge], Field(max_length=GRAPH_EDGES_MAX)] = ()


class StatusEvent(EventBase):
    """Moves the run. A move out of a terminal status is refused, and the refusal is recorded."""

    type: Literal["status"] = "status"
    status: Literal["running"] | TerminalStatus
    reason_code: Annotated[str, Field(max_length=_KEY_MAX_CHARS), SAFE] | None = None
    reason_summary: Summary | None = None


RunEvent = Annotated[
    BranchEvent | MessageEvent | SignalEvent | ArtifactEvent | UsageEvent | GraphEvent | StatusEvent,
    Field(discriminator="type"),
]


def _refuse_unfit(events: tuple[Any, ...]) -> tuple[Any, ...]:
    if not events:
        raise PydanticCustomError("too_short", "must hold at least one event")
    # What travels by HTTP is bounded by its body; this bounds what a caller in process hands over.
    kept = sum(min(event.size_bytes or 0, EVENT_MAX_BYTES) for event in events if isinstance(event, _Evidence))
    if kept > BODY_MAX_BYTES:
        raise PydanticCustomError("too_large", "must have at most {limit} bytes together", {"limit": BODY_MAX_BYTES})
    return events


class RecordEvents(ContractModel):
    """One atomic batch: all of it is stored, or none."""

    events: Annotated[Tup[RunEvent], Field(max_length=EVENTS_PER_BATCH_MAX), AfterValidator(_refuse_unfit)]


class RecordResult(ContractModel):
    """What a batch did. `last_seq` is the run's newest position; a producer sees here that it should stop."""

    run_id: str
    accepted: int
    duplicates: int
    last_seq: int
    refused_transitions: int = 0
    cancel_requested: bool = False


class ProcessIdentity(ContractModel):
    """Names one process for good: a pid is reused, a pid with its start time and boot is not.

    `started_at` is the process's start in epoch seconds, `boot_id` the kernel's id of this boot where it has one.
    `started_ticks` is the start in clock ticks after the boot (Linux, /proc/<pid>/stat, field 22): within one boot it
    stays what it is when the wall clock is set.
    """

    host: Name
    pid: Annotated[int, Field(ge=1, le=2**31 - 1)]
    started_at: Instant | None = None
    started_ticks: Annotated[int, Field(ge=0, le=SAFE_INTEGER_MAX)] | None = None
    boot_id: Identifier | None = None


class MessageView(ContractModel):
    """One message. `content` is null when withheld by a read budget; `size_bytes` is its full size."""

    type: Literal["message"] = "message"
    seq: int
    branch: str
    role: str
    content: EvidenceJson = None
    sender: str | None = None
    recipient: str | None = None
    message_id: str | None = None
    event_id: str | None = None
    at: float | None = None
    recorded_at: float
    size_bytes: int = 0
    withheld: bool = False
    sanitized: bool = False


class SignalView(ContractModel):
    """One signal of a run."""

    type: Literal["signal"] = "signal"
    seq: int
    kind: str
    op_id: str | None = None
    branch: str
    payload: EvidenceJson = None
    event_id: str | None = None
    at: float | None = None
    recorded_at: float
    size_bytes: int = 0
    withheld: bool = False
    sanitized: bool = False


class HeartbeatFrame(ContractModel):
    """Says that the stream lives; sent when nothing else was for a while."""

    type: Literal["heartbeat"] = "heartbeat"


class DoneFrame(ContractModel):
    """The run is terminal and everything recorded so far was sent. The stream ends."""

    type: Literal["done"] = "done"
    status: str
    reason_code: str | None = None


class ErrorFrame(ContractModel):
    """The stream ends by a fault; `retryable` says whether resuming from the cursor may help."""

    type: Literal["error"] = "error"
    code: str
    retryable: bool


class TruncatedFrame(ContractModel):
    """The reader was too slow. The stream ends; resume from `cursor`, nothing is lost."""

    type: Literal["truncated"] = "truncated"
    cursor: str


class ShutdownFrame(ContractModel):
    """The daemon stops. The stream ends; resume from the cursor when it is back."""

    type: Literal["shutdown"] = "shutdown"
    retryable: bool = True


FramePayload = Annotated[
    MessageView | SignalView | HeartbeatFrame | DoneFrame | ErrorFrame | TruncatedFrame | ShutdownFrame,
    Field(discriminator="type"),
]


class StreamFrame(ContractModel):
    """One frame of a stream: the position after it, and what it says."""

    cursor: str
    payload: FramePayload
