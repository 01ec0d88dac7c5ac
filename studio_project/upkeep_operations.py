"""The operations of upkeep, bound: a part of Studio that needs no adapter by its name."""

import logging
from typing import Final

from contract.errors import StateUnavailable
from contract.limits import PRUNE_DEFAULT_RUNS
from contract.ports import Clock
from contract.retention import PruneResult, PruneRuns
from contract.stats import Stats, StatsQuery
from runs.services import statistics
from runs.services.pruning import RunPruner
from runs.services.statistics import ScheduleStatsPort, StatsPort

DAY_SECONDS: Final = 86_400.0
_PRUNE_EVERY_SECONDS: Final = 3_600.0
# In the background nobody waits for it, and everything else goes first.
_GENTLE_PAUSE_SECONDS: Final = 0.25

_log = logging.getLogger(__name__)


class UpkeepOperations:
    """Retention and statistics, over ports."""

    clock: Clock

    def __init__(self, *, pruner: RunPruner, stats: StatsPort, schedules: ScheduleStatsPort, keep_days: int) -> None:
        """Bind. `keep_days` is how long runs are kept by themselves; 0 is for ever."""
        self._pruner = pruner
        self._keep_days = keep_days
        self._stats = stats
        self._schedule_stats = schedules

    async def prune_runs(self, command: PruneRuns) -> PruneResult:
        """Remove old runs."""
        return await self._pruner.prune(command)

    async def get_stats(self, query: StatsQuery) -> Stats:
        """Return counts, spend, queue and store."""
        return await statistics.get_stats(
            query=query, stats=self._stats, schedules=self._schedule_stats, clock=self.clock
        )

    async def keep_pruned(self) -> None:
        """Remove runs hour by hour, as soon as they are old enough, until cancelled; nothing where all are kept."""
        if not self._keep_days:
            return
        await self._pruner.keep_pruned(
            PruneRuns(older_than_seconds=self._keep_days * DAY_SECONDS, limit=PRUNE_DEFAULT_RUNS),
            every_seconds=_PRUNE_EVERY_SECONDS,
            pause_seconds=_GENTLE_PAUSE_SECONDS,
            told=_tell,
            on_fault=_tell_fault,
        )


def _tell(result: PruneResult) -> None:
    if result.runs:
        _log.info("retention: %d old runs were removed, with %d bytes of files", result.runs, result.file_bytes)
    if result.failed_folders:
        _log.warning("retention: folders of files could not be removed: %s", ", ".join(result.failed_folders))


def _tell_fault(fault: StateUnavailable) -> None:
    _log.warning("retention: old runs were not removed: %s", fault)
