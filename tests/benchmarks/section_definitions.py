"""Definitions: saving one, listing a thousand, and starting with ten thousand of which some were being saved."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tests.benchmarks import daemons
from tests.benchmarks.bare_save import bare_saves
from tests.benchmarks.bench import HEALTH, READY, Bench, Start, say
from tests.benchmarks.comparing import LATENCY, THROUGHPUT, compare
from tests.benchmarks.daemons import LiveDaemon
from tests.benchmarks.definition_files import SIZE_BYTES, fill_definitions, text_of, write_files
from tests.benchmarks.http_client import Request, UnexpectedAnswer, ask_once, post, put
from tests.benchmarks.load import CLIENTS, Question, at_once, in_turn
from tests.benchmarks.measures import Measure
from tests.benchmarks.summaries import p50

SECTION: Final = "definitions"
SAVE: Final = f"save of {SIZE_BYTES // 1024} KiB"
SNAPSHOT: Final = "snapshot of 1,000 new files"
FIRST_PAGE: Final = "list of 1,000, first page"
WHOLE: Final = "list of 1,000, all of them"
TOTAL: Final = "to the answer"
START_FEW: Final = "start, 10,000 of which 100 pending"
START_ALL: Final = "start, 10,000 of which all pending"
TO_READY: Final = "to ready"
_LISTED: Final = 1_000
_STARTED: Final = 10_000
_PENDING: Final[Mapping[str, int]] = {START_FEW: 100, START_ALL: _STARTED}
_SLICES: Final = 3
_SLICE_SECONDS: Final = 1.0
_NAMES: Final = tuple(f"saved-{place}" for place in range(CLIENTS))
_OURS: Final = "/api/v1/definitions/"
_PEERS: Final = "/api/definitions/"


async def measure(bench: Bench) -> None:
    """Measure saves and lists at the daemons that are there, and starts at daemons of their own."""
    await _saves(bench)
    await _snapshots(bench)
    await _lists(bench)
    await _starts(bench)


async def _saves(bench: Bench) -> None:
    questions = {str(runs): Question(daemon.port, _save("saved")) for runs, daemon in bench.daemons.items()}
    if bench.peer_daemon is not None:
        questions["peer"] = Question(bench.peer_daemon.port, _peer_save("saved"))
    bare: list[float] = []
    found: dict[str, list[float]] = {name: [] for name in questions}
    for _ in range(_SLICES):
        bare += await asyncio.to_thread(bare_saves, bench.large.home, text_of(0))
        for name, times in (await in_turn(questions, seconds=_SLICE_SECONDS)).items():
            found[name] += times
    medians = {name: 1_000 * p50(times) for name, times in found.items()}
    large, small = bench.large.runs, min(bench.daemons)
    _add(
        bench,
        SAVE,
        LATENCY,
        medians[str(large)],
        "ms",
        base=1_000 * p50(bare),
        base_is="the disk's part of it",
        fewest=None if small == large else medians[str(small)],
        peer=medians.get("peer"),
    )
    await _saves_at_once(bench)


async def _saves_at_once(bench: Bench) -> None:
    """Let every client save a definition of its own, in slices in turn with the limit's."""
    limit: list[float] = []
    ours: list[float] = []
    for _ in range(_SLICES):
        limit.append(await _per_second(bench.large, [HEALTH] * CLIENTS))
        ours.append(await _per_second(bench.large, [_save(name) for name in _NAMES]))
    theirs = None if bench.peer_daemon is None else await _peer_per_second(bench.peer_daemon)
    _add(bench, SAVE, THROUGHPUT, sum(ours) / _SLICES, "/s", base=sum(limit) / _SLICES, peer=theirs)


async def _peer_per_second(peer: LiveDaemon) -> float | None:
    """Return None when the peer refuses some of so many saves at once, as it does on a slow disk."""
    try:
        return await _per_second(peer, [_peer_save(name) for name in _NAMES])
    except UnexpectedAnswer as answer:
        say(f"the peer cannot save {CLIENTS} definitions at once: {answer}")
        return None


async def _per_second(daemon: LiveDaemon, requests: Sequence[Request]) -> float:
    """Return the answers in a second to clients that each repeat a request of their own."""
    found = await asyncio.gather(
        *(at_once(Question(daemon.port, request), seconds=_SLICE_SECONDS, clients=1) for request in requests)
    )
    return sum(one.per_second for one in found)


async def _snapshots(bench: Bench) -> None:
    """Take the files of the lists into the histories."""
    seconds = {runs: await _snapshot(daemon, _OURS, {}) for runs, daemon in bench.daemons.items()}
    peer = bench.peer_daemon
    theirs = None if peer is None else await _snapshot(peer, _PEERS, None)
    large, small = bench.large.runs, min(seconds)
    fewest = None if small == large else seconds[small]
    _add(bench, SNAPSHOT, TOTAL, seconds[large], "s", fewest=fewest, peer=theirs)


async def _snapshot(daemon: LiveDaemon, collection: str, body: object) -> float:
    await asyncio.to_thread(write_files, daemon.home, _LISTED)
    query = "" if body is not None else "?kind=agent"
    started = time.perf_counter()
    await ask_once(daemon.port, post(f"{collection}snapshot{query}", body))
    return time.perf_counter() - started


async def _lists(bench: Bench) -> None:
    for subject, query in ((FIRST_PAGE, "?kind=agent"), (WHOLE, f"?kind=agent&limit={_LISTED}")):
        requests = dict.fromkeys(bench.daemons, Request(_OURS + query))
        # The peer has no pages: its answer is always the whole.
        await compare(bench, SECTION, subject, requests, peer=Request(f"{_PEERS}?kind=agent"))


async def _starts(bench: Bench) -> None:
    empty = await _start(bench, "definitions-none", 0, 0)
    for subject, pending in _PENDING.items():
        start = await _start(bench, f"definitions-{pending}", _STARTED, pending)
        _add(bench, subject, TO_READY, start.seconds, "s", base=empty.seconds, base_is="an empty home")
        _add(bench, subject, "CPU to ready", start.cpu_seconds, "s", base=empty.cpu_seconds, base_is="an empty home")


async def _start(bench: Bench, name: str, count: int, pending: int) -> Start:
    """Start a daemon on a home with so many definitions, and stop it again."""
    say(f"seeding {name}")
    home, until = await asyncio.to_thread(bench.seeds.home, name, fill_definitions(count, pending))
    started = time.perf_counter()
    daemon = daemons.serve(home, runs=0, until=until)
    try:
        await daemons.until_ready(daemon, READY)
        return Start(time.perf_counter() - started, daemon.cpu_seconds())
    finally:
        daemon.stop()


def _save(name: str) -> Request:
    return put(f"{_OURS}agent/{name}", {"content": text_of(0)})


def _peer_save(name: str) -> Request:
    return post(f"{_PEERS}agent/{name}", {"content": text_of(0)})


def _add(bench: Bench, subject: str, quantity: str, value: float, unit: str, **compared: Any) -> None:
    measure = Measure(
        section=SECTION, subject=subject, quantity=quantity, value=value, unit=unit, runs=bench.large.runs, **compared
    )
    bench.results.add(measure)
