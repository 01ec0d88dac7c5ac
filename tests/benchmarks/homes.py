"""Seeded homes: made for one benchmark, or kept in a folder for the next."""

import hashlib
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.benchmarks.daemons import ROOT, own_environment

_UNTIL: Final = "seeded-until"
# What a kept home depends on: another population or another schema needs another home.
_MAKERS: Final = tuple(
    f"tests/benchmarks/{name}.py"
    for name in ("population", "seeding", "peer_store", "definition_files", "definition_seeding")
)
_SCHEMAS: Final = "*/migrations/0*.py"

Fill = Callable[[Path, float], None]


@dataclass(frozen=True, slots=True)
class Seeds:
    """Where homes are made, and where they are kept between benchmarks if anywhere."""

    work: Path
    kept: Path | None

    def home(self, name: str, fill: Fill) -> tuple[Path, float]:
        """Return a fresh home and the instant where its runs end; `fill` makes it unless one is kept."""
        home = self.work / name
        if self.kept is None:
            return home, _filled(home, fill)
        kept = self.kept / f"{name}-{_fingerprint()}"
        if not (kept / _UNTIL).exists():
            _filled(kept, fill)
        shutil.copytree(kept, home)
        return home, float((home / _UNTIL).read_text())


def fill_studio(count: int) -> Fill:
    """Return what seeds a home of ours with `count` runs."""

    def fill(home: Path, until: float) -> None:
        command = [sys.executable, "-m", "tests.benchmarks.seeding", str(count), repr(until)]
        subprocess.run(command, cwd=ROOT, env=own_environment(home), check=True)

    return fill


def _filled(home: Path, fill: Fill) -> float:
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    until = time.time()
    fill(home, until)
    (home / _UNTIL).write_text(repr(until))
    return until


def _fingerprint() -> str:
    files = [*(ROOT / name for name in _MAKERS), *sorted(ROOT.glob(_SCHEMAS))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
