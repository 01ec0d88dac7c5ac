"""The operations of upkeep, over HTTP: a part of RemoteStudio."""

from contract.http_exchange import query_of
from contract.remote_part import RemotePart
from contract.retention import PruneResult, PruneRuns
from contract.stats import Stats, StatsQuery


class RemoteUpkeep(RemotePart):
    """Retention and statistics, at the other end of an exchange."""

    async def prune_runs(self, command: PruneRuns) -> PruneResult:
        """Remove old runs. Sent again it would remove the next ones."""
        return await self._exchange.send(PruneResult, "POST", "/api/v1/retention/prune", command, repeatable=False)

    async def get_stats(self, query: StatsQuery) -> Stats:
        """Return counts, spend, queue and store of one instant."""
        return await self._exchange.get(Stats, "/api/v1/stats", query_of(query))
