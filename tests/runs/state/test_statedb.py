"""StateDB on the real database: transactions, snapshots, errors in the contract's words, and nothing left open."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest
from django.db import DatabaseError, InterfaceError, OperationalError, connections

from contract.errors import StateUnavailable
from runs.models import InvocationRecord
from studio_project.statedb import StateDB, _unavailable
from tests.fakes.turns import outcome_of
from tests.runs.state.stores import DATABASE

pytestmark = DATABASE
_PATIENCE_SECONDS = 10


@pytest.fixture
async def db() -> AsyncIterator[StateDB]:
    db = StateDB()
    yield db
    await asyncio.to_thread(db.close)


def insert(invocation_id: str) -> None:
    InvocationRecord.objects.create(invocation_id=invocation_id, kind="agent", created_at=1.0)


def count() -> int:
    return InvocationRecord.objects.count()


async def test_what_a_write_stores_is_read(db: StateDB) -> None:
    await db.write(lambda: insert("a"))

    assert await db.read(count) == await db.read(count, snapshot=True) == 1


@pytest.mark.parametrize("fault", [ValueError("ours"), OperationalError("no such table: x")])
async def test_a_write_that_fails_leaves_nothing(db: StateDB, fault: Exception) -> None:
    def work() -> None:
        insert("a")
        raise fault

    await outcome_of(db.write(work))

    assert await db.read(count) == 0


async def test_our_own_errors_pass_unchanged(db: StateDB) -> None:
    fault = KeyError("ours")

    def work() -> None:
        raise fault

    assert await outcome_of(db.read(work)) is fault
    assert await outcome_of(db.write(work)) is fault


async def test_a_write_that_met_a_lock_is_run_again_from_its_beginning(db: StateDB) -> None:
    tries = []

    def work() -> int:
        insert("a")
        tries.append(1)
        if len(tries) < 3:
            raise OperationalError("database is locked")
        return count()

    assert await db.write(work) == 1
    assert len(tries) == 3


async def test_a_lock_that_stays_is_said_after_a_bounded_number_of_tries(db: StateDB) -> None:
    tries = []

    def work() -> None:
        tries.append(1)
        raise OperationalError("deadlock detected")

    outcome = await outcome_of(db.write(work))

    assert isinstance(outcome, StateUnavailable)
    assert outcome.retryable
    assert len(tries) == 4


async def test_a_missing_table_says_how_to_get_it(db: StateDB) -> None:
    def work() -> None:
        with connections["default"].cursor() as cursor:
            cursor.execute("SELECT 1 FROM a_table_of_the_future")

    outcomes = [await outcome_of(call) for call in (db.read(work), db.read(work, snapshot=True), db.write(work))]

    for outcome in outcomes:
        assert isinstance(outcome, StateUnavailable)
        assert not outcome.retryable
        assert "migrate" in str(outcome)
    assert await db.read(count) == 0


async def test_a_snapshot_sees_one_state_while_others_write(db: StateDB) -> None:
    looked, written = threading.Event(), threading.Event()

    def look_twice() -> tuple[int, int]:
        first = count()
        looked.set()
        written.wait(_PATIENCE_SECONDS)
        return first, count()

    async def seen(*, snapshot: bool) -> tuple[int, int]:
        looked.clear()
        written.clear()
        looking = asyncio.create_task(db.read(look_twice, snapshot=snapshot))
        await asyncio.to_thread(looked.wait, _PATIENCE_SECONDS)
        await db.write(lambda: insert(f"with snapshot {snapshot}"))
        written.set()
        return await looking

    assert await seen(snapshot=True) == (0, 0)
    assert await seen(snapshot=False) == (1, 2)


async def test_reads_share_a_few_threads_and_their_connections(db: StateDB) -> None:
    def which() -> tuple[int, int]:
        count()
        return threading.get_ident(), id(connections["default"])

    found = await asyncio.gather(*(db.read(which, snapshot=number % 2 == 0) for number in range(100)))

    assert 1 <= len({thread for thread, _ in found}) <= 4
    assert len(set(found)) == len({thread for thread, _ in found})


async def test_closing_leaves_no_connection_and_no_thread(db: StateDB) -> None:
    wrappers = set(await asyncio.gather(*(db.read(_used_connection) for _ in range(20))))
    wrappers |= {await db.write(_used_connection)}

    await asyncio.to_thread(db.close)
    await asyncio.to_thread(db.close)

    assert all(wrapper.connection is None for wrapper in wrappers)
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("state-")]


async def test_closing_lets_running_work_finish(db: StateDB) -> None:
    begun, go = threading.Event(), threading.Event()

    def work() -> None:
        insert("a")
        begun.set()
        go.wait(_PATIENCE_SECONDS)

    writing = asyncio.create_task(db.write(work))
    await asyncio.to_thread(begun.wait, _PATIENCE_SECONDS)
    closing = asyncio.create_task(asyncio.to_thread(db.close))
    go.set()
    await asyncio.gather(writing, closing)

    other = StateDB()
    found = await other.read(count)
    await asyncio.to_thread(other.close)
    assert found == 1


@pytest.mark.parametrize(
    ("fault", "retryable", "words"),
    [
        (OperationalError("database is locked"), True, "locked"),
        (OperationalError("could not serialize access due to concurrent update"), True, "locked"),
        (OperationalError("database or disk is full"), True, "full"),
        (OperationalError('could not extend file "base/1": No space left on device'), True, "full"),
        (OperationalError("no such table: runs_runrecord"), False, "migrate"),
        (DatabaseError('relation "runs_runrecord" does not exist'), False, "migrate"),
        (OperationalError("unable to open database file"), False, "opened"),
        (OperationalError("attempt to write a readonly database"), False, "read-only"),
        (DatabaseError("cannot execute INSERT in a read-only transaction"), False, "read-only"),
        (OperationalError('connection to server at "db.example" (10.0.0.1), port 5432 failed'), True, "answer"),
        (OperationalError("FATAL: the database system is starting up"), True, "answer"),
        (OperationalError("FATAL: sorry, too many clients already"), True, "answer"),
        (InterfaceError("the cursor is gone"), True, "answer"),
        (DatabaseError("something else with secret-host"), False, "cannot be used"),
    ],
)
def test_a_driver_s_error_is_said_for_people_without_its_own_text(
    fault: Exception, retryable: bool, words: str
) -> None:
    said = _unavailable(fault)

    assert said.retryable == retryable
    assert words in str(said)
    assert not any(secret in str(said) for secret in ("example", "10.0.0.1", "secret-host", "runs_runrecord", "base/"))


def _used_connection() -> Any:
    count()
    return connections["default"]


async def test_an_error_that_django_did_not_wrap_is_said_like_any_other(db: StateDB) -> None:
    driver: Any = connections["default"]

    def work() -> None:
        raise driver.Database.OperationalError("terminating connection due to administrator command")

    for fault in (await outcome_of(db.read(work)), await outcome_of(db.write(work))):
        assert isinstance(fault, StateUnavailable)
        assert fault.retryable
