"""Walks and reads a folder for the demo: bounded, without following a symbolic link or opening anything but files."""

import os
import stat
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from contract.errors import ValidationFailure, shown
from runs.demo_report import FILE_READ_MAX_BYTES, Fault, FoundFile, FoundFolder, Reading, text_facts

FILES_MAX: Final = 20_000
# As many folders at most, and of one folder as many entries as could all be files.
FOLDERS_MAX: Final = 20_000
# What tools make again whenever it is missing, and histories: nobody wrote them by hand.
SKIPPED: Final = frozenset(
    {
        *(".git", ".hg", ".svn", ".jj", ".bzr", "CVS"),
        *(".venv", "venv", ".tox", ".nox", ".eggs", "node_modules", "bower_components", ".gradle", ".terraform"),
        *("__pycache__", ".cache", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"),
        ".import_linter_cache",
    }
)
# A folder that holds one of these is a virtual environment (PEP 405) or a cache (bford.info/cachedir).
_TELLTALES: Final = frozenset({"pyvenv.cfg", "CACHEDIR.TAG"})


def folder_name(root: Path) -> str:
    """Return the folder's name, fit for print. Raises ValidationFailure for what is no folder."""
    if not root.is_dir():
        raise ValidationFailure.at("folder", code="folder", message="is not a folder")
    return shown(root.resolve().name or str(root))


def walk(root: Path, *, files_max: int = FILES_MAX) -> Iterator[FoundFolder]:
    """Yield the folders below `root`, itself as `.` first, each before what it holds, in the order of names."""
    waiting = ["."]
    left = files_max
    for _ in range(FOLDERS_MAX):
        if not waiting:
            return
        found, inside = _look(root, waiting.pop(), left)
        left -= len(found.files)
        yield found
        if found.cut:
            return
        waiting += reversed(inside)
    if waiting:
        yield FoundFolder(path=waiting.pop(), cut=True)


def read_texts(root: Path, files: Sequence[FoundFile]) -> Reading:
    """Count in every file that is a text; a file that cannot be read is a fault."""
    reading = Reading()
    for file in files:
        try:
            facts = text_facts(file.path, _read(root / file.path))
        except OSError as error:
            reading.faults.append(Fault(file.path, _reason(error)))
            continue
        if facts is None:
            reading.binaries.append(file.path)
        else:
            reading.texts.append(facts)
    return reading


def _look(root: Path, path: str, files_max: int) -> tuple[FoundFolder, list[str]]:
    """Return a folder and the paths of those in it."""
    try:
        with os.scandir(root / path) as scan:
            entries = sorted(islice(scan, FILES_MAX + FOLDERS_MAX), key=lambda entry: entry.name)
    except OSError as error:
        return FoundFolder(path=path, faults=(Fault(path, _reason(error)),)), []
    if path != "." and any(entry.name in _TELLTALES for entry in entries):
        return FoundFolder(path=path, skipped=(Path(path).name,)), []
    return _sorted_out(path, entries, files_max)


def _sorted_out(path: str, entries: list["os.DirEntry[str]"], files_max: int) -> tuple[FoundFolder, list[str]]:
    folders = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    files: list[FoundFile] = []
    faults: list[Fault] = []
    regular = [entry for entry in entries if entry.is_file(follow_symlinks=False)]
    for entry in regular[:files_max]:
        try:
            files.append(FoundFile(_below(path, entry.name), entry.stat(follow_symlinks=False).st_size))
        except OSError as error:
            faults.append(Fault(_below(path, entry.name), _reason(error)))
    found = FoundFolder(
        path=path,
        files=tuple(files),
        skipped=tuple(entry.name for entry in folders if entry.name in SKIPPED),
        links=sum(entry.is_symlink() for entry in entries),
        faults=tuple(faults),
        cut=len(regular) > files_max or len(entries) == FILES_MAX + FOLDERS_MAX,
    )
    return found, [_below(path, entry.name) for entry in folders if entry.name not in SKIPPED]


def _below(path: str, name: str) -> str:
    return name if path == "." else f"{path}/{name}"


def _read(path: Path) -> bytes:
    """Read a regular file up to its bound: what became a link or a pipe since the walk is refused, not followed."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "is no longer a file")
        return file.read(FILE_READ_MAX_BYTES)


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
