"""The contract's artifacts as files: made anew, written, and compared with those that are checked in.

They are made in a process of its own on an empty home, so that neither the settings nor the data of whoever asks
have a part in them.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from difflib import unified_diff
from itertools import islice
from pathlib import Path
from typing import Final

import contract
from studio_project.config import isolated_environment
from studio_project.contract_recording import TOKEN

CHECKED_IN: Final = Path(str(contract.__path__[0]))
RECORD_COMMAND: Final = ("contract", "record")
_PROJECT: Final = Path(__file__).parents[1]
_PATTERNS: Final = ("openapi.json", "routes.json", "examples/*.json", "sse/*.ndjson")
# Enough of a difference to see what it is about.
_SHOWN_LINES: Final = 12


class RecordingFailed(Exception):
    """The application could not be recorded; the text is what it said."""


def make() -> dict[str, str]:
    """Return every artifact by its path below `contract/`. Raises RecordingFailed."""
    with tempfile.TemporaryDirectory(prefix="studio-contract-") as folder:
        home, made = Path(folder, "home"), Path(folder, "made")
        home.mkdir()
        command = [sys.executable, "-m", "django", *RECORD_COMMAND, str(made)]
        environment = isolated_environment(home, auth_token=TOKEN, timezone="UTC")
        done = subprocess.run(  # noqa: S603 (this very program)
            command, cwd=_PROJECT, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise RecordingFailed(done.stderr.strip() or done.stdout.strip())
        return read(made)


def read(folder: Path) -> dict[str, str]:
    """Return the artifacts that a folder holds."""
    found = (path for pattern in _PATTERNS for path in folder.glob(pattern))
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in sorted(found)}


def write(files: Mapping[str, str], folder: Path) -> list[str]:
    """Make the folder's artifacts exactly these; return the paths that were written or removed."""
    present = read(folder)
    for name in present.keys() - files.keys():
        (folder / name).unlink()
    changed = [name for name, text in files.items() if present.get(name) != text]
    for name in changed:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[name], encoding="utf-8", newline="\n")
    return sorted([*changed, *(present.keys() - files.keys())])


def drift(checked_in: Mapping[str, str], made: Mapping[str, str]) -> list[str]:
    """Return one paragraph for each artifact that is not as the code makes it: its path, and the first differences."""
    return [
        _paragraph(name, checked_in.get(name), made.get(name))
        for name in sorted(checked_in.keys() | made.keys())
        if checked_in.get(name) != made.get(name)
    ]


def _paragraph(name: str, before: str | None, after: str | None) -> str:
    if before is None:
        return f"{name}: is not checked in"
    if after is None:
        return f"{name}: is checked in, but no longer made"
    lines = unified_diff(before.splitlines(), after.splitlines(), "checked in", "made", n=0, lineterm="")
    return "\n".join([f"{name}: differs", *_indented(islice(lines, _SHOWN_LINES))])


def _indented(lines: Iterable[str]) -> Iterable[str]:
    return (f"  {line}" for line in lines)
