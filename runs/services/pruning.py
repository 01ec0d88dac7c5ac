"""Retention: removes old runs with all that belongs to them, a few at a time, and gives the room back."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from contract.errors import StateUnavailable
from contract.ports import Clock
from contract.retention import PruneResult, PruneRuns
from runs.cursors import ListPosition, decode_prune, encode_prune
from runs.retention import Candidate, PruneRule, batches, rule_of

# Looked at in one query.
_LOOKED_AT: Final = 500
# Between two transactions, for all that goes on beside it, and for who waits for the lock in another process: SQLite
# lets no one queue for it.
_PAUSE_SECONDS: Final = 0.02
# A folder that is younger may belong to a run that is just being registered.
STRAY_SECONDS: Final = 3_600.0
# Known in one query.
_NAMES_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """What one transaction removed, or would have. `kept` were old enough and stay."""

    run_ids: frozenset[str] = frozenset()
    messages: int = 0
    signals: int = 0
    artifacts: int = 0
    kept: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearedFolders:
    """What became of folders of files: bytes that went, and the names of folders of which something is left."""

    file_bytes: int = 0
    failed: tuple[str, ...] = ()


class RunRemovalPort(Protocol):
    """Finds and removes runs. Raises StateUnavailable."""

    async def candidates(self, rule: PruneRule, *, after: ListPosition | None, limit: int) -> tuple[Candidate, ...]:
        """Return runs that the rule means, by the end of each, the oldest first, from after a position."""
        ...

    async def survey(self, rule: PruneRule, numbers: Sequence[int]) -> Removal:
        """Return what `remove` would do."""
        ...

    async def remove(self, rule: PruneRule, numbers: Sequence[int]) -> Removal:
        """Remove those that the rule still means, with all rows that belong to them, in one transaction.

        A run whose invocation has an open run stays, and so does one that something refers to. An invocation goes with
        its last run, unless it has artifacts of its own.
        """
        ...

    async def known(self, run_ids: Sequence[str]) -> frozenset[str]:
        """Return those of the ids that runs have."""
        ...

    async def give_back(self, *, finished: bool) -> bool:
        """Return some of the room that was freed to the disk; False when there is no more to return.

        `finished` says that nothing else is about to be removed.
        """
        ...


class RunReferences(Protocol):
    """What keeps runs from being removed. Synchronous: asked inside the transaction that removes them."""

    def referenced(self, run_ids: Collection[str]) -> frozenset[str]:
        """Return those of the runs that something refers to."""
        ...


class ArtifactRemoval(Protocol):
    """The artifacts' part of a removal. Synchronous: it runs inside the state adapter's own transaction."""

    @property
    def tables(self) -> Sequence[str]:
        """The names of the tables that are deleted from."""
        ...

    def count_of_runs(self, run_ids: Collection[str]) -> int:
        """Count the artifacts of these runs."""
        ...

    def remove_of_runs(self, run_ids: Collection[str]) -> None:
        """Remove them."""
        ...

    def owning_invocations(self, invocation_ids: Collection[str]) -> frozenset[str]:
        """Return those of the invocations that have artifacts of their own."""
        ...


class RunFolders(Protocol):
    """The folders of the files of runs, each named like its run. No link is followed; a missing one is empty."""

    async def names(self, *, untouched_since: float | None) -> tuple[str, ...]:
        """Return the ids of which there are folders, with an instant only those that have not changed since."""
        ...

    async def size(self, run_ids: Collection[str]) -> int:
        """Return the bytes of the files in these folders."""
        ...

    async def clear(self, run_ids: Collection[str]) -> ClearedFolders:
        """Remove these folders with everything in them."""
        ...


@dataclass(slots=True)
class _Tally:
    """What a call has done so far."""

    runs: int = 0
    messages: int = 0
    signals: int = 0
    artifacts: int = 0
    kept: int = 0
    file_bytes: int = 0
    failed: set[str] = field(default_factory=set)

    def add(self, removal: Removal) -> None:
        self.runs += len(removal.run_ids)
        self.messages += removal.messages
        self.signals += removal.signals
        self.artifacts += removal.artifacts
        self.kept += removal.kept

    def add_folders(self, cleared: ClearedFolders) -> None:
        self.file_bytes += cleared.file_bytes
        self.failed |= set(cleared.failed)

    def result(self, *, dry_run: bool, next_cursor: str | None) -> PruneResult:
        return PruneResult(
            runs=self.runs,
            messages=self.messages,
            signals=self.signals,
            artifacts=self.artifacts,
            file_bytes=self.file_bytes,
            kept_referenced=self.kept,
            has_more=next_cursor is not None,
            next_cursor=next_cursor,
            dry_run=dry_run,
            failed_folders=tuple(sorted(self.failed)),
        )


class RunPruner:
    """Removes old runs. Rows go first and their files after the commit, so that no run is left without its files.

    A process that dies between the two leaves a folder without a run, which the next call removes that finds the end of
    the line.
    """

    def __init__(self, *, runs: RunRemovalPort, folders: RunFolders, clock: Clock) -> None:
        """Bind."""
        self._runs = runs
        self._folders = folders
        self._clock = clock

    async def prune(self, command: PruneRuns, *, pause_seconds: float = _PAUSE_SECONDS) -> PruneResult:
        """Remove what a command means, with a pause after each transaction. ValidationFailure, StateUnavailable."""
        rule, after = rule_of(command, at=self._clock.now()), decode_prune(command)
        if command.dry_run:
            return await self._survey(rule, after)
        tally = _Tally()
        last = await self._remove(rule, after, command.limit, tally, pause_seconds)
        has_more = last is not None and bool(await self._runs.candidates(rule, after=last, limit=1))
        if not has_more:
            await self._clear_strays(tally)
        left = True
        while left:
            left = await self._runs.give_back(finished=not has_more)
            await asyncio.sleep(pause_seconds)
        return tally.result(dry_run=False, next_cursor=encode_prune(command, last) if last and has_more else None)

    async def keep_pruned(
        self,
        command: PruneRuns,
        *,
        every_seconds: float,
        pause_seconds: float,
        told: Callable[[PruneResult], None],
        on_fault: Callable[[StateUnavailable], None],
    ) -> None:
        """Remove what the command means again and again, until cancelled. `told` hears of each call's result."""
        while True:
            try:
                result = await self.prune(command, pause_seconds=pause_seconds)
                told(result)
                while result.next_cursor is not None:
                    await asyncio.sleep(pause_seconds)
                    going_on = command.model_copy(update={"cursor": result.next_cursor})
                    result = await self.prune(going_on, pause_seconds=pause_seconds)
                    told(result)
            except StateUnavailable as fault:
                on_fault(fault)
            await asyncio.sleep(every_seconds)

    async def _remove(
        self, rule: PruneRule, after: ListPosition | None, limit: int, tally: _Tally, pause_seconds: float
    ) -> ListPosition | None:
        """Remove up to `limit` runs; return the last that was looked at, or None when the line ended before."""
        last = after
        while tally.runs < limit:
            found = await self._runs.candidates(rule, after=last, limit=min(limit - tally.runs, _LOOKED_AT))
            if not found:
                return None
            # Those that stay are told apart by reading alone, so that however many they are, nobody waits for them.
            survey = await self._runs.survey(rule, [run.number for run in found])
            tally.kept += survey.kept
            for batch in batches([run for run in found if run.run_id in survey.run_ids]):
                removal = await self._runs.remove(rule, [run.number for run in batch])
                tally.add(removal)
                tally.add_folders(await self._folders.clear(removal.run_ids))
                await asyncio.sleep(pause_seconds)
            last = found[-1].position
        return last

    async def _survey(self, rule: PruneRule, after: ListPosition | None) -> PruneResult:
        tally = _Tally()
        folders = frozenset(await self._folders.names(untouched_since=None))
        while found := await self._runs.candidates(rule, after=after, limit=_LOOKED_AT):
            survey = await self._runs.survey(rule, [run.number for run in found])
            tally.add(survey)
            tally.file_bytes += await self._folders.size(sorted(folders.intersection(survey.run_ids)))
            after = found[-1].position
        return tally.result(dry_run=True, next_cursor=None)

    async def _clear_strays(self, tally: _Tally) -> None:
        """Remove folders that a process left which died between a commit and its files."""
        names = await self._folders.names(untouched_since=self._clock.now() - STRAY_SECONDS)
        for begin in range(0, len(names), _NAMES_AT_ONCE):
            some = names[begin : begin + _NAMES_AT_ONCE]
            known = await self._runs.known(some)
            tally.add_folders(await self._folders.clear([name for name in some if name not in known]))
