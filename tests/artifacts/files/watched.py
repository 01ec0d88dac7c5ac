"""System calls with somebody looking: before any of them something else can be made to happen."""

from collections.abc import Callable
from typing import Any

from artifacts.files.syscalls import Syscalls

# Called before each call, with its number from 1 and its name; what it raises, the call raises.
Watch = Callable[[int, str], None]


def watched(watch: Watch) -> Syscalls:
    """Return the system with `watch` before every call."""
    system = Syscalls()
    made = 0

    def guarded(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def guard(*args: Any, **kwargs: Any) -> Any:
            nonlocal made
            made += 1
            watch(made, name)
            return call(*args, **kwargs)

        return guard

    for name in [name for name in dir(Syscalls) if not name.startswith("_")]:
        setattr(system, name, guarded(name, getattr(system, name)))
    return system


class Counting:
    """A watch that remembers the names of the calls."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, _: int, name: str) -> None:
        self.names.append(name)


class ActAt:
    """A watch that acts before the n-th call."""

    def __init__(self, number: int, action: Callable[[], None]) -> None:
        self._number = number
        self._action = action

    def __call__(self, number: int, _: str) -> None:
        if number == self._number:
            self._action()
