"""Writing a file so that a reader sees the old one or the new one whole, and nothing is written through a link."""

import errno
import hashlib
import os
import re
from contextlib import suppress
from typing import Final

from artifacts.files.faults import told
from artifacts.files.reading import preview_of
from artifacts.files.tree import Tree
from artifacts.media import LOOK_BYTES
from artifacts.places import parts_of
from contract.artifacts import VerifiedPreview
from contract.errors import ValidationFailure
from contract.ports import IdGenerator

# What a save that dies leaves beside the file; no run has to name its own like this.
TEMPORARY: Final = re.compile(r"\.[0-9a-f]{16}\.studio-tmp")


class FileWriter:
    """Writes files, in the calling thread."""

    def __init__(self, tree: Tree, tokens: IdGenerator) -> None:
        """Take the folders to write in, and what names temporary files."""
        self._tree = tree
        self._syscalls = tree.syscalls
        self._tokens = tokens

    def write(self, place: str, data: bytes) -> VerifiedPreview:
        """Put `data` in a place, in folders that are made where there are none. As the port says."""
        *folders, name = parts_of(place)
        with told(place):
            try:
                with self._tree.folder(folders, make=True) as folder:
                    self._put(folder, name, place, data)
            except OSError as error:
                if error.errno == errno.ENAMETOOLONG:
                    message = "holds a name that is too long for this file system"
                    raise ValidationFailure.at("path", code="path", message=message) from None
                if error.errno == errno.ENOTDIR:
                    message = "goes through a file"
                    raise ValidationFailure.at("path", code="path", message=message) from None
                raise
        sha256 = hashlib.sha256(data).hexdigest()
        return preview_of(data[:LOOK_BYTES], name=place, sha256=sha256, size_bytes=len(data))

    def _put(self, folder: int, name: str, place: str, data: bytes) -> None:
        self._require_free(folder, name, place)
        temporary = f".{self._tokens.new_id()}.studio-tmp"
        descriptor = self._syscalls.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, folder=folder, mode=0o600)
        try:
            try:
                self._fill(descriptor, data)
            finally:
                self._syscalls.close(descriptor)
            # Should a link have come to the place meanwhile, it is the link that is replaced, not where it leads.
            self._syscalls.rename(temporary, name, folder=folder)
        except BaseException:
            with suppress(OSError):
                self._syscalls.unlink(temporary, folder=folder)
            raise
        self._syscalls.fsync(folder)

    def _require_free(self, folder: int, name: str, place: str) -> None:
        """Refuse to replace anything but a regular file."""
        with suppress(FileNotFoundError):
            self._tree.require_plain(place, self._syscalls.lstat(name, folder=folder))

    def _fill(self, descriptor: int, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._syscalls.write(descriptor, rest) :]
        self._syscalls.fsync(descriptor)
