"""`schedule list|show|firings|preview|why|limits`: what reads."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Annotated, TypeVar

from django_typer.management import command
from typer import Argument, Option

from contract.application import StudioApplication
from contract.base import ContractModel, Page
from contract.limits import SCHEDULE_LIST_LIMIT_MAX
from contract.parsing import parse_query
from contract.schedules import (
    Firing,
    FiringQuery,
    ScheduleDetail,
    ScheduleExplanation,
    ScheduleLimits,
    ScheduleQuery,
    ScheduleSummary,
)
from contract.triggers import IntervalTrigger, PreviewSchedule, SchedulePreview
from schedules.management import options, presentation
from schedules.management.finding import find_schedule
from schedules.management.trigger_options import TriggerOptions
from studio_project.command_input import given, instant_text, reader_zone
from studio_project.commands import AsJson, Cursor, Limit, Offset, Remote, StudioCommand, Token
from studio_project.paging import read_every_page
from studio_project.terminal import Line

C = TypeVar("C", bound=ContractModel)
Q = TypeVar("Q", bound=ContractModel)
T = TypeVar("T")

Every = Annotated[bool, Option("--all", help="Every page, by cursor.")]


class ReadingCommands(StudioCommand):
    """List, show, firings, preview, why, limits."""

    @command("list")
    def list_schedules(  # noqa: PLR0913 (every filter is an option)
        self,
        *,
        enabled: Annotated[bool, Option("--enabled", help="Only those that fire.")] = False,
        disabled: Annotated[bool, Option("--disabled", help="Only those that do not.")] = False,
        trigger: Annotated[str | None, Option(metavar="cron|interval|at|github_poll", help="Only this kind.")] = None,
        project: Annotated[str | None, Option(help="Exactly this project.")] = None,
        search: Annotated[str | None, Option(help="Text in the name, whatever the case.")] = None,
        limit: Limit = None,
        offset: Offset = None,
        cursor: Cursor = None,
        every: Every = False,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """List schedules by name."""
        asked = given(
            enabled=[word for word, wanted in (("true", enabled), ("false", disabled)) if wanted] or None,
            trigger=trigger,
            project=project,
            search=search,
            limit=limit,
            offset=offset,
            cursor=cursor,
        )

        def read(studio: StudioApplication) -> Awaitable[Page[ScheduleSummary]]:
            query = parse_query(ScheduleQuery, asked)
            return self.page(studio.list_schedules, query, "schedules", whole=every)

        page = self.ask(read, remote=remote, token=token)
        if as_json:
            self.terminal.model(page)
        else:
            self.terminal.table(presentation.schedules_table(page.items, reader_zone()))
            self.more(page.next_cursor)

    @command()
    def show(
        self, which: options.Which, *, as_json: AsJson = False, remote: Remote = None, token: Token = None
    ) -> None:
        """Show a schedule with its action, its poller and its last firings."""

        def read(studio: StudioApplication) -> Awaitable[ScheduleDetail]:
            return find_schedule(studio, which)

        found = self.ask(read, remote=remote, token=token)
        if as_json:
            self.terminal.model(found)
        else:
            self.terminal.lines(presentation.schedule_lines(found, reader_zone()))
            self.terminal.table(presentation.firings_table(found.firings, reader_zone()))

    @command()
    def firings(  # noqa: PLR0913 (filters and paging are options)
        self,
        which: options.Which,
        *,
        outcome: Annotated[str | None, Option(metavar="fired|skipped|deferred", help="Only these.")] = None,
        limit: Limit = None,
        offset: Offset = None,
        cursor: Cursor = None,
        every: Every = False,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """List what was decided for a schedule, newest first."""
        asked = given(outcome=outcome, limit=limit, offset=offset, cursor=cursor)

        async def read(studio: StudioApplication) -> Page[Firing]:
            query = parse_query(FiringQuery, asked)
            found = await find_schedule(studio, which)

            def step(wanted: FiringQuery) -> Awaitable[Page[Firing]]:
                return studio.list_firings(found.schedule_id, wanted)

            return await self.page(step, query, "firings", whole=every)

        page = self.ask(read, remote=remote, token=token)
        if as_json:
            self.terminal.model(page)
        else:
            self.terminal.table(presentation.firings_table(page.items, reader_zone()))
            self.more(page.next_cursor)

    @command()
    def preview(  # noqa: PLR0913 (what a trigger is made of are options)
        self,
        which: Annotated[str | None, Argument(metavar="[SCHEDULE]", help="Of this one, by name or id.")] = None,
        *,
        cron: options.Cron = None,
        timezone: options.Timezone = None,
        every: options.Every = None,
        at: options.At = None,
        github: options.Github = None,
        poll_every: options.PollEvery = None,
        filters: Annotated[list[str] | None, Option("--filter", metavar="KEY=VALUE", help="Of --github.")] = None,
        after: Annotated[str | None, Option(metavar="WHEN", help="Instants after this one (default: now).")] = None,
        count: Annotated[str | None, Option(metavar="N", help="How many (default: 10).")] = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Show the next instants of a schedule, or of a trigger that none has yet."""
        said = TriggerOptions(
            cron=cron, timezone=timezone, every=every, at=at, github=github, poll_every=poll_every, filters=filters
        )

        async def read(studio: StudioApplication) -> SchedulePreview:
            asked = given(after=instant_text(after, reader_zone()), count=count)
            if which is None:
                trigger = said.required(reader_zone())
            else:
                found = await find_schedule(studio, which)
                changed = said.fields(reader_zone(), found.trigger)
                trigger = found.trigger.model_dump(mode="json") if changed is None else changed
                asked = ({} if changed else _on_its_grid(found)) | asked
            return await studio.preview_schedule(parse_query(PreviewSchedule, asked, trigger=trigger))

        self.told(self.ask(read, remote=remote, token=token), presentation.preview_lines, as_json=as_json)

    @command()
    def why(self, which: options.Which, *, as_json: AsJson = False, remote: Remote = None, token: Token = None) -> None:
        """Say in words what was decided for a schedule, and what the next decision depends on."""

        async def read(studio: StudioApplication) -> ScheduleExplanation:
            return await studio.explain_schedule((await find_schedule(studio, which)).schedule_id)

        self.told(self.ask(read, remote=remote, token=token), presentation.explanation_lines, as_json=as_json)

    @command()
    def limits(self, *, as_json: AsJson = False, remote: Remote = None, token: Token = None) -> None:
        """Show the bounds of schedules."""

        async def read(studio: StudioApplication) -> ScheduleLimits:
            return await studio.get_schedule_limits()

        self.told(self.ask(read, remote=remote, token=token), presentation.limits_lines, as_json=as_json)

    async def page(self, read: Callable[[Q], Awaitable[Page[T]]], query: Q, what: str, *, whole: bool) -> Page[T]:
        """Return one page, or everything as one."""
        if not whole:
            return await read(query)
        size = SCHEDULE_LIST_LIMIT_MAX
        return await read_every_page(read, query, page_size=size, what=what, terminal=self.terminal)

    def more(self, cursor: str | None) -> None:
        """Say how a list goes on."""
        if cursor is not None:
            self.terminal.note(f"more: --cursor {cursor}, or --all")

    def told(self, result: C, words: Callable[[C], Iterable[Line]], *, as_json: bool) -> None:
        """Print a result, for programs or in words for people."""
        if as_json:
            self.terminal.model(result)
        else:
            self.terminal.lines(words(result))


def _on_its_grid(found: ScheduleDetail) -> dict[str, list[str]]:
    """Let the instants of an interval be those that will come: its rhythm began with the schedule."""
    if isinstance(found.trigger, IntervalTrigger) and found.next_fire_at is not None:
        return given(after=repr(found.next_fire_at - found.trigger.seconds))
    return {}
