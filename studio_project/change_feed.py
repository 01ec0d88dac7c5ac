"""ChangeFeed: wakes subscribers after a commit, whichever process made it.

A commit of this process wakes at once. Commits of other processes are noticed by one watcher thread: on SQLite it
compares `PRAGMA data_version` of a connection of its own, on PostgreSQL it LISTENs for what the writing transaction
NOTIFYs. The watcher runs only while somebody subscribes.
"""

import asyncio
import logging
import threading
from collections.abc import Iterable
from typing import Any, Final, Protocol

from django.db import connections

CHANNEL: Final = "studio_changes"
# How often SQLite is asked: half of it is the mean delay of another process's commit.
_POLL_SECONDS: Final = 0.04
_RECOVERY_SECONDS: Final = 1.0
_LISTEN_SECONDS: Final = 0.5

_log = logging.getLogger(__name__)


class Watcher(Protocol):
    """Notices commits of other processes. Used by one thread only."""

    def changed(self, stop: threading.Event) -> Iterable[str] | None:
        """Wait a moment; return the topics that changed, None for *anything may have*, empty for nothing.

        The first call begins to watch and returns None: subscribers look again once nothing can be missed any more.
        """
        ...

    def close(self) -> None:
        """Let the connection go."""
        ...


class DatabaseChangeFeed:
    """The ChangeFeed over the default database. Belongs to one event loop: the first subscriber's."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._subscriptions: dict[str, set[_Subscription]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: threading.Event | None = None
        self._thread: threading.Thread | None = None
        # Watchers that were told to end; each still holds its connection for a moment.
        self._ending: list[threading.Thread] = []

    def publish(self, topics: Iterable[str]) -> None:
        """Wake the subscribers of these topics."""
        for topic in topics:
            for subscription in self._subscriptions.get(topic, ()):
                subscription.wake()

    def subscribe(self, topic: str) -> "_Subscription":
        """Start being woken for a topic; the first subscriber starts the watcher."""
        subscription = _Subscription(self, topic)
        self._subscriptions.setdefault(topic, set()).add(subscription)
        if self._thread is None:
            self._start()
        return subscription

    def close(self) -> None:
        """Stop the watcher and wait until every connection is let go. Idempotent."""
        self._end_watcher()
        for thread in self._ending:
            thread.join()
        self._ending.clear()

    def drop(self, subscription: "_Subscription") -> None:
        """Forget a subscription; the last one ends the watcher."""
        remaining = self._subscriptions.get(subscription.topic)
        if remaining is not None:
            remaining.discard(subscription)
            if not remaining:
                del self._subscriptions[subscription.topic]
        if not self._subscriptions:
            self._end_watcher()

    def _start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._watch, args=(self._loop, self._stop), name="change-feed", daemon=True
        )
        self._thread.start()

    def _end_watcher(self) -> None:
        if self._stop is None or self._thread is None:
            return
        self._stop.set()
        self._ending = [*(thread for thread in self._ending if thread.is_alive()), self._thread]
        self._stop = self._thread = None

    def _watch(self, loop: asyncio.AbstractEventLoop, stop: threading.Event) -> None:
        while not stop.is_set():
            watcher = _watcher()
            try:
                self._follow(watcher, loop, stop)
            except Exception as fault:  # noqa: BLE001 - whatever the driver says, watching must go on
                _log.warning("the change feed lost its connection (%s); retrying", type(fault).__name__)
                stop.wait(_RECOVERY_SECONDS)
            finally:
                watcher.close()

    def _follow(self, watcher: Watcher, loop: asyncio.AbstractEventLoop, stop: threading.Event) -> None:
        while not stop.is_set():
            topics = watcher.changed(stop)
            if topics is None or topics:
                self._wake_from(loop, topics)

    def _wake_from(self, loop: asyncio.AbstractEventLoop, topics: Iterable[str] | None) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._wake, topics)

    def _wake(self, topics: Iterable[str] | None) -> None:
        self.publish(list(self._subscriptions) if topics is None else topics)


class _Subscription:
    def __init__(self, feed: DatabaseChangeFeed, topic: str) -> None:
        self._feed = feed
        self._event = asyncio.Event()
        self.topic = topic

    def wake(self) -> None:
        self._event.set()

    async def wait(self, timeout_seconds: float | None) -> bool:
        try:
            async with asyncio.timeout(timeout_seconds):
                await self._event.wait()
        except TimeoutError:
            return False
        self._event.clear()
        return True

    def close(self) -> None:
        self._feed.drop(self)


def _watcher() -> Watcher:
    return _SqliteWatcher() if connections["default"].vendor == "sqlite" else _PostgresWatcher()


class _SqliteWatcher:
    """`data_version` changes on this connection when any other connection has committed."""

    def __init__(self) -> None:
        self._connection = connections["default"].copy()
        self._connection.inc_thread_sharing()
        self._seen: int | None = None

    def changed(self, stop: threading.Event) -> Iterable[str] | None:
        if self._seen is not None:
            stop.wait(_POLL_SECONDS)
        with self._connection.cursor() as cursor:
            cursor.execute("PRAGMA data_version")
            (version,) = cursor.fetchone()
        before, self._seen = self._seen, version
        # The first look only starts the comparison: what was committed before it may not have been seen by anyone.
        return None if version != before else ()

    def close(self) -> None:
        self._connection.close()


class _PostgresWatcher:
    """Listens on the channel that writing transactions notify."""

    def __init__(self) -> None:
        self._connection = connections["default"].copy()
        self._connection.inc_thread_sharing()
        self._listening = False

    def changed(self, stop: threading.Event) -> Iterable[str] | None:  # noqa: ARG002 (the driver waits)
        if not self._listening:
            with self._connection.cursor() as cursor:
                cursor.execute(f"LISTEN {CHANNEL}")
            self._listening = True
            return None
        driver: Any = self._connection.connection
        return [notice.payload for notice in driver.notifies(timeout=_LISTEN_SECONDS, stop_after=1)]

    def close(self) -> None:
        self._connection.close()


def notify_others(topics: Iterable[str]) -> None:
    """Tell other processes, from inside a writing transaction; on SQLite its commit tells them by itself."""
    connection = connections["default"]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for topic in topics:
                cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, topic])
