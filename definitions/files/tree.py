"""The folders below the home, walked by descriptor so that nobody can swap one for a link on the way."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contract.definitions import DefinitionKind
from contract.limits import DEFINITION_MAX_BYTES
from definitions.files import places
from definitions.files.faults import NotAFile
from definitions.files.places import Place
from definitions.files.syscalls import Syscalls
from definitions.names import ROOTS

# One more than a definition may have: enough to see that it has too many.
_READ_MAX_BYTES: Final = DEFINITION_MAX_BYTES + 1
# Pages of a file that grew since its size was asked for.
_PIECE_BYTES: Final = 64 * 1024
# What the system says of a name in a folder that is gone, or is a plain file.
_NOTHING: Final = (FileNotFoundError, NotADirectoryError)


@dataclass(frozen=True, slots=True)
class Spot:
    """A place, and the open folder that it is in."""

    folder: int
    place: Place

    @property
    def filename(self) -> str:
        """The name in the folder."""
        return self.place.filename

    def temporary(self, token: str) -> "Spot":
        """Return a spot for a temporary file in the same folder."""
        return Spot(self.folder, self.place.temporary(token))


@dataclass(frozen=True, slots=True)
class Found:
    """A regular file's first bytes, all of them unless they are more than a definition may have."""

    data: bytes
    status: os.stat_result


@contextmanager
def _named(path: str) -> Iterator[None]:
    """Let an OSError name the path below the home, the only one that may be shown."""
    try:
        yield
    except OSError as error:
        error.filename = path
        raise


