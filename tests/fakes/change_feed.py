"""A change feed within one event loop."""

import asyncio
from collections.abc import Iterable


class InMemoryChangeFeed:
    """Wakes the subscribers of a topic when something is published to it."""

    def __init__(self) -> None:
        self._subscriptions: dict[str, set[InMemorySubscription]] = {}
        self.published: list[str] = []

    def publish(self, topics: Iterable[str]) -> None:
        for topic in topics:
            self.published.append(topic)
            for subscription in self._subscriptions.get(topic, ()):
                subscription.wake()

    def subscribe(self, topic: str) -> "InMemorySubscription":
        subscription = InMemorySubscription(self, topic)
        self._subscriptions.setdefault(topic, set()).add(subscription)
        return subscription

    def drop(self, subscription: "InMemorySubscription") -> None:
        remaining = self._subscriptions.get(subscription.topic, set())
        remaining.discard(subscription)
        if not remaining:
            self._subscriptions.pop(subscription.topic, None)

    def subscribers(self, topic: str) -> int:
        """Count who is woken for a topic."""
        return len(self._subscriptions.get(topic, ()))

    @property
    def topics(self) -> set[str]:
        """The topics that somebody is woken for."""
        return set(self._subscriptions)


class InMemorySubscription:
    """One subscriber; wake-ups coalesce."""

    def __init__(self, feed: InMemoryChangeFeed, topic: str) -> None:
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
