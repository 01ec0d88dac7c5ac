"""Writes that tell who follows what they changed: other processes from inside, this one after the commit."""

from collections.abc import Callable, Collection
from functools import partial
from typing import TypeVar

from contract.ports import ChangeFeed
from studio_project.change_feed import notify_others
from studio_project.statedb import StateDB

T = TypeVar("T")

Topics = Collection[str]


async def write(db: StateDB, feed: ChangeFeed, work: Callable[[], tuple[T, Topics]]) -> T:
    """Run a function that returns its result and the topics that changed, in one transaction; return the result."""
    result, topics = await db.write(partial(_told, work))
    feed.publish(topics)
    return result


def _told(work: Callable[[], tuple[T, Topics]]) -> tuple[T, Topics]:
    result, topics = work()
    notify_others(topics)
    return result, topics
