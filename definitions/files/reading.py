"""Reading the files of definitions."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from contract.definitions import DefinitionKind, FileDefinition
from contract.errors import StudioApplicationError
from definitions.files import places
from definitions.files.faults import NotAFile, refusal, text_of
from definitions.files.tree import Spot, Tree
from definitions.names import flat_place
from definitions.services.ports import FileObservation


@contextmanager
def refusing() -> Iterator[None]:
    """Let what the disk says of a place become what a reader is told."""
    try:
        yield
    except (OSError, NotAFile) as error:
        raise refusal(error) from error


class FileReader:
    """Reads files, one or many, in the calling thread."""

    def __init__(self, tree: Tree) -> None:
        """Take the folders to read from."""
        self._tree = tree

    def read(self, kind: DefinitionKind, name: str) -> FileDefinition | None:
        """Return a file, or None where there is none."""
        with refusing(), self._tree.root(kind) as root:
            if root is None:
                return None
            with self._tree.find(root, kind, name) as spot:
                return self._read(spot, name)

    def observe(self, kind: DefinitionKind, names: Sequence[str]) -> tuple[FileObservation, ...]:
        """Look at several places; what is wrong with one is said in its observation."""
        try:
            with refusing(), self._tree.root(kind) as root:
                return tuple(self._observe(root, kind, name) for name in names)
        except StudioApplicationError as error:  # of the root itself
            return tuple(FileObservation(relative_path=flat_place(kind, name), problem=str(error)) for name in names)

    def _read(self, spot: Spot, name: str) -> FileDefinition | None:
        found = self._tree.read(spot)
        if found is None:
            return None
        path = spot.place.path
        return FileDefinition(
            kind=spot.place.kind,
            name=name,
            relative_path=path,
            content=text_of(found.data, path, found.status.st_size),
            sha256=hashlib.sha256(found.data).hexdigest(),
            version=0,
        )

    def _observe(self, root: int | None, kind: DefinitionKind, name: str) -> FileObservation:
        path = flat_place(kind, name)
        if root is None:
            return FileObservation(relative_path=path)
        try:
            with refusing(), self._tree.find(root, kind, name) as spot:
                path = spot.place.path
                return self._look(spot, name)
        except StudioApplicationError as error:
            return FileObservation(relative_path=path, problem=str(error))

    def _look(self, spot: Spot, name: str) -> FileObservation:
        path = spot.place.path
        shadowed = self._shadowed(spot, name)
        try:
            with refusing():
                found = self._tree.read(spot)
            if found is None:
                return FileObservation(relative_path=path)
            text_of(found.data, path, found.status.st_size)
        except StudioApplicationError as error:
            return FileObservation(relative_path=path, problem=str(error), shadowed=shadowed)
        sha256 = hashlib.sha256(found.data).hexdigest()
        return FileObservation(relative_path=path, sha256=sha256, size_bytes=len(found.data), shadowed=shadowed)

    def _shadowed(self, spot: Spot, name: str) -> str | None:
        """Return the path of the second file where the first is used; one that cannot be looked at is none."""
        if spot.place.inner is not None:
            return None
        second = places.nested(spot.place.kind, name)
        try:
            with self._tree.inner(spot.folder, spot.place.kind, name) as folder:
                return second.path if folder is not None and self._tree.stands(Spot(folder, second)) else None
        except (OSError, NotAFile):
            return None
