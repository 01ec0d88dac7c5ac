"""A home with definition files that people edit behind Studio, in memory and on a disk."""

import shutil
from pathlib import Path
from typing import Protocol

from definitions.files.disk import DiskDefinitionFiles
from definitions.files.syscalls import Syscalls
from definitions.services.ports import FileDefinitionPort
from tests.fakes.clocks import SequentialIds
from tests.fakes.definition_files import InMemoryDefinitionFiles


class Home(Protocol):
    """Hands and port over the same files. Paths are below the home."""

    @property
    def files(self) -> FileDefinitionPort: ...

    def edit(self, path: str, content: str | bytes) -> None: ...

    def remove(self, path: str) -> None: ...

    def content(self, path: str) -> bytes | None: ...

    def all(self) -> dict[str, bytes]: ...


class MemoryHome:
    """The fake's own hands."""

    def __init__(self) -> None:
        self.files = InMemoryDefinitionFiles()

    def edit(self, path: str, content: str | bytes) -> None:
        self.files.edit(path, content)

    def remove(self, path: str) -> None:
        self.files.remove(path)

    def content(self, path: str) -> bytes | None:
        return self.files.contents.get(path)

    def all(self) -> dict[str, bytes]:
        return dict(self.files.contents)


class DiskHome:
    """A folder."""

    def __init__(self, path: Path, syscalls: Syscalls | None = None) -> None:
        self.path = path
        self.files = DiskDefinitionFiles(path, tokens=SequentialIds(), syscalls=syscalls)

    def edit(self, path: str, content: str | bytes) -> None:
        file = self.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)

    def edit_anew(self, path: str, content: str) -> None:
        """Write as most editors do: another file, renamed to the place."""
        self.edit(f"{path}~", content)
        (self.path / f"{path}~").rename(self.path / path)

    def remove(self, path: str) -> None:
        file = self.path / path
        if file.is_dir():
            shutil.rmtree(file)
        else:
            file.unlink(missing_ok=True)

    def content(self, path: str) -> bytes | None:
        file = self.path / path
        return file.read_bytes() if file.is_file() else None

    def all(self) -> dict[str, bytes]:
        """Return every regular file by its path."""
        files = (file for file in self.path.rglob("*") if file.is_file() and not file.is_symlink())
        return {str(file.relative_to(self.path)): file.read_bytes() for file in files}
