"""`artifact`: what runs made, listed, shown, saved and verified from the command line."""

import os
from collections.abc import Awaitable
from pathlib import PurePath
from typing import Annotated

from django_typer.management import command
from typer import Argument, Exit, Option

from artifacts.management import presentation
from artifacts.naming import FILE_KIND
from contract.application import StudioApplication
from contract.artifacts import (
    ArtifactContent,
    ArtifactListQuery,
    ArtifactQuery,
    ArtifactResult,
    ArtifactSummary,
    ArtifactVerification,
    SaveArtifact,
)
from contract.base import Page
from contract.errors import NotFound, ValidationFailure
from contract.limits import ARTIFACT_LIST_LIMIT_MAX, ARTIFACT_UPLOAD_MAX_BYTES
from contract.parsing import parse_model, parse_query, strict_json_loads
from studio_project.command_input import given, named, reader_zone
from studio_project.commands import AsJson, Remote, StudioCommand, Token
from studio_project.paging import read_every_page
from studio_project.text_source import STANDARD_INPUT, read_bytes

ArtifactId = Annotated[str, Argument(metavar="ARTIFACT", help="The id of the artifact.")]
_DIFFERS = 1


class Command(StudioCommand):
    """Artifacts: list, show, preview, save, verify."""

    # The descriptor that `-` reads from.
    standard_input: int = 0

    @command("list")
    def list_artifacts(
        self,
        owner: Annotated[str, Argument(metavar="RUN", help="The run; with --invocation the invocation.")],
        *,
        invocation: Annotated[bool, Option("--invocation", help="Those that an invocation has of its own.")] = False,
        kind: Annotated[str | None, Option(help="Exactly this kind.")] = None,
        limit: Annotated[str | None, Option(metavar="N", help="Rows of a page (default: all).")] = None,
        cursor: Annotated[str | None, Option(help="Go on after an earlier page.")] = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """List the artifacts of a run, oldest first."""
        options = given(kind=kind, limit=limit, cursor=cursor)

        async def read(studio: StudioApplication) -> Page[ArtifactSummary]:
            query = parse_query(ArtifactListQuery, options)

            def page(step: ArtifactListQuery) -> Awaitable[Page[ArtifactSummary]]:
                listing = studio.list_invocation_artifacts if invocation else studio.list_run_artifacts
                return listing(owner, step)

            if as_json or limit:
                return await page(query)
            size = ARTIFACT_LIST_LIMIT_MAX
            return await read_every_page(page, query, page_size=size, what="artifacts", terminal=self.terminal)

        found = self.ask(read, remote=remote, token=token)
        if as_json:
            self.terminal.model(found)
            return
        self.terminal.table(presentation.artifacts_table(found.items, reader_zone()))
        if found.next_cursor is not None:
            self.terminal.note(f"more: --cursor {found.next_cursor}")

    @command()
    def show(
        self, artifact_id: ArtifactId, *, as_json: AsJson = False, remote: Remote = None, token: Token = None
    ) -> None:
        """Show what is recorded of an artifact."""

        async def read(studio: StudioApplication) -> ArtifactResult:
            return await studio.resolve_artifact(ArtifactQuery(artifact_id=artifact_id))

        found = self.ask(read, remote=remote, token=token)
        if as_json:
            self.terminal.model(found)
        else:
            self.terminal.lines(presentation.artifact_lines(found, reader_zone()))

    @command()
    def preview(
        self,
        artifact_id: ArtifactId,
        *,
        limit: Annotated[str | None, Option(metavar="BYTES", help="How much of it (default: 256 KiB).")] = None,
        raw: Annotated[bool, Option("--raw", help="The bytes as they are, up to 1 MiB, such as for a file.")] = False,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Print the beginning of an artifact's file; of one that is no text only what it is."""
        if raw:
            self._raw(artifact_id, remote=remote, token=token)
            return
        options = {"include_preview": ["true"], **given(preview_limit_bytes=limit)}

        async def read(studio: StudioApplication) -> ArtifactResult:
            found = await studio.resolve_artifact(parse_query(ArtifactQuery, options, artifact_id=artifact_id))
            if not as_json and (found.file_missing or found.display_path is None):
                raise NotFound("artifact file", found.display_path or artifact_id)
            return found

        found = self.ask(read, remote=remote, token=token)
        if as_json:
            self.terminal.model(found)
            return
        if found.preview_kind == "text":
            self.terminal.content(presentation.preview_text(found))
        else:
            self.terminal.line(*presentation.described_line(found))

    @command()
    def save(  # noqa: PLR0913 (the fields of SaveArtifact are options)
        self,
        owner: Annotated[str, Argument(metavar="RUN", help="The run; with --invocation the invocation.")],
        file: Annotated[
            str | None, Argument(metavar="[FILE|-]", help="What its file is to hold; without it, the one at --path.")
        ] = None,
        *,
        kind: Annotated[str, Option(help="What kind of thing it is.")] = FILE_KIND,
        name: Annotated[str | None, Option(help="Its name within the kind (default: the path).")] = None,
        path: Annotated[str | None, Option(help="Its file in the run's folder (default: the name of FILE).")] = None,
        media_type: Annotated[str | None, Option(help="Its type (default: told by name and content).")] = None,
        content: Annotated[str | None, Option(metavar="JSON", help="What else is to be recorded.")] = None,
        sha256: Annotated[str | None, Option(help="Refuse a file with another hash.")] = None,
        invocation: Annotated[bool, Option("--invocation", help="Of an invocation, which has no files.")] = False,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Record an artifact; the same kind and name again replaces it."""
        if path is None and file is not None and file != STANDARD_INPUT:
            path = PurePath(file).name
        fields = named(kind=kind, name=name or path, path=path, media_type=media_type, sha256=sha256)
        fields["invocation_id" if invocation else "run_id"] = owner
        try:
            if content is not None:
                fields["content"] = _json(content)
            if file is not None:
                fields["data"] = self._read(file)
        except ValidationFailure as failure:
            self.fail(failure)

        async def save(studio: StudioApplication) -> ArtifactResult:
            return await studio.save_artifact(parse_model(SaveArtifact, fields))

        found = self.ask(save, remote=remote, token=token)
        if as_json:
            self.terminal.model(found)
        else:
            self.terminal.line(*presentation.saved_line(found))

    @command()
    def verify(
        self,
        run_id: Annotated[str, Argument(metavar="RUN", help="The run.")],
        *,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Hash a run's files anew; ends with 1 when one is changed, missing or cannot be read."""

        async def read(studio: StudioApplication) -> ArtifactVerification:
            return await studio.verify_artifacts(run_id)

        found = self.ask(read, remote=remote, token=token)
        if as_json:
            self.terminal.model(found)
        else:
            self.terminal.table(presentation.checks_table(found))
            self.terminal.lines(presentation.unregistered_lines(found))
            for note in presentation.verification_notes(found):
                self.terminal.note(note)
        if presentation.faulty(found.checks):
            raise Exit(_DIFFERS)

    def _read(self, file: str) -> bytes:
        """Read what is to be saved, before anything runs that a blocked read would keep from hearing of Ctrl-C."""
        if file == STANDARD_INPUT and os.isatty(self.standard_input):
            self.terminal.note("reading the content from the terminal; Ctrl-D on an empty line ends it")
        return read_bytes(file, self.standard_input, max_bytes=ARTIFACT_UPLOAD_MAX_BYTES)

    def _raw(self, artifact_id: str, *, remote: str | None, token: str | None) -> None:
        async def read(studio: StudioApplication) -> ArtifactContent:
            return await studio.read_artifact_content(artifact_id)

        found = self.ask(read, remote=remote, token=token)
        self.terminal.raw(found.data)
        if found.truncated:
            self.terminal.note(f"truncated: {len(found.data)} of {found.size_bytes} bytes are printed")


def _json(text: str) -> object:
    """Return the value of an option that is JSON. ValidationFailure that names the option."""
    try:
        return strict_json_loads(text.encode("utf-8", "surrogateescape"))
    except ValidationFailure as failure:
        raise ValidationFailure.at("content", code="json", message=failure.field_errors[0].message) from None
