"""The definitions that every daemon under measurement has, and their files: the same for ours and for the peer."""

import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.benchmarks.daemons import ROOT, own_environment
from tests.benchmarks.homes import Fill

# Of an agent as people write them: some pages of instructions.
SIZE_BYTES: Final = 4 * 1024
_FOLDER: Final = "agents"
_HEAD: Final = "---\nmodel: openai/gpt-5\ndescription: agent number {number}\n---\n"
_LINE: Final = "Read the whole of the issue before you change anything, and say what you found.\n"


def name_of(number: int) -> str:
    """Return the name of a seeded definition."""
    return f"agent-{number:05}"


def path_of(number: int) -> str:
    """Return where its file is below the home."""
    return f"{_FOLDER}/{name_of(number)}.md"


def text_of(number: int) -> str:
    """Return 4 KiB that no other definition holds."""
    head = _HEAD.format(number=number)
    return (head + _LINE * (SIZE_BYTES // len(_LINE) + 1))[: SIZE_BYTES - 1] + "\n"


def write_files(home: Path, count: int) -> None:
    """Write the files of the first definitions, as an editor does."""
    (home / _FOLDER).mkdir(exist_ok=True)
    for number in range(count):
        (home / path_of(number)).write_text(text_of(number))


def fill_definitions(count: int, pending: int) -> Fill:
    """Return what seeds a home of ours with so many definitions, of which some were being saved when it ended."""

    def fill(home: Path, _: float) -> None:
        command = [sys.executable, "-m", "tests.benchmarks.definition_seeding", str(count), str(pending)]
        subprocess.run(command, cwd=ROOT, env=own_environment(home), check=True)

    return fill
