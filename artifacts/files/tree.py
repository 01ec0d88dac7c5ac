"""The folders below the artifact root, walked by descriptor so that nobody can swap one for a link on the way."""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from artifacts.files.faults import link, many_names, odd
from artifacts.files.syscalls import Syscalls
from artifacts.places import ROOT, display_path, parts_of

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY


class Tree:
    """The root `<home>/artifacts`. It may be a symbolic link itself; nothing below it is followed.

    Methods raise OSError, and PermissionDenied for a link and for what is no regular file.
    """

    def __init__(self, home: Path, syscalls: Syscalls) -> None:
        """Take the home, which need not exist, and the system."""
        self.syscalls = syscalls
        self._root = home / ROOT

    def path_of(self, run_id: str) -> Path:
        """Return the path of a run's folder on the host."""
        return self._root / run_id

    @contextmanager
    def root(self, *, make: bool = False) -> Iterator[int]:
        """Open the root for a while."""
        descriptor = self._open_root(make=make)
        try:
            yield descriptor
        finally:
            self.close(descriptor)

    @contextmanager
    def folder(self, names: Sequence[str], *, make: bool = False) -> Iterator[int]:
        """Open a folder below the root for a while, one component after the other."""
        with ExitStack() as opened:
            here = opened.enter_context(self.root(make=make))
            for depth, name in enumerate(names, start=1):
                here = self._step(here, name, "/".join(names[:depth]), make=make)
                opened.callback(self.close, here)
            yield here

    @contextmanager
    def file(self, place: str) -> Iterator[int]:
        """Open a regular file for a while, to be read. FileNotFoundError where nothing stands."""
        *folders, name = parts_of(place)
        with self.folder(folders) as folder:
            # Before it is opened: opening alone does something to a pipe or a device.
            self.require_plain(place, self.syscalls.lstat(name, folder=folder))
            descriptor = self.syscalls.open(name, os.O_RDONLY, folder=folder)
            try:
                self.require_plain(place, self.syscalls.fstat(descriptor))
                yield descriptor
            finally:
                self.close(descriptor)

    def require_plain(self, place: str, status: os.stat_result) -> None:
        """Refuse what is no regular file of one name."""
        if not stat.S_ISREG(status.st_mode):
            raise odd(display_path(place), status.st_mode)
        if status.st_nlink > 1:
            raise many_names(display_path(place))

    def step(self, folder: int, name: str, place: str) -> int:
        """Open a folder of an open folder. PermissionDenied for a link."""
        try:
            return self.syscalls.open(name, _FOLDER, folder=folder)
        except OSError as error:
            # Which of the two a link brings, systems do not agree on.
            if error.errno not in {errno.ENOTDIR, errno.ELOOP}:
                raise
            self._refuse_link(folder, name, place)
            raise

    def close(self, descriptor: int) -> None:
        """Close what was only read."""
        with suppress(OSError):
            self.syscalls.close(descriptor)

    def _open_root(self, *, make: bool) -> int:
        try:
            return self.syscalls.open_root(self._root)
        except FileNotFoundError:
            if not make:
                raise
        self.syscalls.make_root(self._root)
        return self.syscalls.open_root(self._root)

    def _step(self, folder: int, name: str, place: str, *, make: bool) -> int:
        try:
            return self.step(folder, name, place)
        except FileNotFoundError:
            if not make:
                raise
        with suppress(FileExistsError):
            self.syscalls.mkdir(name, folder=folder)
            self.syscalls.fsync(folder)
        return self.step(folder, name, place)

    def _refuse_link(self, folder: int, name: str, place: str) -> None:
        with suppress(OSError):
            if stat.S_ISLNK(self.syscalls.lstat(name, folder=folder).st_mode):
                raise link(display_path(place))
