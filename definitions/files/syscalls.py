"""The system calls of the file adapter, one method each, so that any of them can be made to fail or never to return.

Every method raises OSError. `folder` is the descriptor of an open folder that the name is looked up in.
"""

import ctypes
import errno
import fcntl
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

# <linux/fs.h>, for renameat2(2)
RENAME_NOREPLACE: Final = 1
RENAME_EXCHANGE: Final = 2


def _find_renameat2() -> Callable[..., int] | None:
    """Return the function of the C library, or None where it has none."""
    try:
        function: Any = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return None
    function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    function.restype = ctypes.c_int
    return function  # type: ignore[no-any-return]  # ctypes types no function


_RENAMEAT2: Final = _find_renameat2()


class _Leases(NamedTuple):
    """The numbers of the commands of fcntl(2), which only Linux has."""

    set_signal: int
    set_lease: int


def _find_leases() -> _Leases | None:
    try:
        return _Leases(set_signal=getattr(fcntl, "F_SETSIG"), set_lease=getattr(fcntl, "F_SETLEASE"))  # noqa: B009
    except AttributeError:
        return None


_LEASES: Final = _find_leases()


class Syscalls:
    """The operating system. No descriptor is inherited by a child, no symbolic link is followed in a last component."""

    def open_root(self, path: Path) -> int:
        """Open the folder at `path` of the host, through links."""
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def open(self, name: str, flags: int, *, folder: int, mode: int = 0) -> int:
        """Open what is called `name`, without waiting for the other end of a pipe. ELOOP for a symbolic link."""
        return os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, mode, dir_fd=folder)

    def close(self, descriptor: int) -> None:
        """Close; what was written may turn out only here not to be stored."""
        os.close(descriptor)

    def read(self, descriptor: int, size: int) -> bytes:
        """Read up to `size` bytes; empty at the end."""
        return os.read(descriptor, size)

    def write(self, descriptor: int, data: memoryview) -> int:
        """Write some of `data`, return how many bytes."""
        return os.write(descriptor, data)

    def lock(self, folder: int) -> bool:
        """Lock an open folder against other holders of this lock until it is closed; False while another has it."""
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def is_being_written(self, descriptor: int) -> bool:
        """Whether somebody else has what is open for reading here open for writing. False where nobody can say.

        A read lease is granted only if not (fcntl(2), F_SETLEASE). While it is held, whoever opens the file for writing
        makes the system send a signal; the default one would end us.
        """
        if _LEASES is None:
            return False
        try:
            fcntl.fcntl(descriptor, _LEASES.set_signal, signal.SIGURG)
            fcntl.fcntl(descriptor, _LEASES.set_lease, fcntl.F_RDLCK)
            fcntl.fcntl(descriptor, _LEASES.set_lease, fcntl.F_UNLCK)
        except OSError as error:
            return error.errno == errno.EAGAIN
        return False

    def fsync(self, descriptor: int) -> None:
        """Wait until a file's content, or a folder's entries, are on the disk."""
        os.fsync(descriptor)

    def fstat(self, descriptor: int) -> os.stat_result:
        """Describe what is open."""
        return os.fstat(descriptor)

    def lstat(self, name: str, *, folder: int) -> os.stat_result:
        """Describe what is called `name`, be it a link."""
        return os.stat(name, dir_fd=folder, follow_symlinks=False)

    def fchmod(self, descriptor: int, mode: int) -> None:
        """Set the mode."""
        os.fchmod(descriptor, mode)

    def fchown(self, descriptor: int, owner: int, group: int) -> None:
        """Set owner and group; -1 leaves one as it is."""
        os.fchown(descriptor, owner, group)

    def list(self, folder: int) -> Sequence[os.DirEntry[str]]:
        """Return the entries of an open folder; they describe themselves while it is open."""
        with os.scandir(folder) as entries:
            return list(entries)

    def mkdir(self, path: Path) -> None:
        """Make the folder at `path` of the host."""
        path.mkdir()

    def rmdir(self, name: str, *, folder: int) -> None:
        """Remove an empty folder."""
        os.rmdir(name, dir_fd=folder)

    def unlink(self, name: str, *, folder: int) -> None:
        """Remove what is no folder."""
        os.unlink(name, dir_fd=folder)

    def link(self, name: str, new: str, *, folder: int) -> None:
        """Give a file a second name. EEXIST where that is taken."""
        os.link(name, new, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)

    def rename(self, name: str, new: str, *, folder: int) -> None:
        """Rename, over what is called `new`."""
        os.rename(name, new, src_dir_fd=folder, dst_dir_fd=folder)

    def renameat2(self, name: str, new: str, flags: int, *, folder: int) -> None:
        """Rename with flags. ENOSYS without the call, EINVAL where the file system does not know the flag."""
        if _RENAMEAT2 is None:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
        if _RENAMEAT2(folder, os.fsencode(name), folder, os.fsencode(new), flags) != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
