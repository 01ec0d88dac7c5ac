"""RunWritePort and RunSettlementPort over the in-memory records: each call is atomic, as its transaction is."""

import json
from collections.abc import Sequence
from dataclasses import replace

from contract.artifacts import ArtifactView
from contract.errors import Conflict, ValidationFailure
from contract.events import (
    ArtifactEvent,
    MessageView,
    RecordResult,
    RunEvent,
    SignalView,
)
from contract.limits import TAGS_PER_RUN_MAX
from contract.runs import (
    CancelResult,
    RunSummary,
    StartRun,
    TagsResult,
    TransitionView,
)
from runs.batch import Effects, Move, NewMessage, NewSignal, RunState, fold, fresh_events
from runs.services.following import run_topic
from runs.services.ports import RunningProcess
from runs.transitions import is_terminal
from tests.fakes import run_views
from tests.fakes.run_records import RunStore, StoredInvocation, StoredMessage, StoredRun, stored_json


class InMemoryRunWrites(RunStore):
    """Changes runs; publishes each change after it is made."""

    async def start_run(self, run_id: str, command: StartRun, *, at: float) -> RunSummary:
        await self.reach("start_run")
        started_at = at if command.started_at is None else command.started_at
        run = self._insert(run_id, command, at, status="running", reason_code="run.running.registered")
        run.started_at = started_at
        self.feed.publish((run_topic(run_id),))
        return run_views.summary(run, probe=self.probe, clock=self.clock)

    def add_queued(self, run_id: str, command: StartRun, *, at: float) -> None:
        """Insert a run that waits for a worker, as a launch does."""
        self._insert(run_id, command, at, status="queued", reason_code="run.queued.launched")

    async def record_events(self, run_id: str, events: Sequence[RunEvent], *, at: float) -> RecordResult | None:
        await self.reach("record_events")
        run = self.runs.get(run_id)
        if run is None:
            return None
        fresh = fresh_events(events, run.event_ids)
        effects = self._store(run, fresh, "producer", at)
        return RecordResult(
            run_id=run_id,
            accepted=len(fresh),
            duplicates=len(events) - len(fresh),
            last_seq=effects.last_seq,
            refused_transitions=sum(move.refused for move in effects.moves),
            cancel_requested=run.cancel_requested_at is not None and not is_terminal(run.status),
        )

    async def request_cancel(self, run_id: str, *, reason: str | None, at: float) -> CancelResult | None:
        await self.reach("request_cancel")
        run = self.runs.get(run_id)
        if run is None:
            return None
        cancelled = run.status == "cancelled" and run.cancel_requested_at is not None
        if is_terminal(run.status) and not cancelled:
            raise Conflict("run", "queued or running", run.status, f"run {run_id} has ended: {run.status}")
        if run.cancel_requested_at is None:
            run.cancel_requested_at = at
            run.state = replace(run.state, cancel_reason=reason)
            run.touch(at)
            if run.status == "queued":
                self._move(run, _ended("queued", "cancelled", "run.cancelled.before_start", reason), "operator", at)
                run.let_go()
            self.feed.publish((run_topic(run_id),))
        return CancelResult(run_id=run_id, status=run.status, cancel_requested_at=run.cancel_requested_at)

    async def change_tags(
        self, run_id: str, *, add: frozenset[str], remove: frozenset[str], at: float
    ) -> TagsResult | None:
        await self.reach("change_tags")
        run = self.runs.get(run_id)
        if run is None:
            return None
        tags = tuple(sorted((set(run.tags) | add) - remove))
        if len(tags) > TAGS_PER_RUN_MAX:
            message = f"a run has at most {TAGS_PER_RUN_MAX} tags"
            raise ValidationFailure.at("add", code="too_many_tags", message=message)
        if tags != run.tags:
            run.tags = tags
            run.touch(at)
            self.feed.publish((run_topic(run_id),))
        return TagsResult(run_id=run_id, tags=tags)

    async def running_processes(self, *, after: int, limit: int) -> tuple[RunningProcess, ...]:
        await self.reach("running_processes")
        found = [
            RunningProcess(run_id=run.run_id, number=run.number, process=run.command.process)
            for run in self.runs.values()
            if _is_settled_here(run) and run.number > after and run.command.process is not None
        ]
        return tuple(found[:limit])

    async def settle_gone(self, run_ids: Sequence[str], *, at: float) -> int:
        await self.reach("settle_gone")
        gone = [run for run_id in run_ids if (run := self.runs.get(run_id)) and _is_settled_here(run)]
        for run in gone:
            run.touch(at)
            self._move(run, _ended("running", "failed", "run.failed.process_gone", None), "system", at)
            self.feed.publish((run_topic(run.run_id),))
        return len(gone)

    def _insert(self, run_id: str, command: StartRun, at: float, *, status: str, reason_code: str) -> StoredRun:
        if run_id in self.runs:
            raise Conflict("run", None, run_id, f"a run {run_id} exists already")
        self._ensure_invocation(command, at)
        self.ensure_project(command.project, at=at)
        run = self.runs[run_id] = StoredRun(
            number=self.number("run"),
            run_id=run_id,
            command=command,
            state=RunState(status=status),
            reason_code=reason_code,
            created_at=at,
            updated_at=at,
            last_activity_at=at,
            tags=tuple(sorted(set(command.tags))),
        )
        first = Move(from_status=None, to_status=status, reason_code=reason_code, reason_summary=None, refused=False)
        self._append(run, first, "producer", at)
        return run

    def _ensure_invocation(self, command: StartRun, at: float) -> None:
        invocation_id = command.invocation_id
        if invocation_id is not None and invocation_id not in self.invocations:
            self.invocations[invocation_id] = StoredInvocation(
                number=self.number("invocation"), invocation_id=invocation_id, kind=command.kind, created_at=at
            )

    def _store(self, run: StoredRun, events: Sequence[RunEvent], actor: str, at: float) -> Effects:
        # All that may be refused is refused here, before anything is changed.
        effects = fold(run.state, events, at=at)
        if events:
            self._apply(run, events, effects, actor, at)
            self.feed.publish((run_topic(run.run_id),))
        if any(move.from_status == "queued" for move in effects.accepted_moves()):
            run.let_go()
        return effects

    def _apply(self, run: StoredRun, events: Sequence[RunEvent], effects: Effects, actor: str, at: float) -> None:
        run.touch(at)
        run.last_activity_at = at
        run.event_ids |= {event.event_id for event in events if event.event_id is not None}
        run.messages += [StoredMessage(position=new.position, view=_message(new, at)) for new in effects.messages]
        run.signals += [_signal(new, at) for new in effects.signals]
        run.usage += effects.usage
        run.graph = effects.graph or run.graph
        for event in effects.artifacts:
            self._upsert(run, event, at)
        for move in effects.moves:
            self._move(run, move, actor, at)
        run.state = replace(
            run.state,
            status=effects.status,
            last_seq=effects.last_seq,
            branch_count=effects.branch_count,
            branches={**run.state.branches, **effects.branches},
            messages_by_role=effects.messages_by_role,
            input_tokens=effects.input_tokens,
            output_tokens=effects.output_tokens,
            cost_micros=effects.cost_micros,
        )

    def _upsert(self, run: StoredRun, event: ArtifactEvent, at: float) -> None:
        key = (event.kind, event.name)
        number, before = run.artifacts.get(key, (self.number("artifact"), None))
        view = ArtifactView(
            artifact_id=before.artifact_id if before else self.ids.new_id(),
            kind=event.kind,
            name=event.name,
            path=event.path,
            media_type=event.media_type,
            sha256=event.sha256,
            content=stored_json(event.content),
            content_bytes=len(json.dumps(event.content, ensure_ascii=False).encode()),
            created_at=before.created_at if before else at,
            updated_at=at,
        )
        run.artifacts[key] = (number, view)

    def _move(self, run: StoredRun, move: Move, actor: str, at: float) -> None:
        if not move.refused:
            run.take_move(move, at)
            run.state = replace(run.state, status=move.to_status)
        self._append(run, move, actor, at)

    def _append(self, run: StoredRun, move: Move, actor: str, at: float) -> None:
        run.transitions.append(
            TransitionView(
                number=self.number("transition"),
                from_status=move.from_status,
                to_status=move.to_status,
                reason_code=move.reason_code,
                reason_summary=move.reason_summary,
                actor=actor,
                refused=move.refused,
                at=at,
            )
        )


def _is_settled_here(run: StoredRun) -> bool:
    return run.status == "running" and not run.held


def _ended(from_status: str, to_status: str, reason_code: str, summary: str | None) -> Move:
    return Move(
        from_status=from_status, to_status=to_status, reason_code=reason_code, reason_summary=summary, refused=False
    )


def _message(new: NewMessage, at: float) -> MessageView:
    event = new.event
    fields = event.model_dump(exclude={"type", "content", "size_bytes"})
    return MessageView(
        seq=new.seq, content=stored_json(event.content), size_bytes=event.size_bytes or 0, recorded_at=at, **fields
    )


def _signal(new: NewSignal, at: float) -> SignalView:
    event = new.event
    fields = event.model_dump(exclude={"type", "payload", "size_bytes"})
    return SignalView(
        seq=new.seq, payload=stored_json(event.payload), size_bytes=event.size_bytes or 0, recorded_at=at, **fields
    )
