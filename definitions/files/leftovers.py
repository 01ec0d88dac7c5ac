"""The temporary files that saves leave when they do not end."""

from collections.abc import Iterator
from contextlib import suppress

from contract.definitions import DefinitionKind
from contract.limits import DEFINITION_MAX_BYTES
from definitions.errors import FileChanged
from definitions.files.faults import NotAFile, write_fault
from definitions.files.places import Place, TemporaryName, parse_path, parse_temporary
from definitions.files.swapping import take_out
from definitions.files.tree import Spot, Tree
from definitions.names import KINDS, ROOTS
from definitions.services.ports import Leftover


class Leftovers:
    """Finds, removes and rescues them, in the calling thread."""

    def __init__(self, tree: Tree) -> None:
        """Take the folders to look through."""
        self._tree = tree

    def find(self) -> tuple[Leftover, ...]:
        """Return them by path. What cannot be looked into is left for another time: it may hold none."""
        found: list[Leftover] = []
        for kind in KINDS:
            with suppress(OSError), self._tree.root(kind) as root:
                if root is not None:
                    found.extend(self._in_root(root, kind))
        return tuple(sorted(found, key=lambda leftover: leftover.relative_path))

    def discard(self, leftover: Leftover) -> None:
        """Remove one, if it is still there and nobody is writing into it; else it is for another time."""
        place = _place_of(leftover)[0]
        try:
            with self._tree.at(place) as spot:
                if spot is not None and self._is_done_with(spot, leftover):
                    with suppress(FileNotFoundError):
                        self._tree.syscalls.unlink(spot.filename, folder=spot.folder)
        except (OSError, NotAFile) as error:
            raise write_fault(error) from error

    def _is_done_with(self, spot: Spot, leftover: Leftover) -> bool:
        """Whether nobody writes into it, nor has since its content was seen."""
        if self._tree.is_being_written(spot):
            return False
        found = self._tree.read(spot)
        return found is not None and (leftover.content is None or found.data == leftover.content)

    def rescue(self, leftover: Leftover) -> str:
        """Rename one and return its new path. FileChanged when somebody has taken it away."""
        place, parsed = _place_of(leftover)
        rescued = Place(place.kind, parsed.rescued, place.inner)
        try:
            with self._tree.at(place) as spot:
                if spot is None:
                    raise FileNotFoundError
                take_out(self._tree.syscalls, spot.filename, rescued.filename, folder=spot.folder)
                self._tree.syscalls.fsync(spot.folder)
        except FileNotFoundError:
            raise FileChanged(f"{leftover.relative_path} is gone") from None
        except (OSError, NotAFile) as error:
            raise write_fault(error) from error
        return rescued.path

    def _in_root(self, root: int, kind: DefinitionKind) -> Iterator[Leftover]:
        entries = self._tree.entries(root, ROOTS[kind])
        folders = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        yield from self._among(root, kind, None, [entry.name for entry in entries])
        for name in folders:
            with suppress(OSError, NotAFile), self._tree.inner(root, kind, name) as folder:
                if folder is not None:
                    inside = self._tree.entries(folder, f"{ROOTS[kind]}/{name}")
                    yield from self._among(folder, kind, name, [entry.name for entry in inside])

    def _among(self, folder: int, kind: DefinitionKind, inner: str | None, filenames: list[str]) -> Iterator[Leftover]:
        for filename in filenames:
            parsed = parse_temporary(kind, filename)
            if parsed is not None:
                spot = Spot(folder, Place(kind, filename, inner))
                content = self._content(spot)
                yield Leftover(kind=kind, name=parsed.name, relative_path=spot.place.path, content=content)

    def _content(self, spot: Spot) -> bytes | None:
        with suppress(OSError, NotAFile):
            found = self._tree.read(spot)
            return None if found is None or len(found.data) > DEFINITION_MAX_BYTES else found.data
        return None


def _place_of(leftover: Leftover) -> tuple[Place, TemporaryName]:
    """Return where a leftover is. ValueError for a path that no leftover has: only their files may be touched."""
    place = parse_path(leftover.relative_path)
    parsed = parse_temporary(place.kind, place.filename)
    if parsed is None:
        raise ValueError(f"{leftover.relative_path} is no leftover")
    return place, parsed
