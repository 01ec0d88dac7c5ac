"""Processes that die in the middle of changing a definition, forked from one that has Django loaded.

`python -m tests.definitions.crash.nursery` reads an Order in JSON on each line, lets a child obey it, and answers
`{"exit": ..., "steps": ...}`: the child's exit code (0: it told its caller that all is well; negative: the signal that
killed it) and how many steps it had made.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import django

from tests.nurseries import ForkingProcess, forking, serve_orders


@dataclass(frozen=True, kw_only=True)
class Order:
    """What a child does, and at which of its steps it dies; before step `edit_at` an editor replaces the file.

    `verb`: save, delete, or retry (of the reconciliation `target`). Steps are system calls on files, and each side of
    every transaction.
    """

    home: str
    verb: str
    name: str
    content: str = ""
    expected_version: int | None = None
    target: str = ""
    die_at: int = 0
    edit_at: int = 0
    edit: str = ""


@dataclass(frozen=True, kw_only=True)
class Death:
    """How a child ended."""

    exit: int
    steps: int

    @property
    def told(self) -> bool:
        """Whether the caller was told that the change was made."""
        return self.exit == 0

    @property
    def killed(self) -> bool:
        return self.exit == -signal.SIGKILL


class Nursery:
    """The test's end of the process that forks."""

    def __init__(self, process: ForkingProcess) -> None:
        self._process = process

    def obey(self, order: Order) -> Death:
        """Let a child obey an order and wait for its end."""
        return Death(**self._process.answer(asdict(order)))


@contextmanager
def nursery(settings: dict[str, Any], home: Path) -> Iterator[Nursery]:
    """Run the process that forks, on the database of these Django settings, until the block ends."""
    with forking("tests.definitions.crash.nursery", settings, home) as process:
        yield Nursery(process)


def edit_by_hand(home: Path, name: str, content: str) -> None:
    """Replace a file as editors do: a new one beside it, then renamed over it."""
    folder = home / "agents"
    folder.mkdir(exist_ok=True)
    beside = folder / f"{name}.md~"
    beside.write_text(content)
    beside.rename(folder / f"{name}.md")


def _born(order: Order, obey: Callable[[Order, int], int]) -> Death:
    count_from, count_to = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(count_from)
        os._exit(obey(order, count_to))
    os.close(count_to)
    with os.fdopen(count_from, "rb") as counted:
        steps = len(counted.read())
    return Death(exit=os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), steps=steps)


def _main() -> None:
    django.setup()
    from tests.definitions.crash.dying import obey  # noqa: PLC0415 (records need Django to be set up)

    serve_orders(lambda order: asdict(_born(Order(**order), obey)))


if __name__ == "__main__":
    _main()
