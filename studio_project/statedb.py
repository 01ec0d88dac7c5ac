"""StateDB: runs synchronous ORM functions for async callers, and translates driver errors.

Reads go to a small pool of threads, writes to a lane; each thread keeps its connection. On SQLite the write lane is
one thread, so that "database is locked" cannot arise inside a process; between processes `BEGIN IMMEDIATE` and the
busy timeout of the settings serialize writers (Django ticket 29280), and a short bounded retry covers the rest.
On PostgreSQL writers run side by side; the records' own locks and constraints serialize what must be.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from django.db import (
    DatabaseError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    connections,
    transaction,
)
from django.db.backends.base.base import BaseDatabaseWrapper

from contract.errors import StateUnavailable

T = TypeVar("T")

_ALIAS: Final = "default"
# More would only wait for each other: the interpreter runs one at a time, and each keeps a page cache.
_READERS: Final = 2
_PG_WRITERS: Final = 4
# Waits between tries of a write that met a lock, a deadlock or a serialization failure (seconds).
_RETRY_PAUSES: Final = (0.02, 0.1, 0.5)
_LOCKED_WORDS: Final = ("locked", "busy", "deadlock", "could not serialize")
_PASSING_WORDS: Final = (
    "full", "connection", "closed", "timeout", "starting up", "shutting down", "too many", "terminating",
)  # fmt: skip
_UNMIGRATED_WORDS: Final = ("no such table", "no such column", "does not exist")


class StateDB:
    """Executes functions that use the ORM; one call is one transaction.

    The functions must depend on their arguments only, and return values, never querysets or records: a write that
    met a lock is run again from its beginning.
    """

    def __init__(self) -> None:
        """Open no connection yet; threads and connections come with the first calls."""
        self.vendor: str = connections[_ALIAS].vendor
        self._readers = _Lane("state-read", _READERS)
        self._writers = _Lane("state-write", 1 if self.vendor == "sqlite" else _PG_WRITERS)

    async def read(self, work: Callable[[], T], *, snapshot: bool = False) -> T:
        """Run a reading function. `snapshot` makes all its queries see one state of the database.

        Raises StateUnavailable.
        """
        return await self._readers.run(partial(_in_snapshot, work) if snapshot else work)

    async def write(self, work: Callable[[], T], *, durable: bool = True) -> T:
        """Run a function in one write transaction, again after a lock. Raises StateUnavailable.

        The commit is on the disk when this returns. One that is not `durable` is seen by everybody at once and may be
        undone by a machine that loses its power, as a whole: for what the next start finds out by itself.
        """
        return await self._writers.run(partial(_in_transaction, work) if durable else partial(_unhurried, work))

    async def maintain(self, work: Callable[[], T]) -> T:
        """Run a function where writes run, but in no transaction: for what a database does in none."""
        return await self._writers.run(work)

    def fault(self) -> str | None:
        """Say what keeps the store from being used as far as can be known without asking it, or None."""
        try:
            if self.vendor == "sqlite":
                sqlite_file()
        except StateUnavailable as unavailable:
            return str(unavailable)
        return None

    def close(self) -> None:
        """Finish running work and close every connection. Idempotent. Blocks: not to be called in an event loop."""
        self._readers.close()
        self._writers.close()


class _Lane:
    """A pool of threads, each with its own connection, which `close` closes."""

    def __init__(self, name: str, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        # Some of the driver's errors reach us as they are: Django wraps no close of a server-side cursor.
        driver: Any = connections[_ALIAS]
        self._driver_error: type[Exception] = driver.Database.Error
        self._prepared = threading.local()
        self._opened: list[BaseDatabaseWrapper] = []

    async def run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._translated, work)

    def _translated(self, work: Callable[[], T]) -> T:
        try:
            self._prepare()
            result = work()
            self._require_same_file()
            return result
        except IntegrityError:
            raise
        except (DatabaseError, InterfaceError, self._driver_error) as fault:
            connections[_ALIAS].close_if_unusable_or_obsolete()
            raise _unavailable(fault) from fault

    def _prepare(self) -> None:
        """Set this thread's connection up, once, and see that it is on the file that is there now."""
        connection = connections[_ALIAS]
        if not getattr(self._prepared, "done", False):
            connection.inc_thread_sharing()
            self._opened.append(connection)
            self._prepared.done = True
        if connection.vendor == "sqlite":
            if connection.connection is not None:
                self._require_same_file()
                return
            sqlite_file()  # connecting would make an empty one
            connection.ensure_connection()
            self._prepared.file = sqlite_file()

    def _require_same_file(self) -> None:
        """Raise StateUnavailable when the file was taken away: SQLite goes on writing into what nobody can open."""
        connection = connections[_ALIAS]
        if connection.vendor == "sqlite" and sqlite_file() != self._prepared.file:
            connection.close()
            raise StateUnavailable(retryable=True, detail="the database file was replaced; nothing was stored in it")

    def close(self) -> None:
        self._pool.shutdown(wait=True)
        for connection in self._opened:
            connection.close()
        self._opened.clear()


