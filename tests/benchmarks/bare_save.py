"""The least that a safe save can cost here: its steps on the disk and nothing else, no daemon, no rules."""

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

_ROUNDS: Final = 30


def bare_saves(beside: Path, content: str) -> list[float]:
    """Return the seconds of each of some saves, on the disk of `beside`."""
    with TemporaryDirectory(dir=beside) as name:
        folder = Path(name)
        with closing(sqlite3.connect(folder / "bare.db", isolation_level=None)) as database:
            # As every store of Studio: what was committed is on the disk.
            database.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE versions(content)")
            return [_timed(database, folder, content) for _ in range(_ROUNDS)]


def _timed(database: sqlite3.Connection, folder: Path, content: str) -> float:
    """Store the content, replace the file, and note that this was done."""
    started = time.perf_counter()
    database.execute("INSERT INTO versions VALUES (?)", (content,))
    _replace(folder, content)
    database.execute("INSERT INTO versions VALUES ('written')")
    return time.perf_counter() - started


def _replace(folder: Path, content: str) -> None:
    with (folder / "new").open("w", encoding="utf-8") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    (folder / "new").rename(folder / "saved")
    descriptor = os.open(folder, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
