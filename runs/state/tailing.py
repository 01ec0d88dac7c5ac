"""DjangoRunTail: RunTailPort over the ORM."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from django.db.models import QuerySet

from contract.events import (
    MessageView,
    SignalView,
)
from contract.limits import STREAM_PAGE_BYTES, STREAM_PAGE_ENTRIES
from runs.models import MessageRecord, RunRecord, SignalRecord
from runs.services.ports import Entries, EntryPage, RunHead
from runs.state import rows
from studio_project.statedb import StateDB

# Built once: naming its columns is half the work of such a query.
_ENTRIES: Final[dict[Entries, QuerySet[Any, rows.Row]]] = {
    "messages": MessageRecord.objects.order_by("seq").values(*rows.MESSAGE_COLUMNS, "branch__name"),
    "signals": SignalRecord.objects.order_by("seq").values(*rows.SIGNAL_COLUMNS),
}


class DjangoRunTail:
    """Reads the newest of runs."""

    def __init__(self, db: StateDB) -> None:
        """Take the executor."""
        self._db = db

    async def heads(self, run_ids: Sequence[str]) -> dict[str, RunHead]:
        """Return the heads of the runs that exist."""
        return await self._db.read(partial(_heads, run_ids))

    async def entries(self, run_id: str, kind: Entries, *, after: int, up_to: int) -> EntryPage:
        """Return one page, bounded in entries and bytes."""
        return await self._db.read(partial(_entries, run_id, kind, after, up_to))


def _heads(run_ids: Sequence[str]) -> dict[str, RunHead]:
    found = RunRecord.objects.filter(run_id__in=run_ids)
    return {
        run_id: RunHead(last_seq=last_seq, status=status, reason_code=reason_code)
        for run_id, last_seq, status, reason_code in found.values_list(
            "run_id", "last_seq", "status", "status_reason_code"
        )
    }


def _entries(run_id: str, kind: Entries, after: int, up_to: int) -> EntryPage:
    items: list[MessageView | SignalView] = []
    size_bytes = 0
    wanted = _ENTRIES[kind].filter(run__run_id=run_id, seq__gt=after, seq__lte=up_to)[:STREAM_PAGE_ENTRIES]
    for row in wanted.iterator(chunk_size=50):
        item = rows.message(row) if kind == "messages" else rows.signal(row)
        items.append(item)
        size_bytes += item.size_bytes
        if size_bytes >= STREAM_PAGE_BYTES or len(items) == STREAM_PAGE_ENTRIES:
            return EntryPage(items=tuple(items), through=item.seq)
    return EntryPage(items=tuple(items), through=up_to)
