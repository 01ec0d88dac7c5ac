"""Kills a process at every system call of a change. A program: `killed.py CHANGE SYSTEM FOLDER`.

`FOLDER/1`, `FOLDER/2`, ... are the homes in which a process was killed before its first, second, ... call; in the last
one it came to its end.
"""

import asyncio
import hashlib
import os
import signal
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path

from definitions.errors import FileChanged
from definitions.files.disk import DiskDefinitionFiles
from definitions.files.syscalls import Syscalls
from tests.definitions.files.hands import DiskHome
from tests.definitions.files.watched import LinkingSyscalls, watched

OLD, NEW, HAND = "old\n" * 5_000, "new\n" * 9_000, "by hand\n" * 7_000
SHA = hashlib.sha256(OLD.encode()).hexdigest()
PLACE = "agents/a.md"
CHANGES = ("create", "replace", "remove", "replace-edited", "remove-edited")
SYSTEMS = {"exchanging": Syscalls, "linking": LinkingSyscalls}


class Fate:
    """A watch that ends the process at the n-th call; `edited`: after a hand has come at the last moment."""

    def __init__(self, home: DiskHome, number: int, *, edited: bool) -> None:
        self._home = home
        self._number = number
        self._edited = edited

    def __call__(self, number: int, name: str) -> None:
        if self._edited and name in {"renameat2", "link"}:
            self._edited = False
            self._home.edit_anew(PLACE, HAND)
        if number == self._number:
            os.kill(os.getpid(), signal.SIGKILL)


async def _make(change: str, files: DiskDefinitionFiles) -> None:
    if change.startswith("remove"):
        await files.remove_current("agent", "a", replacing=SHA)
    else:
        await files.write_current("agent", "a", NEW, replacing=None if change == "create" else SHA)


def _live(change: str, system: Syscalls, home: DiskHome, number: int) -> None:
    """Be the process; never return."""
    fate = Fate(home, number, edited=change.endswith("edited"))
    ended = False
    try:
        with suppress(FileChanged):
            asyncio.run(_make(change, DiskHome(home.path, watched(fate, system)).files))
        ended = True
    finally:
        os._exit(0 if ended else 1)


def main(change: str, system: str, folder: Path) -> None:
    """Kill and kill, then exit as the process does that comes to its end."""
    for number in count(1):
        path = folder / str(number)
        path.mkdir()
        home = DiskHome(path)
        if change != "create":
            home.edit(PLACE, OLD)
        pid = os.fork()
        if pid == 0:
            _live(change, SYSTEMS[system](), home, number)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if code != -signal.SIGKILL:
            sys.exit(code)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
