"""Turns of the event loop: what a test waits for instead of time."""

from collections.abc import Awaitable, Generator
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")

# No chain of ready callbacks in the operations is longer.
_ENOUGH_TURNS = 50


class Turn:
    """Lets everything else that is ready run first."""

    def __await__(self) -> Generator[None, None, None]:
        yield


async def turns(count: int = 1) -> None:
    """Let the loop turn `count` times."""
    for _ in range(count):
        await Turn()


async def until_idle() -> None:
    """Let everything run that needs no time and no thread."""
    await turns(_ENOUGH_TURNS)


async def outcome_of(awaitable: Awaitable[T]) -> T | BaseException:
    """Return what the awaitable returns or raises, cancellation included."""
    with suppress(GeneratorExit):
        try:
            return await awaitable
        except BaseException as fault:  # noqa: BLE001 (the fault is the outcome)
            return fault
    raise AssertionError("closed while it was awaited")
