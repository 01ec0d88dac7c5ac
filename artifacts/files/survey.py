"""What is in the folder of a run: as much of it as anybody looks through, and nothing that a link leads to."""

import os
from contextlib import suppress
from itertools import islice
from typing import Final

from artifacts.files.faults import told
from artifacts.files.tree import Tree
from artifacts.files.writing import TEMPORARY
from artifacts.services.ports import FolderListing
from contract.artifacts import relative_path_fault
from contract.base import unsafe_text
from contract.errors import NotFound, StudioApplicationError

# Deeper, and with more entries than these, no run keeps what people look for.
_DEPTH_MAX: Final = 32
_ENTRIES_MAX: Final = 20_000
_PATH_MAX_CHARS: Final = 1_024


class FolderSurvey:
    """Looks through folders, in the calling thread."""

    def __init__(self, tree: Tree) -> None:
        """Take the folders."""
        self._tree = tree

    def survey(self, run_id: str, limit: int) -> FolderListing:
        """Return the files of a run; none where it has no folder."""
        found = _Found(limit)
        try:
            with told(run_id), self._tree.folder([run_id]) as folder:
                self._look(folder, run_id, (), found)
        except NotFound:
            return FolderListing()
        return FolderListing(paths=tuple(sorted(found.paths)), truncated=found.truncated)

    def tidy(self, run_id: str) -> None:
        """Remove the folder if nothing is in it."""
        with suppress(OSError), self._tree.root() as root:
            self._tree.syscalls.rmdir(run_id, folder=root)

    def _look(self, folder: int, run_id: str, above: tuple[str, ...], found: "_Found") -> None:
        listed = islice(self._tree.syscalls.entries(folder), found.entries_left + 1)
        for entry in sorted(listed, key=_name):
            if not found.goes_on():
                return
            path = (*above, entry.name)
            if entry.is_dir(follow_symlinks=False):
                self._enter(folder, run_id, path, found)
            elif entry.is_file(follow_symlinks=False) and not TEMPORARY.fullmatch(entry.name):
                found.take("/".join(path))

    def _enter(self, folder: int, run_id: str, path: tuple[str, ...], found: "_Found") -> None:
        if len(path) > _DEPTH_MAX:
            found.truncated = True
            return
        # Gone or swapped since it was listed: what cannot be entered holds nothing.
        with suppress(OSError, StudioApplicationError):
            inner = self._tree.step(folder, path[-1], "/".join((run_id, *path)))
            try:
                self._look(inner, run_id, path, found)
            finally:
                self._tree.close(inner)


class _Found:
    """What was found so far. What no artifact could name is counted as seen, and not listed."""

    def __init__(self, limit: int) -> None:
        self.paths: list[str] = []
        self.truncated = False
        self.entries_left = _ENTRIES_MAX
        self._limit = limit
        self._is_full = False

    def goes_on(self) -> bool:
        """Count an entry that is looked at; False when enough were."""
        self.entries_left -= 1
        if self.entries_left < 0:
            self._fill()
        return not self._is_full

    def take(self, path: str) -> None:
        if len(path) > _PATH_MAX_CHARS or unsafe_text(path) or relative_path_fault(path):
            return
        if len(self.paths) == self._limit:
            self._fill()
        else:
            self.paths.append(path)

    def _fill(self) -> None:
        self._is_full = self.truncated = True


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name
