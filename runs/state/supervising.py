"""DjangoSupervisedRuns: SupervisedRunPort over the ORM. Each write is fenced by the lease that it locks first."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from contract.base import sanitize_text
from contract.events import ProcessIdentity, RunEvent, StatusEvent
from contract.limits import SUMMARY_MAX_CHARS
from contract.ports import ChangeFeed
from runs.batch import Move
from runs.models import LaunchRecord
from runs.services.execution_ports import LAUNCHES_TOPIC, Ending, Lease
from runs.services.following import run_topic
from runs.services.ports import RunArtifactRows
from runs.state import applying
from runs.state.leases import held_run
from runs.state.registering import process_columns
from studio_project import publishing
from studio_project.statedb import StateDB

_PRODUCER: Final = "producer"
_WORKER: Final = "worker"
_LOST: Final[tuple[bool, publishing.Topics]] = (False, ())


class DjangoSupervisedRuns:
    """Writes what an executor sees of the run it holds; publishes each change after its commit."""

    def __init__(self, db: StateDB, *, feed: ChangeFeed, artifacts: RunArtifactRows) -> None:
        """Take the executor, who is told, and what a run's transaction touches beside its own tables."""
        self._db = db
        self._feed = feed
        self._artifacts = artifacts

    async def started(self, lease: Lease, process: ProcessIdentity, *, at: float) -> bool:
        """Move the run out of the queue with the child's identity, in one transaction; True again when asked again."""
        return await publishing.write(self._db, self._feed, partial(_started, lease, process, at))

    async def record(self, lease: Lease, events: Sequence[RunEvent], *, at: float) -> bool:
        """Store a batch while the run's row is locked, as that of any producer."""
        return await publishing.write(self._db, self._feed, partial(self._record, lease, events, at))

    async def end(self, lease: Lease, ending: Ending, *, at: float) -> bool:
        """Move the run, keep how its process ended and let go, in one transaction."""
        return await publishing.write(self._db, self._feed, partial(self._end, lease, ending, at))

    def _record(self, lease: Lease, events: Sequence[RunEvent], at: float) -> tuple[bool, publishing.Topics]:
        run = held_run(lease)
        if run is None:
            return _LOST
        applying.record(run, events, artifacts=self._artifacts, actor=_PRODUCER, at=at)
        return True, (run_topic(run.run_id),)

    def _end(self, lease: Lease, ending: Ending, at: float) -> tuple[bool, publishing.Topics]:
        run = held_run(lease)
        if run is None:
            return _LOST
        applying.record(run, (_event_of(ending),), artifacts=self._artifacts, actor=_WORKER, at=at)
        LaunchRecord.objects.filter(run=run).update(
            owner=None,
            exit_code=ending.exit_code,
            exit_signal=ending.exit_signal,
            stdout_bytes=ending.stdout_bytes,
            stderr_bytes=ending.stderr_bytes,
            withheld_bytes=ending.withheld_bytes,
            output_tail=sanitize_text(ending.output_tail)[0],
        )
        # There may be room for another now.
        return True, (run_topic(run.run_id), LAUNCHES_TOPIC)


def _started(lease: Lease, process: ProcessIdentity, at: float) -> tuple[bool, publishing.Topics]:
    run = held_run(lease)
    if run is None:
        return _LOST
    columns = process_columns(process)
    if run.status != "queued":
        # Who lost the answer asks again: what was recorded for this child is so.
        recorded = run.status == "running" and all(getattr(run, name) == value for name, value in columns.items())
        return recorded, ()
    move = Move(
        from_status="queued",
        to_status="running",
        reason_code="run.running.started",
        reason_summary=None,
        refused=False,
    )
    applying.make_move(run, move, actor=_WORKER, at=at, columns={**columns, "last_activity_at": at})
    return True, (run_topic(run.run_id),)


def _event_of(ending: Ending) -> StatusEvent:
    # A run has to end whatever was said of it, so what cannot be stored is replaced and not refused.
    summary = sanitize_text(ending.reason_summary or "")[0][:SUMMARY_MAX_CHARS]
    return StatusEvent.model_validate(
        {"status": ending.status, "reason_code": ending.reason_code, "reason_summary": summary or None}
    )
