"""The daemon's own life: start to ready, memory, and the way out with streams open. The last section: it stops it."""

import asyncio
from collections.abc import Callable
from typing import Final

from tests.benchmarks.bench import Bench, Start
from tests.benchmarks.daemons import LiveDaemon
from tests.benchmarks.listening import peer_stream_of, stream_of
from tests.benchmarks.measures import Measure
from tests.benchmarks.population import long_run
from tests.benchmarks.section_recording import start_run
from tests.benchmarks.viewers import Frame, audience, ignore

SECTION: Final = "daemon"
START: Final = "start, one run in a hundred orphaned"
MEMORY: Final = "memory at the end"
STOP: Final = "SIGTERM with 50 open streams"
TO_READY: Final = "to ready"
CPU: Final = "CPU to ready"
RESIDENT: Final = "resident"
TO_THE_END: Final = "to the end"
GOODBYES: Final = "streams that were told"
_STREAMS: Final = 50
# A peer that still runs after this is killed.
_STOP_SECONDS: Final = 10.0


async def measure(bench: Bench) -> None:
    """Report the start, measured when the daemons came up, and the memory; then stop the largest."""
    _start(bench)
    large, peer = bench.large, bench.peer_daemon
    bench.results.add(
        _measure(large, MEMORY, RESIDENT, large.resident_mib(), "MiB", None if peer is None else peer.resident_mib())
    )
    theirs = None if peer is None else await _stop_peer(peer)
    await _stop(bench, theirs)


def _start(bench: Bench) -> None:
    large, small = bench.large.runs, min(bench.starts)
    peer = bench.peer.start if bench.peer is not None and bench.peer.settles_orphans else None
    reads: tuple[tuple[str, Callable[[Start], float]], ...] = (
        (TO_READY, lambda start: start.seconds),
        (CPU, lambda start: start.cpu_seconds),
    )
    for quantity, read in reads:
        bench.results.add(
            Measure(
                section=SECTION,
                subject=START,
                quantity=quantity,
                value=read(bench.starts[large]),
                unit="s",
                runs=large,
                fewest=None if small == large else read(bench.starts[small]),
                peer=None if peer is None else read(peer),
            )
        )


async def _stop(bench: Bench, theirs: float | None) -> None:
    large = bench.large
    run = await start_run(large)
    told: list[Frame] = []

    def hear(frame: Frame) -> None:
        if frame.get("type") == "shutdown":
            told.append(frame)

    async with audience(large.port, [stream_of(run)] * _STREAMS, hear):
        seconds = await asyncio.to_thread(large.stop, _STOP_SECONDS)
    bench.results.add(
        _measure(large, STOP, TO_THE_END, _STOP_SECONDS if seconds is None else seconds, "s", theirs),
        _measure(large, STOP, GOODBYES, len(told), "streams", None),
    )


async def _stop_peer(peer: LiveDaemon) -> float:
    """Return the seconds until the end; a peer that had to be killed took at least those it was given."""
    async with audience(peer.port, [peer_stream_of(long_run())] * _STREAMS, ignore):
        seconds = await asyncio.to_thread(peer.stop, _STOP_SECONDS)
    return _STOP_SECONDS if seconds is None else seconds


def _measure(daemon: LiveDaemon, subject: str, quantity: str, value: float, unit: str, peer: float | None) -> Measure:
    return Measure(
        section=SECTION, subject=subject, quantity=quantity, value=value, unit=unit, runs=daemon.runs, peer=peer
    )
