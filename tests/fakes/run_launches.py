"""InMemoryLaunches: LaunchPort, RunQueue and SupervisedRunPort over the records of InMemoryRuns."""

from collections.abc import Sequence

from contract.actions import LaunchResult
from contract.base import sanitize_text
from contract.errors import Conflict
from contract.events import ProcessIdentity, RunEvent, StatusEvent
from contract.limits import SUMMARY_MAX_CHARS
from contract.runs import StartRun
from runs.batch import Move, fresh_events
from runs.services.execution_ports import LAUNCHES_TOPIC, ClaimedLaunch, Ending, HeldLaunch, LaunchDraft, Lease
from runs.services.following import run_topic
from tests.fakes.run_records import StoredLaunch, StoredRun
from tests.fakes.run_views import action_of
from tests.fakes.runs import InMemoryRuns


class InMemoryLaunches:
    """Queues, leases and supervises the runs of an InMemoryRuns; each call is atomic, as its transaction is."""

    def __init__(self, runs: InMemoryRuns) -> None:
        self.runs = runs

    async def find_launch(self, launch_key: str, *, digest: str) -> LaunchResult | None:
        await self.runs.reach("find_launch")
        return self._repeated(launch_key, digest)

    async def launch(self, draft: LaunchDraft, *, at: float) -> LaunchResult:
        await self.runs.reach("launch")
        if (before := self._repeated(draft.launch_key, draft.digest)) is not None:
            return before
        self.runs.feed.publish(self.queue(draft, at))
        return LaunchResult(run_id=draft.run_id, status="queued", launch_key=draft.launch_key, created_at=at)

    def queue(self, draft: LaunchDraft, at: float) -> tuple[str, ...]:
        """Insert a queued run as a part of somebody's transaction; return the topics that changed."""
        run = self.runs._insert(draft.run_id, _command(draft), at, status="queued", reason_code="run.queued.launched")
        run.launch = StoredLaunch(draft=draft, queued_at=at)
        return run_topic(run.run_id), LAUNCHES_TOPIC

    async def claim(
        self, *, owner: ProcessIdentity, limit: int, cap: int, at: float, only: str | None = None
    ) -> tuple[ClaimedLaunch, ...]:
        await self.runs.reach("claim")
        waiting = self._waiting(only)
        room = min(limit, cap - len(self._held())) if cap else limit
        claimed = []
        for run, launch in waiting[: max(room, 0)]:
            launch.attempts += 1
            _hold(launch, owner, at)
            claimed.append(_claimed(launch))
            self._publish(run.run_id)
        return tuple(claimed)

    async def waiting(self, *, only: str | None = None) -> tuple[str, ...]:
        await self.runs.reach("waiting")
        return tuple(run.run_id for run, _ in self._waiting(only))

    async def renew(self, leases: Sequence[Lease], *, at: float) -> frozenset[str]:
        await self.runs.reach("renew")
        held = [(run, launch) for run, launch in self._held() if launch.lease in leases]
        for _, launch in held:
            launch.renewals += 1
        return frozenset(run.run_id for run, _ in held)

    async def cancel_requests(self, leases: Sequence[Lease]) -> dict[str, str | None]:
        await self.runs.reach("cancel_requests")
        return {
            run.run_id: run.state.cancel_reason
            for run, launch in self._held()
            if launch.lease in leases and run.cancel_requested_at is not None
        }

    async def held(self) -> tuple[HeldLaunch, ...]:
        await self.runs.reach("held")
        return tuple(
            HeldLaunch(lease=launch.lease, owner=launch.owner, renewals=launch.renewals, process=run.command.process)
            for run, launch in self._held()
            if launch.owner is not None
        )

    async def give_back(self, lease: Lease, *, at: float) -> bool:
        await self.runs.reach("give_back")
        found = self._find(lease)
        if found is None or found[0].status != "queued":
            return False
        run, launch = found
        launch.owner = launch.claimed_at = None
        self._publish(run.run_id, LAUNCHES_TOPIC)
        return True

    async def take_over(self, lease: Lease, *, owner: ProcessIdentity, at: float) -> Lease | None:
        await self.runs.reach("take_over")
        found = self._find(lease)
        if found is None:
            return None
        run, launch = found
        _hold(launch, owner, at)
        self._publish(run.run_id)
        return launch.lease

    async def started(self, lease: Lease, process: ProcessIdentity, *, at: float) -> bool:
        await self.runs.reach("started")
        found = self._find(lease)
        if found is None:
            return False
        run = found[0]
        if run.status != "queued":
            return run.status == "running" and run.command.process == process
        run.touch(at)
        run.last_activity_at = at
        run.command = run.command.model_copy(update={"process": process})
        self.runs._move(run, _START, "worker", at)
        self._publish(run.run_id)
        return True

    async def record(self, lease: Lease, events: Sequence[RunEvent], *, at: float) -> bool:
        await self.runs.reach("record")
        found = self._find(lease)
        if found is None:
            return False
        run = found[0]
        self.runs._store(run, fresh_events(events, run.event_ids), "producer", at)
        return True

    async def end(self, lease: Lease, ending: Ending, *, at: float) -> bool:
        await self.runs.reach("end")
        found = self._find(lease)
        if found is None:
            return False
        run, launch = found
        self.runs._store(run, [_event_of(ending)], "worker", at)
        launch.ending, launch.owner = ending, None
        self._publish(run.run_id, LAUNCHES_TOPIC)
        return True

    def _launched(self) -> list[tuple[StoredRun, StoredLaunch]]:
        return [(run, run.launch) for run in self.runs.runs.values() if run.launch is not None]

    def _waiting(self, only: str | None) -> list[tuple[StoredRun, StoredLaunch]]:
        waiting = [found for found in self._launched() if found[0].status == "queued" and not found[0].held]
        waiting = [found for found in waiting if only in (None, found[0].run_id)]
        return sorted(waiting, key=lambda found: (found[1].queued_at, found[0].number))

    def _repeated(self, launch_key: str, digest: str) -> LaunchResult | None:
        for run, launch in self._launched():
            if launch.draft.launch_key == launch_key:
                return _repeated(run, launch.draft, digest)
        return None

    def _held(self) -> list[tuple[StoredRun, StoredLaunch]]:
        return [(run, launch) for run, launch in self._launched() if run.held]

    def _find(self, lease: Lease) -> tuple[StoredRun, StoredLaunch] | None:
        return next((found for found in self._held() if found[1].lease == lease), None)

    def _publish(self, run_id: str, *topics: str) -> None:
        self.runs.feed.publish((run_topic(run_id), *topics))


