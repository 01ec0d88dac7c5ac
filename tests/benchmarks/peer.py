"""The peer: `lionagi[studio]`, which the decisions behind Studio were written for, in a virtualenv of its own."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.benchmarks import peer_store
from tests.benchmarks.daemons import LiveDaemon, free_port, launch
from tests.benchmarks.homes import Fill
from tests.benchmarks.http_client import HOST

_PACKAGE: Final = "lionagi[studio]"
READY: Final = "/health"
# It settles a thousand orphans among 100,000 runs in three minutes.
READY_SECONDS: Final = 400.0
# Finds the schema without importing the package, which takes seconds.
_FIND: Final = "import importlib.util as u; print(u.find_spec('lionagi').submodule_search_locations[0])"


class PeerMissing(Exception):
    """The peer could not be installed."""


def install(folder: Path) -> Path:
    """Return the interpreter of the peer's virtualenv, made and filled if there is none. Raises PeerMissing."""
    python = folder / "bin" / "python"
    try:
        if not python.exists():
            _run(sys.executable, "-m", "venv", str(folder))
            _run(str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", _PACKAGE)
        _run(str(python), "-c", _FIND)
    except (OSError, subprocess.CalledProcessError) as error:
        raise PeerMissing(f"{_PACKAGE} cannot be installed into {folder}: {error}") from error
    return python


def version(python: Path) -> str:
    """Return which version of the peer is installed."""
    return _run(str(python), "-c", "from importlib.metadata import version; print(version('lionagi'))")


def filling(python: Path, count: int, *, orphans: bool) -> Fill:
    """Return what seeds the peer's home with `count` runs; without `orphans` none of them is left running."""

    def fill(home: Path, until: float) -> None:
        schema = Path(_run(str(python), "-c", _FIND)) / "state" / "schema.sql"
        peer_store.seed(home / peer_store.NAME, schema.read_text(), count, until=until, orphans=orphans)

    return fill


def serve(python: Path, home: Path, *, runs: int, until: float) -> LiveDaemon:
    """Start the peer's daemon on its home, with nothing of this user's to mirror; it is not ready yet."""
    port = free_port()
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "LIONAGI_HOME": str(home),
        "LIONAGI_STUDIO_HOST": HOST,
        "LIONAGI_STUDIO_PORT": str(port),
    }
    command = [str(python), "-m", "lionagi.studio"]
    return launch(command, environment, home=home, port=port, runs=runs, until=until)


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
