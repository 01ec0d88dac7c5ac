"""`definition`: definitions read, saved, edited, restored and reconciled from the command line."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from django_typer.management import command
from typer import Argument, Option

from contract.application import StudioApplication
from contract.base import Page
from contract.definitions import (
    DeleteDefinition,
    Reconciliation,
    ReconciliationDetail,
    ReconciliationQuery,
    ResolveReconciliation,
    RollbackDefinition,
    SaveDefinition,
    SaveResult,
    SnapshotDefinitions,
    SnapshotResult,
)
from contract.errors import ValidationFailure
from contract.parsing import parse_model, parse_query
from definitions.management import presentation
from definitions.management.editing import EditingSession
from definitions.management.reading import Kind, Limit, Name, ReadingCommands
from definitions.management.refusals import Refused, remote_options
from definitions.management.starting import Start, read_start
from definitions.names import require_name
from studio_project.command_input import given, named, reader_zone
from studio_project.commands import AsJson, Cursor, Remote, Token
from studio_project.config import current_editor
from studio_project.text_source import STANDARD_INPUT, read_text

Message = Annotated[str | None, Option(help="What for, for those who read the history later.")]
Actor = Annotated[str | None, Option(help="Who does it (default: operator).")]
Expected = Annotated[
    int | None, Option("--expected-version", metavar="N", help="Only if this is the newest version; 0 is none.")
]


class Command(ReadingCommands):
    """Definitions: list, show, history, diff, save, edit, rollback, delete, snapshot, reconcile."""

    # The descriptor that `-` reads from.
    standard_input: int = 0
    # The command line of the user's editor.
    editor: Callable[[], str] = staticmethod(current_editor)
    # Where a text lies while it is edited (None: the system's folder for temporary files).
    drafts: Path | None = None

    @command()
    def save(  # noqa: PLR0913 (the fields of SaveDefinition are options)
        self,
        kind: Kind,
        name: Name,
        file: Annotated[str, Argument(metavar="FILE|-", help="The new content.")] = STANDARD_INPUT,
        *,
        message: Message = None,
        expected_version: Expected = None,
        actor: Actor = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Save a definition from a file or a pipe as its next version."""
        fields = named(kind=kind, name=name, message=message, actor=actor, expected_version=expected_version)
        if file == STANDARD_INPUT and os.isatty(self.standard_input):
            self.terminal.note("reading the content from the terminal; Ctrl-D on an empty line ends it")
        try:
            # Before anything runs that a blocked read would keep from hearing of Ctrl-C.
            fields["content"] = read_text(file, self.standard_input)
        except ValidationFailure as failure:
            self.fail(failure)

        async def save(studio: StudioApplication) -> SaveResult:
            return await studio.save_file_definition(parse_model(SaveDefinition, fields))

        self._told(self.ask(save, remote=remote, token=token), "saved", as_json=as_json)

    @command()
    def edit(
        self,
        kind: Kind,
        name: Name,
        *,
        message: Message = None,
        actor: Actor = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Edit a definition in $VISUAL or $EDITOR. Your text is kept whatever happens."""
        fields = named(kind=kind, name=name, message=message, actor=actor)

        async def begin(studio: StudioApplication) -> Start:
            command = parse_model(SaveDefinition, {**fields, "content": ""})
            require_name(name, "name")
            return await read_start(studio, command.kind, name, actor)

        start = self.ask(begin, remote=remote, token=token)
        self.notes(start.notes)

        def save(content: str) -> SaveResult | Refused:
            command = {**fields, "content": content, "expected_version": start.version}
            return self.attempt(
                lambda studio: studio.save_file_definition(parse_model(SaveDefinition, command)),
                remote=remote,
                token=token,
            )

        session = EditingSession(
            start=start,
            editor=self.editor(),
            terminal=self.terminal,
            save=save,
            refuse=self.refuse,
            options=remote_options(remote),
            folder=self.drafts,
        )
        result = session.run()
        if result is None:
            self.terminal.note("unchanged: nothing was saved")
        else:
            self._told(result, "saved", as_json=as_json)

    @command()
    def rollback(  # noqa: PLR0913 (the fields of RollbackDefinition are options)
        self,
        kind: Kind,
        name: Name,
        wanted: Annotated[int, Argument(metavar="VERSION", help="The version whose content is wanted again.")],
        *,
        message: Message = None,
        expected_version: Expected = None,
        actor: Actor = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Save an earlier version's content as the newest; restores what was deleted, too."""
        fields = named(version=wanted, message=message, expected_version=expected_version, actor=actor)

        async def restore(studio: StudioApplication) -> SaveResult:
            return await studio.rollback_definition(kind, name, parse_model(RollbackDefinition, fields))

        result = self.ask(restore, remote=remote, token=token)
        self._told(result, f"version {wanted} restored", as_json=as_json)

    @command()
    def delete(
        self,
        kind: Kind,
        name: Name,
        *,
        message: Message = None,
        expected_version: Expected = None,
        actor: Actor = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Delete a definition's file. Its history stays, and `rollback` restores it."""
        fields = named(message=message, expected_version=expected_version, actor=actor)

        async def delete(studio: StudioApplication) -> SaveResult:
            return await studio.delete_definition(kind, name, parse_model(DeleteDefinition, fields))

        self._told(self.ask(delete, remote=remote, token=token), "deleted", as_json=as_json)

    @command()
    def snapshot(
        self,
        kind: Annotated[str | None, Argument(metavar="[agent|playbook]", help="Only this kind.")] = None,
        name: Annotated[str | None, Argument(metavar="[NAME]", help="Only this one.")] = None,
        *,
        message: Message = None,
        actor: Actor = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Make versions of what was done to files by hand."""
        fields = named(kind=kind, name=name, message=message, actor=actor)

        async def capture(studio: StudioApplication) -> SnapshotResult:
            return await studio.snapshot_definitions(parse_model(SnapshotDefinitions, fields))

        result = self.ask(capture, remote=remote, token=token)
        if as_json:
            self.terminal.model(result)
        else:
            self.terminal.table(presentation.snapshot_table(result))
            self.notes(presentation.skipped_notes(result))

    @command()
    def reconcile(  # noqa: PLR0913 (all that it lists by or settles with is an option)
        self,
        reconciliation_id: Annotated[str | None, Argument(metavar="[ID]", help="The reconciliation.")] = None,
        *,
        action: Annotated[
            str | None, Option(metavar="retry_write|accept_file|dismiss", help="Settle it like this.")
        ] = None,
        reason: Annotated[str | None, Option(help="Why; dismiss needs one.")] = None,
        actor: Actor = None,
        every: Annotated[bool, Option("--all", help="List those that are resolved as well.")] = False,
        limit: Limit = None,
        cursor: Cursor = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """List what is in the history and not in the file, show one, or settle it."""
        fields = named(action=action, reason=reason, actor=actor)
        options = given(status=None if every else "pending", limit=limit, cursor=cursor)
        if reconciliation_id is None:
            self._pending(options, fields, as_json=as_json, remote=remote, token=token)
        elif action is None and reason is None:
            self._reconciliation(reconciliation_id, as_json=as_json, remote=remote, token=token)
        else:
            self._resolve(reconciliation_id, fields, as_json=as_json, remote=remote, token=token)

    def _pending(
        self,
        options: dict[str, list[str]],
        fields: dict[str, object],
        *,
        as_json: bool,
        remote: str | None,
        token: str | None,
    ) -> None:
        async def read(studio: StudioApplication) -> Page[Reconciliation]:
            if "action" in fields:
                raise ValidationFailure.at("id", code="missing", message="--action needs the ID of a reconciliation")
            query = parse_query(ReconciliationQuery, options)
            whole = not (as_json or "limit" in options)
            return await self.page(studio.list_reconciliations, query, "reconciliations", whole=whole)

        page = self.ask(read, remote=remote, token=token)
        if as_json:
            self.terminal.model(page)
        else:
            self.terminal.table(presentation.reconciliations_table(page.items, reader_zone()))
            self.more(page.next_cursor)

    def _reconciliation(self, found_id: str, *, as_json: bool, remote: str | None, token: str | None) -> None:
        async def read(studio: StudioApplication) -> ReconciliationDetail:
            return await studio.get_reconciliation(found_id)

        found = self.ask(read, remote=remote, token=token)
        if as_json:
            self.terminal.model(found)
        else:
            self.terminal.lines(presentation.reconciliation_lines(found, reader_zone()))

    def _resolve(
        self, found_id: str, fields: dict[str, object], *, as_json: bool, remote: str | None, token: str | None
    ) -> None:
        async def resolve(studio: StudioApplication) -> Reconciliation:
            return await studio.resolve_reconciliation(found_id, parse_model(ResolveReconciliation, fields))

        found = self.ask(resolve, remote=remote, token=token)
        if as_json:
            self.terminal.model(found)
        else:
            self.terminal.line(*presentation.resolved_line(found))

    def _told(self, result: SaveResult, what: str, *, as_json: bool) -> None:
        if as_json:
            self.terminal.model(result)
        else:
            self.terminal.line(f"{result.kind}/{result.name}: {what}; it is version {result.version} now")
