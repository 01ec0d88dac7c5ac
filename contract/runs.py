"""Runs and invocations on the wire: queries, commands, views, and the frames of their streams."""

from typing import Annotated, Literal

from pydantic import Field

from contract.actions import ExecutionView
from contract.artifacts import ArtifactView
from contract.base import ContractModel, Cursor, Identifier, Instant, Name, Summary, Tag, Text, Token, Tup
from contract.events import MessageView, ProcessIdentity, RunGraph, SignalView
from contract.limits import (
    EVIDENCE_LIMIT_DEFAULT,
    EVIDENCE_LIMIT_MAX,
    LIST_LIMIT_DEFAULT,
    LIST_LIMIT_MAX,
    LIST_OFFSET_MAX,
    MESSAGE_LIMIT_DEFAULT,
    MESSAGE_LIMIT_MAX,
    TAGS_PER_RUN_MAX,
)
from contract.projects import ProjectName

RunSort = Literal["recent", "started", "cost"]
TagsMatch = Literal["all", "any"]
Pane = Literal["messages", "signals", "artifacts", "transitions", "output"]
Health = Literal["healthy", "idle", "unresponsive", "stale", "orphaned"]


class RunQuery(ContractModel):
    """Which runs, in which order, which page.

    `status` are alternatives. `playbook`, `project`, `agent`, `kind`, `invocation_id` are exact. `search` finds
    its text in name or agent, whatever the case. `started_after` is inclusive, `started_before` exclusive.
    `sort`: `recent` newest change first, `started` newest start first, `cost` dearest first and unknown last.
    A `cursor` of an earlier page goes on after it and excludes `offset`.
    """

    status: Tup[Text] = ()
    playbook: Name | None = None
    project: Name | None = None
    project_is_null: bool = False
    tags: Annotated[Tup[Tag], Field(max_length=TAGS_PER_RUN_MAX)] = ()
    offset: int = Field(default=0, ge=0, le=LIST_OFFSET_MAX)
    limit: int = Field(default=LIST_LIMIT_DEFAULT, ge=1, le=LIST_LIMIT_MAX)
    kind: Token | None = None
    agent: Name | None = None
    invocation_id: Identifier | None = None
    search: Name | None = None
    tags_match: TagsMatch = "all"
    started_after: Instant | None = None
    started_before: Instant | None = None
    sort: RunSort = "recent"
    cursor: Cursor | None = None


class RunSummary(ContractModel):
    """One run as a list shows it. `effective_health` is null unless running, and never means success.

    Costs are US dollars; null is unknown, zero is free. Token counts are sums of what was reported.
    """

    run_id: str
    status: str
    effective_health: str | None
    playbook_name: str | None
    agent_name: str | None
    invocation_kind: str | None
    invocation_id: str | None
    project: str | None
    started_at: float | None
    ended_at: float | None
    updated_at: float | None
    branch_count: int = 0
    message_count: int = 0
    status_reason_code: str | None = None
    status_reason_summary: str | None = None
    name: str | None = None
    model: str | None = None
    provider: str | None = None
    tags: Tup[str] = ()
    signal_count: int = 0
    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    created_at: float | None = None
    last_activity_at: float | None = None
    cancel_requested_at: float | None = None


class TransitionView(ContractModel):
    """One accepted or refused move of a run's status, oldest first by `number`."""

    type: Literal["transition"] = "transition"
    number: int
    from_status: str | None
    to_status: str
    reason_code: str
    reason_summary: str | None = None
    actor: str
    refused: bool = False
    at: float


class BranchView(ContractModel):
    """One conversation of a run with a window of its messages, oldest first."""

    name: str
    parent: str | None = None
    model: str | None = None
    provider: str | None = None
    agent_name: str | None = None
    message_count: int = 0
    first_message_at: float | None = None
    last_message_at: float | None = None
    messages: Tup[MessageView] = ()
    has_older: bool = False


