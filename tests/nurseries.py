"""A process that has Django loaded and forks children that die in the middle of something, as a test orders.

A nursery is a module that is run with `-m` and calls `serve_orders`: it reads an order in JSON on each line, and
answers on a line with what became of the child.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.runs.state.other_process import url_of

_ROOT = Path(__file__).parents[1]


class ForkingProcess:
    """The test's end of a nursery."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def answer(self, order: Any) -> Any:
        """Hand an order over and wait for what becomes of it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


@contextmanager
def forking(module: str, settings: dict[str, Any], home: Path) -> Iterator[ForkingProcess]:
    """Run a nursery, on the database of these Django settings, until the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", module],
        cwd=_ROOT,
        env={
            "STUDIO_HOME": str(home),
            "STUDIO_DATABASE_URL": url_of(settings),
            "STUDIO_TIMEZONE": "UTC",
            "DJANGO_SETTINGS_MODULE": "studio_project.settings",
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        yield ForkingProcess(process)
        assert process.stdin is not None
        process.stdin.close()


def serve_orders(obey: Callable[[Any], object]) -> None:
    """In the nursery: answer each order until there are no more."""
    for line in sys.stdin:
        sys.stdout.write(json.dumps(obey(json.loads(line))) + "\n")
        sys.stdout.flush()
