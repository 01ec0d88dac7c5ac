"""The files of definitions on a disk: FileDefinitionPort with one thread hop for each call."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from contract.definitions import DefinitionKind, FileDefinition, FileWriteResult
from contract.ports import IdGenerator
from definitions.files.leftovers import Leftovers
from definitions.files.reading import FileReader
from definitions.files.survey import RootSurvey
from definitions.files.syscalls import Syscalls
from definitions.files.tree import Tree
from definitions.files.writing import FileWriter
from definitions.services.ports import FileObservation, Leftover


class DiskDefinitionFiles:
    """Files below `<home>/agents` and `<home>/playbooks`. Roots are made when the first file is written."""

    def __init__(self, home: Path, *, tokens: IdGenerator, syscalls: Syscalls | None = None) -> None:
        """Take the home, what names temporary files, and the operating system if it is another one."""
        tree = Tree(home, syscalls or Syscalls())
        self._reader = FileReader(tree)
        self._writer = FileWriter(tree, tokens)
        self._survey = RootSurvey(tree)
        self._leftovers = Leftovers(tree)

    async def read_current(self, kind: DefinitionKind, name: str) -> FileDefinition | None:
        """Return the file, or None."""
        return await asyncio.to_thread(self._reader.read, kind, name)

    async def current_hash(self, kind: DefinitionKind, name: str) -> str | None:
        """Return the file's SHA-256, or None."""
        found = await self.read_current(kind, name)
        return found.sha256 if found is not None else None

    async def write_current(
        self, kind: DefinitionKind, name: str, content: str, *, replacing: str | None = None
    ) -> FileWriteResult:
        """Put `content` in the place of the file with that hash, or of none."""
        return await asyncio.to_thread(self._writer.write, kind, name, content.encode("utf-8"), replacing)

    async def remove_current(self, kind: DefinitionKind, name: str, *, replacing: str) -> None:
        """Remove the file with that hash."""
        await asyncio.to_thread(self._writer.remove, kind, name, replacing)

    async def find_namesake(self, kind: DefinitionKind, name: str) -> str | None:
        """Return another name that may be taken for this one, or None."""
        return await asyncio.to_thread(self._survey.find_namesake, kind, name)

    async def names(self, kind: DefinitionKind) -> tuple[str, ...]:
        """Return the possible names, sorted."""
        return await asyncio.to_thread(self._survey.names, kind)

    async def strangers(self, kind: DefinitionKind) -> tuple[tuple[str, str], ...]:
        """Return path and reason of files with an impossible name."""
        return await asyncio.to_thread(self._survey.strangers, kind)

    async def observe(self, kind: DefinitionKind, names: Sequence[str]) -> tuple[FileObservation, ...]:
        """Look at several places."""
        return await asyncio.to_thread(self._reader.observe, kind, names)

    async def leftovers(self) -> tuple[Leftover, ...]:
        """Return the temporary files."""
        return await asyncio.to_thread(self._leftovers.find)

    async def discard(self, leftover: Leftover) -> None:
        """Remove one."""
        await asyncio.to_thread(self._leftovers.discard, leftover)

    async def rescue(self, leftover: Leftover) -> str:
        """Rename one so that people find it; return its new path."""
        return await asyncio.to_thread(self._leftovers.rescue, leftover)
