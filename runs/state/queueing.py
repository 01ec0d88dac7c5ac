"""DjangoRunQueue: RunQueue over the ORM, a leased table."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from django.db.models import F, QuerySet

from contract.actions import ActionFields
from contract.errors import ValidationFailure
from contract.events import ProcessIdentity
from contract.parsing import parse_model, strict_json_loads
from contract.ports import ChangeFeed
from runs.models import LaunchRecord, RunRecord
from runs.services.execution_ports import (
    LAUNCHES_TOPIC,
    Announce,
    ClaimedLaunch,
    HeldLaunch,
    Lease,
    UnreadableAction,
)
from runs.services.following import run_topic
from runs.state import rows
from runs.state.leases import held_run
from studio_project import publishing
from studio_project.statedb import StateDB, take_turns

# Claims take turns, or two at once would each see room for one more. Any number that nothing else takes turns under.
_CLAIM_TURN: Final = int.from_bytes(b"runclaim")

# What may be claimed, oldest first: the index of runs by status and start, walked backwards.
WAITING: Final = RunRecord.objects.filter(status="queued", launch__isnull=False, launch__owner__isnull=True).order_by(
    "sort_started_at", "id"
)
HELD: Final = (
    RunRecord.objects.filter(launch__owner__isnull=False)
    .order_by("launch__run_id")
    .values("run_id", "launch__fence", "launch__owner", "launch__renewals", *rows.PROCESS_COLUMNS)
)


class DjangoRunQueue:
    """Hands queued runs out under leases; publishes each change after its commit."""

    def __init__(self, db: StateDB, *, feed: ChangeFeed, announce: Announce) -> None:
        """Take the executor, who is told, and who calls for what waits."""
        self._db = db
        self._feed = feed
        self._announce = announce

    async def claim(
        self, *, owner: ProcessIdentity, limit: int, cap: int, at: float, only: str | None = None
    ) -> tuple[ClaimedLaunch, ...]:
        """Hold the oldest queued runs while there is room; claims of all processes take turns."""
        return await publishing.write(self._db, self._feed, partial(_claim, owner, limit, cap, at, only))

    async def waiting(self, *, only: str | None = None) -> tuple[str, ...]:
        """Return who waits, as a claim would find them: one query."""
        return await self._db.read(partial(_waiting, only))

    async def renew(
        self,
        leases: Sequence[Lease],
        *,
        at: float,  # noqa: ARG002 (a renewal is counted here, not timed)
    ) -> frozenset[str]:
        """Count the renewals up. Nobody is told: a viewer would see nothing new."""
        return await self._db.write(partial(_renew, frozenset(leases)))

    async def cancel_requests(self, leases: Sequence[Lease]) -> dict[str, str | None]:
        """Return run id and reason of those held that somebody asked to stop: one query."""
        return await self._db.read(partial(_cancel_requests, frozenset(leases)))

    async def held(self) -> tuple[HeldLaunch, ...]:
        """Return every launch that is held, in the order of their registration: one query."""
        return await self._db.read(_held)

    async def give_back(
        self,
        lease: Lease,
        *,
        at: float,  # noqa: ARG002 (the run waits again as if it had never been claimed)
    ) -> bool:
        """Let go of a run that never left the queue; the next claim gives it its new fence."""
        return await publishing.write(self._db, self._feed, partial(self._give_back, lease))

    async def take_over(self, lease: Lease, *, owner: ProcessIdentity, at: float) -> Lease | None:
        """Set the new owner under the next fence while the run's row is locked."""
        return await publishing.write(self._db, self._feed, partial(_take_over, lease, owner, at))

    def _give_back(self, lease: Lease) -> tuple[bool, publishing.Topics]:
        run = held_run(lease)
        # A process that was started took the run out of the queue in the same transaction.
        if run is None or run.status != "queued":
            return False, ()
        LaunchRecord.objects.filter(run=run).update(owner=None, claimed_at=None)
        self._announce(run.run_id)
        return True, (run_topic(run.run_id), LAUNCHES_TOPIC)


def _claim(
    owner: ProcessIdentity, limit: int, cap: int, at: float, only: str | None
) -> tuple[tuple[ClaimedLaunch, ...], publishing.Topics]:
    take_turns(_CLAIM_TURN)
    room = min(limit, cap - LaunchRecord.objects.filter(owner__isnull=False).count()) if cap else limit
    found = list(_who_wait(only).select_related("launch").select_for_update()[: max(room, 0)])
    LaunchRecord.objects.filter(run__in=found).update(
        owner=owner.model_dump_json(), fence=F("fence") + 1, attempts=F("attempts") + 1, renewals=0, claimed_at=at
    )
    return tuple(map(_claimed, found)), [run_topic(run.run_id) for run in found]


def _who_wait(only: str | None) -> QuerySet[RunRecord]:
    return WAITING.all() if only is None else WAITING.filter(run_id=only)


def _waiting(only: str | None) -> tuple[str, ...]:
    return tuple(_who_wait(only).values_list("run_id", flat=True))


def _claimed(run: RunRecord) -> ClaimedLaunch:
    launch = run.launch
    return ClaimedLaunch(
        lease=Lease(run_id=run.run_id, fence=launch.fence + 1),
        action=_action_of(launch.action),
        runtime=launch.runtime,
        cwd=launch.cwd,
        deadline_seconds=launch.deadline_seconds,
        attempts=launch.attempts + 1,
    )


def _action_of(text: str) -> ActionFields | UnreadableAction:
    try:
        return parse_model(ActionFields, strict_json_loads(text.encode()))
    except ValidationFailure as failure:
        return UnreadableAction(fault=str(failure))


def _renew(leases: frozenset[Lease]) -> frozenset[str]:
    run_ids = [lease.run_id for lease in leases]
    found = LaunchRecord.objects.filter(run__run_id__in=run_ids, owner__isnull=False).select_related("run")
    # In one order, so that renewals never wait for each other in a circle.
    locked = found.order_by("run").select_for_update(of=("self",)).only("fence", "run__run_id")
    renewed = {row.pk: row.run.run_id for row in locked if Lease(run_id=row.run.run_id, fence=row.fence) in leases}
    LaunchRecord.objects.filter(run__in=list(renewed)).update(renewals=F("renewals") + 1)
    return frozenset(renewed.values())


def _cancel_requests(leases: frozenset[Lease]) -> dict[str, str | None]:
    run_ids = [lease.run_id for lease in leases]
    asked = RunRecord.objects.filter(
        run_id__in=run_ids, cancel_requested_at__isnull=False, launch__owner__isnull=False
    ).values_list("run_id", "launch__fence", "cancel_reason")
    return {run_id: reason for run_id, fence, reason in asked if Lease(run_id=run_id, fence=fence) in leases}


def _held() -> tuple[HeldLaunch, ...]:
    return tuple(
        HeldLaunch(
            lease=Lease(run_id=row["run_id"], fence=row["launch__fence"]),
            owner=ProcessIdentity.model_validate_json(row["launch__owner"]),
            renewals=row["launch__renewals"],
            process=rows.process_of(row),
        )
        for row in HELD.all()
    )


def _take_over(lease: Lease, owner: ProcessIdentity, at: float) -> tuple[Lease | None, publishing.Topics]:
    run = held_run(lease)
    if run is None:
        return None, ()
    taken = replace(lease, fence=lease.fence + 1)
    LaunchRecord.objects.filter(run=run).update(
        owner=owner.model_dump_json(), fence=taken.fence, renewals=0, claimed_at=at
    )
    return taken, (run_topic(run.run_id),)
