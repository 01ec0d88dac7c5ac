"""DjangoRunWrites: RunWritePort and RunSettlementPort over the ORM."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar

from django.db import IntegrityError
from django.db.models import Exists, OuterRef, Subquery, Value
from django.db.models.functions import Greatest

from contract.errors import Conflict, ValidationFailure
from contract.events import RecordResult, RunEvent
from contract.limits import TAGS_PER_RUN_MAX
from contract.ports import ChangeFeed, Clock
from contract.runs import CancelResult, RunSummary, StartRun, TagsResult
from runs.batch import Move
from runs.models import LaunchRecord, RunRecord, RunTagRecord, TransitionRecord
from runs.naming import search_text
from runs.services.following import run_topic
from runs.services.ports import ProcessProbe, RunArtifactRows, RunningProcess, RunProjectRows
from runs.state import applying, rows
from runs.state.leases import let_go
from runs.state.registering import add_tag_rows, ensure_invocation, insert_run, process_columns
from runs.transitions import is_terminal
from studio_project.change_feed import notify_others
from studio_project.statedb import StateDB

T = TypeVar("T")

_PRODUCER: Final = "producer"
_OPERATOR: Final = "operator"
_SYSTEM: Final = "system"
# A run that a worker holds is the worker's to end, or the reaper's, who takes it over: its process may be half of it.
_UNHELD: Final = ~Exists(LaunchRecord.objects.filter(run=OuterRef("pk"), owner__isnull=False))


class DjangoRunWrites:
    """Changes runs; publishes each change after its commit."""

    def __init__(
        self,
        db: StateDB,
        *,
        feed: ChangeFeed,
        artifacts: RunArtifactRows,
        projects: RunProjectRows,
        probe: ProcessProbe,
        clock: Clock,
    ) -> None:
        """Take the executor and what a run's transaction touches beside its own tables."""
        self._db = db
        self._feed = feed
        self._artifacts = artifacts
        self._projects = projects
        self._probe = probe
        self._clock = clock

    async def start_run(self, run_id: str, command: StartRun, *, at: float) -> RunSummary:
        """Insert a running run; the unique id settles races."""
        try:
            row = await self._write(run_id, partial(self._start, run_id, command, at))
        except IntegrityError:
            raise Conflict("run", None, run_id, f"a run {run_id} exists already") from None
        return rows.summary(row, probe=self._probe, now=self._clock.now())

    async def record_events(self, run_id: str, events: Sequence[RunEvent], *, at: float) -> RecordResult | None:
        """Store a batch while the run's row is locked."""
        return await self._write(run_id, partial(self._record, run_id, events, at))

    async def request_cancel(self, run_id: str, *, reason: str | None, at: float) -> CancelResult | None:
        """End a queued run, mark a running one."""
        return await self._write(run_id, partial(_request_cancel, run_id, reason, at))

    async def change_tags(
        self, run_id: str, *, add: frozenset[str], remove: frozenset[str], at: float
    ) -> TagsResult | None:
        """Change the tag rows and the run's own copy."""
        return await self._write(run_id, partial(_change_tags, run_id, add, remove, at))

    async def running_processes(self, *, after: int, limit: int) -> tuple[RunningProcess, ...]:
        """Return running runs with a recorded process, by row number."""
        return await self._db.read(partial(_running_processes, after, limit))

    async def settle_gone(self, run_ids: Sequence[str], *, at: float) -> int:
        """Fail those that still run, in one transaction."""
        settled = await self._db.write(partial(_settle_gone, run_ids, at))
        self._feed.publish(map(run_topic, settled))
        return len(settled)

    async def _write(self, run_id: str, work: Callable[[], T]) -> T:
        result = await self._db.write(partial(_and_notify, work, run_id))
        self._feed.publish((run_topic(run_id),))
        return result

    def _start(self, run_id: str, command: StartRun, at: float) -> rows.Row:
        if command.project is not None:
            self._projects.ensure(command.project, at=at)
        return _start(run_id, command, at)

    def _record(self, run_id: str, events: Sequence[RunEvent], at: float) -> RecordResult | None:
        run = _locked(run_id)
        if run is None:
            return None
        return applying.record(run, events, artifacts=self._artifacts, actor=_PRODUCER, at=at)


def _and_notify(work: Callable[[], T], run_id: str) -> T:
    result = work()
    notify_others((run_topic(run_id),))
    return result


def _locked(run_id: str) -> RunRecord | None:
    """Read a run and keep others from changing it until the transaction ends."""
    return RunRecord.objects.select_for_update().filter(run_id=run_id).first()


