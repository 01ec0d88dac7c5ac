"""Applies the effects of a batch to the tables, inside the transaction that holds the run's row."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from contract.events import RecordResult, RunEvent
from contract.money import to_micros
from runs.batch import BranchState, Effects, Move, RunState, branch_names, fold, fresh_events
from runs.models import (
    BranchRecord,
    EventReceiptRecord,
    GraphRecord,
    MessageRecord,
    RunRecord,
    RunTagRecord,
    SignalRecord,
    TransitionRecord,
    UsageRecord,
)
from runs.services.ports import RunArtifactRows
from runs.state.leases import let_go
from runs.transitions import is_terminal

# What a batch changes of its run. A column that is not named here costs none of the indexes it stands in.
_COUNTED = (
    "updated_at", "last_activity_at", "last_seq", "branch_count", "message_count", "signal_count", "messages_by_role"
)  # fmt: skip
_SPENT = (
    "input_tokens", "output_tokens", "cost_micros", "usage_reports", "usage_reports_without_cost", "sort_cost"
)  # fmt: skip
_MOVED = ("status", "status_reason_code", "status_reason_summary", "started_at", "ended_at", "sort_started_at")
_BRANCH_FIELDS = tuple(BranchState.__dataclass_fields__)


def record(
    run: RunRecord, events: Sequence[RunEvent], *, artifacts: RunArtifactRows, actor: str, at: float
) -> RecordResult:
    """Store what is new of a batch, with its artifacts and moves, and say what became of it."""
    fresh = fresh_events(events, _known_ids(run, events))
    effects = apply(run, fresh, at=at)
    artifacts.upsert(run.run_id, effects.artifacts, at=at)
    for move in effects.moves:
        add_transition(run, move, actor=actor, at=at)
    if any(move.from_status == "queued" for move in effects.accepted_moves()):
        let_go(run)
    return RecordResult(
        run_id=run.run_id,
        accepted=len(fresh),
        duplicates=len(events) - len(fresh),
        last_seq=effects.last_seq,
        refused_transitions=sum(move.refused for move in effects.moves),
        cancel_requested=run.cancel_requested_at is not None and not is_terminal(run.status),
    )


def apply(run: RunRecord, events: Sequence[RunEvent], *, at: float) -> Effects:
    """Fold the events over the run and write what they add; artifacts and transitions are left to the caller."""
    names = branch_names(events)
    stored = {record.name: record for record in BranchRecord.objects.filter(run=run, name__in=names)} if names else {}
    effects = fold(_state_of(run, stored), events, at=at)
    branches = _write_branches(run, stored, effects)
    _write_messages(run, branches, effects, at)
    _write_signals(run, effects, at)
    _write_usage(run, effects, at)
    EventReceiptRecord.objects.bulk_create(
        EventReceiptRecord(run=run, event_id=event.event_id) for event in events if event.event_id is not None
    )
    if effects.graph is not None:
        GraphRecord.objects.update_or_create(
            run=run, defaults={"graph": effects.graph.model_dump_json(), "updated_at": at}
        )
    if events:
        _write_run(run, effects, at)
    return effects


def make_move(run: RunRecord, move: Move, *, actor: str, at: float, columns: Mapping[str, Any]) -> None:
    """Write an accepted move that comes with no batch, and the columns that change with it."""
    touch(run, at)
    take_move(run, move, at)
    for column, value in columns.items():
        setattr(run, column, value)
    run.save(update_fields=["updated_at", *_MOVED, *columns])
    touch_tags(run)
    add_transition(run, move, actor=actor, at=at)


def add_transition(run: RunRecord, move: Move, *, actor: str, at: float) -> None:
    """Append one accepted or refused move."""
    transition(run.pk, move, actor=actor, at=at).save()


def transition(number: int, move: Move, *, actor: str, at: float) -> TransitionRecord:
    """Return the row of a move of the run with this number, not yet inserted."""
    return TransitionRecord(
        run_id=number,
        from_status=move.from_status,
        to_status=move.to_status,
        reason_code=move.reason_code,
        reason_summary=move.reason_summary,
        actor=actor,
        refused=move.refused,
        at=at,
    )


def touch(run: RunRecord, at: float) -> None:
    """Let `updated_at` grow, whatever the clock did."""
    run.updated_at = max(run.updated_at, at)


def touch_tags(run: RunRecord) -> None:
    """Carry the run's sort keys over to its tag rows."""
    if run.tags != "[]":
        RunTagRecord.objects.filter(run=run).update(
            updated_at=run.updated_at, sort_started_at=run.sort_started_at, sort_cost=run.sort_cost
        )


