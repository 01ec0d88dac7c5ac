"""Viewers of runs, for the tests of following."""

import asyncio
from contextlib import aclosing

from contract.events import (
    MessageView,
    RunEvent,
    SignalView,
    StreamFrame,
)
from runs.services.following import RunFollower
from runs.services.ports import Entries
from tests.builders import start_run
from tests.fakes.change_feed import InMemoryChangeFeed
from tests.fakes.clocks import START_AT
from tests.fakes.runs import InMemoryRuns
from tests.fakes.turns import outcome_of, until_idle


class Viewer:
    """Follows a run in a task of its own, keeps what it got, and ends when the stream does."""

    def __init__(
        self, follower: RunFollower, run_id: str = "r", cursor: str | None = None, kind: Entries = "messages"
    ) -> None:
        self.frames: list[StreamFrame] = []
        self.task = asyncio.create_task(self._follow(follower, run_id, cursor, kind))

    async def _follow(self, follower: RunFollower, run_id: str, cursor: str | None, kind: Entries) -> None:
        async with aclosing(follower.follow(run_id, cursor, kind)) as frames:
            async for frame in frames:
                self.frames.append(frame)

    @property
    def seqs(self) -> list[int]:
        """Positions of the entries that came."""
        payloads = [frame.payload for frame in self.frames]
        return [payload.seq for payload in payloads if isinstance(payload, MessageView | SignalView)]

    @property
    def kinds(self) -> list[str]:
        """Types of the frames that came."""
        return [frame.payload.type for frame in self.frames]

    @property
    def cursor(self) -> str:
        """Where the viewer would resume."""
        return self.frames[-1].cursor

    async def leave(self) -> None:
        self.task.cancel()
        await outcome_of(self.task)


class Scene:
    """One store, one follower, and runs that happen."""

    def __init__(self, *, heartbeat_seconds: float = 3_600.0) -> None:
        self.feed = InMemoryChangeFeed()
        self.runs = InMemoryRuns(feed=self.feed)
        self.follower = RunFollower(tail=self.runs, feed=self.feed, heartbeat_seconds=heartbeat_seconds)

    async def start(self, *run_ids: str) -> None:
        for run_id in run_ids:
            await self.runs.start_run(run_id, start_run(), at=START_AT)

    async def record(self, *events: RunEvent, run_id: str = "r") -> None:
        await self.runs.record_events(run_id, events, at=START_AT)

    async def happens(self, *events: RunEvent, run_id: str = "r") -> None:
        """Record, and let everybody who follows take it."""
        await self.record(*events, run_id=run_id)
        await until_idle()

    def view(self, run_id: str = "r", cursor: str | None = None, kind: Entries = "messages") -> Viewer:
        return Viewer(self.follower, run_id, cursor, kind)

    async def watch(self, run_id: str = "r", cursor: str | None = None, kind: Entries = "messages") -> Viewer:
        """Start a viewer and let it take what there is."""
        viewer = self.view(run_id, cursor, kind)
        await until_idle()
        return viewer