class Tree:
    """The two roots. A root may be a symbolic link, for people keep theirs elsewhere; nothing below it is followed.

    Methods raise OSError with the path below the home as `filename`, and NotAFile.
    """

    def __init__(self, home: Path, syscalls: Syscalls) -> None:
        """Take the home, which need not exist, and the system."""
        self.syscalls = syscalls
        self._home = home

    @contextmanager
    def root(self, kind: DefinitionKind, *, make: bool = False) -> Iterator[int | None]:
        """Open a root for a while. None where there is none and none is to be made."""
        with _named(ROOTS[kind]):
            descriptor = self._open_root(self._home / ROOTS[kind], make=make)
        try:
            yield descriptor
        finally:
            self.close(descriptor)

    def leads_nowhere(self, kind: DefinitionKind) -> bool:
        """Whether a root is a link whose end is missing."""
        path = self._home / ROOTS[kind]
        return path.is_symlink() and not path.exists()

    @contextmanager
    def inner(self, root: int, kind: DefinitionKind, name: str) -> Iterator[int | None]:
        """Open a folder of a root for a while. None where there is no folder; NotAFile for a link."""
        with _named(f"{ROOTS[kind]}/{name}"):
            descriptor = self._open_inner(root, kind, name)
        try:
            yield descriptor
        finally:
            self.close(descriptor)

    @contextmanager
    def find(self, root: int, kind: DefinitionKind, name: str) -> Iterator[Spot]:
        """Find the place that a definition's file has: the first where anything stands, else where a new one is put."""
        spot = Spot(root, places.flat(kind, name))
        if self.stands(spot):
            yield spot
            return
        with self.inner(root, kind, name) as folder:
            second = None if folder is None else Spot(folder, places.nested(kind, name))
            yield second if second is not None and self.stands(second) else spot

    @contextmanager
    def at(self, place: Place) -> Iterator[Spot | None]:
        """Open the folder of a place for a while. None where there is none."""
        with self.root(place.kind) as root:
            if root is None or place.inner is None:
                yield None if root is None else Spot(root, place)
                return
            with self.inner(root, place.kind, place.inner) as folder:
                yield None if folder is None else Spot(folder, place)

    def stands(self, spot: Spot) -> bool:
        """Whether anything has that name."""
        with _named(spot.place.path):
            try:
                self.syscalls.lstat(spot.filename, folder=spot.folder)
            except _NOTHING:
                return False
        return True

    def read(self, spot: Spot) -> Found | None:
        """Read a regular file. None where nothing stands."""
        with _named(spot.place.path):
            try:
                # Before it is opened: opening alone does something to a pipe or a device.
                self._refuse_odd(spot, self.syscalls.lstat(spot.filename, folder=spot.folder))
                descriptor = self.syscalls.open(spot.filename, os.O_RDONLY, folder=spot.folder)
            except FileNotFoundError:
                return None
            except OSError as error:
                self._refuse_swapped(spot, error)
                raise
            try:
                return self._read_open(spot, descriptor)
            finally:
                self.close(descriptor)

    def is_being_written(self, spot: Spot) -> bool:
        """Whether somebody has a regular file open for writing. False where nothing stands, or that cannot be said."""
        try:
            descriptor = self.syscalls.open(spot.filename, os.O_RDONLY, folder=spot.folder)
        except OSError:
            return False
        try:
            return self.syscalls.is_being_written(descriptor)
        except OSError:
            return False
        finally:
            self.close(descriptor)

    def entries(self, folder: int, path: str) -> list[os.DirEntry[str]]:
        """Return what is in an open folder."""
        with _named(path):
            return list(self.syscalls.list(folder))

    def close(self, descriptor: int | None) -> None:
        """Close what was only read."""
        if descriptor is not None:
            with suppress(OSError):
                self.syscalls.close(descriptor)

    def _open_root(self, path: Path, *, make: bool) -> int | None:
        with suppress(FileNotFoundError):
            return self.syscalls.open_root(path)
        return self._make_root(path) if make else None

    def _make_root(self, path: Path) -> int:
        with suppress(FileExistsError):
            self.syscalls.mkdir(path)
        self._sync_home()
        try:
            return self.syscalls.open_root(path)
        except FileNotFoundError:  # a link that leads nowhere: what it stands for is not ours to make
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None

    def _sync_home(self) -> None:
        descriptor = self.syscalls.open_root(self._home)
        try:
            self.syscalls.fsync(descriptor)
        finally:
            self.close(descriptor)

    def _open_inner(self, root: int, kind: DefinitionKind, name: str) -> int | None:
        try:
            return self.syscalls.open(name, os.O_RDONLY | os.O_DIRECTORY, folder=root)
        except FileNotFoundError:
            return None
        except OSError as error:
            # Which of the two a link brings, systems do not agree on.
            if error.errno not in {errno.ENOTDIR, errno.ELOOP}:
                raise
        with suppress(FileNotFoundError):
            status = self.syscalls.lstat(name, folder=root)
            if stat.S_ISLNK(status.st_mode):
                raise NotAFile(f"{ROOTS[kind]}/{name}", status.st_mode)
        return None

    def _refuse_odd(self, spot: Spot, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            raise NotAFile(spot.place.path, status.st_mode)

    def _refuse_swapped(self, spot: Spot, error: OSError) -> None:
        """Raise NotAFile when a link or a socket was put there between the look and the opening."""
        if error.errno == errno.ELOOP:
            raise NotAFile(spot.place.path, stat.S_IFLNK) from None
        if error.errno == errno.ENXIO:
            raise NotAFile(spot.place.path, stat.S_IFSOCK) from None

    def _read_open(self, spot: Spot, descriptor: int) -> Found:
        status = self.syscalls.fstat(descriptor)
        self._refuse_odd(spot, status)
        pieces: list[bytes] = []
        room = _READ_MAX_BYTES
        # A little more than the size, so that the end is seen with the first piece that comes short.
        ask = min(status.st_size + 1, room)
        while room and (piece := self.syscalls.read(descriptor, ask)):
            pieces.append(piece)
            room -= len(piece)
            ask = min(_PIECE_BYTES, room)
        return Found(b"".join(pieces), status)
