"""One `run launch`: the run queued, told, and followed to its end if that was asked for."""

from collections.abc import Callable, Mapping
from datetime import tzinfo

from contract.actions import LaunchResult, LaunchRun
from contract.application import StudioApplication
from contract.parsing import parse_model
from runs.management.presentation import launched_line
from studio_project.run_tailing import Tail
from studio_project.system import RandomIds
from studio_project.terminal import Terminal


class LaunchSession:
    """Launches what `fields` of LaunchRun describe. `waits` says that nobody seems to be there who would execute it."""

    def __init__(
        self,
        fields: Mapping[str, object],
        *,
        follow: bool,
        as_json: bool,
        terminal: Terminal,
        zone: tzinfo,
        waits: Callable[[], bool],
    ) -> None:
        self._fields = fields
        self._follow = follow
        self._as_json = as_json
        self._terminal = terminal
        self._zone = zone
        self._waits = waits

    async def launch(self, studio: StudioApplication) -> int:
        """Launch; return the exit code."""
        # A key of our own: a launch whose answer got lost can then be repeated without making a second run.
        result = await studio.launch_run(parse_model(LaunchRun, {"launch_key": RandomIds().new_id(), **self._fields}))
        if self._as_json:
            self._terminal.model(result)
        else:
            self._terminal.line(*launched_line(result))
        if result.status == "queued" and self._waits():
            self._terminal.note("it waits for a worker: `studio serve` or `studio worker`")
        return await self._followed(studio, result) if self._follow else 0

    async def _followed(self, studio: StudioApplication, result: LaunchResult) -> int:
        tail = Tail(result.run_id, None, signals=False, as_json=self._as_json, terminal=self._terminal, zone=self._zone)
        return await tail.follow_launched(studio)
