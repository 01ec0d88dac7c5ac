"""DjangoStats: StatsPort over the ORM."""

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from django.db import connections
from django.db.models import Count, Min, Q, QuerySet, Sum, Value

from contract.stats import QueueStats, StoreStats
from runs.models import LaunchRecord, RunRecord
from runs.services.statistics import Figures
from runs.spending import Spend
from runs.state.queueing import WAITING
from runs.state.rows import Row
from runs.transitions import STATUSES
from studio_project.prepared_query import PreparedQuery
from studio_project.statedb import StateDB

# What most runs are: as many as the others are not. SQLite counts a whole index without looking at its entries, so that
# the count of all runs is the cheapest of all.
_MOST: Final = "completed"
_TABLE: Final = RunRecord._meta.db_table  # noqa: SLF001 (Django's)
# In one statement, which an aggregate over all runs could not say: each count is a part of one index.
COUNTS: Final = " UNION ALL ".join(
    [
        f"SELECT NULL, COUNT(*) FROM {_TABLE}",  # noqa: S608 (this and the next: made of our own words alone)
        *(f"SELECT '{name}', COUNT(*) FROM {_TABLE} WHERE status = '{name}'" for name in STATUSES if name != _MOST),  # noqa: S608
    ]
)
_SUMS: Final = ("cost_micros", "input_tokens", "output_tokens")
_SPENDS: Final = (
    RunRecord.objects.filter(started_at__isnull=False)
    .order_by()
    .values("project")
    .annotate(
        runs=Count("id"),
        **{f"sum_{name}": Sum(name) for name in _SUMS},
        runs_without_cost=Count("id", filter=Q(cost_micros__isnull=True)),
        runs_without_tokens=Count("id", filter=Q(input_tokens__isnull=True, output_tokens__isnull=True)),
    )
)


class DjangoStats:
    """Reads figures."""

    def __init__(self, db: StateDB) -> None:
        """Take the executor."""
        self._db = db

    async def figures(self, *, since: float, until: float, project: str | None) -> Figures:
        """Count and sum up one snapshot; every query reads an index and no run."""
        return await self._db.read(partial(_figures, since, until, project), snapshot=True)


def spends_of(since: float, until: float, project: str | None) -> QuerySet[RunRecord, Row]:
    """Return the query behind the spend of a window."""
    found = _SPENDS.filter(started_at__gte=since, started_at__lt=until)
    return found if project is None else found.filter(project=project)


# Of one group at most: an aggregate over all could not be kept as SQL.
_QUEUE: Final = PreparedQuery(
    WAITING.order_by().values(all=Value(0)).annotate(queued=Count("id"), oldest_queued_at=Min("launch__queued_at")),
)
_HELD: Final = PreparedQuery(
    LaunchRecord.objects.filter(owner__isnull=False).values(all=Value(0)).annotate(held=Count("run"))
)
_WINDOW: Final = PreparedQuery(spends_of(-1, -2, None), -1, -2)
_WINDOW_OF_PROJECT: Final = PreparedQuery(spends_of(-1, -2, "?"), -1, -2, "?")


def _figures(since: float, until: float, project: str | None) -> Figures:
    return Figures(
        runs_by_status=_by_status(),
        spends=tuple(map(_spend, _spends(since, until, project))),
        queue=_queue(),
        store=_sqlite() if connections["default"].vendor == "sqlite" else _postgresql(),
    )


def _by_status() -> dict[str, int]:
    with connections["default"].cursor() as cursor:
        cursor.execute(COUNTS)
        counts = dict(cursor.fetchall())
    total: int = counts.pop(None)
    return counts | {_MOST: total - sum(counts.values())}


def _spends(since: float, until: float, project: str | None) -> list[Row]:
    return _WINDOW.all(since, until) if project is None else _WINDOW_OF_PROJECT.all(since, until, project)


def _spend(row: Row) -> Spend:
    """PostgreSQL sums integers up as decimals."""
    sums = {name: None if (found := row.pop(f"sum_{name}")) is None else int(found) for name in _SUMS}
    return Spend(**row | sums)


def _queue() -> QueueStats:
    waiting, held = _QUEUE.first() or {}, _HELD.first() or {}
    return QueueStats(
        queued=waiting.get("queued", 0),
        held=held.get("held", 0),
        oldest_queued_at=waiting.get("oldest_queued_at"),
    )


def _sqlite() -> StoreStats:
    page_bytes = _pragma("page_size")
    return StoreStats(
        vendor="sqlite",
        database_bytes=_pragma("page_count") * page_bytes,
        wal_bytes=_size(Path(f"{connections['default'].settings_dict['NAME']}-wal")),
        free_bytes=_pragma("freelist_count") * page_bytes,
    )


def _postgresql() -> StoreStats:
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        [size] = cursor.fetchone()
    return StoreStats(vendor="postgresql", database_bytes=size, wal_bytes=None, free_bytes=None)


def _pragma(name: str) -> Any:
    with connections["default"].cursor() as cursor:
        [value] = cursor.execute(f"PRAGMA {name}").fetchone()
    return value


def _size(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_size
    return 0
