"""Workers that die, or stand still, in the middle of a launch, forked from a process that has Django loaded.

`python -m tests.runs.chaos.nursery` reads an Order in JSON on each line, or `null`, with which the worker that stands
still goes on; it answers with that worker's exit code: negative for the signal that killed it, `null` when it stands
still.
"""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import django

from tests.nurseries import ForkingProcess, forking, serve_orders


@dataclass(frozen=True, kw_only=True)
class Order:
    """Claim a run and execute it. `number` is the signal that the worker gets at its step `at`, counted from 1.

    Steps are the two sides of every call of a port. With `stops` the run is cancelled when it has printed something.
    """

    folder: str
    at: int = 0
    number: int = signal.SIGKILL
    stops: bool = False


class Nursery:
    """The test's end of the process that forks."""

    def __init__(self, process: ForkingProcess) -> None:
        self._process = process

    async def obey(self, order: Order) -> int | None:
        """Let a worker obey an order; return its exit code, or None when it stands still."""
        return await self._answer(asdict(order))

    async def resume(self) -> int | None:
        """Let the worker go on that stands still; return its exit code."""
        return await self._answer(None)

    async def _answer(self, order: dict[str, Any] | None) -> int | None:
        answer: int | None = await asyncio.to_thread(self._process.answer, order)
        return answer


@contextmanager
def nursery(settings: dict[str, Any], home: Path) -> Iterator[Nursery]:
    """Run the process that forks, on the database of these Django settings, until the block ends."""
    with forking("tests.runs.chaos.nursery", settings, home) as process:
        yield Nursery(process)


def _fate(worker: int) -> int | None:
    _, status = os.waitpid(worker, os.WUNTRACED)
    return None if os.WIFSTOPPED(status) else os.waitstatus_to_exitcode(status)


def _main() -> None:
    django.setup()
    from tests.runs.chaos.mortal import obey  # noqa: PLC0415 (records need Django to be set up)

    worker = 0

    def fate(order: dict[str, Any] | None) -> int | None:
        nonlocal worker
        if order is None:
            os.kill(worker, signal.SIGCONT)
        else:
            worker = os.fork()
            if worker == 0:
                os._exit(obey(Order(**order)))
        return _fate(worker)

    serve_orders(fate)


if __name__ == "__main__":
    _main()
