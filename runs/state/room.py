"""Gives the room of deleted rows back to the disk, in steps that keep nobody waiting for long."""

from collections.abc import Sequence
from typing import Any, Final

from django.db import connections

from studio_project.statedb import StateDB

# Moved to the front of the file and cut off in one transaction: about a mebibyte, some ten milliseconds.
_PAGES: Final = 256
# SQLite's own number of the mode in which that is possible (sqlite.org/pragma.html#pragma_auto_vacuum).
INCREMENTAL: Final = 2
# How long an emptied log waits for readers that still need it; the next one to be written takes over else.
_PATIENCE_MS: Final = 50


async def give_back(db: StateDB) -> bool:
    """Do one step on SQLite; False when it was the last."""
    left = await db.maintain(_vacuum_some)
    if not left:
        await db.maintain(_shorten_log)
    return left


async def vacuum(db: StateDB, tables: Sequence[str]) -> None:
    """Let PostgreSQL use the room of deleted rows again, and return what is free at the end of a table."""
    quoted = ", ".join(map(connections["default"].ops.quote_name, tables))
    await db.maintain(lambda: _execute(f"VACUUM {quoted}"))


def _vacuum_some() -> bool:
    if _pragma("auto_vacuum") != INCREMENTAL or not _pragma("freelist_count"):
        return False
    connection = connections["default"]
    # A step of the statement is one page; Python takes every step of scripts alone. It is a transaction by itself.
    connection.connection.executescript(f"PRAGMA incremental_vacuum({_PAGES})")
    return bool(_pragma("freelist_count"))


def _shorten_log() -> None:
    """Write the log into the database, which is when the file gets shorter, and empty it."""
    patience = _pragma("busy_timeout")
    with connections["default"].cursor() as cursor:
        cursor.execute(f"PRAGMA busy_timeout = {_PATIENCE_MS}")
        try:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {patience}")


def _pragma(name: str) -> Any:
    with connections["default"].cursor() as cursor:
        [value] = cursor.execute(f"PRAGMA {name}").fetchone()
    return value


def _execute(statement: str) -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute(statement)
