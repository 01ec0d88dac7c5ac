"""The connection that Django makes to SQLite: the file that it makes is its owner's alone, and can shrink again."""

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any


class OwnersConnection(sqlite3.Connection):
    """Makes a missing file with mode 0600 before SQLite would with the umask's; its WAL and SHM files copy the mode.

    Only a missing one: to open and close a file that is in use drops the locks that this process has on it
    (sqlite.org/howtocorrupt.html, 2.2).
    """

    def __init__(self, database: str, *args: Any, **kwargs: Any) -> None:
        """Open a database; where the file cannot be made, SQLite says so."""
        with suppress(OSError):
            os.close(os.open(database, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        super().__init__(database, *args, **kwargs)
        if _is_empty(database):
            # What lets a file give pages back can be said before its first page only (sqlite.org/pragma.html); later
            # it would take a VACUUM, and the write lock with each connection.
            self.execute("PRAGMA auto_vacuum = INCREMENTAL")


def _is_empty(database: str) -> bool:
    with suppress(OSError):
        return Path(database).stat().st_size == 0
    return False
