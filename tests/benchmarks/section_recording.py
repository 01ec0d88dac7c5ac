"""Evidence over HTTP in batches of a hundred: one producer at each size in turn, then four producers at once."""

import asyncio
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.benchmarks.bench import Bench
from tests.benchmarks.daemons import LiveDaemon
from tests.benchmarks.http_client import Connection, ask_once, post
from tests.benchmarks.load import in_turn
from tests.benchmarks.measures import Measure
from tests.benchmarks.population import message_text
from tests.benchmarks.summaries import p50

SECTION: Final = "recording"
BATCH: Final = 100
RATE: Final = "events"
ONE: Final = "one producer"
MANY: Final = "four producers"
TIME: Final = "batch p50"
CPU: Final = "daemon CPU of a batch"
_OF_BATCHES: Final = f"/health, {BATCH} events each"
_PRODUCERS: Final = 4
_ROUNDS: Final = 60
_BATCHES_EACH: Final = 30
# Of ten events of an agent at work: messages, signals, one report of what it cost.
_MIX: Final = ("message",) * 6 + ("signal",) * 3 + ("usage",)


async def start_run(daemon: LiveDaemon, **fields: Any) -> str:
    """Register a running run; return its id."""
    return str((await ask_once(daemon.port, post("/api/v1/runs/", {"kind": "agent", **fields})))["run_id"])


async def measure(bench: Bench) -> None:
    """Measure events a second, every event with an `event_id`."""
    health = p50((await in_turn({"limit": bench.health()}, seconds=1))["limit"])
    times = await _one_producer(bench)
    medians = {size: 1_000 * p50(found) for size, found in times.items()}
    rates = {size: BATCH * len(found) / sum(found) for size, found in times.items()}
    many = {size: await _many_producers(daemon) for size, daemon in bench.daemons.items()}
    many_rates = {size: BATCH / seconds for size, (seconds, _) in many.items()}
    many_cpu = {size: 1_000 * cpu_seconds for size, (_, cpu_seconds) in many.items()}
    bench.results.add(
        _measure(ONE, TIME, medians, "ms", health * 1_000, "/health"),
        _measure(ONE, RATE, rates, "events/s", BATCH / health, _OF_BATCHES),
        _measure(MANY, RATE, many_rates, "events/s", BATCH / health, _OF_BATCHES),
        _measure(MANY, CPU, many_cpu, "ms", None, ""),
    )


def _measure(
    subject: str, quantity: str, values: Mapping[int, float], unit: str, base: float | None, base_is: str
) -> Measure:
    large, small = max(values), min(values)
    return Measure(
        section=SECTION,
        subject=subject,
        quantity=quantity,
        value=values[large],
        unit=unit,
        runs=large,
        base=base,
        base_is=base_is,
        fewest=None if small == large else values[small],
    )


async def _one_producer(bench: Bench) -> dict[int, list[float]]:
    """Return the seconds of each batch by size; the daemons take turns."""
    runs = {size: await start_run(daemon) for size, daemon in bench.daemons.items()}
    connections = {size: await Connection.open(daemon.port) for size, daemon in bench.daemons.items()}
    times: dict[int, list[float]] = {size: [] for size in runs}
    for number in range(_ROUNDS):
        for size, run in runs.items():
            batch = _batch(run, number)
            started = time.perf_counter()
            await connections[size].ask(batch)
            times[size].append(time.perf_counter() - started)
    for connection in connections.values():
        connection.close()
    return times


async def _many_producers(daemon: LiveDaemon) -> tuple[float, float]:
    """Return seconds and the daemon's processor seconds for a batch, of producers that each have a run of their own."""
    runs = [await start_run(daemon) for _ in range(_PRODUCERS)]
    batches = [[_batch(run, number) for number in range(_BATCHES_EACH)] for run in runs]
    connections = [await Connection.open(daemon.port) for _ in runs]
    started, cpu = time.perf_counter(), daemon.cpu_seconds()
    await asyncio.gather(*map(_send, connections, batches))
    took, used = time.perf_counter() - started, daemon.cpu_seconds() - cpu
    for connection in connections:
        connection.close()
    count = _BATCHES_EACH * _PRODUCERS
    return took / count, used / count


async def _send(connection: Connection, batches: list[bytes]) -> None:
    for batch in batches:
        await connection.ask(batch)


def _batch(run: str, number: int) -> bytes:
    return post(f"/api/v1/runs/{run}/events", {"events": list(_events(number))}).encoded()


def _events(batch: int) -> Iterator[dict[str, Any]]:
    for place in range(BATCH):
        kind = _MIX[place % len(_MIX)]
        yield {"type": kind, "event_id": f"{batch}-{place}", **_fields(kind, batch, place)}


def _fields(kind: str, batch: int, place: int) -> dict[str, Any]:
    if kind == "message":
        return {"role": "assistant", "content": message_text(batch, place)}
    if kind == "signal":
        return {"kind": "NodeStarted", "op_id": f"node-{place}", "payload": {"attempt": 1}}
    return {"input_tokens": 1_200, "output_tokens": 300, "cost_usd": 0.0123}