def take_turns(number: int) -> None:
    """Wait until no other transaction, of any process, has taken this turn; keep it until this one ends.

    Called inside a write, for a decision that no row can serialize. `number` is one of 64 bits, the same for all who
    take turns. On SQLite a write has the whole database to itself already.
    """
    connection = connections[_ALIAS]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])


def sqlite_file() -> tuple[int, int]:
    """Return device and inode of the SQLite file. Raises StateUnavailable when there is none."""
    try:
        found = Path(connections[_ALIAS].settings_dict["NAME"]).stat()
    except OSError:
        detail = "there is no database file: `serve` makes one when it starts, `manage.py migrate` without it"
        raise StateUnavailable(retryable=False, detail=detail) from None
    return found.st_dev, found.st_ino


def _in_snapshot(work: Callable[[], T]) -> T:
    connection = connections[_ALIAS]
    if connection.vendor == "sqlite":
        # A snapshot must not take the write lock that the settings ask for; connecting resets the mode to theirs.
        connection.ensure_connection()
        setattr(connection, "transaction_mode", "DEFERRED")  # noqa: B010 (the stubs do not know it)
    with transaction.atomic(using=_ALIAS):
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        return work()


def _unhurried(work: Callable[[], T]) -> T:
    """Commit without waiting for the disk; in both databases later commits that do wait take this one along."""
    connection = connections[_ALIAS]
    if connection.vendor == "postgresql":
        return _in_transaction(partial(_not_waiting, work))
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA synchronous = NORMAL")  # cannot be said within a transaction
        try:
            return _in_transaction(work)
        finally:
            cursor.execute("PRAGMA synchronous = FULL")


def _not_waiting(work: Callable[[], T]) -> T:
    with connections[_ALIAS].cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit = off")
    return work()


def _in_transaction(work: Callable[[], T]) -> T:
    for pause in (*_RETRY_PAUSES, None):
        try:
            with transaction.atomic(using=_ALIAS):
                return work()
        except OperationalError as fault:
            if pause is None or not _says(fault, _LOCKED_WORDS):
                raise
            time.sleep(pause)
    raise AssertionError("the last try returns or raises")


def _says(fault: Exception, words: tuple[str, ...]) -> bool:
    text = str(fault).lower()
    return any(word in text for word in words)


def _unavailable(fault: Exception) -> StateUnavailable:
    """Say for people what a driver's error means; its own text may hold hosts and stays in the log."""
    if _says(fault, _LOCKED_WORDS):
        return StateUnavailable(retryable=True, detail="the database is locked by another writer")
    if "disk is full" in str(fault).lower() or "no space" in str(fault).lower():
        return StateUnavailable(retryable=True, detail="the disk of the database is full; nothing was stored")
    if _says(fault, _UNMIGRATED_WORDS):
        return StateUnavailable(
            retryable=False,
            detail="the database has not the tables of this version: run `manage.py migrate`, or `manage.py serve`",
        )
    if _says(fault, ("unable to open",)):
        return StateUnavailable(retryable=False, detail="the database file cannot be opened")
    if _says(fault, ("readonly", "read-only")):
        return StateUnavailable(retryable=False, detail="the database is read-only; nothing was stored")
    if _says(fault, _PASSING_WORDS) or isinstance(fault, InterfaceError):
        return StateUnavailable(retryable=True, detail="the database does not answer")
    return StateUnavailable(retryable=False, detail="the database cannot be used")
