"""DjangoRunOutcomes: how runs stand, for those who wait for their ends."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Final

from contract.money import add_known
from runs.models import LaunchRecord, RunRecord
from runs.state.queueing import WAITING
from runs.transitions import is_terminal
from studio_project.statedb import StateDB

# Fewer than any database takes as parameters of one statement.
_CHUNK: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A run's status, and what it has reported to have spent until now; null is nothing."""

    status: str
    is_terminal: bool
    cost_micros: int | None
    tokens: int | None


class DjangoRunOutcomes:
    """Reads how runs stand."""

    def __init__(self, db: StateDB) -> None:
        """Take the executor."""
        self._db = db

    async def outcomes(self, run_ids: Collection[str]) -> dict[str, Outcome]:
        """Return how these runs stand; one that is not there is missing."""
        return await self._db.read(partial(_outcomes, tuple(run_ids))) if run_ids else {}

    async def open_count(self) -> int:
        """Return how many launched runs are queued or held by a worker."""
        return await self._db.read(_open_count)


def _outcomes(run_ids: tuple[str, ...]) -> dict[str, Outcome]:
    columns = ("run_id", "status", "cost_micros", "input_tokens", "output_tokens")
    found: dict[str, Outcome] = {}
    for first in range(0, len(run_ids), _CHUNK):
        rows = RunRecord.objects.filter(run_id__in=run_ids[first : first + _CHUNK]).values_list(*columns)
        for run_id, status, cost_micros, input_tokens, output_tokens in rows:
            found[run_id] = Outcome(
                status=status,
                is_terminal=is_terminal(status),
                cost_micros=cost_micros,
                tokens=add_known(input_tokens, output_tokens),
            )
    return found


def _open_count() -> int:
    return WAITING.order_by().count() + LaunchRecord.objects.filter(owner__isnull=False).count()
