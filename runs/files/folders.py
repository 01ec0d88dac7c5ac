"""DiskRunFolders: RunFolders over the disk, walked by descriptor so that nobody can swap a folder for a link."""

import asyncio
import os
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from contract.base import is_identifier
from runs.services.pruning import ClearedFolders

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# What a process may have made read-only for itself (a cache of modules) is still ours to remove.
_OWNERS: Final = 0o700
# Folders that are open at a time, one in the other.
_DEPTH: Final = 30


class DiskRunFolders:
    """The folders in one. Each call is one hop into a thread."""

    def __init__(self, root: Path) -> None:
        """Take the folder that they are in, which need not exist."""
        self._root = root

    async def names(self, *, untouched_since: float | None) -> tuple[str, ...]:
        """Look at the folders' own last change, which nothing that is copied or unpacked brings along."""
        return await asyncio.to_thread(self._names, untouched_since)

    async def size(self, run_ids: Collection[str]) -> int:
        """Sum the sizes of regular files up."""
        return await asyncio.to_thread(self._size, run_ids) if run_ids else 0

    async def clear(self, run_ids: Collection[str]) -> ClearedFolders:
        """Remove folders one by one; one that resists keeps no other."""
        return await asyncio.to_thread(self._clear, run_ids) if run_ids else ClearedFolders()

    def _names(self, untouched_since: float | None) -> tuple[str, ...]:
        with self._opened() as root:
            return () if root is None else tuple(_folders(root, untouched_since))

    def _size(self, run_ids: Collection[str]) -> int:
        with self._opened() as root:
            return 0 if root is None else sum(_size(root, run_id) for run_id in run_ids)

    def _clear(self, run_ids: Collection[str]) -> ClearedFolders:
        with self._opened() as root:
            if root is None:
                return ClearedFolders()
            cleared = {run_id: _cleared(root, run_id) for run_id in run_ids}
        return ClearedFolders(
            file_bytes=sum(removed for removed, _ in cleared.values()),
            failed=tuple(run_id for run_id, (_, is_gone) in cleared.items() if not is_gone),
        )

    @contextmanager
    def _opened(self) -> Iterator[int | None]:
        """Open the folder of folders for a while; None where there is none, or none that can be read."""
        try:
            root = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            yield None
            return
        try:
            yield root
        finally:
            os.close(root)


def _folders(root: int, untouched_since: float | None) -> Iterator[str]:
    with os.scandir(root) as entries:
        for entry in entries:
            with suppress(OSError):  # it went meanwhile
                # What no run can be called is not ours.
                if is_identifier(entry.name) and entry.is_dir(follow_symlinks=False):
                    changed_at = entry.stat(follow_symlinks=False).st_ctime
                    if untouched_since is None or changed_at < untouched_since:
                        yield entry.name


def _size(root: int, run_id: str) -> int:
    found = 0
    # What is nested deeper than Python can follow is not counted.
    with suppress(OSError, RecursionError):
        for _, _, files, folder in os.fwalk(run_id, dir_fd=root):
            for name in files:
                found += _file_bytes(name, folder)
    return found


def _cleared(root: int, run_id: str) -> tuple[int, bool]:
    """Remove one folder; return the bytes of what went, and whether nothing is left."""
    try:
        top = os.open(run_id, _FOLDER, dir_fd=root)
    except FileNotFoundError:
        return 0, True
    except OSError:
        return 0, _unlinked(root, run_id)
    tree = _Tree(top)
    try:
        tree.empty()
        os.rmdir(run_id, dir_fd=root)
    except OSError:
        return tree.removed_bytes, False
    finally:
        os.close(top)
    return tree.removed_bytes, True


class _Tree:
    """What is in an open folder, however deep: folders far below are moved up before they are emptied."""

    def __init__(self, top: int) -> None:
        self.removed_bytes = 0
        self._top = top
        self._moved = 0

    def empty(self) -> None:
        """Remove everything. OSError for what resists."""
        before = -1
        while before != self._moved:
            before = self._moved
            self._empty(self._top, depth=0)

    def _empty(self, folder: int, *, depth: int) -> None:
        with suppress(PermissionError):  # another owner's may be open to us
            os.fchmod(folder, _OWNERS)
        with os.scandir(folder) as found:
            entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in found]
        for name, is_folder in entries:
            if not is_folder:
                size = _file_bytes(name, folder)
                os.unlink(name, dir_fd=folder)
                self.removed_bytes += size
            elif depth == _DEPTH:
                self._move_up(name, folder)
            else:
                self._remove_folder(name, folder, depth=depth)

    def _remove_folder(self, name: str, folder: int, *, depth: int) -> None:
        inner = os.open(name, _FOLDER, dir_fd=folder)
        try:
            self._empty(inner, depth=depth + 1)
        finally:
            os.close(inner)
        os.rmdir(name, dir_fd=folder)

    def _move_up(self, name: str, folder: int) -> None:
        """Give a folder a new name at the top; one that is taken by something of the run's own is left alone."""
        self._moved += 1
        with suppress(FileNotFoundError):
            while os.lstat(f".{self._moved}", dir_fd=self._top):
                self._moved += 1
        os.rename(name, f".{self._moved}", src_dir_fd=folder, dst_dir_fd=self._top)


def _unlinked(root: int, run_id: str) -> bool:
    """Remove what stands there and is no folder; say whether it is gone."""
    try:
        if stat.S_ISDIR(os.lstat(run_id, dir_fd=root).st_mode):
            return False
        os.unlink(run_id, dir_fd=root)
    except OSError:
        return False
    return True


def _file_bytes(name: str, folder: int) -> int:
    status = os.lstat(name, dir_fd=folder)
    return status.st_size if stat.S_ISREG(status.st_mode) else 0
