"""The system calls of the file adapter, one method each, so that something else can be made to happen before any.

Every method raises OSError. `folder` is the descriptor of an open folder that the name is looked up in.
"""

import os
from collections.abc import Iterator
from pathlib import Path


class Syscalls:
    """The operating system. No descriptor is inherited by a child, no symbolic link is followed in a last component."""

    def open_root(self, path: Path) -> int:
        """Open the folder at `path` of the host, through links."""
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def make_root(self, path: Path) -> None:
        """Make the folder at `path` of the host, its owner's alone, with the folders above it."""
        path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def open(self, name: str, flags: int, *, folder: int, mode: int = 0) -> int:
        """Open what is called `name`, without waiting for the other end of a pipe. ELOOP for a symbolic link."""
        return os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, mode, dir_fd=folder)

    def close(self, descriptor: int) -> None:
        """Close."""
        os.close(descriptor)

    def read(self, descriptor: int, size: int) -> bytes:
        """Read up to `size` bytes; empty at the end."""
        return os.read(descriptor, size)

    def write(self, descriptor: int, data: memoryview) -> int:
        """Write some of `data`, return how many bytes."""
        return os.write(descriptor, data)

    def fsync(self, descriptor: int) -> None:
        """Wait until a file's content, or a folder's entries, are on the disk."""
        os.fsync(descriptor)

    def fstat(self, descriptor: int) -> os.stat_result:
        """Describe what is open."""
        return os.fstat(descriptor)

    def lstat(self, name: str, *, folder: int) -> os.stat_result:
        """Describe what is called `name`, be it a link."""
        return os.stat(name, dir_fd=folder, follow_symlinks=False)

    def entries(self, folder: int) -> Iterator[os.DirEntry[str]]:
        """Yield the entries of an open folder, as many as are asked for; they describe themselves while it is open."""
        with os.scandir(folder) as entries:
            yield from entries

    def mkdir(self, name: str, *, folder: int) -> None:
        """Make a folder, its owner's alone. EEXIST where the name is taken."""
        os.mkdir(name, 0o700, dir_fd=folder)

    def rmdir(self, name: str, *, folder: int) -> None:
        """Remove an empty folder."""
        os.rmdir(name, dir_fd=folder)

    def unlink(self, name: str, *, folder: int) -> None:
        """Remove what is no folder."""
        os.unlink(name, dir_fd=folder)

    def rename(self, name: str, new: str, *, folder: int) -> None:
        """Rename, over what is called `new`."""
        os.rename(name, new, src_dir_fd=folder, dst_dir_fd=folder)
