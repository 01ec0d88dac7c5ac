"""`definition list|show|history|diff`: what reads."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Annotated, NoReturn, TypeVar

from django_typer.management import command
from typer import Argument, Option

from contract.application import StudioApplication
from contract.base import ContractModel, Page
from contract.definitions import (
    DefinitionDetail,
    DefinitionQuery,
    DefinitionSummary,
    DefinitionVersion,
    DefinitionVersionSummary,
    VersionQuery,
)
from contract.diffs import DefinitionDiff, DiffQuery
from contract.errors import StudioError
from contract.limits import DEFINITION_LIST_LIMIT_MAX
from contract.parsing import parse_query
from definitions.management import presentation
from definitions.management.refusals import Refused, remote_options, way_on
from studio_project.command_input import given, reader_zone
from studio_project.commands import AsJson, Cursor, Remote, StudioCommand, Token
from studio_project.paging import read_every_page

Q = TypeVar("Q", bound=ContractModel)
T = TypeVar("T")

Kind = Annotated[str, Argument(metavar="agent|playbook", help="The kind of the definition.")]
Name = Annotated[str, Argument(metavar="NAME", help="Its name.")]
Limit = Annotated[str | None, Option(metavar="N", help="Rows of a page (default: all).")]


class ReadingCommands(StudioCommand):
    """List, show, history, diff; and what every command on definitions says of an error."""

    def ask(
        self, operation: Callable[[StudioApplication], Awaitable[T]], *, remote: str | None, token: str | None
    ) -> T:
        """Run one operation to its end. An error ends the command, and stderr says how to go on."""
        answer = self.attempt(operation, remote=remote, token=token)
        return self.refuse(answer) if isinstance(answer, Refused) else answer

    def attempt(
        self, operation: Callable[[StudioApplication], Awaitable[T]], *, remote: str | None, token: str | None
    ) -> T | Refused:
        """Run one operation; return its error with what was found out about it."""

        async def attempted(studio: StudioApplication) -> T | Refused:
            try:
                return await operation(studio)
            except StudioError as error:
                return Refused(error=error, notes=await way_on(error, studio, remote_options(remote)))

        return super().ask(attempted, remote=remote, token=token)

    def refuse(self, refused: Refused) -> NoReturn:
        """Say an error and how to go on, and end with its exit code."""
        try:
            self.fail(refused.error)
        finally:
            self.notes(refused.notes)

    @command("list")
    def list_definitions(
        self,
        *,
        kind: Annotated[str | None, Option(metavar="agent|playbook", help="Only this kind.")] = None,
        search: Annotated[str | None, Option(help="A part of the name, whatever the case.")] = None,
        deleted: Annotated[bool, Option("--deleted", help="Also those that have a history and no file.")] = False,
        limit: Limit = None,
        cursor: Cursor = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """List definitions, each compared with its file as it is now."""
        options = given(kind=kind, search=search, deleted="true" if deleted else None, limit=limit, cursor=cursor)

        def read(studio: StudioApplication) -> Awaitable[Page[DefinitionSummary]]:
            query = parse_query(DefinitionQuery, options)
            return self.page(studio.list_definitions, query, "definitions", whole=not (as_json or limit))

        page = self.ask(read, remote=remote, token=token)
        if as_json:
            self.terminal.model(page)
        else:
            self.terminal.table(presentation.definitions_table(page.items, reader_zone()))
            self.notes(presentation.problem_notes(page.items))
            self.more(page.next_cursor)

    @command()
    def show(
        self,
        kind: Kind,
        name: Name,
        *,
        wanted: Annotated[int | None, Option("--version", metavar="N", help="This version, not the file.")] = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Print a definition's file, or a version of it, as it is."""

        async def read(studio: StudioApplication) -> DefinitionDetail | DefinitionVersion:
            if wanted is None:
                return await studio.get_definition(kind, name)
            return await studio.get_definition_version(kind, name, wanted)

        found = self.ask(read, remote=remote, token=token)
        if as_json:
            self.terminal.model(found)
        else:
            self.terminal.content(found.content)
            self.notes(presentation.content_notes(found))

    @command()
    def history(
        self,
        kind: Kind,
        name: Name,
        *,
        limit: Limit = None,
        cursor: Cursor = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """List the versions of a definition, newest first."""
        options = given(limit=limit, cursor=cursor)

        def read(studio: StudioApplication) -> Awaitable[Page[DefinitionVersionSummary]]:
            query = parse_query(VersionQuery, options)
            return self.page(
                lambda step: studio.list_definition_versions(kind, name, step),
                query,
                "versions",
                whole=not (as_json or limit),
            )

        page = self.ask(read, remote=remote, token=token)
        if as_json:
            self.terminal.model(page)
        else:
            self.terminal.table(presentation.versions_table(page.items, reader_zone()))
            self.more(page.next_cursor)

    @command()
    def diff(  # noqa: PLR0913 (the fields of DiffQuery are options)
        self,
        kind: Kind,
        name: Name,
        *,
        from_: Annotated[str | None, Option("--from", metavar="N", help="Default: the version before.")] = None,
        to: Annotated[str | None, Option("--to", metavar="N", help="Default: the newest version.")] = None,
        file: Annotated[bool, Option("--file", help="To the file as it is now.")] = False,
        context: Annotated[str | None, Option(metavar="N", help="Equal lines around a change (default: 3).")] = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Compare two versions, or a version and the file, as `patch` reads it."""
        options = given(**{"from": from_, "to": to, "file": "true" if file else None, "context": context})

        async def read(studio: StudioApplication) -> DefinitionDiff:
            return await studio.diff_definition(kind, name, parse_query(DiffQuery, options))

        found = self.ask(read, remote=remote, token=token)
        if as_json:
            self.terminal.model(found)
        else:
            self._diff(found)

    async def page(self, read: Callable[[Q], Awaitable[Page[T]]], query: Q, what: str, *, whole: bool) -> Page[T]:
        """Return one page, or everything as one."""
        if not whole:
            return await read(query)
        size = DEFINITION_LIST_LIMIT_MAX
        return await read_every_page(read, query, page_size=size, what=what, terminal=self.terminal)

    def notes(self, notes: Iterable[str]) -> None:
        """Say what is no result."""
        for note in notes:
            self.terminal.note(note)

    def more(self, cursor: str | None) -> None:
        """Say how a list goes on."""
        if cursor is not None:
            self.terminal.note(f"more: --cursor {cursor}")

    def _diff(self, found: DefinitionDiff) -> None:
        self.notes(presentation.diff_notes(found))
        if self.terminal.for_people:
            self.terminal.lines(presentation.diff_lines(found))
        else:
            self.terminal.content(found.unified)
