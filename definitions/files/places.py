"""Where the files of definitions are, and what the temporary and the rescued ones are called. Pure."""

import re
from dataclasses import dataclass, replace
from typing import Final

from contract.definitions import DefinitionKind
from definitions.names import EXTENSIONS, ROOTS, is_name, require_name

# The token of an IdGenerator: 16 lower-case hexadecimal characters.
_TEMPORARY: Final = re.compile(r"\.(?P<filename>.+)\.(?P<token>[0-9a-f]{16})\.studio-tmp", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Place:
    """A file's place: in a root, or in a folder of a root (`inner`)."""

    kind: DefinitionKind
    filename: str
    inner: str | None = None

    @property
    def path(self) -> str:
        """The path below the home."""
        inner = f"{self.inner}/" if self.inner is not None else ""
        return f"{ROOTS[self.kind]}/{inner}{self.filename}"

    def temporary(self, token: str) -> "Place":
        """Return the place of a temporary file beside this one. It starts with a dot and has another extension."""
        return replace(self, filename=f".{self.filename}.{token}.studio-tmp")


@dataclass(frozen=True, slots=True)
class TemporaryName:
    """What a temporary file's name says."""

    name: str
    filename: str
    token: str

    @property
    def rescued(self) -> str:
        """The file name under which people find it: beside the definition, and none itself."""
        return f"{self.filename}.rescued-{self.token}"


def flat(kind: DefinitionKind, name: str) -> Place:
    """Return the place `name.ext`. A ValidationFailure for an impossible name, so that none leads out of the root."""
    require_name(name, "name")
    return Place(kind, name + EXTENSIONS[kind])


def nested(kind: DefinitionKind, name: str) -> Place:
    """Return the place `name/name.ext`."""
    require_name(name, "name")
    return Place(kind, name + EXTENSIONS[kind], name)


def parse_temporary(kind: DefinitionKind, filename: str) -> TemporaryName | None:
    """Return what the name of a temporary file in a root of that kind says; None for any other file."""
    found = _TEMPORARY.fullmatch(filename)
    if found is None or not found["filename"].endswith(EXTENSIONS[kind]):
        return None
    name = found["filename"].removesuffix(EXTENSIONS[kind])
    return TemporaryName(name, found["filename"], found["token"]) if is_name(name) else None


def parse_path(path: str) -> Place:
    """Return the place of a path below the home, made by `Place.path`."""
    root, *inner, filename = path.split("/")
    kind = next(kind for kind, name in ROOTS.items() if name == root)
    return Place(kind, filename, *inner)
