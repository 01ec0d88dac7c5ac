"""System calls with somebody looking: any of them can be made to fail, or be preceded by something else."""

import errno
import os
from collections.abc import Callable
from typing import Any

from definitions.files.syscalls import Syscalls

# Called before each call, with its number from 1 and its name; what it raises, the call raises.
Watch = Callable[[int, str], None]


class PlainSyscalls(Syscalls):
    """A file system that can neither exchange names nor refuse to rename over a file, and knows no second names."""

    def renameat2(self, name: str, new: str, flags: int, *, folder: int) -> None:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    def link(self, name: str, new: str, *, folder: int) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))


class LinkingSyscalls(Syscalls):
    """A kernel that can neither exchange names nor refuse to rename over a file."""

    def renameat2(self, name: str, new: str, flags: int, *, folder: int) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))


def watched(watch: Watch, syscalls: Syscalls | None = None) -> Syscalls:
    """Return the system with `watch` before every call."""
    system = syscalls or Syscalls()
    made = 0

    def guarded(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def guard(*args: Any, **kwargs: Any) -> Any:
            nonlocal made
            made += 1
            try:
                watch(made, name)
            except OSError:
                if name == "close":  # a descriptor is gone, whatever its closing says
                    call(*args, **kwargs)
                raise
            return call(*args, **kwargs)

        return guard

    for name in [name for name in dir(Syscalls) if not name.startswith("_")]:
        setattr(system, name, guarded(name, getattr(system, name)))
    return system


class FailAt:
    """A watch that lets the n-th call fail; with `lasting` all from then on. Remembers which it was."""

    def __init__(self, number: int, code: int, *, lasting: bool = False) -> None:
        self.failed: str | None = None
        self._number = number
        self._code = code
        self._lasting = lasting

    def __call__(self, number: int, name: str) -> None:
        if number == self._number or (self._lasting and number > self._number):
            self.failed = self.failed or name
            raise OSError(self._code, os.strerror(self._code))


class ActAt:
    """A watch that acts before the n-th call, and remembers which calls those were."""

    def __init__(self, actions: dict[int, Callable[[], None]]) -> None:
        self.left = dict(actions)
        self.calls: list[str] = []

    def __call__(self, number: int, name: str) -> None:
        if number in self.left:
            self.calls.append(name)
            self.left.pop(number)()


class FailNamed:
    """A watch that lets every call of one name fail."""

    def __init__(self, name: str, code: int) -> None:
        self._name = name
        self._code = code

    def __call__(self, _: int, name: str) -> None:
        if name == self._name:
            raise OSError(self._code, os.strerror(self._code))
