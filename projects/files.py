"""What the disk says of a folder's project. Folders are only looked at; no program is run, and nothing is written.

The nearest `.studio.toml` with a `project`, and the nearest git repository: `.git` as a folder, or as the file that a
worktree or a submodule has (gitrepository-layout(5)).
"""

import asyncio
import os
import stat
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from contract.base import unsafe_text
from contract.errors import ValidationFailure, shown
from contract.limits import PATH_MAX_CHARS, PROJECT_FOLDERS_MAX
from contract.projects import DetectProject, ProjectName
from projects.git_config import remote_url

CONFIG_NAME: Final = ".studio.toml"
_KEY: Final = "project"
_GIT: Final = ".git"
# One line is what is read of the first; git's own are below a kilobyte as a rule.
_CONFIG_MAX_BYTES: Final = 64 * 1024
_GIT_CONFIG_MAX_BYTES: Final = 1024 * 1024
_POINTER_MAX_BYTES: Final = PATH_MAX_CHARS + 64
_NAME: Final = TypeAdapter[str](ProjectName)


class DiskFolders:
    """Folders of this machine. One thread hop for each call."""

    async def survey(self, folder: str) -> DetectProject:
        """Look at a folder and those above it."""
        return await asyncio.to_thread(survey_folder, folder)


def survey_folder(folder: str) -> DetectProject:
    """Return what a folder and those above it say. ValidationFailure for a relative one or a faulty `.studio.toml`.

    Where links lead through, both the way that was taken and the one that there is count. What is not there, or cannot
    be looked at, says nothing.
    """
    if not folder.startswith("/") or unsafe_text(folder):
        raise ValidationFailure.at("folder", code="not_absolute", message="must be an absolute path")
    folders = list(dict.fromkeys(_upwards(Path(os.path.abspath(folder)))))  # noqa: PTH100 (follows no link)
    return DetectProject(
        folders=tuple(map(str, folders[:PROJECT_FOLDERS_MAX])),
        configured=next((name for place in folders if (name := _configured(place / CONFIG_NAME))), None),
        remote_url=next((found.remote for place in folders if (found := _repository(place / _GIT))), None),
    )


def _upwards(folder: Path) -> Iterator[Path]:
    """Yield a folder and those above it, nearest first, each as it was named and as it is."""
    try:
        real = folder.resolve()
    except (OSError, RuntimeError):
        real = folder
    pairs = zip_longest((folder, *folder.parents), (real, *real.parents))
    return (place for place in chain.from_iterable(pairs) if place is not None and len(str(place)) <= PATH_MAX_CHARS)


# ---- .studio.toml ----------------------------------------------------------------------------------------------


def _configured(file: Path) -> str | None:
    """Return the project that a file names, None where there is no file or no name in it. ValidationFailure."""
    try:
        text = _bounded(file, _CONFIG_MAX_BYTES)
        project = None if text is None else tomllib.loads(text.decode()).get(_KEY)
    except OSError as fault:
        raise _unusable(file, fault.strerror or type(fault).__name__) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, _TooLargeError) as fault:
        raise _unusable(file, str(fault)) from None
    except RecursionError:
        raise _unusable(file, "is nested too deeply") from None
    if project is None:
        return None
    try:
        return _NAME.validate_python(project, strict=True)
    except ValidationError as fault:
        raise _unusable(file, f"{_KEY}: {fault.errors()[0]['msg']}") from None


def _unusable(file: Path, reason: str) -> ValidationFailure:
    return ValidationFailure.at(CONFIG_NAME, code="config", message=f"{shown(str(file))}: {reason}")


# ---- git -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Repository:
    """A git repository that was found, and the URL of its remote, if it has one that can be told."""

    remote: str | None


def _repository(entry: Path) -> _Repository | None:
    """Return the repository that a `.git` is or leads to; None where there is none."""
    try:
        folder = _git_folder(entry)
        if folder is None:
            return None
        text = _bounded(_common_folder(folder) / "config", _GIT_CONFIG_MAX_BYTES)
    except (OSError, ValueError, _TooLargeError):
        return _Repository(None)
    url = None if text is None else remote_url(text.decode(errors="replace"))
    usable = url is not None and len(url) <= PATH_MAX_CHARS and not unsafe_text(url)
    return _Repository(url if usable else None)


def _git_folder(entry: Path) -> Path | None:
    """Return the folder that a repository's `.git` is, or that the file in its place names."""
    try:
        mode = entry.stat().st_mode
    except OSError:
        return None
    if stat.S_ISDIR(mode):
        return entry if (entry / "HEAD").exists() else None  # git goes on above an empty one, too
    pointer = _line(entry)
    return None if pointer is None else entry.parent / pointer.removeprefix("gitdir:").strip()


def _common_folder(folder: Path) -> Path:
    """Return where a worktree has what all worktrees of a repository share; any other folder is that itself."""
    common = _line(folder / "commondir")
    return folder if common is None else folder / common


def _line(file: Path) -> str | None:
    text = _bounded(file, _POINTER_MAX_BYTES)
    return None if text is None else os.fsdecode(text).strip()


# ---- reading ---------------------------------------------------------------------------------------------------


class _TooLargeError(Exception):
    """A file has more than anybody wrote into it by hand; the text says what may be there."""


def _bounded(file: Path, max_bytes: int) -> bytes | None:
    """Return what a file holds, None where there is none. OSError; _TooLargeError. Waits for no pipe."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with open(descriptor, "rb") as opened:  # noqa: PTH123 (a descriptor, not a path)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "is no regular file")
        content = opened.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise _TooLargeError(f"has more than {max_bytes} bytes")
    return content
