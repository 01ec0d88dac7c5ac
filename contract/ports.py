"""What several capabilities need from the outside: time, identifiers, and word that something changed."""

from collections.abc import Iterable
from typing import Protocol


class Clock(Protocol):
    """The wall clock and a clock that never steps."""

    def now(self) -> float:
        """Return the current instant in epoch seconds. It may step back or forth."""
        ...

    def monotonic(self) -> float:
        """Return seconds that only grow, for measuring durations."""
        ...


class IdGenerator(Protocol):
    """Makes identifiers that are new on every host."""

    def new_id(self) -> str:
        """Return a fresh identifier: 16 lower-case hexadecimal characters."""
        ...


class Subscription(Protocol):
    """One subscriber's wake-up call. Wake-ups coalesce: one wait answers any number of changes before it."""

    async def wait(self, timeout_seconds: float | None) -> bool:
        """Wait until something may have changed since the last wait; False when the time ran out first."""
        ...

    def close(self) -> None:
        """Stop being woken. Idempotent."""
        ...


class ChangeFeed(Protocol):
    """Wakes subscribers after a commit, of this process or of any other on the same database.

    A wake-up says *look again*, not what changed; it may come without cause, it is never missing after a commit.
    """

    def publish(self, topics: Iterable[str]) -> None:
        """Wake the subscribers of these topics in this process. Called after the commit."""
        ...

    def subscribe(self, topic: str) -> Subscription:
        """Start being woken for a topic. Must be closed."""
        ...
