"""One `run prune`: asked again until nothing is left, and told as one."""

import asyncio
from collections.abc import Iterator, Mapping

from contract.application import StudioApplication
from contract.parsing import parse_model
from contract.retention import PruneResult, PruneRuns
from studio_project.terminal import Line, Styled, Terminal
from studio_project.wording import size


class PruneSession:
    """Removes what `fields` of PruneRuns describe."""

    def __init__(self, fields: Mapping[str, object], *, terminal: Terminal) -> None:
        self._fields = fields
        self._terminal = terminal

    async def prune(self, studio: StudioApplication) -> PruneResult:
        """Remove to the end; return all that went. Whoever interrupts it is told what went before."""
        command = parse_model(PruneRuns, self._fields)
        whole = await studio.prune_runs(command)
        try:
            with self._terminal.progress("removing", total=None) as advance:
                while whole.has_more:
                    advance(whole.runs, f"{whole.runs:,} runs")
                    going_on = command.model_copy(update={"cursor": whole.next_cursor})
                    whole = _joined(whole, await studio.prune_runs(going_on))
        except asyncio.CancelledError:
            self._terminal.note(f"interrupted: {whole.runs:,} runs were removed")
            raise
        return whole


def pruned_lines(result: PruneResult) -> Iterator[Line]:
    """Yield what `run prune` says."""
    verb = "would be removed" if result.dry_run else "removed"
    parts = f"{result.messages:,} messages, {result.signals:,} signals, {result.artifacts:,} artifacts"
    yield (Styled(f"{_runs(result.runs)} {verb}, with {parts} and {size(result.file_bytes)} of files"),)
    if result.kept_referenced:
        yield (Styled(f"{_runs(result.kept_referenced)} kept: something still refers to what they belong to", "dim"),)
    if result.failed_folders:
        yield (Styled("left, because they could not be removed whole:", "bold red"),)
        yield from ((Styled(f"  {name}"),) for name in result.failed_folders)


def _joined(before: PruneResult, after: PruneResult) -> PruneResult:
    """Add up two calls, of which one went on where the other ended."""
    return PruneResult(
        runs=before.runs + after.runs,
        messages=before.messages + after.messages,
        signals=before.signals + after.signals,
        artifacts=before.artifacts + after.artifacts,
        file_bytes=before.file_bytes + after.file_bytes,
        kept_referenced=before.kept_referenced + after.kept_referenced,
        has_more=after.has_more,
        next_cursor=after.next_cursor,
        dry_run=after.dry_run,
        failed_folders=tuple(sorted({*before.failed_folders, *after.failed_folders})),
    )


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count:,} runs"
