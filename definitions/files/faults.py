"""What can be wrong with what stands in a place, said to people. Paths are below the home."""

import errno
import os
import stat
from typing import Final

from contract.errors import Conflict, PermissionDenied, StateUnavailable, StudioApplicationError
from contract.limits import DEFINITION_MAX_BYTES
from definitions.errors import WriteFault

_RESOURCE: Final = "definition file"
_LINK: Final = "a symbolic link"
_THINGS: Final = {
    stat.S_IFLNK: _LINK,
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
# The system is short of something now; the same call may do later.
_PASSING: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN})
_WRITE_CODES: Final = {
    errno.ENOSPC: "no_space",
    errno.EDQUOT: "no_space",
    errno.EACCES: "no_permission",
    errno.EPERM: "no_permission",
    errno.EROFS: "read_only",
    errno.ENOTDIR: "not_a_file",
    errno.EISDIR: "not_a_file",
    errno.ELOOP: "not_a_file",
    errno.ENOTEMPTY: "not_a_file",
}


class NotAFile(Exception):
    """What stands at `path` is no regular file; `mode` is its `st_mode`."""

    def __init__(self, path: str, mode: int) -> None:
        """Say what it is instead."""
        self.path = path
        self.what = _THINGS.get(stat.S_IFMT(mode), "something else")
        super().__init__(f"{path} is {self.what}, not a regular file")

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link."""
        return self.what == _LINK


def refusal(error: OSError | NotAFile) -> StudioApplicationError:
    """Return what a reader is told. An OSError's `filename` is the path below the home."""
    if isinstance(error, NotAFile):
        return _refused_thing(error)
    path = str(error.filename)
    if isinstance(error, PermissionError):
        return PermissionDenied(f"{path} may not be read by Studio")
    if error.errno in {errno.ENOTDIR, errno.ELOOP}:
        return Conflict(_RESOURCE, "a folder", "something else", f"{path} is no folder")
    return StateUnavailable(
        retryable=error.errno in _PASSING, detail=f"{path} cannot be read: {os.strerror(error.errno or errno.EIO)}"
    )


def _refused_thing(error: NotAFile) -> StudioApplicationError:
    if error.is_link:
        return PermissionDenied(f"{error.path} is a symbolic link; Studio follows none here: put the file itself there")
    return Conflict(_RESOURCE, "a regular file", error.what, str(error))


def write_fault(error: OSError | NotAFile) -> WriteFault:
    """Return why a file could not be written."""
    if isinstance(error, NotAFile):
        return WriteFault("not_a_file", str(error))
    code = error.errno or errno.EIO
    return WriteFault(_WRITE_CODES.get(code, "io"), os.strerror(code))


def text_of(data: bytes, path: str, size: int | None = None) -> str:
    """Return a file's bytes as text, BOM and line ends kept. Conflict for what is no text of at most 1 MiB.

    `size` is the file's size where `data` is only its beginning.
    """
    if len(data) > DEFINITION_MAX_BYTES:
        actual = f"{max(size or 0, len(data))} bytes"
        limit = f"at most {DEFINITION_MAX_BYTES} bytes"
        raise Conflict(_RESOURCE, limit, actual, f"{path} has {actual}, a definition has {limit}")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        raise Conflict(_RESOURCE, "UTF-8 text", found, f"{path} is not UTF-8 text: {found}") from None
    if "\x00" in text:
        found = f"NUL at offset {data.index(0)}"
        raise Conflict(_RESOURCE, "text without NUL", found, f"{path} is not text: {found}")
    return text
