"""What can be wrong with what stands in a place, said to people. Paths are below the home."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from artifacts.places import display_path
from contract.errors import Conflict, NotFound, PermissionDenied, StateUnavailable, StudioApplicationError
from contract.limits import ARTIFACT_FILE_MAX_BYTES

RESOURCE: Final = "artifact file"

_THINGS: Final = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
# What the system says of a name in a folder that is gone or is none, and of one that no file can have.
_NOTHING: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})
# The system is short of something now; the same call may do later.
_PASSING: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENOSPC, errno.EDQUOT})


@contextmanager
def told(place: str) -> Iterator[None]:
    """Let what the system says of a place become what a caller is told."""
    try:
        yield
    except OSError as error:
        raise _told(error, display_path(place)) from error


def _told(error: OSError, path: str) -> StudioApplicationError:
    if error.errno in _NOTHING:
        return NotFound(RESOURCE, path)
    if error.errno == errno.ELOOP:
        return link(path)
    if error.errno == errno.ENXIO:  # so a socket answers, and a pipe that nobody reads
        return odd(path, stat.S_IFSOCK)
    if isinstance(error, PermissionError):
        return PermissionDenied(f"{path} may not be used by Studio")
    reason = os.strerror(error.errno or errno.EIO)
    return StateUnavailable(retryable=error.errno in _PASSING, detail=f"{path} cannot be used: {reason}")


def link(path: str) -> PermissionDenied:
    """Return the refusal of a symbolic link."""
    return PermissionDenied(f"{path} is, or goes through, a symbolic link; Studio follows none among artifacts")


def odd(path: str, mode: int) -> PermissionDenied:
    """Return the refusal of what is no regular file."""
    if stat.S_ISLNK(mode):
        return link(path)
    return PermissionDenied(f"{path} is {_THINGS.get(stat.S_IFMT(mode), 'something else')}, not a regular file")


def many_names(path: str) -> PermissionDenied:
    """Return the refusal of a file that has another name: it may be one outside."""
    return PermissionDenied(f"{path} has a second name (a hard link), which may be anywhere; put a copy there")


def too_large(path: str, size_bytes: int) -> Conflict:
    """Return the conflict of a file that is not read at all."""
    limit, actual = f"at most {ARTIFACT_FILE_MAX_BYTES} bytes", f"{size_bytes} bytes"
    return Conflict(RESOURCE, limit, actual, f"{path} has {actual}; a file that is read here has {limit}")


def changed(path: str) -> Conflict:
    """Return the conflict of a file that somebody writes to."""
    return Conflict(RESOURCE, "a file at rest", "a changing one", f"{path} changed while it was read; try again")
