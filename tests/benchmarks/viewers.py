"""Viewers of event streams, each on a connection of its own."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from tests.benchmarks.http_client import Connection

# Fewer than a listening socket queues (128), so that no connection is refused for arriving with others.
_AT_ONCE: Final = 50

Frame = dict[str, Any]
Hear = Callable[[Frame], None]


class Audience:
    """Open viewers. `heard` is called with every frame that any of them gets; `ended` counts streams that are over."""

    def __init__(self, heard: Hear) -> None:
        self._heard = heard
        self._tasks: list[asyncio.Task[None]] = []
        self.connected = 0
        self.ended = 0

    async def join(self, port: int, targets: Sequence[str]) -> None:
        """Open one viewer for each target; return when all of them have begun."""
        for start in range(0, len(targets), _AT_ONCE):
            begun = [self._begin(port, target) for target in targets[start : start + _AT_ONCE]]
            self._tasks += await asyncio.gather(*begun)

    async def _begin(self, port: int, target: str) -> asyncio.Task[None]:
        connection = await Connection.open(port)
        events = await connection.follow(target)
        self.connected += 1
        return asyncio.create_task(self._listen(connection, events))

    async def _listen(self, connection: Connection, events: AsyncIterator[Frame]) -> None:
        try:
            async for frame in events:
                self._heard(frame)
            self.ended += 1
        finally:
            connection.close()

    async def leave(self) -> None:
        """Hang up."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def audience(port: int, targets: Sequence[str], heard: Hear) -> AsyncIterator[Audience]:
    """Open viewers for as long as the context lasts."""
    viewers = Audience(heard)
    try:
        await viewers.join(port, targets)
        yield viewers
    finally:
        await viewers.leave()


def ignore(frame: Frame) -> None:
    """Hear nothing."""
