"""A machine that exists only here: folders and the executables of runtimes."""

from collections.abc import Iterable


class FakeMachine:
    """A Machine with the folders and usable runtimes it was given."""

    def __init__(self, *, folders: Iterable[str] = (), usable: Iterable[str] = ()) -> None:
        self.folders = set(folders)
        self.usable = set(usable)

    def folder_fault(self, path: str) -> str | None:
        return None if path in self.folders else "is not there"

    def usable_runtimes(self) -> frozenset[str]:
        return frozenset(self.usable)
