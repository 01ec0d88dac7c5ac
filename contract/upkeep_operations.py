"""The operations of upkeep, retention and statistics: a part of StudioApplication."""

from typing import Protocol

from contract.retention import PruneResult, PruneRuns
from contract.stats import Stats, StatsQuery


class UpkeepOperations(Protocol):
    """What keeps a store in bounds, and says how it stands."""

    async def prune_runs(self, command: PruneRuns) -> PruneResult:
        """Remove old runs with all that belongs to them, a bounded number at a time."""
        ...

    async def get_stats(self, query: StatsQuery) -> Stats:
        """Return counts, spend, queue and store of one instant. ValidationFailure for a window that ends too early."""
        ...