def take_move(run: RunRecord, move: Move, at: float) -> None:
    """Set what an accepted move changes on the run."""
    run.status = move.to_status
    run.status_reason_code = move.reason_code
    run.status_reason_summary = move.reason_summary
    if is_terminal(move.to_status):
        run.ended_at = at
    elif run.started_at is None:
        run.started_at = run.sort_started_at = at


def _known_ids(run: RunRecord, events: Sequence[RunEvent]) -> set[str]:
    ids = [event.event_id for event in events if event.event_id is not None]
    if not ids:
        return set()
    known = EventReceiptRecord.objects.filter(run=run, event_id__in=ids)
    return set(known.values_list("event_id", flat=True))


def _state_of(run: RunRecord, stored: dict[str, BranchRecord]) -> RunState:
    branches = {
        name: BranchState(**{field: getattr(record, field) for field in _BRANCH_FIELDS})
        for name, record in stored.items()
    }
    return RunState(
        status=run.status,
        cancel_reason=run.cancel_reason,
        last_seq=run.last_seq,
        branch_count=run.branch_count,
        branches=branches,
        messages_by_role=json.loads(run.messages_by_role),
        input_tokens=run.input_tokens,
        output_tokens=run.output_tokens,
        cost_micros=run.cost_micros,
    )


def _write_branches(run: RunRecord, stored: dict[str, BranchRecord], effects: Effects) -> dict[str, BranchRecord]:
    for name, state in effects.branches.items():
        record = stored.setdefault(name, BranchRecord(run=run, name=name))
        for field, value in asdict(state).items():
            setattr(record, field, value)
        record.save()
    return stored


def _write_messages(run: RunRecord, branches: dict[str, BranchRecord], effects: Effects, at: float) -> None:
    MessageRecord.objects.bulk_create(
        MessageRecord(
            run=run,
            branch=branches[new.event.branch],
            seq=new.seq,
            position=new.position,
            role=new.event.role,
            content=_json(new.event.content),
            sender=new.event.sender,
            recipient=new.event.recipient,
            message_id=new.event.message_id,
            event_id=new.event.event_id,
            at=new.event.at,
            recorded_at=at,
            size_bytes=new.event.size_bytes or 0,
            withheld=new.event.withheld,
            sanitized=new.event.sanitized,
        )
        for new in effects.messages
    )


def _write_signals(run: RunRecord, effects: Effects, at: float) -> None:
    SignalRecord.objects.bulk_create(
        SignalRecord(
            run=run,
            seq=new.seq,
            kind=new.event.kind,
            op_id=new.event.op_id,
            branch=new.event.branch,
            payload=_json(new.event.payload),
            event_id=new.event.event_id,
            at=new.event.at,
            recorded_at=at,
            size_bytes=new.event.size_bytes or 0,
            withheld=new.event.withheld,
            sanitized=new.event.sanitized,
        )
        for new in effects.signals
    )


def _write_usage(run: RunRecord, effects: Effects, at: float) -> None:
    UsageRecord.objects.bulk_create(
        UsageRecord(
            run=run,
            model=usage.model,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost_micros=to_micros(usage.cost_usd),
            at=usage.at,
            recorded_at=at,
        )
        for usage in effects.usage
    )


def _write_run(run: RunRecord, effects: Effects, at: float) -> None:
    touch(run, at)
    run.last_activity_at = at
    run.last_seq = effects.last_seq
    run.branch_count = effects.branch_count
    run.message_count += len(effects.messages)
    run.signal_count += len(effects.signals)
    run.messages_by_role = json.dumps(effects.messages_by_role)
    changed = [*_COUNTED]
    if effects.usage:
        _sum_up(run, effects)
        changed += _SPENT
    for move in effects.accepted_moves():
        take_move(run, move, at)
        changed += _MOVED
    run.save(update_fields=changed)
    touch_tags(run)


def _sum_up(run: RunRecord, effects: Effects) -> None:
    run.input_tokens = effects.input_tokens
    run.output_tokens = effects.output_tokens
    run.cost_micros = effects.cost_micros
    run.usage_reports += len(effects.usage)
    run.usage_reports_without_cost += sum(usage.cost_usd is None for usage in effects.usage)
    run.sort_cost = -1 if effects.cost_micros is None else effects.cost_micros


def _json(body: object) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))
