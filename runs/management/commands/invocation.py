"""`invocation`: what caused runs, listed and shown from the command line."""

from typing import Annotated

from django_typer.management import command
from typer import Argument, Option

from contract.application import StudioApplication
from contract.base import Page
from contract.parsing import parse_query
from contract.runs import InvocationDetail, InvocationQuery, InvocationSummary
from runs.management import presentation
from studio_project.command_input import given, reader_zone
from studio_project.commands import AsJson, Cursor, Limit, Offset, Remote, StudioCommand, Token


class Command(StudioCommand):
    """Invocations: list and show."""

    @command("list")
    def list_invocations(
        self,
        *,
        kind: Annotated[str | None, Option(help="Exactly this kind.")] = None,
        limit: Limit = None,
        offset: Offset = None,
        cursor: Cursor = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """List invocations, newest first."""
        options = given(kind=kind, limit=limit, offset=offset, cursor=cursor)

        async def operation(studio: StudioApplication) -> Page[InvocationSummary]:
            return await studio.list_invocations(parse_query(InvocationQuery, options))

        page = self.ask(operation, remote=remote, token=token)
        if as_json:
            self.terminal.model(page)
        else:
            self.terminal.table(presentation.invocations_table(page.items, reader_zone()))
            if page.next_cursor is not None:
                self.terminal.note(f"more: --cursor {page.next_cursor}")

    @command()
    def show(
        self,
        invocation_id: Annotated[str, Argument(metavar="ID", help="The invocation.")],
        *,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Show an invocation and its runs."""

        async def operation(studio: StudioApplication) -> InvocationDetail:
            return await studio.get_invocation(invocation_id)

        invocation = self.ask(operation, remote=remote, token=token)
        if as_json:
            self.terminal.model(invocation)
        else:
            zone = reader_zone()
            self.terminal.lines(presentation.invocation_lines(invocation, zone))
            self.terminal.table(presentation.runs_table(invocation.runs, zone))
