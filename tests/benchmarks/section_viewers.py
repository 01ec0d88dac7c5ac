"""What idle viewers cost, and how many are served."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Final

from tests.benchmarks import peer_store
from tests.benchmarks.bench import Bench
from tests.benchmarks.daemons import LiveDaemon
from tests.benchmarks.http_client import Connection, post
from tests.benchmarks.listening import Delays, peer_stream_of, stream_of
from tests.benchmarks.measures import Measure
from tests.benchmarks.pacing import SENT
from tests.benchmarks.section_recording import start_run
from tests.benchmarks.summaries import p95
from tests.benchmarks.viewers import audience, ignore

SECTION: Final = "viewers"
IDLE_ONE_RUN: Final = "200 idle, of one run"
IDLE_MANY_RUNS: Final = "200 idle, of 200 runs"
CROWD: Final = "1,000, of 100 runs"
SHARE: Final = "of a core"
SERVED: Final = "served"
_IDLE_VIEWERS: Final = 200
_IDLE_SECONDS: Final = 20.0
_CROWD_VIEWERS: Final = 1_000
_CROWD_RUNS: Final = 100


async def measure(bench: Bench) -> None:
    """Measure idle viewers, the peer's too, and then the crowd."""
    await _idle(bench)
    await _crowd(bench)


async def _idle(bench: Bench) -> None:
    daemon, peer = bench.large, bench.peer_daemon
    alone = await _share(daemon, (), seconds=_IDLE_SECONDS / 4)
    run = await start_run(daemon)
    runs = [await start_run(daemon) for _ in range(_IDLE_VIEWERS)]
    theirs = None
    if peer is not None:
        peer_store.start_session(peer.home / peer_store.NAME, "bench-idle")
        theirs = await _share(peer, [peer_stream_of("bench-idle")] * _IDLE_VIEWERS)
    targets: Mapping[str, Sequence[str]] = {
        IDLE_ONE_RUN: [stream_of(run)] * _IDLE_VIEWERS,
        IDLE_MANY_RUNS: list(map(stream_of, runs)),
    }
    for subject, streams in targets.items():
        bench.results.add(
            Measure(
                section=SECTION,
                subject=subject,
                quantity=SHARE,
                value=await _share(daemon, streams),
                unit="%",
                runs=daemon.runs,
                base=alone,
                base_is="no viewer",
                peer=theirs if subject == IDLE_ONE_RUN else None,
            )
        )


async def _share(daemon: LiveDaemon, targets: Sequence[str], *, seconds: float = _IDLE_SECONDS) -> float:
    """Return what percentage of a core the daemon uses while nothing happens."""
    async with audience(daemon.port, targets, ignore):
        await asyncio.sleep(1)  # what connecting costs is not what staying costs
        cpu, started = daemon.cpu_seconds(), time.perf_counter()
        await asyncio.sleep(seconds)
        return 100 * (daemon.cpu_seconds() - cpu) / (time.perf_counter() - started)


async def _crowd(bench: Bench) -> None:
    daemon = bench.large
    runs = [await start_run(daemon) for _ in range(_CROWD_RUNS)]
    delays = Delays(_CROWD_VIEWERS)
    targets = [stream_of(runs[number % _CROWD_RUNS]) for number in range(_CROWD_VIEWERS)]
    before = daemon.resident_mib()
    async with audience(daemon.port, targets, delays.hear):
        crowded = daemon.resident_mib()
        for run in runs:
            await _post_one(daemon, run)
        await _or_what_came(delays)
    bench.results.add(
        _crowd_measure(daemon, SERVED, len(delays.seconds), "streams", _CROWD_VIEWERS, "viewers"),
        _crowd_measure(daemon, "memory", crowded, "MiB", before, "no viewer"),
        _crowd_measure(daemon, "message to viewer p95", p95(delays.seconds or [0.0]) * 1_000, "ms", None, ""),
    )


async def _or_what_came(delays: Delays) -> None:
    try:
        await delays.complete()
    except TimeoutError:
        return


async def _post_one(daemon: LiveDaemon, run: str) -> None:
    connection = await Connection.open(daemon.port)
    event = {"type": "message", "role": "assistant", "content": {SENT: time.perf_counter()}}
    await connection.ask(post(f"/api/v1/runs/{run}/events", {"events": [event]}))
    connection.close()


def _crowd_measure(
    daemon: LiveDaemon, quantity: str, value: float, unit: str, base: float | None, base_is: str
) -> Measure:
    return Measure(
        section=SECTION,
        subject=CROWD,
        quantity=quantity,
        value=value,
        unit=unit,
        runs=daemon.runs,
        base=base,
        base_is=base_is,
    )
