"""A SQLite file gets shorter when runs are removed, in short steps; one that cannot is left as it is."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from django.db import connections

from runs.retention import PruneRule
from runs.state import room
from studio_project.statedb import StateDB
from tests.builders import messages, status
from tests.fakes.clocks import START_AT
from tests.runs.state.records import ask
from tests.runs.state.stores import DATABASE, Store

pytestmark = DATABASE


@pytest.fixture
async def db() -> AsyncIterator[StateDB]:
    db = StateDB()
    yield db
    await asyncio.to_thread(db.close)


def file() -> Path:
    return Path(connections["default"].settings_dict["NAME"])


def log() -> Path:
    return file().with_name(f"{file().name}-wal")


async def filled_and_emptied(database: Store) -> None:
    """Leave some hundred free pages behind."""
    for number in range(5):
        await database.start(f"r{number}")
        await database.record(f"r{number}", *messages(100, content="x" * 8_000), status("completed"))
    rule = PruneRule(ended_by=START_AT)
    found = await database.removal.candidates(rule, after=None, limit=10)
    await database.removal.remove(rule, [run.number for run in found])


async def test_room_is_given_back_in_steps_until_the_file_is_short(database: Store, db: StateDB) -> None:
    await filled_and_emptied(database)
    await ask(_checkpoint)
    before, steps = file().stat().st_size, 1

    while await room.give_back(db):
        steps += 1

    assert steps > 2
    assert file().stat().st_size < before / 2
    assert log().stat().st_size == 0


async def test_a_reader_who_needs_the_log_keeps_nobody_waiting(database: Store, db: StateDB) -> None:
    await filled_and_emptied(database)
    with closing(sqlite3.connect(file(), isolation_level=None)) as reader:
        reader.execute("BEGIN")
        [runs] = reader.execute("SELECT COUNT(*) FROM runs_runrecord").fetchone()

        while await room.give_back(db):
            pass
        await database.start("next")

        assert reader.execute("SELECT COUNT(*) FROM runs_runrecord").fetchone() == (runs,)


async def test_the_patience_of_writers_is_as_it_was(database: Store, db: StateDB) -> None:
    before = await db.maintain(_patience)

    while await room.give_back(db):
        pass

    assert await db.maintain(_patience) == before > 0


async def test_a_store_with_nothing_to_return_returns_nothing(database: Store, db: StateDB) -> None:
    while await room.give_back(db):
        pass

    assert not await room.give_back(db)


def _checkpoint() -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _patience() -> int:
    with connections["default"].cursor() as cursor:
        [value] = cursor.execute("PRAGMA busy_timeout").fetchone()
    return int(value)
