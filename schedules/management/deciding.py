"""`schedule fire|skip-next|pause-all|resume-all`: decisions of a person."""

from typing import Annotated

from django_typer.management import command
from typer import Exit, Option

from contract.application import StudioApplication
from contract.parsing import parse_model
from contract.schedules import FireSchedule, Firing, PauseResult
from schedules.management import options, presentation
from schedules.management.changing import ChangingCommands
from schedules.management.finding import find_schedule
from studio_project.command_input import reader_zone
from studio_project.commands import AsJson, Remote, Token, nobody_works
from studio_project.run_tailing import Tail
from studio_project.system import RandomIds


class DecidingCommands(ChangingCommands):
    """Fire, skip-next, pause-all, resume-all."""

    @command()
    def fire(
        self,
        which: options.Which,
        *,
        force: Annotated[bool, Option("--force", help="Whatever its overlap policy and its caps say.")] = False,
        fire_key: Annotated[str | None, Option(metavar="KEY", help="The same key again fires nothing.")] = None,
        wait: Annotated[bool, Option("--wait", help="Follow the run to its end; exits with 3 if it fails.")] = False,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Fire a schedule now, enabled or not."""

        async def fired(studio: StudioApplication) -> int:
            # A key of our own: when an answer gets lost, the firing can be asked for again without a second one.
            command = parse_model(
                FireSchedule, {"force": force, "fire_key": RandomIds().new_id() if fire_key is None else fire_key}
            )
            found = await find_schedule(studio, which)
            firing = await studio.fire_schedule(found.schedule_id, command)
            self._decided(firing, found.name, as_json=as_json)
            if nobody_works(remote, token):
                self.terminal.note("it waits for a worker: `studio serve` or `studio worker`")
            return await self._followed(studio, firing.run_id, as_json=as_json) if wait and firing.run_id else 0

        if exit_code := self.ask(fired, remote=remote, token=token):
            raise Exit(exit_code)

    @command("skip-next")
    def skip_next(
        self, which: options.Which, *, as_json: AsJson = False, remote: Remote = None, token: Token = None
    ) -> None:
        """Drop the next occurrence of a schedule, and leave a firing that says so."""

        async def skip(studio: StudioApplication) -> tuple[Firing, str]:
            found = await find_schedule(studio, which)
            return await studio.skip_next(found.schedule_id), found.name

        firing, name = self.ask(skip, remote=remote, token=token)
        self._decided(firing, name, as_json=as_json)

    @command("pause-all")
    def pause_all(self, *, as_json: AsJson = False, remote: Remote = None, token: Token = None) -> None:
        """Disable every schedule that is enabled, until `resume-all`."""

        async def pause(studio: StudioApplication) -> PauseResult:
            return await studio.pause_schedules()

        result = self.ask(pause, remote=remote, token=token)
        self.told(result, lambda done: [presentation.pause_line(done, "paused")], as_json=as_json)

    @command("resume-all")
    def resume_all(self, *, as_json: AsJson = False, remote: Remote = None, token: Token = None) -> None:
        """Enable exactly those that `pause-all` disabled. What came due meanwhile is not replayed."""

        async def resume(studio: StudioApplication) -> PauseResult:
            return await studio.resume_schedules()

        result = self.ask(resume, remote=remote, token=token)
        self.told(result, lambda done: [presentation.pause_line(done, "resumed")], as_json=as_json)

    def _decided(self, firing: Firing, name: str, *, as_json: bool) -> None:
        self.told(firing, lambda made: [presentation.firing_line(made, name)], as_json=as_json)

    async def _followed(self, studio: StudioApplication, run_id: str, *, as_json: bool) -> int:
        tail = Tail(run_id, None, signals=False, as_json=as_json, terminal=self.terminal, zone=reader_zone())
        return await tail.follow_launched(studio)
