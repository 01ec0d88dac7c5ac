"""Temporary files beside a definition: the new text before it has its place, and what came out of the place."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final, TypeVar

from contract.ports import IdGenerator
from definitions.files.swapping import take_out
from definitions.files.tree import Spot, Tree

T = TypeVar("T")

# A token that is taken already is a rarity of one in 2**64; so many in a row are a fault.
_TOKENS_MAX: Final = 100


class Temporaries:
    """Makes them. Methods raise OSError."""

    def __init__(self, tree: Tree, tokens: IdGenerator) -> None:
        """Take the folders, and what names the files."""
        self._tree = tree
        self._syscalls = tree.syscalls
        self._tokens = tokens

    def prepare(self, spot: Spot, data: bytes, like: os.stat_result | None) -> Spot:
        """Make a file with everything the new one is to have, and wait until it is on the disk.

        Mode and owner are those of `like`, or what a new file has.
        """
        temporary, descriptor = self._create(spot, 0o666 if like is None else 0o600)
        try:
            try:
                if like is not None:
                    self._dress(descriptor, like)
                self._fill(descriptor, data)
            except OSError:
                self._tree.close(descriptor)
                raise
            self._syscalls.close(descriptor)
        except OSError:
            self.drop(temporary)
            raise
        return temporary

    def take_aside(self, spot: Spot) -> Spot | None:
        """Rename what stands in a place; None when nothing does."""

        def take(aside: Spot) -> Spot:
            take_out(self._syscalls, spot.filename, aside.filename, folder=spot.folder)
            return aside

        try:
            return self._with_new_name(spot, take)
        except FileNotFoundError:
            return None

    def link_aside(self, spot: Spot) -> Spot:
        """Give what stands in a place a second name, so that it outlives being replaced."""

        def link(aside: Spot) -> Spot:
            self._syscalls.link(spot.filename, aside.filename, folder=spot.folder)
            return aside

        return self._with_new_name(spot, link)

    def drop(self, temporary: Spot) -> None:
        """Remove one that holds nothing but ours; the next start finds what cannot be removed now."""
        with suppress(OSError):
            self._syscalls.unlink(temporary.filename, folder=temporary.folder)

    def _create(self, spot: Spot, mode: int) -> tuple[Spot, int]:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        return self._with_new_name(
            spot, lambda new: (new, self._syscalls.open(new.filename, flags, folder=spot.folder, mode=mode))
        )

    def _with_new_name(self, spot: Spot, use: Callable[[Spot], T]) -> T:
        for temporary in self._names(spot):
            with suppress(FileExistsError):
                return use(temporary)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))

    def _names(self, spot: Spot) -> Iterator[Spot]:
        return (spot.temporary(self._tokens.new_id()) for _ in range(_TOKENS_MAX))

    def _dress(self, descriptor: int, like: os.stat_result) -> None:
        """Give a new file owner, group and mode of the old one; whose owner it cannot have keeps its own."""
        own = self._syscalls.fstat(descriptor)
        if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
            try:
                self._syscalls.fchown(descriptor, like.st_uid, like.st_gid)
            except PermissionError:
                with suppress(PermissionError):  # who is in the group may give it
                    self._syscalls.fchown(descriptor, -1, like.st_gid)
        # After the owner, for a change of owner clears bits of the mode.
        self._syscalls.fchmod(descriptor, like.st_mode & 0o7777)

    def _fill(self, descriptor: int, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._syscalls.write(descriptor, rest) :]
        self._syscalls.fsync(descriptor)
