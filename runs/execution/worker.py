"""The worker: holds queued runs while it has room, executes them side by side, and keeps its leases alive.

An idle worker waits for the change feed; one with children asks once a second, for all of them, who is to stop.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from contract.errors import StateUnavailable
from contract.events import ProcessIdentity
from contract.ports import ChangeFeed, Clock, Subscription
from runs.endings import Stop
from runs.execution.executing import RunExecution
from runs.services.execution_ports import LAUNCHES_TOPIC, ClaimedLaunch, Lease, RunQueue

_log = logging.getLogger(__name__)

Execute = Callable[[ClaimedLaunch], RunExecution]

# How soon a request to stop is obeyed; one query for all children of a worker.
_WATCH_SECONDS: Final = 1.0
# Four renewals before a watcher's patience ends (reaper.LEASE_SECONDS), so that a store that hangs for a while is none.
_RENEW_SECONDS: Final = 5.0
# A wake-up may be missed when a store was away: the queue is looked at without one, too.
_LOOK_SECONDS: Final = 30.0
# A daemon stops within three seconds.
_SHUTDOWN_GRACE_SECONDS: Final = 0.7
# Held at once when there is no cap: as many processes as a machine is asked to start in one go.
_CLAIM_MAX: Final = 20


class Worker:
    """Executes queued runs until cancelled; then it ends its children."""

    def __init__(
        self,
        *,
        queue: RunQueue,
        execute: Execute,
        feed: ChangeFeed,
        owner: ProcessIdentity,
        cap: int,
        clock: Clock,
        only: str | None = None,
        watch_seconds: float = _WATCH_SECONDS,
    ) -> None:
        """Take the queue, what executes, and how many runs may be held at a time by all workers together.

        With `only` it executes no other run than the one of this id.
        """
        self._queue = queue
        self._execute = execute
        self._feed = feed
        self._owner = owner
        self._cap = cap
        self._only = only
        self._clock = clock
        self._watch_seconds = watch_seconds
        self._running: dict[Lease, tuple[RunExecution, asyncio.Task[None]]] = {}
        self._changed = asyncio.Event()

    async def run(self) -> None:
        """Work."""
        subscription = self._feed.subscribe(LAUNCHES_TOPIC)
        watching = asyncio.create_task(self._watch_forever())
        waking = asyncio.create_task(self._wake_forever(subscription))
        for task in (watching, waking):
            task.add_done_callback(lambda _: self._changed.set())
        try:
            while True:
                self._changed.clear()
                await self._fill()
                with suppress(TimeoutError):
                    # Not wait_for: before Python 3.12 it swallows a cancellation that meets the event.
                    async with asyncio.timeout(_LOOK_SECONDS):
                        await self._changed.wait()
                for task in (watching, waking):
                    if task.done():  # neither ends by itself: it raises what broke it
                        task.result()
        finally:
            for task in (watching, waking):
                task.cancel()
            subscription.close()
            await self._end_all()

    async def _fill(self) -> None:
        """Claim until there is no room or nothing to do."""
        limit = self._cap or _CLAIM_MAX
        try:
            while claimed := await self._queue.claim(
                owner=self._owner, limit=limit, cap=self._cap, at=self._clock.now(), only=self._only
            ):
                for launch in claimed:
                    self._begin(launch)
        except StateUnavailable as unavailable:
            _log.warning("no run was taken from the queue: %s", unavailable)

    def _begin(self, launch: ClaimedLaunch) -> None:
        execution = self._execute(launch)
        task = asyncio.create_task(execution.run())
        self._running[launch.lease] = (execution, task)
        task.add_done_callback(lambda _: self._forget(launch.lease))

    def _forget(self, lease: Lease) -> None:
        del self._running[lease]
        self._changed.set()

    async def _wake_forever(self, subscription: Subscription) -> None:
        while True:
            await subscription.wait(None)
            self._changed.set()

    async def _watch_forever(self) -> None:
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
        for lease, (execution, _) in self._running.items():
            if lease.run_id in asked:
                execution.stop(Stop(cause="cancel", said=asked[lease.run_id]))

    async def _renew(self) -> None:
        leases = list(self._running)
        kept = await self._queue.renew(leases, at=self._clock.now())
        for lease in leases:
            if lease.run_id not in kept and lease in self._running:
                self._running[lease][0].stop(Stop(cause="lost"))

    async def _end_all(self) -> None:
        """End the children; what had none yet may be executed by another."""
        held = dict(self._running)
        for execution, _ in held.values():
            execution.stop(Stop(cause="shutdown", said="its worker was stopped"), grace_seconds=_SHUTDOWN_GRACE_SECONDS)
        if held:
            await asyncio.wait([task for _, task in held.values()])
        with suppress(StateUnavailable):  # the next start gives them back
            for lease in held:
                await self._queue.give_back(lease, at=self._clock.now())
