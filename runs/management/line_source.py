"""Reads a file or standard input in pieces as they come, and says when the input pauses."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final

# What a pipe holds on Linux (pipe(7)): one read empties it.
CHUNK_BYTES: Final = 64 * 1024
# A person watching a pipe does not notice less; a producer that writes on loses nothing by the smaller batch.
PAUSE_SECONDS: Final = 0.5
# Pieces read ahead while a batch is being sent.
_READ_AHEAD: Final = 4

Piece = bytes | None


async def read_pieces(descriptor: int, *, pause_seconds: float = PAUSE_SECONDS) -> AsyncIterator[Piece]:
    """Yield what is read from an open descriptor until its end; None once whenever nothing came for a while.

    Raises OSError. The reading is done by a daemon thread: a read of a silent pipe cannot be cancelled, and an
    interrupt must not wait for it.
    """
    reader = _Reader(descriptor)
    paused = True
    try:
        while (piece := await reader.next(None if paused else pause_seconds)) != b"":
            paused = piece is None
            yield piece
    finally:
        reader.leave()


class _Reader:
    """A thread that reads ahead a few pieces, and no further than somebody takes them."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._pieces: asyncio.Queue[bytes | OSError] = asyncio.Queue()
        self._room = threading.Semaphore(_READ_AHEAD)
        self._left = False
        threading.Thread(target=self._read, name="line-source", daemon=True).start()

    async def next(self, timeout_seconds: float | None) -> Piece:
        """Return the next piece, empty at the end, None when none came in time."""
        try:
            async with asyncio.timeout(timeout_seconds):
                piece = await self._pieces.get()
        except TimeoutError:
            return None
        self._room.release()
        if isinstance(piece, OSError):
            raise piece
        return piece

    def leave(self) -> None:
        """Let the thread end; one that is stuck in a read ends with the process."""
        self._left = True
        self._room.release()

    def _read(self) -> None:
        piece: bytes | OSError = b"begin"
        while piece and not isinstance(piece, OSError):
            self._room.acquire()
            if self._left:
                return
            try:
                piece = os.read(self._descriptor, CHUNK_BYTES)
            except OSError as fault:
                piece = fault
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(self._pieces.put_nowait, piece)
