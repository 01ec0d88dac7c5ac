"""Definition files that exist only in memory, with the rules of the disk, and hands that edit them behind Studio."""

import hashlib
from collections.abc import Callable, Sequence

from contract.definitions import DefinitionKind, FileDefinition, FileWriteResult
from contract.errors import Conflict, PermissionDenied, StudioApplicationError
from contract.limits import DEFINITION_MAX_BYTES
from definitions.errors import FileChanged, WriteFault
from definitions.files.faults import text_of
from definitions.files.listing import Entry, names_in, namesake_in, strangers_in
from definitions.files.places import Place, flat, nested, parse_path, parse_temporary
from definitions.names import EXTENSIONS, ROOTS
from definitions.services.ports import FileObservation, Leftover


class InMemoryDefinitionFiles:
    """A FileDefinitionPort over a table of paths below a home. Paths are as in `relative_path`."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self._unplugged: set[DefinitionKind] = set()
        self._refusals: dict[str, StudioApplicationError] = {}
        self._faults: list[tuple[WriteFault, bool]] = []
        self._meanwhile: list[Callable[[], None]] = []

    # ----------------------------------------------------------------------------------------------- hands

    def edit(self, path: str, content: str | bytes) -> None:
        """Write a file as an editor does. A path of a temporary file makes a leftover."""
        self.remove(path)
        self.contents[path] = content.encode() if isinstance(content, str) else content

    def remove(self, path: str) -> None:
        """Take away whatever stands there."""
        self.contents.pop(path, None)
        self._refusals.pop(path, None)

    def make_unreadable(self, path: str, error: StudioApplicationError | None = None) -> None:
        """Put something there that reading refuses with `error`; by default a symbolic link."""
        self.edit(path, b"")
        self._refusals[path] = error or PermissionDenied(f"{path} is a symbolic link")

    def fail_next_write(self, fault: WriteFault, *, landed: bool = False) -> None:
        """Let the next write or removal raise; `landed`: only after it was done."""
        self._faults.append((fault, landed))

    def meanwhile(self, hand: Callable[[], None]) -> None:
        """Let a hand act in the middle of the next write or removal."""
        self._meanwhile.append(hand)

    # ------------------------------------------------------------------------------------------------ port

    async def read_current(self, kind: DefinitionKind, name: str) -> FileDefinition | None:
        path = self._find(kind, name).path
        if path in self._refusals:
            raise self._refusals[path]
        data = self.contents.get(path)
        if data is None:
            return None
        return FileDefinition(
            kind=kind, name=name, relative_path=path, content=text_of(data, path), sha256=_hash(data), version=0
        )

    async def current_hash(self, kind: DefinitionKind, name: str) -> str | None:
        found = await self.read_current(kind, name)
        return None if found is None else found.sha256

    async def write_current(
        self, kind: DefinitionKind, name: str, content: str, *, replacing: str | None = None
    ) -> FileWriteResult:
        landed = self._begin()
        path = self._expected(kind, name, replacing)
        self.contents[path] = content.encode()
        self._end(landed)
        return FileWriteResult(
            relative_path=path, sha256=_hash(self.contents[path]), bytes_written=len(self.contents[path])
        )

    async def remove_current(self, kind: DefinitionKind, name: str, *, replacing: str) -> None:
        landed = self._begin()
        if self._find(kind, name).path in self.contents:
            self.remove(self._expected(kind, name, replacing))
        self._end(landed)

    async def find_namesake(self, kind: DefinitionKind, name: str) -> str | None:
        return namesake_in(kind, name, self._entries(kind), self._holds(kind))

    def unplug(self, kind: DefinitionKind) -> None:
        """Let the root be elsewhere, and not there now."""
        self._unplugged.add(kind)

    async def names(self, kind: DefinitionKind) -> tuple[str, ...]:
        if kind in self._unplugged:
            raise Conflict("definition file", "a folder", None, f"{ROOTS[kind]} is a symbolic link that leads nowhere")
        return names_in(kind, self._entries(kind), self._holds(kind))

    async def strangers(self, kind: DefinitionKind) -> tuple[tuple[str, str], ...]:
        return strangers_in(kind, self._entries(kind), self._holds(kind))

    async def observe(self, kind: DefinitionKind, names: Sequence[str]) -> tuple[FileObservation, ...]:
        return tuple([await self._observe(kind, name) for name in names])

    async def leftovers(self) -> tuple[Leftover, ...]:
        found = []
        for path, data in sorted(self.contents.items()):
            place = parse_path(path)
            parsed = parse_temporary(place.kind, place.filename)
            if parsed is not None:
                content = data if len(data) <= DEFINITION_MAX_BYTES and path not in self._refusals else None
                found.append(Leftover(kind=place.kind, name=parsed.name, relative_path=path, content=content))
        return tuple(found)

    async def discard(self, leftover: Leftover) -> None:
        self.remove(leftover.relative_path)

    async def rescue(self, leftover: Leftover) -> str:
        place = parse_path(leftover.relative_path)
        parsed = parse_temporary(place.kind, place.filename)
        assert parsed is not None
        if leftover.relative_path not in self.contents:
            raise FileChanged
        rescued = Place(place.kind, parsed.rescued, place.inner).path
        self.contents[rescued] = self.contents.pop(leftover.relative_path)
        return rescued

    # ----------------------------------------------------------------------------------------------- rules

    def _find(self, kind: DefinitionKind, name: str) -> Place:
        places = (flat(kind, name), nested(kind, name))
        return next((place for place in places if place.path in self.contents), places[0])

    def _begin(self) -> WriteFault | None:
        """Let happen what was arranged; return the fault that comes only afterwards."""
        if self._meanwhile:
            self._meanwhile.pop(0)()
        fault, landed = self._faults.pop(0) if self._faults else (None, True)
        if fault is not None and not landed:
            raise fault
        return fault

    def _end(self, fault: WriteFault | None) -> None:
        if fault is not None:
            raise fault

    def _expected(self, kind: DefinitionKind, name: str, replacing: str | None) -> str:
        path = self._find(kind, name).path
        if path in self._refusals:
            raise WriteFault("not_a_file", str(self._refusals[path]))
        data = self.contents.get(path)
        if (None if data is None else _hash(data)) != replacing:
            raise FileChanged
        return path

    async def _observe(self, kind: DefinitionKind, name: str) -> FileObservation:
        path, second = self._find(kind, name).path, nested(kind, name).path
        shadowed = second if path != second and path in self.contents and second in self.contents else None
        try:
            found = await self.read_current(kind, name)
        except StudioApplicationError as error:
            return FileObservation(relative_path=path, problem=str(error), shadowed=shadowed)
        if found is None:
            return FileObservation(relative_path=path)
        size = len(self.contents[path])
        return FileObservation(relative_path=path, sha256=found.sha256, size_bytes=size, shadowed=shadowed)

    def _entries(self, kind: DefinitionKind) -> list[Entry]:
        parts = [path.split("/") for path in self.contents]
        return sorted({Entry(rest[0], may_hold=len(rest) > 1) for root, *rest in parts if root == ROOTS[kind]})

    def _holds(self, kind: DefinitionKind) -> Callable[[str], bool]:
        return lambda name: f"{ROOTS[kind]}/{name}/{name}{EXTENSIONS[kind]}" in self.contents


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
