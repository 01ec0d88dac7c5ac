"""Two ways to ask: one after another, taking turns, for latency; many at once for throughput."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from tests.benchmarks.http_client import Connection, Request

CLIENTS: Final = 16
# A median of fewer says little; slow daemons are asked for longer than a second to reach it.
_ROUNDS_MIN: Final = 20


@dataclass(frozen=True, slots=True)
class Question:
    """A request and the port of the daemon to put it to."""

    port: int
    request: Request


@dataclass(frozen=True, slots=True)
class Throughput:
    """How many answers came in `seconds`, and how much of a core this process took for asking."""

    answers: int
    seconds: float
    client_cpu_seconds: float

    @property
    def per_second(self) -> float:
        """Answers in a second."""
        return self.answers / self.seconds

    @property
    def client_share(self) -> float:
        """Part of one core that the client used; near 1 it would have been the client that was measured."""
        return self.client_cpu_seconds / self.seconds


async def in_turn(questions: Mapping[str, Question], *, seconds: float) -> dict[str, list[float]]:
    """Return for each question its latencies in seconds, each asked once a round for at least `seconds`.

    Taking turns, so that whatever else the machine does falls on all of them alike and their ratios hold.
    """
    connections = {port: await Connection.open(port) for port in {question.port for question in questions.values()}}
    encoded = {name: question.request.encoded() for name, question in questions.items()}
    latencies: dict[str, list[float]] = {name: [] for name in questions}
    try:
        for name, question in questions.items():  # warms what a first request of its kind prepares
            await connections[question.port].ask(encoded[name])
        end, rounds = time.perf_counter() + seconds, 0
        order = Random(len(questions))
        while rounds < _ROUNDS_MIN or time.perf_counter() < end:
            rounds += 1
            # Shuffled: who is asked right after another question to the same process finds its caches warm.
            for name, question in order.sample(list(questions.items()), len(questions)):
                started = time.perf_counter()
                await connections[question.port].ask(encoded[name])
                latencies[name].append(time.perf_counter() - started)
    finally:
        _close(list(connections.values()))
    return latencies


async def at_once(question: Question, *, seconds: float, clients: int = CLIENTS) -> Throughput:
    """Return the throughput of `clients` connections that each ask again as soon as they are answered."""
    encoded = question.request.encoded()
    connections = [await Connection.open(question.port) for _ in range(clients)]
    try:
        await asyncio.gather(*(connection.ask(encoded) for connection in connections))
        started, cpu = time.perf_counter(), time.process_time()
        answers = await asyncio.gather(*(_ask_until(one, encoded, started + seconds) for one in connections))
        took = time.perf_counter() - started
        return Throughput(sum(answers), took, time.process_time() - cpu)
    finally:
        _close(connections)


async def _ask_until(connection: Connection, encoded: bytes, end: float) -> int:
    answers = 0
    while time.perf_counter() < end:
        await connection.ask(encoded)
        answers += 1
    return answers


def _close(connections: Sequence[Connection]) -> None:
    for connection in connections:
        connection.close()
