"""What the entries of a root are: definitions, strangers, namesakes. Pure."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from contract.definitions import DefinitionKind
from contract.errors import ValidationFailure, shown
from definitions.names import EXTENSIONS, ROOTS, is_name, name_key, require_name


class Entry(NamedTuple):
    """What a root holds under a name. `may_hold`: it is a folder, or a link that may lead to one."""

    name: str
    may_hold: bool = False


# Whether the entry of that name is a folder with the file `name/name.ext`, or cannot be looked into.
Holds = Callable[[str], bool]


def names_in(kind: DefinitionKind, entries: Iterable[Entry], holds: Holds) -> tuple[str, ...]:
    """Return the names of the definitions, sorted; whatever stands in a definition's place counts as one."""
    return tuple(sorted({name for name, _ in _definitions(kind, entries, holds) if is_name(name)}))


def strangers_in(kind: DefinitionKind, entries: Iterable[Entry], holds: Holds) -> tuple[tuple[str, str], ...]:
    """Return relative path and reason of the files with an impossible name, sorted."""
    judged = sorted((path, _fault(name)) for name, path in _definitions(kind, entries, holds))
    return tuple((shown(path), f"its name {fault}") for path, fault in judged if fault)


def namesake_in(kind: DefinitionKind, name: str, entries: Iterable[Entry], holds: Holds) -> str | None:
    """Return another name in use that a file system or a reader may take for `name`; the first, sorted."""
    file_key, folder_key = name_key(name + EXTENSIONS[kind]), name_key(name)
    # Only few are alike, so only few are looked into.
    alike = [entry for entry in entries if name_key(entry.name) in (file_key, folder_key)]
    found = {_stem(kind, entry.name) for entry in alike if name_key(entry.name) == file_key}
    found |= {entry.name for entry in alike if name_key(entry.name) == folder_key and _holds(entry, holds)}
    return min((shown(other) for other in found - {name}), default=None)


def _definitions(kind: DefinitionKind, entries: Iterable[Entry], holds: Holds) -> Iterator[tuple[str, str]]:
    """Yield the name and the path of whatever is called like a definition's file, possible or not."""
    root, extension = ROOTS[kind], EXTENSIONS[kind]
    for entry in entries:
        if entry.name.endswith(extension):
            yield entry.name.removesuffix(extension), f"{root}/{entry.name}"
        if _holds(entry, holds):
            yield entry.name, f"{root}/{entry.name}/{entry.name}{extension}"


def _holds(entry: Entry, holds: Holds) -> bool:
    return entry.may_hold and holds(entry.name)


def _stem(kind: DefinitionKind, filename: str) -> str:
    """Return the name in a file name; with an extension in other letters the whole is another name."""
    return filename.removesuffix(EXTENSIONS[kind])


def _fault(name: str) -> str:
    """Return what is wrong with a name; empty for a possible one."""
    try:
        require_name(name, "name")
    except ValidationFailure as failure:
        return failure.field_errors[0].message
    return ""
