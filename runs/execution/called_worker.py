"""The called worker: executes the run that it is told of, by an engine that has a queue of its own.

The call is no hold: what is named is claimed as any worker claims, so that it is executed once however often somebody
calls, and by no more at a time than all workers together may.
"""

import asyncio
import logging
from typing import Final

from contract.errors import StateUnavailable
from contract.events import ProcessIdentity
from contract.ports import ChangeFeed, Clock, Subscription
from runs.endings import Stop
from runs.execution.attendance import WATCH_SECONDS, Attendance, Execute
from runs.services.execution_ports import LAUNCHES_TOPIC, ClaimedLaunch, RunQueue

_log = logging.getLogger(__name__)

# News of room may be missed when a store was away: it is looked for without any, too.
_LOOK_SECONDS: Final = 30.0

Stopped = asyncio.Future[Stop]


class CalledWorker:
    """Executes runs, each when it is called for it. Belongs to one event loop."""

    def __init__(
        self,
        *,
        queue: RunQueue,
        execute: Execute,
        feed: ChangeFeed,
        owner: ProcessIdentity,
        cap: int,
        clock: Clock,
        watch_seconds: float = WATCH_SECONDS,
    ) -> None:
        """Take the queue, what executes, and how many runs may be held at a time by all workers together."""
        self._queue = queue
        self._feed = feed
        self._owner = owner
        self._cap = cap
        self._clock = clock
        self._attendance = Attendance(queue=queue, execute=execute, clock=clock, watch_seconds=watch_seconds)
        self._watching: asyncio.Task[None] | None = None

    async def execute(self, run_id: str, stopped: Stopped) -> bool:
        """Execute a run as soon as there is room; return when it has ended, or is nobody's to execute any more.

        `stopped` ends it. False when it still waits then: somebody has to call again.
        """
        launch = await self._claimed(run_id, stopped)
        if launch is None:
            return not stopped.done()
        stopped.add_done_callback(lambda told: self._attendance.stop(launch.lease, told.result()))
        await self._watched(launch)
        return True

    async def _claimed(self, run_id: str, stopped: Stopped) -> ClaimedLaunch | None:
        """Hold the run as soon as there is room for it; None when it does not wait any more, or `stopped`."""
        news: Subscription | None = None
        try:
            while not stopped.done():
                try:
                    if claimed := await self._claim(run_id):
                        return claimed[0]
                    if not await self._queue.waiting(only=run_id):
                        return None
                except StateUnavailable as unavailable:
                    _log.warning("run %s was not taken from the queue: %s", run_id, unavailable)
                if news is None:  # and then one look more, for what came before
                    news = self._feed.subscribe(LAUNCHES_TOPIC)
                else:
                    await _either(news, stopped)
            return None
        finally:
            if news is not None:
                news.close()

    async def _claim(self, run_id: str) -> tuple[ClaimedLaunch, ...]:
        return await self._queue.claim(owner=self._owner, limit=1, cap=self._cap, at=self._clock.now(), only=run_id)

    async def _watched(self, launch: ClaimedLaunch) -> None:
        """Attend a run; the first begins to watch over all, and the last ends that."""
        if self._watching is None:
            self._watching = asyncio.create_task(self._attendance.watch_forever())
            self._watching.add_done_callback(self._watch_ended)
        try:
            await self._attendance.attend(launch)
        finally:
            if not self._attendance.busy and self._watching is not None:
                self._watching.cancel()
                self._watching = None

    def _watch_ended(self, watching: "asyncio.Task[None]") -> None:
        """What nobody watches over would neither be stopped nor kept: it is ended. The watch ends by a fault alone."""
        if not watching.cancelled() and (fault := watching.exception()) is not None:
            self._watching = None
            _log.error("runs were not watched over any more", exc_info=fault)
            self._attendance.stop_all(Stop(cause="shutdown", said="its worker broke"))


async def _either(news: Subscription, stopped: Stopped) -> None:
    waiting = asyncio.create_task(news.wait(_LOOK_SECONDS))
    try:
        await asyncio.wait((waiting, stopped), return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
