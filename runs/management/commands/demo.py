"""`demo`: a run worth watching, recorded from a folder of yours."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from contract.application import StudioApplication
from contract.runs import RunDetail, RunReadQuery
from runs.demo import play_demo
from studio_project.commands import AsJson, Remote, StudioCommand, Token
from studio_project.composition import this_process
from studio_project.system import SystemClock
from studio_project.terminal import Terminal

_PACE_SECONDS = 0.5


class Command(StudioCommand):
    """Survey a folder and record it as a run, as it goes."""

    help = "Survey a folder and record it as a run, as it goes: something true to watch. Nothing leaves this machine."

    def handle(
        self,
        folder: Annotated[Path, Argument(help="The folder to survey; it is only read.")] = Path(),
        *,
        pace: Annotated[float, Option(min=0, max=60, help="Seconds between two steps, so that one can watch.")] = (
            _PACE_SECONDS
        ),
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Record the survey; ends when the run has ended."""
        watcher = _Watcher(self.terminal, quiet=as_json)

        async def operation(studio: StudioApplication) -> RunDetail:
            run_id = await play_demo(
                studio, folder, pace_seconds=pace, clock=SystemClock(), process=this_process(), watch=watcher.told
            )
            return await studio.get_run(run_id, RunReadQuery())

        run = self.ask(operation, remote=remote, token=token)
        if as_json:
            self.terminal.model(run)
        else:
            self.terminal.note(
                f"run {run.run_id} {run.status}: {run.message_count} messages, {run.signal_count} signals"
            )


class _Watcher:
    """Prints each message as it was recorded, after saying once how to follow the run elsewhere."""

    def __init__(self, terminal: Terminal, *, quiet: bool) -> None:
        self._terminal = terminal
        self._quiet = quiet
        self._begun = False

    def told(self, run_id: str, text: str) -> None:
        """Print one message."""
        if not self._begun:
            self._terminal.note(f"run {run_id} begins; follow it elsewhere with: studio run tail {run_id}")
            self._begun = True
        for line in [] if self._quiet else text.split("\n"):
            self._terminal.line(line)
