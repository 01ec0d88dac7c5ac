"""The change feed over the real database: no commit of any process goes unnoticed, and nobody watches for nobody."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest
from django.db import connection

from contract.events import MessageView
from runs.services.following import RunFollower, run_topic
from runs.state.tailing import DjangoRunTail
from studio_project.change_feed import DatabaseChangeFeed
from studio_project.statedb import StateDB
from tests.builders import message, messages, status
from tests.fakes.turns import turns
from tests.runs.state.other_process import other_process
from tests.runs.state.stores import DATABASE, Store

pytestmark = DATABASE
_PATIENCE_SECONDS = 10


@pytest.fixture
async def feed() -> AsyncIterator[DatabaseChangeFeed]:
    feed = DatabaseChangeFeed()
    yield feed
    await asyncio.to_thread(feed.close)
    assert watchers() == []


def watchers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "change-feed"]


async def test_publishing_wakes_this_process_at_once(feed: DatabaseChangeFeed) -> None:
    subscription = feed.subscribe("topic")
    waiting = asyncio.create_task(subscription.wait(None))
    await turns()

    feed.publish(["topic"])
    await turns(3)

    assert waiting.done()
    subscription.close()


async def test_publishing_wakes_the_subscribers_of_its_topic_only(feed: DatabaseChangeFeed) -> None:
    named, other = feed.subscribe("topic"), feed.subscribe("other")
    # The watcher wakes everybody when it begins: it does not know what was committed before.
    assert [await named.wait(_PATIENCE_SECONDS), await other.wait(_PATIENCE_SECONDS)] == [True, True]

    feed.publish(["topic"])

    assert [await named.wait(_PATIENCE_SECONDS), await other.wait(0.05)] == [True, False]
    named.close()
    other.close()


async def test_wake_ups_coalesce(feed: DatabaseChangeFeed) -> None:
    subscription = feed.subscribe("topic")
    await subscription.wait(_PATIENCE_SECONDS)

    for _ in range(5):
        feed.publish(["topic"])

    assert [await subscription.wait(0.05), await subscription.wait(0.05)] == [True, False]
    subscription.close()


async def test_a_commit_of_another_process_wakes(feed: DatabaseChangeFeed, database: Store, tmp_path: Path) -> None:
    await database.start("r")
    subscription = feed.subscribe(run_topic("r"))
    async with other_process(connection.settings_dict, tmp_path) as other:
        # Let it start up and commit once, so that only what follows is told.
        await other.record("r")
        while await subscription.wait(0.3):
            pass

        for _ in range(3):
            await other.record("r")
            assert await subscription.wait(_PATIENCE_SECONDS)
    subscription.close()


async def test_a_commit_at_any_moment_after_subscribing_is_seen_by_who_looks_when_woken(
    feed: DatabaseChangeFeed, database: Store
) -> None:
    for number in range(15):
        run_id = f"r{number}"
        await database.start(run_id)
        subscription = feed.subscribe(run_topic(run_id))
        await turns(number)
        # `database` publishes to a feed of its own: to this one its commits are another process's.
        recording = asyncio.create_task(database.record(run_id, message()))

        while (await database.tail.heads([run_id]))[run_id].last_seq == 0:
            assert await subscription.wait(_PATIENCE_SECONDS)

        await recording
        subscription.close()


async def test_a_viewer_here_gets_everything_recorded_elsewhere(
    feed: DatabaseChangeFeed, database: Store, tmp_path: Path
) -> None:
    db = StateDB()
    follower = RunFollower(tail=DjangoRunTail(db), feed=feed)
    await database.start("r")
    await database.record("r", *messages(3))
    seqs: list[int] = []

    async def follow() -> None:
        async with aclosing(follower.follow("r", None, "messages")) as frames:
            async for frame in frames:
                if isinstance(frame.payload, MessageView):
                    seqs.append(frame.payload.seq)

    following = asyncio.create_task(follow())
    async with other_process(connection.settings_dict, tmp_path) as other:
        await other.record("r", batches=20, size=2)
    await database.record("r", status("completed"))
    async with asyncio.timeout(_PATIENCE_SECONDS):
        await following

    await asyncio.to_thread(db.close)
    assert seqs == list(range(1, 44))


async def test_nobody_watches_without_subscribers(feed: DatabaseChangeFeed) -> None:
    before = watchers()
    subscriptions = [feed.subscribe(topic) for topic in ("a", "a", "b")]
    during = watchers()

    for subscription in subscriptions:
        subscription.close()
        subscription.close()
    for thread in during:
        await asyncio.to_thread(thread.join, _PATIENCE_SECONDS)

    assert (before, len(during), watchers()) == ([], 1, [])


async def test_closing_waits_for_a_watcher_that_was_ending_already(feed: DatabaseChangeFeed) -> None:
    for _ in range(3):
        feed.subscribe("topic").close()

    await asyncio.to_thread(feed.close)
    await asyncio.to_thread(feed.close)

    assert watchers() == []


async def test_a_feed_is_used_again_after_everybody_left(feed: DatabaseChangeFeed, database: Store) -> None:
    feed.subscribe("topic").close()
    subscription = feed.subscribe("topic")
    await subscription.wait(_PATIENCE_SECONDS)
    while await subscription.wait(0.1):
        pass

    feed.publish(["topic"])

    assert await subscription.wait(_PATIENCE_SECONDS)
    subscription.close()
