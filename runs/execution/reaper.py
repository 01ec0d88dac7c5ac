"""The reaper: settles what workers that are gone have held.

A worker is gone when its process is, or when its renewals stand still for longer than a lease by the reaper's own
monotonic clock: no two clocks are ever compared. That may be the reaper's own process, too: what it claimed without
being told so, or failed to end, nobody counts up. What was never started is put back into the queue; a child that still
lives is ended with all that it started, for nobody can read its output any more; and its run fails with that reason.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from contract.events import ProcessIdentity
from contract.ports import Clock
from runs.execution.groups import ProcessGroup, terminate
from runs.services.execution_ports import Ending, HeldLaunch, Lease, RunQueue, SupervisedRunPort
from runs.services.ports import ProcessProbe

_log = logging.getLogger(__name__)

# Four times a worker's renewal (worker.py), so that a store that hangs for a while makes nobody lost.
LEASE_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class _Seen:
    lease: Lease
    renewals: int
    since: float


class Reaper:
    """Looks at every hold, again and again; keeps what it saw in between."""

    def __init__(
        self,
        *,
        queue: RunQueue,
        runs: SupervisedRunPort,
        probe: ProcessProbe,
        owner: ProcessIdentity,
        clock: Clock,
        grace_seconds: float,
        ended: Callable[[str], object] = lambda _: None,
    ) -> None:
        """Take the queue and the runs, who looks at processes, who takes over, and who is told of a run that ended."""
        self._queue = queue
        self._runs = runs
        self._probe = probe
        self._owner = owner
        self._clock = clock
        self._grace_seconds = grace_seconds
        self._ended = ended
        self._seen: dict[str, _Seen] = {}
        self._swept_at = clock.monotonic()

    async def sweep(self) -> int:
        """Settle what the lost have held; return how many runs that were."""
        held = await self._queue.held()
        now = self._clock.monotonic()
        if now - self._swept_at > LEASE_SECONDS:
            # The store was away, or this process stood still: what was seen before says nothing about the others.
            self._seen.clear()
        self._swept_at = now
        self._seen = {launch.lease.run_id: self._look(launch) for launch in held}
        # Side by side: each may take its grace, and who starts waits for all of them.
        lost = (self._settle(launch) for launch in held if self._is_lost(launch))
        settled = await asyncio.gather(*lost, return_exceptions=True)
        for result in settled:
            if isinstance(result, BaseException):
                raise result
        return sum(map(bool, settled))

    def _look(self, launch: HeldLaunch) -> _Seen:
        before = self._seen.get(launch.lease.run_id)
        if before is not None and (before.lease, before.renewals) == (launch.lease, launch.renewals):
            return before
        return _Seen(launch.lease, launch.renewals, self._clock.monotonic())

    def _is_lost(self, launch: HeldLaunch) -> bool:
        if self._probe.alive(launch.owner) is False:
            return True
        return self._clock.monotonic() - self._seen[launch.lease.run_id].since > LEASE_SECONDS

    async def _settle(self, launch: HeldLaunch) -> bool:
        lease = await self._queue.take_over(launch.lease, owner=self._owner, at=self._clock.now())
        if lease is None:
            return False
        if launch.process is None:
            return await self._queue.give_back(lease, at=self._clock.now())
        told = await self._end_processes(lease.run_id, launch.process)
        _log.warning("run %s: its worker is gone; %s", lease.run_id, told)
        ending = Ending(status="failed", reason_code="run.failed.worker_lost", reason_summary=told)
        was_told = await self._runs.end(lease, ending, at=self._clock.now())
        if was_told:
            self._ended(lease.run_id)
        return was_told

    async def _end_processes(self, run_id: str, leader: ProcessIdentity) -> str:
        if self._probe.elsewhere(leader):
            return f"its process {leader.pid} on {leader.host} cannot be looked at from here"
        left = await terminate(ProcessGroup(leader=leader, run_id=run_id), grace_seconds=self._grace_seconds)
        return "its processes are ended" if not left else f"{len(left)} of its processes could not be ended"
