"""What SQLite needs of StateDB: the right pragmas, one writer lane, and its own faults in the contract's words."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections

from contract.errors import StateUnavailable
from runs.models import InvocationRecord
from studio_project.statedb import StateDB
from tests.builders import messages
from tests.fakes.turns import outcome_of
from tests.runs.state.stores import DATABASE, Store

pytestmark = DATABASE


@pytest.fixture
async def db() -> AsyncIterator[StateDB]:
    db = StateDB()
    yield db
    await asyncio.to_thread(db.close)


@pytest.fixture
def locker() -> Iterator[sqlite3.Connection]:
    """Another program with the database open."""
    with closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as other:
        yield other


def pragma(name: str) -> Any:
    with connections["default"].cursor() as cursor:
        cursor.execute(f"PRAGMA {name}")
        row = cursor.fetchone()
    return None if row is None else row[0]


def insert(invocation_id: str) -> None:
    InvocationRecord.objects.create(invocation_id=invocation_id, kind="agent", created_at=1.0)


def settings() -> dict[str, Any]:
    return {name: pragma(name) for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")}


async def test_every_connection_has_the_pragmas_that_keep_writers_from_failing(db: StateDB) -> None:
    wanted = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 20_000}

    found = [await db.read(settings), await db.read(settings, snapshot=True), await db.write(settings)]

    assert found == [wanted] * 3


async def test_only_a_write_that_may_be_lost_does_not_wait_for_the_disk(db: StateDB) -> None:
    hurried = [await db.write(lambda: pragma("synchronous"), durable=durable) for durable in (True, False, True)]
    failed = await outcome_of(db.write(lambda: pragma("nothing.of.the.kind"), durable=False))

    assert hurried == [2, 1, 2]
    assert isinstance(failed, StateUnavailable)
    assert await db.write(lambda: pragma("synchronous")) == 2


async def test_all_writes_of_a_process_go_through_one_thread(db: StateDB) -> None:
    threads = await asyncio.gather(*(db.write(threading.get_ident) for _ in range(20)))

    assert len(set(threads)) == 1


async def test_readers_are_not_kept_waiting_by_a_writer(db: StateDB, locker: sqlite3.Connection) -> None:
    locker.execute("BEGIN IMMEDIATE")

    found = [
        await db.read(InvocationRecord.objects.count),
        await db.read(InvocationRecord.objects.count, snapshot=True),
    ]

    locker.execute("ROLLBACK")
    assert found == [0, 0]


async def test_a_writer_that_holds_the_lock_for_too_long_is_said_and_nothing_is_lost_after_it(
    db: StateDB, locker: sqlite3.Connection
) -> None:
    await db.write(lambda: pragma("busy_timeout = 1"))
    locker.execute("BEGIN IMMEDIATE")

    refused = await outcome_of(db.write(lambda: insert("a")))
    locker.execute("ROLLBACK")
    await db.write(lambda: insert("b"))

    assert isinstance(refused, StateUnavailable)
    assert refused.retryable
    assert await db.read(lambda: list(InvocationRecord.objects.values_list("invocation_id", flat=True))) == ["b"]


async def test_a_full_disk_is_said_and_the_store_goes_on_when_there_is_room(database: Store) -> None:
    await database.start("r")
    db: StateDB = database.writes._db  # type: ignore[attr-defined]  # the port does not show its executor
    await db.write(lambda: pragma(f"max_page_count = {pragma('page_count')}"))

    # Pages that other tests have freed are used up first.
    accepted = 0
    while not isinstance(refused := await _recorded(database), StateUnavailable):
        accepted += 500
    before = await database.detail("r")
    await db.write(lambda: pragma("max_page_count = 1073741823"))
    await database.record("r", *messages(3))

    assert (refused.retryable, "full" in str(refused)) == (True, True)
    assert before.message_count == accepted
    assert (await database.detail("r")).message_count == accepted + 3


async def _recorded(store: Store) -> object:
    return await outcome_of(store.record("r", *messages(500, content="x" * 10_000)))


async def test_a_read_only_database_is_said(db: StateDB) -> None:
    await db.write(lambda: pragma("query_only = 1"))

    refused = await outcome_of(db.write(lambda: insert("a")))

    assert isinstance(refused, StateUnavailable)
    assert (refused.retryable, "read-only" in str(refused)) == (False, True)


async def test_a_snapshot_takes_no_write_lock(db: StateDB) -> None:
    begun, go = threading.Event(), threading.Event()

    def read_slowly() -> int:
        found = InvocationRecord.objects.count()
        begun.set()
        go.wait(10)
        return found

    reading = asyncio.create_task(db.read(read_slowly, snapshot=True))
    await asyncio.to_thread(begun.wait, 10)
    await db.write(lambda: insert("a"))
    go.set()

    assert await reading == 0


def is_there(path: Path) -> bool:
    return path.exists()


def make_empty(path: Path) -> None:
    path.touch()


@pytest.fixture
def database_away() -> Iterator[Path]:
    """Take the database file away while a test runs; yields where it should be."""
    path = Path(connection.settings_dict["NAME"])
    away = path.with_suffix(".away")
    path.rename(away)
    yield path
    path.unlink(missing_ok=True)
    away.rename(path)


async def test_nothing_is_acknowledged_once_the_database_file_was_removed(
    db: StateDB, request: pytest.FixtureRequest
) -> None:
    await db.write(lambda: insert("a"))
    await db.read(InvocationRecord.objects.count)
    path: Path = request.getfixturevalue("database_away")

    faults = [
        await outcome_of(db.write(lambda: insert("b"))),
        await outcome_of(db.read(InvocationRecord.objects.count)),
    ]

    assert all(isinstance(fault, StateUnavailable) for fault in faults)
    assert not is_there(path), "no empty database was made in its place"


async def test_a_process_that_has_not_connected_yet_makes_no_empty_database(db: StateDB, database_away: Path) -> None:
    fault = await outcome_of(db.read(InvocationRecord.objects.count))

    assert isinstance(fault, StateUnavailable)
    assert not fault.retryable
    assert not is_there(database_away)


async def test_nothing_is_acknowledged_once_the_database_file_is_another(
    db: StateDB, request: pytest.FixtureRequest
) -> None:
    await db.write(lambda: insert("a"))
    make_empty(request.getfixturevalue("database_away"))

    fault = await outcome_of(db.write(lambda: insert("b")))

    assert isinstance(fault, StateUnavailable)
    assert fault.retryable


async def test_a_file_taken_away_during_a_write_is_noticed_before_the_write_is_acknowledged(db: StateDB) -> None:
    path = Path(connection.settings_dict["NAME"])
    away = path.with_suffix(".away")

    def work() -> None:
        insert("a")
        path.rename(away)

    try:
        fault = await outcome_of(db.write(work))
    finally:
        away.rename(path)

    assert isinstance(fault, StateUnavailable)


async def test_a_missing_database_file_is_known_without_asking_the_store(db: StateDB, database_away: Path) -> None:
    before = db.fault()
    make_empty(database_away)

    assert before is not None
    assert db.fault() is None
