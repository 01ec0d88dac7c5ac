"""What a batch of events does to a run: values in, effects out. The store applies them in one transaction."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from contract.base import FieldFailure
from contract.errors import ValidationFailure
from contract.events import (
    ArtifactEvent,
    BranchEvent,
    GraphEvent,
    MessageEvent,
    RunEvent,
    RunGraph,
    SignalEvent,
    StatusEvent,
    UsageEvent,
)
from contract.limits import BRANCHES_PER_RUN_MAX
from contract.money import add_known, to_micros
from runs.reasons import default_reason, reason_fault
from runs.transitions import Verdict, judge


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchState:
    """A branch as stored, or as a batch leaves it."""

    parent: str | None = None
    model: str | None = None
    provider: str | None = None
    agent_name: str | None = None
    message_count: int = 0
    first_message_at: float | None = None
    last_message_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """What of a run a batch builds on: its status, position, branches by name, and sums so far."""

    status: str
    cancel_reason: str | None = None
    last_seq: int = 0
    branch_count: int = 0
    branches: Mapping[str, BranchState] = field(default_factory=dict)
    messages_by_role: Mapping[str, int] = field(default_factory=dict)
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_micros: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message with its place: `seq` in the run, `position` 1.. in the branch."""

    seq: int
    position: int
    event: MessageEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSignal:
    """A signal with its place in the run."""

    seq: int
    event: SignalEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """An accepted or refused move of the status."""

    from_status: str | None
    to_status: str
    reason_code: str
    reason_summary: str | None
    refused: bool


@dataclass(slots=True, kw_only=True)
class Effects:
    """What a batch adds and leaves. `branches` has only those that are new or changed."""

    status: str
    last_seq: int
    branch_count: int
    messages_by_role: dict[str, int]
    input_tokens: int | None
    output_tokens: int | None
    cost_micros: int | None
    branches: dict[str, BranchState] = field(default_factory=dict)
    messages: list[NewMessage] = field(default_factory=list)
    signals: list[NewSignal] = field(default_factory=list)
    artifacts: list[ArtifactEvent] = field(default_factory=list)
    usage: list[UsageEvent] = field(default_factory=list)
    graph: RunGraph | None = None
    moves: list[Move] = field(default_factory=list)

    def accepted_moves(self) -> list[Move]:
        """Return the moves that change the status, in order."""
        return [move for move in self.moves if not move.refused]


def check_events(events: Sequence[RunEvent]) -> None:
    """Raise ValidationFailure for reason codes that do not exist or do not explain their status."""
    failures = [
        FieldFailure(path=("events", index, "reason_code"), code="reason_code", message=fault)
        for index, event in enumerate(events)
        if isinstance(event, StatusEvent)
        and event.reason_code is not None
        and (fault := reason_fault(event.reason_code, event.status))
    ]
    if failures:
        raise ValidationFailure(tuple(failures))


def fresh_events(events: Sequence[RunEvent], known_ids: Iterable[str]) -> list[RunEvent]:
    """Leave out events whose id is known already or stands earlier in the batch; those without id are all new."""
    seen = set(known_ids)
    fresh: list[RunEvent] = []
    for event in events:
        if event.event_id is not None:
            if event.event_id in seen:
                continue
            seen.add(event.event_id)
        fresh.append(event)
    return fresh


def branch_names(events: Iterable[RunEvent]) -> set[str]:
    """Return the names of the branches that a batch writes to."""
    names = {event.branch for event in events if isinstance(event, MessageEvent)}
    return names | {event.name for event in events if isinstance(event, BranchEvent)}


def fold(state: RunState, events: Sequence[RunEvent], *, at: float) -> Effects:
    """Apply events in order. `at` is the instant of recording.

    Raises ValidationFailure when the run would get more branches than a run may have.
    """
    effects = Effects(
        status=state.status,
        last_seq=state.last_seq,
        branch_count=state.branch_count,
        messages_by_role=dict(state.messages_by_role),
        input_tokens=state.input_tokens,
        output_tokens=state.output_tokens,
        cost_micros=state.cost_micros,
    )
    for event in events:
        _apply(effects, state, event, at)
    return effects


def _apply(effects: Effects, state: RunState, event: RunEvent, at: float) -> None:
    match event:
        case MessageEvent():
            _add_message(effects, state, event, at)
        case SignalEvent():
            effects.last_seq += 1
            effects.signals.append(NewSignal(seq=effects.last_seq, event=event))
        case BranchEvent():
            described = event.model_dump(include={"parent", "model", "provider", "agent_name"}, exclude_none=True)
            effects.branches[event.name] = replace(_branch(effects, state, event.name), **described)
        case UsageEvent():
            _add_usage(effects, event)
        case ArtifactEvent():
            effects.artifacts.append(event)
        case GraphEvent():
            effects.graph = RunGraph(nodes=event.nodes, edges=event.edges)
        case StatusEvent():
            _move(effects, state, event)


def _branch(effects: Effects, state: RunState, name: str) -> BranchState:
    found = effects.branches.get(name) or state.branches.get(name)
    if found is not None:
        return found
    effects.branch_count += 1
    if effects.branch_count > BRANCHES_PER_RUN_MAX:
        message = f"a run has at most {BRANCHES_PER_RUN_MAX} branches"
        raise ValidationFailure.at("events", code="too_many_branches", message=message)
    return BranchState()


def _add_message(effects: Effects, state: RunState, event: MessageEvent, at: float) -> None:
    branch = _branch(effects, state, event.branch)
    effects.last_seq += 1
    position = branch.message_count + 1
    effects.branches[event.branch] = replace(
        branch,
        message_count=position,
        first_message_at=at if branch.first_message_at is None else branch.first_message_at,
        last_message_at=at,
    )
    effects.messages_by_role[event.role] = effects.messages_by_role.get(event.role, 0) + 1
    effects.messages.append(NewMessage(seq=effects.last_seq, position=position, event=event))


def _add_usage(effects: Effects, event: UsageEvent) -> None:
    effects.usage.append(event)
    effects.input_tokens = add_known(effects.input_tokens, event.input_tokens)
    effects.output_tokens = add_known(effects.output_tokens, event.output_tokens)
    effects.cost_micros = add_known(effects.cost_micros, to_micros(event.cost_usd))


def _move(effects: Effects, state: RunState, event: StatusEvent) -> None:
    verdict = judge(effects.status, event.status)
    if verdict is Verdict.UNCHANGED:
        return
    refused = verdict is Verdict.REFUSED
    effects.moves.append(
        Move(
            from_status=effects.status,
            to_status=event.status,
            reason_code=event.reason_code or default_reason(event.status),
            # Who asked for the end said why; the executor that obeys seldom does.
            reason_summary=event.reason_summary or (state.cancel_reason if event.status == "cancelled" else None),
            refused=refused,
        )
    )
    if not refused:
        effects.status = event.status
