"""How soon a viewer sees a new message, recorded over HTTP and by another process."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from tests.benchmarks import peer_store
from tests.benchmarks.bench import Bench
from tests.benchmarks.daemons import ROOT, LiveDaemon, own_environment
from tests.benchmarks.http_client import Connection, post
from tests.benchmarks.listening import Delays, peer_stream_of, stream_of
from tests.benchmarks.load import in_turn
from tests.benchmarks.measures import Measure
from tests.benchmarks.pacing import produce
from tests.benchmarks.section_recording import start_run
from tests.benchmarks.summaries import p50, p95
from tests.benchmarks.viewers import audience

SECTION: Final = "new message"
OVER_HTTP: Final = "sent over HTTP"
FROM_PROCESS: Final = "from another process"
_MESSAGES: Final = 100

Produce = Callable[[], Awaitable[None]]


async def measure(bench: Bench) -> None:
    """Measure both ways, and the peer's one: its runs write their own messages."""
    daemon, peer = bench.large, bench.peer_daemon
    health = p50((await in_turn({"limit": bench.health()}, seconds=1))["limit"])
    run = await start_run(daemon)
    over_http = await _heard(daemon.port, stream_of(run), lambda: _post_messages(daemon, run))
    run = await start_run(daemon)
    from_process = await _heard(daemon.port, stream_of(run), lambda: _produce_elsewhere(daemon.home, "producer", run))
    theirs = None if peer is None else await _peer_delays(peer)
    for subject, ours in ((OVER_HTTP, over_http), (FROM_PROCESS, from_process)):
        for quantity, summary in (("p50", p50), ("p95", p95)):
            bench.results.add(
                Measure(
                    section=SECTION,
                    subject=subject,
                    quantity=quantity,
                    value=summary(ours) * 1_000,
                    unit="ms",
                    runs=daemon.runs,
                    base=health * 1_000,
                    peer=None if theirs is None else summary(theirs) * 1_000,
                )
            )


async def _peer_delays(peer: LiveDaemon) -> list[float]:
    session, database = f"bench-{time.perf_counter_ns()}", peer.home / peer_store.NAME
    peer_store.start_session(database, session)
    return await _heard(
        peer.port,
        peer_stream_of(session),
        lambda: _produce_elsewhere(peer.home, "peer_producer", session, str(database)),
    )


async def _heard(port: int, target: str, producing: Produce) -> list[float]:
    delays = Delays(_MESSAGES)
    async with audience(port, [target], delays.hear):
        await producing()
        await delays.complete()
    return delays.seconds


async def _post_messages(daemon: LiveDaemon, run: str) -> None:
    connection = await Connection.open(daemon.port)

    async def send(number: int, content: dict[str, float]) -> None:
        event = {"type": "message", "role": "assistant", "content": content, "event_id": f"m{number}"}
        await connection.ask(post(f"/api/v1/runs/{run}/events", {"events": [event]}))

    await produce(send, _MESSAGES)
    connection.close()


async def _produce_elsewhere(home: Path, module: str, run: str, *more: str) -> None:
    command = (sys.executable, "-m", f"tests.benchmarks.{module}", run, str(_MESSAGES), *more)
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, env=own_environment(home))
    if await process.wait():
        raise RuntimeError(f"{module} failed")
