"""`run`: runs launched, listed, shown, followed, recorded, cancelled and tagged from the command line."""

from collections.abc import Callable
from typing import Annotated

from django_typer.management import command
from typer import Argument, Exit, Option

from contract.application import StudioApplication
from contract.base import Page
from contract.errors import ValidationFailure
from contract.events import RecordResult
from contract.limits import LIST_LIMIT_MAX
from contract.parsing import parse_model, parse_query
from contract.projects import DetectProject
from contract.runs import CancelResult, CancelRun, ChangeTags, RunDetail, RunQuery, RunReadQuery, RunSummary, TagsResult
from runs.management import presentation
from runs.management.here import ProjectHere, require_one
from runs.management.launching import LaunchSession
from runs.management.pruning import PruneSession, pruned_lines
from runs.management.recording_session import RecordingSession
from studio_project.action_input import read_texts
from studio_project.command_input import duration_seconds, given, instant_text, named, reader_zone
from studio_project.commands import AsJson, Cursor, Limit, Offset, Remote, StudioCommand, Token, nobody_works
from studio_project.composition import look_at_folder
from studio_project.paging import read_every_page
from studio_project.run_tailing import Tail

RunId = Annotated[str, Argument(metavar="ID", help="The run.")]
When = Annotated[str | None, Option(metavar="WHEN", help="ISO 8601 or epoch seconds.")]
Project = Annotated[str | None, Option(help="Its project (default: that of the current folder).")]
NoProject = Annotated[bool, Option("--no-project", help="It gets none.")]
OwnTags = Annotated[list[str] | None, Option(help="A tag of it; repeatable.")]


class Command(StudioCommand):
    """Runs: launch, list, show, follow live, record, cancel, tag, remove old ones."""

    # The descriptor that `-` reads from.
    standard_input: int = 0
    # What the disk says of the folder that a command is given in.
    look: Callable[[str], DetectProject] = staticmethod(look_at_folder)

    @command("list")
    def list_runs(  # noqa: PLR0913 (every filter is an option)
        self,
        *,
        status: Annotated[list[str] | None, Option(help="Any of these statuses; repeatable.")] = None,
        kind: Annotated[str | None, Option(help="Exactly this kind.")] = None,
        agent: Annotated[str | None, Option(help="Exactly this agent.")] = None,
        playbook: Annotated[str | None, Option(help="Exactly this playbook.")] = None,
        project: Annotated[str | None, Option(help="Exactly this project.")] = None,
        no_project: Annotated[bool, Option("--no-project", help="Only runs of no project.")] = False,
        invocation: Annotated[str | None, Option(help="Only runs of this invocation.")] = None,
        tag: Annotated[list[str] | None, Option(help="With this tag; repeatable.")] = None,
        tags_match: Annotated[str | None, Option(metavar="all|any", help="With all tags, or any.")] = None,
        search: Annotated[str | None, Option(help="Text in name or agent, whatever the case.")] = None,
        started_after: When = None,
        started_before: When = None,
        sort: Annotated[str | None, Option(metavar="recent|started|cost", help="The order.")] = None,
        limit: Limit = None,
        offset: Offset = None,
        cursor: Cursor = None,
        every: Annotated[bool, Option("--all", help="Every page, by cursor.")] = False,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """List runs, newest change first."""
        zone = reader_zone()
        options = given(
            status=status,
            kind=kind,
            agent=agent,
            playbook=playbook,
            project=project,
            project_is_null="true" if no_project else None,
            invocation_id=invocation,
            tags=tag,
            tags_match=tags_match,
            search=search,
            started_after=instant_text(started_after, zone),
            started_before=instant_text(started_before, zone),
            sort=sort,
            limit=limit,
            offset=offset,
            cursor=cursor,
        )

        async def operation(studio: StudioApplication) -> Page[RunSummary]:
            query = parse_query(RunQuery, options)
            if every:
                # In the order `recent` a run that is updated meanwhile moves to the front, and can be missed.
                return await read_every_page(
                    studio.list_runs, query, page_size=LIST_LIMIT_MAX, what="runs", terminal=self.terminal
                )
            return await studio.list_runs(query)

        page = self.ask(operation, remote=remote, token=token)
        if as_json:
            self.terminal.model(page)
        else:
            self.terminal.table(presentation.runs_table(page.items, zone))
            if page.next_cursor is not None:
                self.terminal.note(f"more: --cursor {page.next_cursor}, or --all")

    @command()
    def show(
        self,
        run_id: RunId,
        *,
        message_limit: Annotated[str | None, Option(metavar="N", help="Newest messages to show.")] = None,
        cursor: Annotated[str | None, Option(help="The window of messages before an earlier one.")] = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Show a run with its branches and their newest messages."""
        options = given(message_limit=message_limit, cursor=cursor)

        async def operation(studio: StudioApplication) -> RunDetail:
            return await studio.get_run(run_id, parse_query(RunReadQuery, options))

        run = self.ask(operation, remote=remote, token=token)
        if as_json:
            self.terminal.model(run)
        else:
            self.terminal.lines(presentation.run_lines(run, reader_zone()))

    @command()
    def tail(
        self,
        run_id: RunId,
        *,
        signals: Annotated[bool, Option("--signals", help="Signals instead of messages.")] = False,
        cursor: Annotated[str | None, Option(help="Begin after this position.")] = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Follow a run live from its beginning until it has ended. A broken connection is resumed."""
        tail = Tail(run_id, cursor, signals=signals, as_json=as_json, terminal=self.terminal, zone=reader_zone())
        self.ask(tail.follow, remote=remote, token=token)

    @command()
    def launch(  # noqa: PLR0913 (the fields of LaunchRun are options)
        self,
        kind: Annotated[str, Argument(metavar="KIND", help="agent, flow, fanout, play, flow_yaml or command.")],
        argv: Annotated[list[str] | None, Argument(metavar="[-- COMMAND ARG...]", help="Of kind command.")] = None,
        *,
        prompt: Annotated[str | None, Option(metavar="TEXT|-", help="What to do; `-` reads it from a pipe.")] = None,
        model: Annotated[str | None, Option(help="Exactly this model.")] = None,
        agent: Annotated[str | None, Option(help="The agent that does it.")] = None,
        playbook: Annotated[str | None, Option(help="The playbook of a play.")] = None,
        flow_yaml: Annotated[str | None, Option(metavar="FILE|-", help="The flow of a flow_yaml.")] = None,
        project: Project = None,
        no_project: NoProject = False,
        runtime: Annotated[str | None, Option(help="What executes it (default: the configured one).")] = None,
        cwd: Annotated[str | None, Option(metavar="FOLDER", help="Where, as an absolute path.")] = None,
        launch_key: Annotated[str | None, Option(metavar="KEY", help="The same key again launches nothing.")] = None,
        name: Annotated[str | None, Option(help="Name of the run.")] = None,
        tag: OwnTags = None,
        invocation: Annotated[str | None, Option(help="What caused it, with other runs.")] = None,
        deadline: Annotated[float | None, Option(metavar="SECONDS", help="Stop it after so long.")] = None,
        extra_arg: Annotated[list[str] | None, Option(help="Passed on to the runtime; repeatable.")] = None,
        follow: Annotated[bool, Option("--follow", help="Follow it to its end; exits with 3 if it fails.")] = False,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Queue a run that a worker of Studio executes."""
        try:
            require_one(project, no_project=no_project)
            # Before anything runs that a blocked read would keep from hearing of Ctrl-C.
            texts = read_texts(prompt, flow_yaml, self.standard_input, note=self.terminal.note)
        except ValidationFailure as failure:
            self.fail(failure)
        fields = texts | named(
            kind=kind,
            command=argv or None,
            model=model,
            agent=agent,
            playbook=playbook,
            project=project,
            runtime=runtime,
            cwd=cwd,
            launch_key=launch_key,
            name=name,
            tags=tag,
            invocation_id=invocation,
            deadline_seconds=deadline,
            extra_args=extra_arg,
            detect_project=False if no_project else None,
        )
        # The project of another folder is for the application to look for.
        here = self._here(wanted=project is None and cwd is None and not no_project)

        async def queue(studio: StudioApplication) -> int:
            session = LaunchSession(
                fields | await here.fields(studio),
                follow=follow,
                as_json=as_json,
                terminal=self.terminal,
                zone=reader_zone(),
                waits=lambda: nobody_works(remote, token),
            )
            return await session.launch(studio)

        if exit_code := self.ask(queue, remote=remote, token=token):
            raise Exit(exit_code)

    @command()
    def record(  # noqa: PLR0913 (the fields of StartRun are options)
        self,
        file: Annotated[str, Argument(metavar="FILE|-", help="Run events as JSON lines.")],
        *,
        run_id: Annotated[str | None, Option("--run", metavar="ID", help="Into this run (default: a new one).")] = None,
        kind: Annotated[str | None, Option(help="Kind of a run that is started.")] = None,
        name: Annotated[str | None, Option(help="Its name.")] = None,
        agent: Annotated[str | None, Option(help="Its agent.")] = None,
        playbook: Annotated[str | None, Option(help="Its playbook.")] = None,
        project: Project = None,
        no_project: NoProject = False,
        model: Annotated[str | None, Option(help="Its model.")] = None,
        provider: Annotated[str | None, Option(help="Its model's provider.")] = None,
        tag: OwnTags = None,
        batch: Annotated[int, Option(metavar="N", help="Events of a batch.")] = 100,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Record run events from a file or a pipe. The same lines again into the same run store nothing twice."""
        fields = named(
            run_id=run_id,
            kind=kind,
            name=name,
            agent_name=agent,
            playbook_name=playbook,
            project=project,
            model=model,
            provider=provider,
            tags=tag,
        )
        here = self._here(wanted=project is None and not no_project)

        async def store(studio: StudioApplication) -> RecordResult:
            require_one(project, no_project=no_project)
            session = RecordingSession(
                file,
                fields | await here.fields(studio),
                batch_events=batch,
                terminal=self.terminal,
                standard_input=self.standard_input,
            )
            return await session.record(studio)

        result = self.ask(store, remote=remote, token=token)
        if as_json:
            self.terminal.model(result)
        else:
            self.terminal.line(*presentation.recorded_line(result))

    @command()
    def cancel(
        self,
        run_id: RunId,
        *,
        reason: Annotated[str | None, Option(help="Why, for those who read the run later.")] = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Ask a run to stop."""

        async def operation(studio: StudioApplication) -> CancelResult:
            return await studio.cancel_run(run_id, parse_model(CancelRun, named(reason=reason)))

        result = self.ask(operation, remote=remote, token=token)
        if as_json:
            self.terminal.model(result)
        elif result.status == "cancelled":
            self.terminal.line(f"run {result.run_id} is cancelled")
        else:
            self.terminal.line(f"run {result.run_id} was asked to stop; it is {result.status} until it obeys")

    @command()
    def tag(
        self,
        run_id: RunId,
        *,
        add: Annotated[list[str] | None, Option(metavar="TAG", help="Add it; repeatable.")] = None,
        remove: Annotated[list[str] | None, Option(metavar="TAG", help="Take it away; repeatable.")] = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Add and remove tags of a run."""

        async def operation(studio: StudioApplication) -> TagsResult:
            return await studio.change_run_tags(run_id, parse_model(ChangeTags, named(add=add, remove=remove)))

        result = self.ask(operation, remote=remote, token=token)
        if as_json:
            self.terminal.model(result)
        else:
            self.terminal.line(f"run {result.run_id}: {' '.join(result.tags) or 'no tags'}")

    @command()
    def prune(
        self,
        *,
        older_than: Annotated[str, Option(metavar="30d|12h|2w|SECONDS", help="Ended at least so long ago.")],
        status: Annotated[list[str] | None, Option(help="Ended with any of these statuses; repeatable.")] = None,
        project: Annotated[str | None, Option(help="Only runs of exactly this project.")] = None,
        dry_run: Annotated[bool, Option("--dry-run", help="Say what would go, and remove nothing.")] = False,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Remove runs that ended long ago, with their evidence, artifacts and files, until none is left."""
        try:
            age = duration_seconds(older_than, field="older_than")
        except ValidationFailure as failure:
            self.fail(failure)
        fields = named(older_than_seconds=age, status=status, project=project) | {"dry_run": dry_run}
        result = self.ask(PruneSession(fields, terminal=self.terminal).prune, remote=remote, token=token)
        if as_json:
            self.terminal.model(result)
        else:
            self.terminal.lines(pruned_lines(result))

    def _here(self, *, wanted: bool) -> ProjectHere:
        return ProjectHere(".", wanted=wanted, look=self.look, note=self.terminal.note)
