"""Reading a file: its beginning is kept, all of it is hashed, and what it was is what it still is at the end."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from artifacts.errors import other_hash
from artifacts.files.faults import changed, told, too_large
from artifacts.files.tree import Tree
from artifacts.media import look_at
from artifacts.places import display_path
from contract.artifacts import VerifiedPreview
from contract.limits import ARTIFACT_FILE_MAX_BYTES

# As much as is in memory of a file beside its beginning.
_PIECE_BYTES: Final = 256 * 1024

# Whether nobody waits for the answer any more.
Gone = Callable[[], bool]


class Abandoned(Exception):
    """Reading was given up, because nobody waits for it."""


@dataclass(slots=True)
class _Read:
    """What was read so far: the beginning, the sum and the size of all of it."""

    keep_bytes: int
    beginning: bytearray = field(default_factory=bytearray)
    size_bytes: int = 0
    sum: "hashlib._Hash" = field(default_factory=hashlib.sha256)

    def take(self, piece: bytes) -> None:
        self.sum.update(piece)
        self.size_bytes += len(piece)
        self.beginning += piece[: self.keep_bytes - len(self.beginning)]


class FileReader:
    """Reads files, in the calling thread."""

    def __init__(self, tree: Tree) -> None:
        """Take the folders to read from."""
        self._tree = tree

    def preview(self, place: str, max_bytes: int, expected_sha256: str | None, gone: Gone) -> VerifiedPreview:
        """Return the beginning of a file, verified. Abandoned; everything else as the port says."""
        with told(place), self._tree.file(place) as descriptor:
            read = self._read(descriptor, place, max_bytes, gone)
        sha256 = read.sum.hexdigest()
        if expected_sha256 not in (None, sha256):
            raise other_hash(display_path(place), expected_sha256, sha256)
        return preview_of(bytes(read.beginning), name=place, sha256=sha256, size_bytes=read.size_bytes)

    def _read(self, descriptor: int, place: str, keep_bytes: int, gone: Gone) -> _Read:
        before = self._tree.syscalls.fstat(descriptor)
        if before.st_size > ARTIFACT_FILE_MAX_BYTES:
            raise too_large(display_path(place), before.st_size)
        read = _Read(keep_bytes)
        # One byte more than there should be: a file that grows is seen to, and never followed to its end.
        while piece := self._tree.syscalls.read(descriptor, min(_PIECE_BYTES, before.st_size - read.size_bytes + 1)):
            read.take(piece)
            if read.size_bytes > before.st_size:
                break
            if gone():
                raise Abandoned
        if read.size_bytes != before.st_size or _signs(self._tree.syscalls.fstat(descriptor)) != _signs(before):
            raise changed(display_path(place))
        return read


def preview_of(beginning: bytes, *, name: str, sha256: str, size_bytes: int) -> VerifiedPreview:
    """Return what the beginning of a file shows; `name` may be its whole path."""
    truncated = len(beginning) < size_bytes
    look = look_at(beginning, name=name.rpartition("/")[2], truncated=truncated)
    return VerifiedPreview(
        data=look.data,
        sha256=sha256,
        truncated=truncated,
        media_type=look.media_type,
        size_bytes=size_bytes,
        kind=look.kind,
    )


def _signs(status: os.stat_result) -> tuple[int, int, int]:
    """Return what differs after somebody wrote."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns
