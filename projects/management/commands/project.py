"""`project`: projects listed, shown, made, changed, removed and detected from the command line."""

from collections.abc import Callable
from typing import Annotated

from django_typer.management import command
from typer import Argument, Option

from contract.application import StudioApplication
from contract.base import Page
from contract.errors import ValidationFailure
from contract.parsing import parse_model, parse_query
from contract.projects import (
    AssignResult,
    AssignRuns,
    CreateProject,
    DeleteProject,
    DetectedProject,
    DetectProject,
    PatchProject,
    ProjectDeleted,
    ProjectQuery,
    ProjectSummary,
)
from projects.management import presentation
from studio_project.command_input import absolute, given, named, reader_zone
from studio_project.commands import AsJson, Remote, StudioCommand, Token
from studio_project.composition import look_at_folder
from studio_project.paging import read_every_page

_PAGE_SIZE = 1_000

Name = Annotated[str, Argument(metavar="NAME", help="The project; its name may hold slashes.")]
Path = Annotated[str | None, Option(metavar="FOLDER", help="Where its runs are executed, as an absolute path.")]
Description = Annotated[str | None, Option(help="What it is about.")]


class Command(StudioCommand):
    """Projects: list, show, create, update, delete, assign, detect."""

    # What the disk says of a folder.
    look: Callable[[str], DetectProject] = staticmethod(look_at_folder)

    @command("list")
    def list_projects(
        self,
        *,
        search: Annotated[str | None, Option(help="A part of the name, whatever the case.")] = None,
        limit: Annotated[str | None, Option(metavar="N", help="Rows of a page.")] = None,
        offset: Annotated[str | None, Option(metavar="N", help="Rows to leave out.")] = None,
        cursor: Annotated[str | None, Option(help="Go on after an earlier page.")] = None,
        every: Annotated[bool, Option("--all", help="Every page, by cursor.")] = False,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """List projects by name, with what their runs amount to."""
        options = given(search=search, limit=limit, offset=offset, cursor=cursor)

        async def read(studio: StudioApplication) -> Page[ProjectSummary]:
            query = parse_query(ProjectQuery, options)
            if not every:
                return await studio.list_projects(query)
            return await read_every_page(
                studio.list_projects, query, page_size=_PAGE_SIZE, what="projects", terminal=self.terminal
            )

        page = self.ask(read, remote=remote, token=token)
        if as_json:
            self.terminal.model(page)
            return
        self.terminal.table(presentation.projects_table(page.items, reader_zone()))
        if page.next_cursor is not None:
            self.terminal.note(f"more: --cursor {page.next_cursor}, or --all")

    @command()
    def show(self, name: Name, *, as_json: AsJson = False, remote: Remote = None, token: Token = None) -> None:
        """Show a project."""

        async def read(studio: StudioApplication) -> ProjectSummary:
            return await studio.get_project(name)

        self._shown(self.ask(read, remote=remote, token=token), as_json=as_json)

    @command()
    def create(
        self,
        name: Name,
        *,
        path: Path = None,
        description: Description = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Make a project."""
        fields = named(name=name, path=path, description=description)

        async def make(studio: StudioApplication) -> ProjectSummary:
            return await studio.create_project(parse_model(CreateProject, fields))

        self._shown(self.ask(make, remote=remote, token=token), as_json=as_json)

    @command()
    def update(  # noqa: PLR0913 (what may be changed is an option)
        self,
        name: Name,
        *,
        new_name: Annotated[str | None, Option("--name", metavar="NEW", help="For all of its runs as well.")] = None,
        path: Path = None,
        no_path: Annotated[bool, Option("--no-path", help="It has no folder any more.")] = False,
        description: Description = None,
        no_description: Annotated[bool, Option("--no-description", help="It has none any more.")] = False,
        expected_updated_at: Annotated[
            float | None, Option(metavar="INSTANT", help="Only if it is as `--json` showed it then.")
        ] = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Change what is given of a project, and leave the rest as it is."""
        given_fields = named(name=new_name, path=path, description=description, expected_updated_at=expected_updated_at)
        cleared = [field for field, is_cleared in (("path", no_path), ("description", no_description)) if is_cleared]

        async def change(studio: StudioApplication) -> ProjectSummary:
            fields = _with_cleared(given_fields, cleared)
            return await studio.patch_project(name, parse_model(PatchProject, fields))

        self._shown(self.ask(change, remote=remote, token=token), as_json=as_json)

    @command()
    def delete(
        self,
        name: Name,
        *,
        detach: Annotated[bool, Option("--detach", help="Its runs and schedules stay, without a project.")] = False,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Remove a project; one that runs or schedules have only with --detach."""

        async def remove(studio: StudioApplication) -> ProjectDeleted:
            return await studio.delete_project(name, DeleteProject(detach=detach))

        result = self.ask(remove, remote=remote, token=token)
        if as_json:
            self.terminal.model(result)
        else:
            self.terminal.line(presentation.removed_line(result))

    @command()
    def assign(
        self,
        name: Name,
        run_ids: Annotated[list[str] | None, Argument(metavar="[RUN...]", help="These runs.")] = None,
        *,
        unassigned: Annotated[bool, Option("--unassigned", help="All runs that have no project.")] = False,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Give runs a project, all of them or none."""
        fields: dict[str, object] = {"run_ids": run_ids or [], "unassigned": unassigned}

        async def give(studio: StudioApplication) -> AssignResult:
            return await studio.assign_runs(name, parse_model(AssignRuns, fields))

        result = self.ask(give, remote=remote, token=token)
        if as_json:
            self.terminal.model(result)
        else:
            self.terminal.line(f"project {result.name} got {presentation.runs(result.assigned)}")

    @command()
    def detect(
        self,
        folder: Annotated[str, Argument(metavar="[FOLDER]", help="On this machine.")] = ".",
        *,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Say which project a folder belongs to, by its files, its git remote, or the paths of projects."""

        async def find(studio: StudioApplication) -> DetectedProject:
            return await studio.detect_project(self.look(absolute(folder)))

        found = self.ask(find, remote=remote, token=token)
        if as_json:
            self.terminal.model(found)
        else:
            self.terminal.line(*presentation.detected_line(found))

    def _shown(self, project: ProjectSummary, *, as_json: bool) -> None:
        if as_json:
            self.terminal.model(project)
        else:
            self.terminal.lines(presentation.project_lines(project, reader_zone()))


def _with_cleared(fields: dict[str, object], cleared: list[str]) -> dict[str, object]:
    """Return fields with those that are cleared as null. ValidationFailure for one that is given as well."""
    for field in cleared:
        if field in fields:
            raise ValidationFailure.at(field, code="exclusive", message=f"cannot be given together with --no-{field}")
    return {**fields, **dict.fromkeys(cleared)}
