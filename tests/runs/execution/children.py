"""Children for the tests: small programs in Python, and an ear for what they print."""

import asyncio
import secrets
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import psutil

from runs.execution.child import Child, ChildOrder, Exit
from runs.execution.pipes import Stream
from runs.output_window import OutputPiece

# Far more than anything here takes; whoever waits longer waits for ever.
PATIENCE_SECONDS: Final = 60.0
# A grace that nobody who ends by itself needs.
GRACE_SECONDS: Final = 30.0

# Code for a child: says something and goes on for ever.
ENDLESS = "import signal; print('ready', flush=True)\nwhile True: signal.pause()"


def python(code: str) -> tuple[str, ...]:
    """Return the arguments that run this code, quickly and with nothing of the test's environment."""
    return (sys.executable, "-I", "-S", "-c", code)


def order_of(*argv: str, cwd: Path, env: dict[str, str] | None = None, stdin_text: str | None = None) -> ChildOrder:
    """Return an order for a run of its own."""
    run_id = f"run-{secrets.token_hex(8)}"
    return ChildOrder(run_id=run_id, argv=argv, env=env or {}, cwd=str(cwd), stdin_text=stdin_text)


def starting(code: str, *, more: str = "") -> str:
    """Return code that starts a process running `code`, with our pipes, and tells its pid on the standard error.

    `more` are further arguments of its Popen.
    """
    started = f"grandchild = subprocess.Popen({list(python(code))!r}{more})"
    return f"import os, subprocess\n{started}\nos.write(2, b'%d\\n' % grandchild.pid)\n"


class Heard:
    """Takes what a child prints."""

    def __init__(self) -> None:
        self.pieces: dict[Stream, list[OutputPiece]] = {"stdout": [], "stderr": []}
        self._more = asyncio.Condition()

    async def take(self, stream: Stream, pieces: Sequence[OutputPiece]) -> None:
        async with self._more:
            self.pieces[stream] += pieces
            self._more.notify_all()

    async def line(self, number: int = 0, stream: Stream = "stdout") -> str:
        """Return a line as soon as it is there."""
        async with self._more, asyncio.timeout(PATIENCE_SECONDS):
            await self._more.wait_for(lambda: len(self.pieces[stream]) > number)
            return self.pieces[stream][number].text

    def text(self, stream: Stream = "stdout") -> str:
        """Return a stream as it was printed."""
        return "".join(piece.text + "\n" * piece.ended for piece in self.pieces[stream])


class Running:
    """A released child that is being heard."""

    def __init__(self, child: Child, heard: Heard, reading: "asyncio.Task[None]") -> None:
        self.child = child
        self.heard = heard
        self.reading = reading

    async def ended(self, *, linger_seconds: float = PATIENCE_SECONDS, grace_seconds: float = GRACE_SECONDS) -> Exit:
        """Wait for the exit of the child, and end all in the order that the child's docstring says."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            await self.child.exited()
            await self.child.linger(seconds=linger_seconds)
            return await self.stopped(grace_seconds=grace_seconds)

    async def stopped(self, *, grace_seconds: float) -> Exit:
        """End all at once; whoever could not be ended is a failure."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert await self.child.end(grace_seconds=grace_seconds) == ()
            await self.reading
            return await self.child.close()


@asynccontextmanager
async def running(order: ChildOrder, heard: Heard | None = None) -> AsyncIterator[Running]:
    """Start and release a child; in any case it is gone after the block."""
    heard = heard or Heard()
    child = Child.start(order)
    await child.release()
    reading = asyncio.create_task(child.read(heard.take))
    try:
        yield Running(child, heard, reading)
    finally:
        await child.end(grace_seconds=0)
        reading.cancel()
        await asyncio.wait([reading])
        await child.close()


async def run(order: ChildOrder) -> tuple[Exit, Heard]:
    """Run a child to its end."""
    async with running(order) as it:
        return await it.ended(), it.heard


def lives(pid: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def until(holds: Callable[[], bool]) -> None:
    """Look until something holds of which the system tells nobody."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline
