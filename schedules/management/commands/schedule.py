"""`schedule`: schedules made, changed, fired, looked at, and kept as a file, from the command line."""

import os
from typing import Annotated

from django_typer.management import command
from typer import Argument, Option

from contract.application import StudioApplication
from contract.errors import ValidationFailure
from contract.limits import BODY_MAX_BYTES
from contract.schedule_sets import ApplyResult, ScheduleSet
from schedules.management import presentation
from schedules.management.deciding import DecidingCommands
from schedules.management.set_files import SetFile, set_text
from studio_project.command_input import reader_zone
from studio_project.commands import AsJson, Remote, Token
from studio_project.text_source import STANDARD_INPUT, read_text


class Command(DecidingCommands):
    """Schedules: list, show, create, update, enable, disable, fire, preview, why, apply, export and more."""

    @command()
    def apply(
        self,
        file: Annotated[str, Argument(metavar="FILE|-", help="YAML: `schedules`, a list of them.")],
        *,
        dry_run: Annotated[bool, Option("--dry-run", help="Only show what would be changed.")] = False,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Make the schedules those of a file: new ones are created, known ones updated, others disabled."""
        if file == STANDARD_INPUT and os.isatty(self.standard_input):
            self.terminal.note("reading the set from the terminal; Ctrl-D on an empty line ends it")
        try:
            # Before anything runs that a blocked read would keep from hearing of Ctrl-C.
            said = SetFile(read_text(file, self.standard_input, max_bytes=BODY_MAX_BYTES), zone=reader_zone())
            wanted = said.command(dry_run=dry_run)
        except ValidationFailure as failure:
            self.fail(failure)

        async def carry_out(studio: StudioApplication) -> ApplyResult:
            try:
                return await studio.apply_schedules(wanted)
            except ValidationFailure as failure:
                raise said.placed(failure) from None

        self.told(self.ask(carry_out, remote=remote, token=token), presentation.plan_lines, as_json=as_json)

    @command()
    def export(self, *, as_json: AsJson = False, remote: Remote = None, token: Token = None) -> None:
        """Print every schedule as YAML; applied again it changes nothing."""

        async def read(studio: StudioApplication) -> ScheduleSet:
            return await studio.export_schedules()

        found = self.ask(read, remote=remote, token=token)
        if as_json:
            self.terminal.model(found)
        else:
            self.terminal.content(set_text(found))
