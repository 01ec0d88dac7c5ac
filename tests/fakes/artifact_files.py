"""ArtifactFolderPort over a dictionary: the rules of the disk without a disk, links and other odd things included."""

import hashlib
from pathlib import PurePosixPath

from artifacts.errors import other_hash
from artifacts.media import look_at
from artifacts.places import display_path, parts_of
from artifacts.services.ports import FolderListing
from contract.artifacts import VerifiedPreview
from contract.errors import NotFound, PermissionDenied
from tests.fakes.turns import turns

LINK = "a symbolic link"
FOLDER = "a folder"
PIPE = "a named pipe"


class InMemoryArtifactFiles:
    """`contents` are the files by their place, `odd` is what stands where no regular file does."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.odd: dict[str, str] = {}
        self.folders: set[str] = set()
        self.fault: Exception | None = None

    async def preview(self, relative_path: str, *, max_bytes: int, expected_sha256: str | None) -> VerifiedPreview:
        await self._reach()
        self._refuse_odd(relative_path)
        data = self.contents.get(relative_path)
        if data is None:
            raise NotFound("artifact file", display_path(relative_path))
        sha256 = hashlib.sha256(data).hexdigest()
        if expected_sha256 not in (None, sha256):
            raise other_hash(display_path(relative_path), expected_sha256, sha256)
        return self._preview(relative_path, max_bytes)

    async def write(self, relative_path: str, data: bytes) -> VerifiedPreview:
        await self._reach()
        self._refuse_odd(relative_path)
        self.contents[relative_path] = data
        return self._preview(relative_path, 4_096)

    async def survey(self, run_id: str, *, limit: int) -> FolderListing:
        await self._reach()
        if self.odd.get(run_id) == LINK:
            raise PermissionDenied(f"{display_path(run_id)} is a symbolic link")
        inside = sorted(place.removeprefix(f"{run_id}/") for place in self.contents if place.startswith(f"{run_id}/"))
        return FolderListing(paths=tuple(inside[:limit]), truncated=len(inside) > limit)

    async def prepare(self, run_id: str) -> str:
        await self._reach()
        self.folders.add(run_id)
        return f"/home/{display_path(run_id)}"

    async def tidy(self, run_id: str) -> None:
        await self._reach()
        self.folders.discard(run_id)

    async def _reach(self) -> None:
        await turns()
        if self.fault is not None:
            raise self.fault

    def _refuse_odd(self, place: str) -> None:
        parts_of(place)
        way = [place, *map(str, PurePosixPath(place).parents)]
        for found in way:
            thing = self.odd.get(found)
            if thing is not None and (found == place or thing == LINK):
                raise PermissionDenied(f"{display_path(place)} is {thing}, not a regular file")

    def _preview(self, place: str, max_bytes: int) -> VerifiedPreview:
        data = self.contents[place]
        truncated = len(data) > max_bytes
        look = look_at(data[:max_bytes], name=place.rpartition("/")[2], truncated=truncated)
        return VerifiedPreview(
            data=look.data,
            sha256=hashlib.sha256(data).hexdigest(),
            truncated=truncated,
            media_type=look.media_type,
            size_bytes=len(data),
            kind=look.kind,
        )
