"""Puts one question to every daemon and to the peer, and records latency and throughput."""

from collections.abc import Mapping
from typing import Final

from tests.benchmarks.bench import Bench
from tests.benchmarks.daemons import LiveDaemon
from tests.benchmarks.http_client import Request
from tests.benchmarks.load import Question, at_once, in_turn
from tests.benchmarks.measures import Measure
from tests.benchmarks.summaries import p50

LATENCY: Final = "p50"
THROUGHPUT: Final = "at 16 clients"
OF_FIRST: Final = "p50, of the first page's"
CPU: Final = "daemon CPU, 16 clients"

_TURNS_SECONDS: Final = 1.0
# Slices in turn with the limit's and the peer's, so that all of them meet the same moods of the machine.
_SLICES: Final = 3
_SLICE_SECONDS: Final = 0.3
_LIMIT_SLICE_SECONDS: Final = 0.2
_LIMIT: Final = "limit"
_FIRST: Final = "first"
_PEER: Final = "peer"


async def compare(
    bench: Bench,
    section: str,
    subject: str,
    requests: Mapping[int, Request],
    *,
    peer: Request | None = None,
    first: Request | None = None,
) -> None:
    """Record a subject: `requests` by the runs of the daemon; `first` is a page to compare with, where it matters."""
    questions = {_ours(runs): Question(bench.daemons[runs].port, request) for runs, request in requests.items()}
    questions[_LIMIT] = bench.health()
    if first is not None:
        questions[_FIRST] = Question(bench.large.port, first)
    if bench.peer_daemon is not None and peer is not None:
        questions[_PEER] = Question(bench.peer_daemon.port, peer)
    found = await in_turn(questions, seconds=_TURNS_SECONDS)
    _record_latency(bench, section, subject, {name: p50(times) for name, times in found.items()})
    await _record_throughput(bench, section, subject, questions)


def _ours(runs: int) -> str:
    return f"{runs} runs"


def _record_latency(bench: Bench, section: str, subject: str, medians: Mapping[str, float]) -> None:
    large, small = bench.large.runs, min(bench.daemons)
    ours, peer, first = medians[_ours(large)], medians.get(_PEER), medians.get(_FIRST)
    bench.results.add(
        Measure(
            section=section,
            subject=subject,
            quantity=LATENCY,
            value=ours * 1_000,
            unit="ms",
            runs=large,
            base=medians[_LIMIT] * 1_000,
            fewest=None if small == large else medians[_ours(small)] * 1_000,
            peer=None if peer is None else peer * 1_000,
        )
    )
    if first is not None:
        bench.results.add(
            Measure(section=section, subject=subject, quantity=OF_FIRST, value=ours / first, unit="x", runs=large)
        )


async def _record_throughput(bench: Bench, section: str, subject: str, questions: Mapping[str, Question]) -> None:
    limit, ours, theirs = Load(bench.large), Load(bench.large), Load(bench.peer_daemon or bench.large)
    for _ in range(_SLICES):
        await limit.slice(questions[_LIMIT], _LIMIT_SLICE_SECONDS)
        await ours.slice(questions[_ours(bench.large.runs)], _SLICE_SECONDS)
        if _PEER in questions:
            await theirs.slice(questions[_PEER], _SLICE_SECONDS)
    pairs = ((THROUGHPUT, "/s", Load.per_second), (CPU, "ms", Load.cpu_milliseconds))
    for quantity, unit, read in pairs:
        bench.results.add(
            Measure(
                section=section,
                subject=subject,
                quantity=quantity,
                value=read(ours),
                unit=unit,
                runs=bench.large.runs,
                base=read(limit),
                peer=read(theirs) if _PEER in questions else None,
            )
        )


class Load:
    """What came of several slices of load on one daemon."""

    def __init__(self, daemon: LiveDaemon) -> None:
        self._daemon = daemon
        self._answers = 0
        self._seconds = 0.0
        self._cpu_seconds = 0.0

    async def slice(self, question: Question, seconds: float) -> None:
        """Put the question for so long, from 16 clients."""
        cpu = self._daemon.cpu_seconds()
        found = await at_once(question, seconds=seconds)
        self._cpu_seconds += self._daemon.cpu_seconds() - cpu
        self._answers += found.answers
        self._seconds += found.seconds

    def per_second(self) -> float:
        """Return the answers in a second."""
        return self._answers / self._seconds

    def cpu_milliseconds(self) -> float:
        """Return the daemon's processor time for an answer; it hardly depends on what else the machine does."""
        return 1_000 * self._cpu_seconds / self._answers
