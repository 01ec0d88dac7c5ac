"""Streams of a run, and how long its messages take to arrive there."""

import asyncio
import time
from typing import Final

from tests.benchmarks.pacing import SENT
from tests.benchmarks.viewers import Frame

_PATIENCE_SECONDS: Final = 30.0


def stream_of(run: str) -> str:
    """Return the target of a run's messages."""
    return f"/api/v1/runs/{run}/stream"


def peer_stream_of(session: str) -> str:
    """Return the target of the peer's."""
    return f"/api/sessions/{session}/stream"


class Delays:
    """Collects how long messages took, from being sent to being heard."""

    def __init__(self, expected: int) -> None:
        self.seconds: list[float] = []
        self._expected = expected
        self._complete = asyncio.Event()

    def hear(self, frame: Frame) -> None:
        """Take a frame; those without a time of sending do not count."""
        content = frame.get("content")
        if isinstance(content, dict) and SENT in content:
            self.seconds.append(time.perf_counter() - content[SENT])
        if len(self.seconds) >= self._expected:
            self._complete.set()

    async def complete(self) -> None:
        """Wait for the last message. Raises TimeoutError."""
        async with asyncio.timeout(_PATIENCE_SECONDS):
            await self._complete.wait()
