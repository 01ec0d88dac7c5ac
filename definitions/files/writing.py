"""Replacing and removing files so that no edit is lost, whoever else writes and wherever the process dies.

The new text is written beside the file and is on the disk before the two change their names in one step. What came out
of the place is then looked at: only the very text that was to be replaced is thrown away, anything else goes back.
A process that dies in between leaves the other text in a temporary file, never none of the two.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic, sleep
from typing import Final

from contract.definitions import DefinitionKind, FileWriteResult
from contract.ports import IdGenerator
from definitions.errors import FileChanged
from definitions.files.faults import NotAFile, write_fault
from definitions.files.swapping import exchange, has_no_links, put_in
from definitions.files.temporaries import Temporaries
from definitions.files.tree import Found, Spot, Tree

# A write takes milliseconds; whoever holds a folder longer is stopped, or on a disk that is.
_TURN_SECONDS: Final = 2.0
_LOOK_SECONDS: Final = 0.002
# What an editor takes from opening a file to closing it, but for those that stream into it.
_EDITOR_SECONDS: Final = 0.1


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _changed(name: str) -> FileChanged:
    return FileChanged(f"{name} is not what it was")


@contextmanager
def _faulting() -> Iterator[None]:
    """Let what the disk says become a WriteFault."""
    try:
        yield
    except (OSError, NotAFile) as error:
        raise write_fault(error) from error


class FileWriter:
    """Writes and removes, in the calling thread. FileChanged and WriteFault."""

    def __init__(self, tree: Tree, tokens: IdGenerator) -> None:
        """Take the folders to write in, and what names temporary files."""
        self._tree = tree
        self._syscalls = tree.syscalls
        self._temporaries = Temporaries(tree, tokens)

    def write(self, kind: DefinitionKind, name: str, data: bytes, replacing: str | None) -> FileWriteResult:
        """Put `data` in the place of the file with that hash, or of none."""
        with _faulting(), self._tree.root(kind, make=replacing is None) as root:
            if root is None:
                raise _changed(name)
            with self._tree.find(root, kind, name) as spot:
                self._take_turn(spot)
                found = self._expect(spot, replacing)
                temporary = self._temporaries.prepare(spot, data, None if found is None else found.status)
                if replacing is None:
                    self._put_new(spot, temporary)
                else:
                    self._replace(spot, temporary, replacing, _hash(data))
                self._syscalls.fsync(spot.folder)
                path = spot.place.path
        return FileWriteResult(relative_path=path, sha256=_hash(data), bytes_written=len(data))

    def remove(self, kind: DefinitionKind, name: str, replacing: str) -> None:
        """Remove the file with that hash. No file is as good."""
        with _faulting(), self._tree.root(kind) as root:
            if root is None:
                return
            with self._tree.find(root, kind, name) as spot:
                self._take_turn(spot)
                if self._tree.stands(spot):
                    self._expect(spot, replacing)
                    self._remove(spot, replacing)
                    self._syscalls.fsync(spot.folder)
                if spot.place.inner is not None:
                    with suppress(OSError):  # it holds more
                        self._syscalls.rmdir(spot.place.inner, folder=root)

    def _take_turn(self, spot: Spot) -> None:
        """Wait for other writers of ours in this folder, but not for one that hangs: nothing is lost without a turn.

        Two of ours at once would tell hand edits apart as well, and may leave one text in a temporary file.
        """
        until = monotonic() + _TURN_SECONDS
        with suppress(OSError):  # a file system without locks
            while not self._syscalls.lock(spot.folder) and monotonic() < until:
                sleep(_LOOK_SECONDS)

    def _expect(self, spot: Spot, sha256: str | None) -> Found | None:
        """Return what stands there. FileChanged when it is not the file with that hash (None: not nothing)."""
        found = self._tree.read(spot)
        if (None if found is None else _hash(found.data)) != sha256:
            raise _changed(spot.filename)
        return found

    def _holds(self, spot: Spot, sha256: str) -> bool:
        try:
            found = self._tree.read(spot)
        except NotAFile:
            return False
        return found is not None and _hash(found.data) == sha256

    def _put_new(self, spot: Spot, temporary: Spot) -> None:
        try:
            put_in(self._syscalls, temporary.filename, spot.filename, folder=spot.folder)
        except OSError as error:
            self._temporaries.drop(temporary)
            if isinstance(error, FileExistsError):
                raise _changed(spot.filename) from None
            raise

    def _replace(self, spot: Spot, temporary: Spot, old: str, new: str) -> None:
        try:
            out = self._swap(spot, temporary, old)
        except (OSError, FileChanged) as error:
            self._temporaries.drop(temporary)
            if isinstance(error, FileNotFoundError):  # somebody has removed the file
                raise _changed(spot.filename) from None
            raise
        if out is None:
            return
        try:
            if not self._holds(out, old):
                raise _changed(spot.filename)
        except (OSError, FileChanged):
            self._swap_back(spot, out, new)
            raise
        self._let_go(out, old)

    def _swap(self, spot: Spot, temporary: Spot, old: str) -> Spot | None:
        """Give the new text its place; return where that is which came out of it."""
        if exchange(self._syscalls, temporary.filename, spot.filename, folder=spot.folder):
            return temporary
        # Only what is put there between the last two calls is not seen.
        out = self._keep(spot, old)
        try:
            self._syscalls.rename(temporary.filename, spot.filename, folder=spot.folder)
        except OSError:
            if out is not None and self._holds(out, old):
                self._temporaries.drop(out)
            raise
        return out

    def _keep(self, spot: Spot, old: str) -> Spot | None:
        """Make sure that what stands there outlives being replaced; None where it is known and need not."""
        try:
            return self._temporaries.link_aside(spot)
        except OSError as error:
            if not has_no_links(error):
                raise
        if not self._holds(spot, old):
            raise _changed(spot.filename)
        return None

    def _swap_back(self, spot: Spot, out: Spot, new: str) -> None:
        """Give what somebody else put there its place again.

        Should a third text have come to the place meanwhile, one of the two is, and stays, in the temporary file.
        """
        try:
            if exchange(self._syscalls, out.filename, spot.filename, folder=spot.folder):
                if self._holds(out, new):
                    self._temporaries.drop(out)
            elif self._holds(spot, new):
                self._syscalls.rename(out.filename, spot.filename, folder=spot.folder)
            else:
                self._restore(spot, out)
        except FileNotFoundError:  # ours was removed at once
            self._restore(spot, out)

    def _restore(self, spot: Spot, aside: Spot) -> None:
        """Put a file back where nothing stands; else it stays aside, for a newer one has its place."""
        with suppress(FileExistsError):
            put_in(self._syscalls, aside.filename, spot.filename, folder=spot.folder)

    def _remove(self, spot: Spot, old: str) -> None:
        aside = self._temporaries.take_aside(spot)
        if aside is None:
            return
        try:
            if not self._holds(aside, old):
                raise _changed(spot.filename)
        except (OSError, FileChanged):
            self._restore(spot, aside)
            raise
        self._let_go(aside, old)

    def _let_go(self, out: Spot, old: str) -> None:
        """Remove what was replaced, unless an editor that opened it before is still writing, or has written, into it.

        It then stays as a temporary file, and what it holds in the end is kept by the next sweep; so does what cannot
        be removed, for the file has been replaced all the same.
        """
        until = monotonic() + _EDITOR_SECONDS
        while self._tree.is_being_written(out):
            if monotonic() >= until:
                return
            sleep(_LOOK_SECONDS)
        with suppress(OSError):
            if self._holds(out, old):
                self._syscalls.unlink(out.filename, folder=out.folder)
