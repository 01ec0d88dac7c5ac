"""`stats`: how many runs there are, what they cost, what waits, and how large the store is."""

from typing import Annotated

from typer import Option

from contract.application import StudioApplication
from contract.parsing import parse_query
from contract.stats import Stats, StatsQuery
from runs.management.statistics import spend_table, stats_lines
from studio_project.command_input import given, instant_text, reader_zone
from studio_project.commands import AsJson, Remote, StudioCommand, Token


class Command(StudioCommand):
    """Counts by status, spend by project, the queue and the store."""

    def handle(
        self,
        *,
        since: Annotated[str | None, Option(metavar="WHEN", help="Spend from then on (default: a day before).")] = None,
        until: Annotated[str | None, Option(metavar="WHEN", help="Spend until then (default: now).")] = None,
        project: Annotated[str | None, Option(help="Spend of exactly this project.")] = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Say how this Studio stands: counts by status, spend by project, the queue and the store."""
        zone = reader_zone()
        options = given(since=instant_text(since, zone), until=instant_text(until, zone), project=project)

        async def operation(studio: StudioApplication) -> Stats:
            return await studio.get_stats(parse_query(StatsQuery, options))

        stats = self.ask(operation, remote=remote, token=token)
        if as_json:
            self.terminal.model(stats)
        else:
            self.terminal.lines(stats_lines(stats, zone))
            self.terminal.table(spend_table(stats.spend))
            if stats.spend.truncated:
                self.terminal.note("the dearest projects are shown; the total is of all")
