"""The worker: holds queued runs while it has room, and executes them side by side.

An idle worker waits for the change feed.
"""

import asyncio
import logging
from contextlib import suppress
from typing import Final

from contract.errors import StateUnavailable
from contract.events import ProcessIdentity
from contract.ports import ChangeFeed, Clock, Subscription
from runs.execution.attendance import WATCH_SECONDS, Attendance, Execute
from runs.services.execution_ports import LAUNCHES_TOPIC, ClaimedLaunch, RunQueue

_log = logging.getLogger(__name__)

# A wake-up may be missed when a store was away: the queue is looked at without one, too.
_LOOK_SECONDS: Final = 30.0
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
        watch_seconds: float = WATCH_SECONDS,
    ) -> None:
        """Take the queue, what executes, and how many runs may be held at a time by all workers together.

        With `only` it executes no other run than the one of this id.
        """
        self._queue = queue
        self._feed = feed
        self._owner = owner
        self._cap = cap
        self._only = only
        self._clock = clock
        self._attendance = Attendance(queue=queue, execute=execute, clock=clock, watch_seconds=watch_seconds)
        self._attending: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()

    @staticmethod
    def announce(run_id: str) -> None:
        """Call nobody: workers look into the queue themselves, when the change feed has woken them."""

    async def run(self) -> None:
        """Work."""
        subscription = self._feed.subscribe(LAUNCHES_TOPIC)
        watching = asyncio.create_task(self._attendance.watch_forever())
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
        task = asyncio.create_task(self._attendance.attend(launch))
        self._attending.add(task)
        task.add_done_callback(self._forget)

    def _forget(self, task: "asyncio.Task[None]") -> None:
        self._attending.discard(task)
        self._changed.set()

    async def _wake_forever(self, subscription: Subscription) -> None:
        while True:
            await subscription.wait(None)
            self._changed.set()

    async def _end_all(self) -> None:
        """End the children; what had none yet may be executed by another."""
        self._attendance.shut_down()
        if self._attending:
            await asyncio.wait(self._attending)
