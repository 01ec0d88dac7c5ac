"""Nine tenths of all runs are removed while somebody asks for lists: the slowest list, and the size of the files."""

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from tests.benchmarks import daemons
from tests.benchmarks.bench import READY, Bench
from tests.benchmarks.daemons import LiveDaemon
from tests.benchmarks.http_client import Connection, Request, ask_once, post
from tests.benchmarks.list_cases import first_pages
from tests.benchmarks.measures import Measure
from tests.benchmarks.population import SPAN_SECONDS
from tests.benchmarks.summaries import p50

SECTION: Final = "removal of 90 %"
LISTS: Final = "lists meanwhile"
WORST: Final = "slowest"
MEDIAN: Final = "p50"
REMOVED: Final = "runs"
RATE: Final = "removed"
FILES: Final = "database and log"
LEFT: Final = "left of it"
_DATABASE: Final = "studio.db"
_KEPT: Final = 0.1
_LIMIT: Final = 1_000
_QUIET_SECONDS: Final = 5.0
# As a page that somebody looks at asks again and again.
_PAUSE_SECONDS: Final = 0.02


async def measure(bench: Bench) -> None:
    """Measure on a copy of the largest daemon's home, with a daemon of its own."""
    large = bench.large
    home = large.home.with_name(f"{large.home.name}-pruned")
    await asyncio.to_thread(_copy, large.home, home)
    daemon = daemons.serve(home, runs=large.runs, until=large.until)
    try:
        await daemons.until_ready(daemon, READY)
        await _measure(bench, daemon)
    finally:
        daemon.stop()


def _copy(home: Path, copy: Path) -> None:
    """Copy a database that is in use, as it is at one instant."""
    copy.mkdir()
    with closing(sqlite3.connect(home / _DATABASE)) as source, closing(sqlite3.connect(copy / _DATABASE)) as target:
        source.backup(target)


async def _measure(bench: Bench, daemon: LiveDaemon) -> None:
    before = _file_bytes(daemon.home)
    quiet = await _lists_during(daemon, lambda: asyncio.sleep(_QUIET_SECONDS))
    removed: list[int] = []
    begin = time.perf_counter()
    busy = await _lists_during(daemon, lambda: _prune(daemon, removed))
    seconds = time.perf_counter() - begin
    values = (
        (LISTS, WORST, max(busy) * 1_000, "ms", max(quiet) * 1_000, "without it"),
        (LISTS, MEDIAN, p50(busy) * 1_000, "ms", p50(quiet) * 1_000, "without it"),
        (REMOVED, RATE, sum(removed) / seconds, "/s", None, ""),
        (FILES, LEFT, _file_bytes(daemon.home) / before * 100, "%", None, ""),
    )
    bench.results.add(
        *(
            Measure(
                section=SECTION,
                subject=subject,
                quantity=quantity,
                value=value,
                unit=unit,
                runs=daemon.runs,
                base=base,
                base_is=base_is,
            )
            for subject, quantity, value, unit, base, base_is in values
        )
    )


async def _prune(daemon: LiveDaemon, removed: list[int]) -> None:
    """Remove in calls of a thousand until nothing is left that is old enough."""
    command: dict[str, Any] = {"older_than_seconds": time.time() - daemon.until + SPAN_SECONDS * _KEPT, "limit": _LIMIT}
    cursor: str | None = None
    while True:
        result = await ask_once(daemon.port, post("/api/v1/retention/prune", {**command, "cursor": cursor}))
        removed.append(result["runs"])
        cursor = result["next_cursor"]
        if cursor is None:
            return


async def _lists_during(daemon: LiveDaemon, work: Callable[[], Awaitable[None]]) -> list[float]:
    """Ask for each form of the list in turn while something else goes on; return the latencies in seconds."""
    requests = [Request(case.target).encoded() for case in first_pages(daemon.runs, daemon.until)]
    connection = await Connection.open(daemon.port)
    for request in requests:
        await connection.ask(request)
    working = asyncio.ensure_future(work())
    latencies: list[float] = []
    while not working.done():
        begin = time.perf_counter()
        await connection.ask(requests[len(latencies) % len(requests)])
        latencies.append(time.perf_counter() - begin)
        await asyncio.sleep(_PAUSE_SECONDS)
    connection.close()
    await working
    return latencies


def _file_bytes(home: Path) -> int:
    files = (home / _DATABASE, home / f"{_DATABASE}-wal")
    return sum(file.stat().st_size for file in files if file.exists())
