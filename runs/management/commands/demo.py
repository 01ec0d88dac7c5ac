"""`demo`: a run worth watching, launched on a folder of yours."""

import asyncio
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from contract.application import StudioApplication
from contract.runs import RunDetail, RunReadQuery
from runs.demo import PACE_SECONDS, demo_agent, demo_launch
from runs.demo_agent import PACE_SECONDS_MAX
from studio_project.command_input import reader_zone
from studio_project.commands import EXIT_UNFORESEEN, AsJson, Remote, StudioCommand, Token
from studio_project.composition import Studio, build_studio
from studio_project.config import current_config
from studio_project.home import is_worked
from studio_project.run_operations import allow_demo
from studio_project.run_tailing import Tail
from studio_project.terminal import Terminal


def _demo_studio() -> Studio:
    """Return a Studio that may launch the demo's agent."""
    return build_studio(allow_demo(current_config()))


class Command(StudioCommand):
    """Launch a survey of a folder and follow it."""

    help = "Launch a survey of a folder and follow it: something true to watch. Nothing leaves this machine."

    in_process: Callable[[], StudioApplication] = staticmethod(_demo_studio)
    # The executable that is launched.
    agent: str = demo_agent()

    def handle(
        self,
        folder: Annotated[Path, Argument(help="The folder to survey; it is only read.")] = Path(),
        *,
        pace: Annotated[
            float, Option(min=0, max=PACE_SECONDS_MAX, help="Seconds between two steps, so that one can watch.")
        ] = PACE_SECONDS,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Follow the run until it has ended; exits with 1 when it failed."""

        async def operation(studio: StudioApplication) -> RunDetail:
            launched = await studio.launch_run(demo_launch(folder, agent=self.agent, pace_seconds=pace))
            self.terminal.note(
                f"run {launched.run_id} begins; follow it elsewhere with: studio run tail {launched.run_id}"
            )
            await self._follow(studio, launched.run_id, quiet=as_json)
            return await studio.get_run(launched.run_id, RunReadQuery())

        run = self.ask(operation, remote=remote, token=token)
        if as_json:
            self.terminal.model(run)
        self._say_end(run)

    async def _follow(self, studio: StudioApplication, run_id: str, *, quiet: bool) -> None:
        terminal = Terminal(StringIO(), self.stderr) if quiet else self.terminal
        tail = Tail(run_id, None, signals=False, as_json=False, terminal=terminal, zone=reader_zone())
        if isinstance(studio, Studio) and not is_worked(studio.config.home):
            await _execute_here(studio, run_id, tail)
            return
        try:
            await tail.follow(studio)
        except asyncio.CancelledError:
            self.terminal.note(f"run {run_id} goes on; to end it: studio run cancel {run_id}")
            raise

    def _say_end(self, run: RunDetail) -> None:
        why = f": {run.status_reason_summary}" if run.status_reason_summary else ""
        counts = f"{run.message_count} messages, {run.signal_count} signals"
        self.terminal.note(f"run {run.run_id} {run.status}{why} ({counts})")
        if run.status == "failed":
            raise Exit(EXIT_UNFORESEEN)


async def _execute_here(studio: Studio, run_id: str, tail: Tail) -> None:
    """Be the worker of this one run while it is followed; whatever ends the one ends the other."""
    tasks: tuple[asyncio.Task[object], ...] = (
        asyncio.create_task(tail.follow(studio)),
        asyncio.create_task(studio.work(only=run_id)),
    )
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in done:
        task.result()