class RunTotals(ContractModel):
    """Counts over the whole run, whatever the window shows."""

    messages_by_role: dict[str, int]
    signals: int
    artifacts: int
    transitions: int
    usage_reports: int
    usage_reports_without_cost: int


class RunDetail(RunSummary):
    """A run with its branches, graph, artifacts and reasons.

    `messages` of a branch are a window from its tail; `next_cursor` reads the window before it, null at the start.
    `stream_cursor` is the position both streams go on from without gap or repetition. `execution` is there for a run
    that was launched, and null for one that its producer executes.
    """

    branches: Tup[BranchView] = ()
    graph: RunGraph | None = None
    artifacts: Tup[ArtifactView] = ()
    transitions: Tup[TransitionView] = ()
    process: ProcessIdentity | None = None
    cancel_reason: str | None = None
    execution: ExecutionView | None = None
    totals: RunTotals
    message_limit: int
    next_cursor: str | None = None
    stream_cursor: str


class EvidenceRequest(ContractModel):
    """Which pane of a run, from where (exclusive), how many entries."""

    run_id: str
    pane: Pane
    cursor: Cursor | None = None
    limit: int = Field(default=EVIDENCE_LIMIT_DEFAULT, ge=1, le=EVIDENCE_LIMIT_MAX)


EvidenceItem = Annotated[MessageView | SignalView | ArtifactView | TransitionView, Field(discriminator="type")]


class EvidencePage(ContractModel):
    """Entries of one pane, oldest first. `next_cursor` is null once the end was reached."""

    run_id: str
    pane: Pane
    items: Tup[EvidenceItem]
    limit: int
    has_next: bool
    next_cursor: str | None = None


class RunReadQuery(ContractModel):
    """How much of a run's detail to read."""

    message_limit: int = Field(default=MESSAGE_LIMIT_DEFAULT, ge=1, le=MESSAGE_LIMIT_MAX)
    cursor: Cursor | None = None


class StartRun(ContractModel):
    """Registers a run that the caller executes itself. Without `run_id` one is made."""

    run_id: Identifier | None = None
    kind: Token = "agent"
    name: Name | None = None
    playbook_name: Name | None = None
    agent_name: Name | None = None
    invocation_id: Identifier | None = None
    project: ProjectName | None = None
    model: Name | None = None
    provider: Name | None = None
    tags: Annotated[Tup[Tag], Field(max_length=TAGS_PER_RUN_MAX)] = ()
    started_at: Instant | None = None
    process: ProcessIdentity | None = None


class CancelRun(ContractModel):
    """Asks a run to stop."""

    reason: Summary | None = None


class CancelResult(ContractModel):
    """A queued run is cancelled at once; a running one when its executor obeys."""

    run_id: str
    status: str
    cancel_requested_at: float


class ChangeTags(ContractModel):
    """Tags to add and to remove; a tag in both is a fault."""

    add: Annotated[Tup[Tag], Field(max_length=TAGS_PER_RUN_MAX)] = ()
    remove: Annotated[Tup[Tag], Field(max_length=TAGS_PER_RUN_MAX)] = ()


class TagsResult(ContractModel):
    """The run's tags after the change, sorted."""

    run_id: str
    tags: Tup[str]


class InvocationQuery(ContractModel):
    """Which page of the invocations, newest first."""

    kind: Token | None = None
    offset: int = Field(default=0, ge=0, le=LIST_OFFSET_MAX)
    limit: int = Field(default=LIST_LIMIT_DEFAULT, ge=1, le=1_000)
    cursor: Cursor | None = None


class InvocationSummary(ContractModel):
    """One request that caused runs. `status` follows from theirs: running while any is open, else the worst."""

    invocation_id: str
    kind: str
    status: str
    run_count: int
    open_run_count: int
    created_at: float
    ended_at: float | None = None


class InvocationDetail(InvocationSummary):
    """An invocation with its runs, newest first; `runs_truncated` when there are more."""

    runs: Tup[RunSummary]
    runs_truncated: bool = False
