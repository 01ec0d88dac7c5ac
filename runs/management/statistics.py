"""Statistics as lines and a table for people. Values in, text out; `zone` is where the reader lives."""

from collections.abc import Iterator
from datetime import tzinfo
from typing import Final

from contract.stats import ProjectSpend, SpendStats, Stats, StoreStats
from runs.management.presentation import money
from studio_project.terminal import UNKNOWN, Line, Table
from studio_project.wording import instant, minute, pairs, size

_NO_PROJECT: Final = "(no project)"
_TOTAL: Final = "total"


def stats_lines(stats: Stats, zone: tzinfo) -> Iterator[Line]:
    """Yield what `stats` says above the table of spend."""
    counts = (f"{count:,} {status}" for status, count in stats.runs_by_status.items() if count)
    queue = stats.queue
    waiting = "" if queue.oldest_queued_at is None else f", the oldest since {minute(queue.oldest_queued_at, zone)}"
    yield from pairs(
        [
            ("at", instant(stats.at, zone)),
            ("runs", f"{stats.runs_total:,}"),
            ("by status", ", ".join(counts)),
            ("queue", f"{queue.queued:,} wait{waiting}; {queue.held:,} are held by a worker"),
            ("store", _store(stats.store)),
            (
                "spend",
                f"of runs that started from {minute(stats.spend.since, zone)} to {minute(stats.spend.until, zone)}",
            ),
        ]
    )
    yield ()


def spend_table(spend: SpendStats) -> Table:
    """Return the table of spend by project, the total last."""
    rows = [_row(_NO_PROJECT if found.project is None else found.project, found) for found in spend.projects]
    return Table(
        headers=("PROJECT", "RUNS", "COST", "WITHOUT COST", "TOKENS IN", "TOKENS OUT", "WITHOUT TOKENS"),
        rows=[*rows, _row(_TOTAL, spend.total)] if rows else [],
        empty="no runs started then",
        elastic={"PROJECT"},
    )


def _row(name: str, spend: ProjectSpend) -> tuple[str, ...]:
    return (
        name,
        f"{spend.runs:,}",
        money(spend.cost_usd),
        f"{spend.runs_without_cost:,}",
        _count(spend.input_tokens),
        _count(spend.output_tokens),
        f"{spend.runs_without_tokens:,}",
    )


def _count(number: int | None) -> str:
    return UNKNOWN if number is None else f"{number:,}"


def _store(store: StoreStats) -> str:
    more = []
    if store.wal_bytes is not None:
        more.append(f"its log {size(store.wal_bytes)}")
    if store.free_bytes is not None:
        more.append(f"{size(store.free_bytes)} of it free")
    return ", ".join((f"{store.vendor}, {size(store.database_bytes)}", *more))
