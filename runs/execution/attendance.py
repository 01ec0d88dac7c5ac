"""Attendance: held runs are executed side by side, told when they have to stop, and their leases kept alive.

Once a second one question is asked for all of them, whatever their number.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from contract.errors import StateUnavailable
from contract.ports import Clock
from runs.endings import Stop
from runs.execution.executing import RunExecution
from runs.services.execution_ports import ClaimedLaunch, Lease, RunQueue

Execute = Callable[[ClaimedLaunch], RunExecution]

# How soon a request to stop is obeyed.
WATCH_SECONDS: Final = 1.0
# Four renewals before a watcher's patience ends (reaper.LEASE_SECONDS), so that a store that hangs for a while is none.
_RENEW_SECONDS: Final = 5.0
# A daemon stops within three seconds.
_SHUTDOWN_GRACE_SECONDS: Final = 0.7
SHUTDOWN: Final = Stop(cause="shutdown", said="its worker was stopped")


class Attendance:
    """Looks after the runs that this process holds. `watch_forever` has to run beside."""

    def __init__(
        self, *, queue: RunQueue, execute: Execute, clock: Clock, watch_seconds: float = WATCH_SECONDS
    ) -> None:
        """Take who is asked, and what executes."""
        self._queue = queue
        self._execute = execute
        self._clock = clock
        self._watch_seconds = watch_seconds
        self._running: dict[Lease, RunExecution] = {}
        self._shut_down: set[Lease] = set()
        self._closing = False

    @property
    def busy(self) -> bool:
        """Whether anything is executed."""
        return bool(self._running)

    async def attend(self, launch: ClaimedLaunch) -> None:
        """Execute a run to its end. One that was shut down before its process began goes back into the queue."""
        execution = self._execute(launch)
        self._running[launch.lease] = execution
        if self._closing:
            self.stop(launch.lease, SHUTDOWN)
        try:
            await execution.run()
        finally:
            del self._running[launch.lease]
        if launch.lease in self._shut_down:
            self._shut_down.discard(launch.lease)
            with suppress(StateUnavailable):  # who looks after lost workers gives it back
                await self._queue.give_back(launch.lease, at=self._clock.now())

    def stop(self, lease: Lease, stop: Stop) -> None:
        """End what is executed under a lease, if anything is; a shutdown waits for nobody's grace."""
        execution = self._running.get(lease)
        if execution is None:
            return
        if stop.cause == "shutdown":
            self._shut_down.add(lease)
            execution.stop(stop, grace_seconds=_SHUTDOWN_GRACE_SECONDS)
        else:
            execution.stop(stop)

    def shut_down(self) -> None:
        """End everything, and whatever begins from now on before it has begun."""
        self._closing = True
        self.stop_all(SHUTDOWN)

    def stop_all(self, stop: Stop) -> None:
        """End everything that is executed now."""
        for lease in list(self._running):
            self.stop(lease, stop)

    async def watch_forever(self) -> None:
        """Obey requests to stop, and count the leases up."""
        renewed_at = self._clock.monotonic()
        while True:
            await asyncio.sleep(self._watch_seconds)
            if not self._running:
                renewed_at = self._clock.monotonic()
                continue
            with suppress(StateUnavailable):  # the next round asks again
                await self._obey()
                if self._clock.monotonic() - renewed_at >= _RENEW_SECONDS:
                    await self._renew()
                    renewed_at = self._clock.monotonic()

    async def _obey(self) -> None:
        asked = await self._queue.cancel_requests(list(self._running))
        for lease in list(self._running):
            if lease.run_id in asked:
                self.stop(lease, Stop(cause="cancel", said=asked[lease.run_id]))

    async def _renew(self) -> None:
        leases = list(self._running)
        kept = await self._queue.renew(leases, at=self._clock.now())
        for lease in leases:
            if lease.run_id not in kept:
                self.stop(lease, Stop(cause="lost"))
