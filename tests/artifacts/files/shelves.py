"""Files of runs that a test puts there by hand, in memory and on a disk, and the port over them."""

import os
from pathlib import Path
from typing import Protocol

from artifacts.files.disk import DiskArtifactFiles
from artifacts.files.syscalls import Syscalls
from artifacts.services.ports import ArtifactFolderPort
from tests.fakes.artifact_files import LINK, PIPE, InMemoryArtifactFiles
from tests.fakes.clocks import SequentialIds


class Shelf(Protocol):
    """Hands and port over the same files. A place is `<run_id>/<path>`."""

    @property
    def files(self) -> ArtifactFolderPort: ...

    def put(self, place: str, data: bytes) -> None: ...

    def remove(self, place: str) -> None: ...

    def content(self, place: str) -> bytes | None: ...

    def link(self, place: str, target: str) -> None: ...

    def pipe(self, place: str) -> None: ...

    def close(self) -> None: ...


class MemoryShelf:
    """The fake's own hands."""

    def __init__(self) -> None:
        self.files = InMemoryArtifactFiles()

    def put(self, place: str, data: bytes) -> None:
        self.files.contents[place] = data

    def remove(self, place: str) -> None:
        del self.files.contents[place]

    def content(self, place: str) -> bytes | None:
        return self.files.contents.get(place)

    def link(self, place: str, target: str) -> None:
        self.files.odd[place] = LINK

    def pipe(self, place: str) -> None:
        self.files.odd[place] = PIPE

    def close(self) -> None:
        pass


class DiskShelf:
    """A folder."""

    def __init__(self, home: Path, syscalls: Syscalls | None = None) -> None:
        self.home = home
        self.root = home / "artifacts"
        self.files = DiskArtifactFiles(home, tokens=SequentialIds(), syscalls=syscalls)

    def put(self, place: str, data: bytes) -> None:
        file = self.root / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)

    def remove(self, place: str) -> None:
        (self.root / place).unlink()

    def content(self, place: str) -> bytes | None:
        file = self.root / place
        return file.read_bytes() if file.is_file() else None

    def link(self, place: str, target: str) -> None:
        """Make a link that leads to a place, or to an absolute path."""
        file = self.root / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(self.root / target)

    def pipe(self, place: str) -> None:
        file = self.root / place
        file.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(file)

    def close(self) -> None:
        self.files.close()
