"""Three ways to rename that never take a file away unseen, and what stands in where a system does not have them.

With renameat2(2) each is one step that no reader and no other writer sees half done. Without it (other systems, old
kernels, some network file systems) the place is looked at once more just before; what comes in that blink is not seen.
"""

import errno
from typing import Final

from definitions.files.syscalls import RENAME_EXCHANGE, RENAME_NOREPLACE, Syscalls

# How a kernel or a file system says that it does not know the call or its flag.
_UNKNOWN: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP})
# How a file system says that it has no second names, or none for this kind of thing.
_NO_LINKS: Final = frozenset({errno.EPERM, errno.EMLINK, *_UNKNOWN})


def exchange(syscalls: Syscalls, one: str, other: str, *, folder: int) -> bool:
    """Exchange two names. False where that cannot be done at once: nothing was done. ENOENT when one is missing."""
    try:
        syscalls.renameat2(one, other, RENAME_EXCHANGE, folder=folder)
    except OSError as error:
        if error.errno in _UNKNOWN:
            return False
        raise
    return True


def put_in(syscalls: Syscalls, name: str, place: str, *, folder: int) -> None:
    """Rename to a `place` where nothing stands. FileExistsError where something does."""
    try:
        syscalls.renameat2(name, place, RENAME_NOREPLACE, folder=folder)
    except OSError as error:
        if error.errno not in _UNKNOWN:
            raise
        _link_in(syscalls, name, place, folder=folder)


def take_out(syscalls: Syscalls, place: str, name: str, *, folder: int) -> None:
    """Rename whatever stands in `place` to a free name. FileExistsError when it is not free."""
    try:
        syscalls.renameat2(place, name, RENAME_NOREPLACE, folder=folder)
    except OSError as error:
        if error.errno not in _UNKNOWN:
            raise
        _rename_checked(syscalls, place, name, folder=folder)


def has_no_links(error: OSError) -> bool:
    """Whether a link failed because there are none, for this kind of file or in this file system."""
    return error.errno in _NO_LINKS


def _link_in(syscalls: Syscalls, name: str, place: str, *, folder: int) -> None:
    try:
        syscalls.link(name, place, folder=folder)
    except OSError as error:
        if not has_no_links(error):
            raise
        _rename_checked(syscalls, name, place, folder=folder)
    else:
        syscalls.unlink(name, folder=folder)


def _rename_checked(syscalls: Syscalls, name: str, new: str, *, folder: int) -> None:
    try:
        syscalls.lstat(new, folder=folder)
    except FileNotFoundError:
        syscalls.rename(name, new, folder=folder)
    else:
        raise FileExistsError(errno.EEXIST, "the name is taken")
