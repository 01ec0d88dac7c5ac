"""The demo: the launch of an agent that surveys a folder, so that there is something true to watch."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from contract.actions import LaunchResult, LaunchRun
from contract.base import Page
from contract.errors import Conflict, shown
from contract.parsing import parse_model
from contract.runs import RunQuery, RunSummary

# Slow enough to watch, fast enough to wait for.
PACE_SECONDS: Final = 0.5
_AGENT: Final = "studio-demo-agent"
_ONCE_KEY: Final = "demo"
_NAME_MAX_CHARS: Final = 200


class Launching(Protocol):
    """What the demo asks of the application when it is to be there once."""

    async def list_runs(self, query: RunQuery) -> Page[RunSummary]:
        """Return one page of runs."""
        ...

    async def launch_run(self, command: LaunchRun) -> LaunchResult:
        """Queue a run."""
        ...


def demo_agent() -> str:
    """Return the path of this installation's agent, which stands beside its interpreter, whatever PATH says."""
    return str(Path(sys.executable).absolute().with_name(_AGENT))


def demo_launch(folder: Path, *, agent: str, pace_seconds: float, launch_key: str | None = None) -> LaunchRun:
    """Return the launch of a survey of a folder. ValidationFailure for one that cannot be named."""
    path = folder.resolve()
    fields = {
        "kind": "command",
        "command": [agent, f"--pace={pace_seconds:g}"],
        "cwd": str(path),
        "name": f"survey of {shown(path.name or str(path))}"[:_NAME_MAX_CHARS],
        "tags": ["demo"],
        "launch_key": launch_key,
    }
    return parse_model(LaunchRun, fields)


async def launch_once(studio: Launching, folder: Path, *, agent: str) -> None:
    """Launch the demo on a store that has no run yet; its key makes that once, whoever else does so at this moment."""
    if (await studio.list_runs(RunQuery(limit=1))).items:
        return
    with suppress(Conflict):  # it was launched for another folder
        await studio.launch_run(demo_launch(folder, agent=agent, pace_seconds=PACE_SECONDS, launch_key=_ONCE_KEY))