_START = Move(
    from_status="queued", to_status="running", reason_code="run.running.started", reason_summary=None, refused=False
)


def _hold(launch: StoredLaunch, owner: ProcessIdentity, at: float) -> None:
    launch.owner, launch.claimed_at = owner, at
    launch.fence += 1
    launch.renewals = 0


def _claimed(launch: StoredLaunch) -> ClaimedLaunch:
    return ClaimedLaunch(
        lease=launch.lease,
        action=action_of(launch.draft),
        runtime=launch.draft.runtime,
        cwd=launch.draft.cwd,
        deadline_seconds=launch.draft.deadline_seconds,
        attempts=launch.attempts,
    )


def _command(draft: LaunchDraft) -> StartRun:
    action = draft.action
    return StartRun(
        kind=action.kind,
        name=draft.name,
        playbook_name=action.playbook,
        agent_name=action.agent,
        invocation_id=draft.invocation_id,
        project=action.project,
        model=action.model,
        tags=draft.tags,
    )


def _repeated(run: StoredRun, draft: LaunchDraft, digest: str) -> LaunchResult:
    if digest != draft.digest:
        detail = f"launch key {draft.launch_key} stands for another action, launched as run {run.run_id}"
        raise Conflict("launch", digest, draft.digest, detail)
    return LaunchResult(
        run_id=run.run_id, status=run.status, launch_key=draft.launch_key, created_at=run.created_at, repeated=True
    )


def _event_of(ending: Ending) -> StatusEvent:
    summary = sanitize_text(ending.reason_summary or "")[0][:SUMMARY_MAX_CHARS]
    return StatusEvent.model_validate(
        {"status": ending.status, "reason_code": ending.reason_code, "reason_summary": summary or None}
    )
