"""What PostgreSQL needs of StateDB and the change feed: lost connections, deadlocks, and readers that only read."""

import asyncio
import threading
from collections.abc import AsyncIterator
from functools import partial

import pytest
from django.db import connections

from contract.errors import StateUnavailable
from runs.execution.reaper import LEASE_SECONDS
from runs.models import InvocationRecord
from studio_project.change_feed import CHANNEL, DatabaseChangeFeed
from studio_project.settings import POSTGRESQL_IDLE_SECONDS
from studio_project.statedb import StateDB
from tests.fakes.turns import outcome_of
from tests.runs.state.stores import DATABASE

pytestmark = DATABASE
_PATIENCE_SECONDS = 10


@pytest.fixture
async def db() -> AsyncIterator[StateDB]:
    db = StateDB()
    yield db
    await asyncio.to_thread(db.close)


def run(sql: str) -> list[tuple[object, ...]]:
    with connections["default"].cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall()) if cursor.description else []


def insert(invocation_id: str) -> None:
    InvocationRecord.objects.create(invocation_id=invocation_id, kind="agent", created_at=1.0)


async def test_only_a_write_that_may_be_lost_does_not_wait_for_the_disk(db: StateDB) -> None:
    said = [await db.write(lambda: run("SHOW synchronous_commit"), durable=durable) for durable in (True, False, True)]

    assert said == [[("on",)], [("off",)], [("on",)]]


async def test_a_snapshot_cannot_write(db: StateDB) -> None:
    refused = await outcome_of(db.read(lambda: insert("a"), snapshot=True))

    assert isinstance(refused, StateUnavailable)
    assert (refused.retryable, "read-only" in str(refused)) == (False, True)
    assert await db.read(InvocationRecord.objects.count) == 0


async def test_a_lost_connection_is_said_and_replaced(db: StateDB) -> None:
    [(reader,)] = await db.read(lambda: run("SELECT pg_backend_pid()"))
    lost: list[StateUnavailable] = []
    await db.write(lambda: run(f"SELECT pg_terminate_backend({reader})"))

    while not lost:
        outcome = await outcome_of(db.read(lambda: run("SELECT pg_backend_pid()")))
        lost += [outcome] if isinstance(outcome, StateUnavailable) else []

    found = await asyncio.gather(*(db.read(InvocationRecord.objects.count) for _ in range(20)))
    assert lost[0].retryable
    assert found == [0] * 20


async def test_a_lost_writer_stores_nothing_and_is_replaced(db: StateDB) -> None:
    def lose() -> None:
        insert("a")
        run("SELECT pg_terminate_backend(pg_backend_pid())")

    outcome = await outcome_of(db.write(lose))
    for number in range(8):
        await db.write(partial(insert, f"b{number}"))

    assert isinstance(outcome, StateUnavailable)
    assert outcome.retryable
    assert await db.read(InvocationRecord.objects.count) == 8


async def test_no_connection_of_ours_may_be_silent_within_a_transaction_for_long(db: StateDB) -> None:
    shown = "SHOW idle_in_transaction_session_timeout"

    said = [await db.read(lambda: run(shown)), await db.write(lambda: run(shown))]

    assert said == [[(f"{POSTGRESQL_IDLE_SECONDS}s",)]] * 2
    assert POSTGRESQL_IDLE_SECONDS < LEASE_SECONDS


async def test_a_writer_that_is_suspended_is_cut_off_by_the_server_and_stores_nothing(db: StateDB) -> None:
    await db.write(partial(insert, "a"))
    holds, goes_on = threading.Event(), threading.Event()

    def suspended() -> None:
        run("SET LOCAL idle_in_transaction_session_timeout = '50ms'")
        InvocationRecord.objects.filter(invocation_id="a").update(kind="suspended")
        holds.set()
        assert goes_on.wait(_PATIENCE_SECONDS)
        InvocationRecord.objects.filter(invocation_id="a").update(kind="awake")

    holder = asyncio.create_task(outcome_of(db.write(suspended)))
    await asyncio.to_thread(holds.wait, _PATIENCE_SECONDS)
    await db.write(lambda: InvocationRecord.objects.filter(invocation_id="a").update(kind="other"))
    goes_on.set()
    outcome = await holder
    found = await db.read(lambda: InvocationRecord.objects.get(invocation_id="a").kind)
    again = await db.write(lambda: InvocationRecord.objects.filter(invocation_id="a").update(kind="again"))

    assert isinstance(outcome, StateUnavailable)
    assert (outcome.retryable, found, again) == (True, "other", 1)


async def test_writers_that_deadlock_both_succeed_in_the_end(db: StateDB) -> None:
    for name in ("a", "b"):
        await db.write(partial(insert, name))
    first_try = threading.Barrier(2)
    tries: list[str] = []

    def lock(first: str, second: str) -> None:
        InvocationRecord.objects.filter(invocation_id=first).update(kind=first)
        tries.append(first)
        if tries.count(first) == 1:
            first_try.wait(_PATIENCE_SECONDS)
        InvocationRecord.objects.filter(invocation_id=second).update(kind=first)

    await asyncio.gather(db.write(lambda: lock("a", "b")), db.write(lambda: lock("b", "a")))

    assert len(tries) > 2


async def test_writers_run_side_by_side(db: StateDB) -> None:
    meeting = threading.Barrier(2)

    await asyncio.gather(*(db.write(lambda: meeting.wait(_PATIENCE_SECONDS)) for _ in range(2)))


async def test_the_feed_listens_again_after_its_connection_was_lost(db: StateDB) -> None:
    feed = DatabaseChangeFeed()
    subscription = feed.subscribe("topic")
    assert await subscription.wait(_PATIENCE_SECONDS)

    listening = f"query = 'LISTEN {CHANNEL}' AND datname = current_database()"
    await db.write(lambda: run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {listening}"))  # noqa: S608

    woken_by_recovery = await subscription.wait(_PATIENCE_SECONDS)
    await db.write(lambda: run(f"SELECT pg_notify('{CHANNEL}', 'topic')"))
    woken_by_notice = await subscription.wait(_PATIENCE_SECONDS)
    subscription.close()
    await asyncio.to_thread(feed.close)
    assert (woken_by_recovery, woken_by_notice) == (True, True)


async def test_a_rolled_back_write_notifies_nobody(db: StateDB) -> None:
    feed = DatabaseChangeFeed()
    subscription = feed.subscribe("topic")
    assert await subscription.wait(_PATIENCE_SECONDS)

    def work() -> None:
        run(f"SELECT pg_notify('{CHANNEL}', 'topic')")
        raise KeyError

    await outcome_of(db.write(work))

    woken = await subscription.wait(0.05)
    subscription.close()
    await asyncio.to_thread(feed.close)
    assert not woken
