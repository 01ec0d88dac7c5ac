"""The files of artifacts on a disk: ArtifactFolderPort, with one thread hop for each call."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event
from typing import Final, TypeVar

from artifacts.files.faults import told
from artifacts.files.reading import FileReader, Gone
from artifacts.files.survey import FolderSurvey
from artifacts.files.syscalls import Syscalls
from artifacts.files.tree import Tree
from artifacts.files.writing import FileWriter
from artifacts.services.ports import FolderListing
from contract.artifacts import VerifiedPreview
from contract.ports import IdGenerator

T = TypeVar("T")

# Hashing takes a core for as long as it lasts; who reads other things must not wait behind it.
_READERS: Final = 2


class DiskArtifactFiles:
    """Files below `<home>/artifacts`, which is made with the first folder of a run."""

    def __init__(self, home: Path, *, tokens: IdGenerator, syscalls: Syscalls | None = None) -> None:
        """Take the home, what names temporary files, and the operating system if it is another one."""
        self._tree = Tree(home, syscalls or Syscalls())
        self._reader = FileReader(self._tree)
        self._writer = FileWriter(self._tree, tokens)
        self._survey = FolderSurvey(self._tree)
        self._pool = ThreadPoolExecutor(_READERS, thread_name_prefix="artifact-read")
        self._closed = Event()

    async def preview(self, relative_path: str, *, max_bytes: int, expected_sha256: str | None) -> VerifiedPreview:
        """Return the beginning of a file, verified; stops early when it is cancelled."""
        return await self._read(partial(self._reader.preview, relative_path, max_bytes, expected_sha256))

    async def write(self, relative_path: str, data: bytes) -> VerifiedPreview:
        """Write a file."""
        return await asyncio.to_thread(self._writer.write, relative_path, data)

    async def survey(self, run_id: str, *, limit: int) -> FolderListing:
        """Return the files of a run."""
        return await asyncio.to_thread(self._survey.survey, run_id, limit)

    async def prepare(self, run_id: str) -> str:
        """Make the folder of a run and return its absolute path."""
        return await asyncio.to_thread(self._prepare, run_id)

    async def tidy(self, run_id: str) -> None:
        """Remove the folder of a run if it is empty."""
        await asyncio.to_thread(self._survey.tidy, run_id)

    def close(self) -> None:
        """Let go of the threads; what is being read is given up."""
        self._closed.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _prepare(self, run_id: str) -> str:
        with told(run_id), self._tree.folder([run_id], make=True):
            return str(self._tree.path_of(run_id))

    async def _read(self, work: Callable[[Gone], T]) -> T:
        left = Event()

        def gone() -> bool:
            return left.is_set() or self._closed.is_set()

        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, work, gone)
        finally:
            left.set()