def _start(run_id: str, command: StartRun, at: float) -> rows.Row:
    started_at = at if command.started_at is None else command.started_at
    run = RunRecord(
        run_id=run_id,
        kind=command.kind,
        name=command.name,
        playbook_name=command.playbook_name,
        agent_name=command.agent_name,
        search_text=search_text(command.name, command.agent_name),
        project=command.project,
        model=command.model,
        provider=command.provider,
        invocation_id=ensure_invocation(command.invocation_id, kind=command.kind, at=at),
        status="running",
        status_reason_code="run.running.registered",
        created_at=at,
        started_at=started_at,
        updated_at=at,
        last_activity_at=at,
        sort_started_at=started_at,
        **process_columns(command.process),
    )
    insert_run(run, tags=command.tags, actor=_PRODUCER)
    return dict(RunRecord.objects.filter(pk=run.pk).values(*rows.SUMMARY_COLUMNS).get())


def _request_cancel(run_id: str, reason: str | None, at: float) -> CancelResult | None:
    run = _locked(run_id)
    if run is None:
        return None
    if is_terminal(run.status) and not (run.status == "cancelled" and run.cancel_requested_at is not None):
        raise Conflict("run", "queued or running", run.status, f"run {run_id} has ended: {run.status}")
    if run.cancel_requested_at is None:
        run.cancel_requested_at = at
        run.cancel_reason = reason
        applying.touch(run, at)
        if run.status == "queued":
            _cancel_queued(run, reason, at)
        run.save()
        applying.touch_tags(run)
    return CancelResult(run_id=run_id, status=run.status, cancel_requested_at=run.cancel_requested_at)


def _cancel_queued(run: RunRecord, reason: str | None, at: float) -> None:
    move = Move(
        from_status="queued",
        to_status="cancelled",
        reason_code="run.cancelled.before_start",
        reason_summary=reason,
        refused=False,
    )
    applying.take_move(run, move, at)
    applying.add_transition(run, move, actor=_OPERATOR, at=at)
    let_go(run)


def _change_tags(run_id: str, add: frozenset[str], remove: frozenset[str], at: float) -> TagsResult | None:
    run = _locked(run_id)
    if run is None:
        return None
    before = set(json.loads(run.tags))
    after = sorted((before | add) - remove)
    if len(after) > TAGS_PER_RUN_MAX:
        raise ValidationFailure.at("add", code="too_many_tags", message=f"a run has at most {TAGS_PER_RUN_MAX} tags")
    if set(after) != before:
        RunTagRecord.objects.filter(run=run, tag__in=before - set(after)).delete()
        applying.touch(run, at)
        run.tags = json.dumps(after)
        run.save(update_fields=["tags", "updated_at"])
        add_tag_rows(run, sorted(set(after) - before))
        applying.touch_tags(run)
    return TagsResult(run_id=run_id, tags=tuple(after))


def _running_processes(after: int, limit: int) -> tuple[RunningProcess, ...]:
    found = RunRecord.objects.filter(_UNHELD, status="running", process_pid__isnull=False, id__gt=after).order_by("id")
    return tuple(
        RunningProcess(run_id=row["run_id"], number=row["id"], process=process)
        for row in found.values("id", "run_id", *rows.PROCESS_COLUMNS)[:limit]
        if (process := rows.process_of(row)) is not None
    )


def _settle_gone(run_ids: Sequence[str], at: float) -> list[str]:
    move = Move(
        from_status="running",
        to_status="failed",
        reason_code="run.failed.process_gone",
        reason_summary=None,
        refused=False,
    )
    # A few statements for all of them: a daemon that was killed may leave a thousand behind.
    running = RunRecord.objects.select_for_update().filter(_UNHELD, run_id__in=run_ids, status="running").order_by("id")
    found = dict(running.values_list("id", "run_id"))
    settled = RunRecord.objects.filter(id__in=found)
    settled.update(
        status=move.to_status,
        status_reason_code=move.reason_code,
        status_reason_summary=None,
        ended_at=at,
        updated_at=Greatest("updated_at", Value(at)),
    )
    own = RunRecord.objects.filter(id=OuterRef("run_id"))
    RunTagRecord.objects.filter(run__in=found).update(updated_at=Subquery(own.values("updated_at")))
    TransitionRecord.objects.bulk_create(applying.transition(number, move, actor=_SYSTEM, at=at) for number in found)
    notify_others(map(run_topic, found.values()))
    return list(found.values())
