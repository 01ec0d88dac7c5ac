"""Commands forked from a process that has Studio loaded: loading it is nearly all that a command takes.

`python -m tests.forked_commands` reads the arguments of a command in JSON on each line, runs it in a child as
`manage.py` would, and answers `[exit code, stdout, stderr]`. A test of how a process starts or is stopped needs one of
its own (`LiveDaemon.manage`).
"""

import gc
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import django
from django.core.management import get_commands, load_command_class

from studio_project.cli import main

_ROOT = Path(__file__).parents[1]


class ForkedCommands:
    """The test's end of the process that forks."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def manage(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end, as `subprocess.run` does. Nothing is on its standard input."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(arguments) + "\n")
        self._process.stdin.flush()
        code, out, err = json.loads(self._process.stdout.readline())
        return subprocess.CompletedProcess(arguments, code, out, err)


@contextmanager
def forked_commands(environment: dict[str, str]) -> Iterator[ForkedCommands]:
    """Run the process that forks, in this environment, until the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.forked_commands"],
        cwd=_ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        yield ForkedCommands(process)
        assert process.stdin is not None
        process.stdin.close()


def _serve() -> None:
    """Fork for each line. A child leaves the loop and is the command until its process ends, like any other."""
    _load()
    gc.freeze()  # a collection in a child would touch, and so copy, everything that is loaded
    for line in sys.stdin:
        with TemporaryFile() as out, TemporaryFile() as err:
            child = os.fork()
            if child == 0:
                _become(json.loads(line), out.fileno(), err.fileno())
                main()
                return
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            sys.stdout.write(json.dumps([code, _text(out), _text(err)]) + "\n")
            sys.stdout.flush()


def _load() -> None:
    """Import what Studio's own commands import."""
    django.setup()
    for name, app in get_commands().items():
        if not app.startswith("django"):
            load_command_class(app, name)


def _become(arguments: list[str], out: int, err: int) -> None:
    sys.argv = ["manage.py", *arguments]
    for number, standard in ((os.open(os.devnull, os.O_RDONLY), 0), (out, 1), (err, 2)):
        os.dup2(number, standard)


def _text(file: Any) -> str:
    file.seek(0)
    return bytes(file.read()).decode()


if __name__ == "__main__":
    _serve()
