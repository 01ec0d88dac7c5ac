"""Reads what a child prints, both streams at once, no faster than it is taken and with flat memory.

Nothing is read ahead: who takes slowly slows the child down, and what was printed and not taken is in the pipes.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import IO, Final, Literal

from runs.output_window import OutputLines, OutputPiece

Stream = Literal["stdout", "stderr"]
TakeOutput = Callable[[Stream, Sequence[OutputPiece]], Awaitable[None]]

# Read at once, between other work of the event loop. Of short lines less: each costs about a microsecond, and all
# pipes of all children are read between a request to stop and the next step towards it.
_CHUNK_BYTES: Final = 16 * 1024
_SHORT_CHUNK_BYTES: Final = 2 * 1024
_LINES_AT_ONCE: Final = 500
# Linux, /proc/sys/fs/pipe-max-size: what a pipe can hold at most, unless its writer is privileged.
_PIPE_MAX_BYTES: Final = 1024 * 1024


class OutputPipes:
    """The two pipes of a child. `read` is called once; `finish` may be called at any time."""

    def __init__(self, files: Mapping[Stream, IO[bytes]]) -> None:
        """Own the ends of the pipes from now on."""
        self._pipes = tuple(_Pipe(stream, file) for stream, file in files.items())
        self._ended = asyncio.Event()
        self._reading = False
        self._finishing = False
        self._woken: asyncio.Future[None] | None = None

    async def read(self, take: TakeOutput) -> None:
        """Hand on what is printed, until both pipes end or `finish` was called; `take` is awaited, never twice at once.

        What `take` raises ends the reading and is raised.
        """
        self._reading = True
        try:
            while open_pipes := [pipe for pipe in self._pipes if pipe.open]:
                await self._printed(open_pipes)
                for pipe in open_pipes:
                    if pieces := pipe.read(finishing=self._finishing):
                        await take(pipe.stream, pieces)
        finally:
            self._reading = False
            self._ended.set()

    def finish(self) -> None:
        """Wait for no more output. What is in the pipes already is still read: nothing that was printed is lost."""
        self._finishing = True
        if self._woken is not None:
            _wake(self._woken)

    async def ended(self) -> None:
        """Return when the reading has ended."""
        await self._ended.wait()

    async def close(self) -> None:
        """Finish, wait for the reading to end if it has begun, and close the pipes."""
        self.finish()
        if self._reading:
            await self.ended()
        for pipe in self._pipes:
            pipe.close()

    def size_bytes(self, stream: Stream) -> int:
        """Return how much of a stream was read so far."""
        return sum(pipe.size_bytes for pipe in self._pipes if pipe.stream == stream)

    async def _printed(self, pipes: Sequence["_Pipe"]) -> None:
        """Return when there is something to read, or nothing is waited for any more."""
        if self._finishing:
            return
        loop = asyncio.get_running_loop()
        self._woken = loop.create_future()
        for pipe in pipes:
            loop.add_reader(pipe.number, _wake, self._woken)
        try:
            await self._woken
        finally:
            for pipe in pipes:
                loop.remove_reader(pipe.number)


class _Pipe:
    """Our end of one pipe."""

    def __init__(self, stream: Stream, file: IO[bytes]) -> None:
        self.stream: Final = stream
        self.number: Final = file.fileno()
        self.size_bytes = 0
        self.open = True
        self._file = file
        self._lines = OutputLines()
        self._chunk_bytes = _CHUNK_BYTES
        self._last_bytes = _PIPE_MAX_BYTES
        os.set_blocking(self.number, False)

    def read(self, *, finishing: bool) -> Sequence[OutputPiece]:
        """Return what the next bytes complete, and at the end what is left. `finishing`: an empty pipe has ended."""
        try:
            chunk = os.read(self.number, self._chunk_bytes)
        except BlockingIOError:
            return self._end() if finishing else ()
        if not chunk:
            return self._end()
        self.size_bytes += len(chunk)
        pieces = self._lines.feed(chunk)
        self._chunk_bytes = _CHUNK_BYTES if len(pieces) <= _LINES_AT_ONCE else _SHORT_CHUNK_BYTES
        return [*pieces, *self._end()] if finishing and self._is_emptied(len(chunk)) else pieces

    def close(self) -> None:
        """Close our end: who still writes to it gets SIGPIPE."""
        self.open = False
        self._file.close()

    def _is_emptied(self, size: int) -> bool:
        """Whether all that can have been in the pipe was read, so that somebody who goes on printing keeps nobody."""
        self._last_bytes -= size
        return self._last_bytes <= 0

    def _end(self) -> Sequence[OutputPiece]:
        self.open = False
        return self._lines.finish()


def _wake(waiter: "asyncio.Future[None]") -> None:
    if not waiter.done():
        waiter.set_result(None)
