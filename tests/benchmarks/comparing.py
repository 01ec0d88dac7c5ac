"""Puts one question to every daemon and to the peer, and records latency and throughput."""

from collections.abc import Mapping
from typing import Final

from tests.benchmarks.bench import Bench
from tests.benchmarks.http_client import Request
from tests.benchmarks.load import Question, at_once, in_turn
from tests.benchmarks.measures import Measure
from tests.benchmarks.summaries import p50

LATENCY: Final = "p50"
THROUGHPUT: Final = "at 16 clients"
GROWTH: Final = "p50 over that at the fewest runs"
OF_FIRST: Final = "p50 over that of the first page"

_TURNS_SECONDS: Final = 1.2
_LOAD_SECONDS: Final = 1.2
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
    sizes = sorted(bench.daemons)
    for runs in sizes:
        is_compared = runs == sizes[-1] and _PEER in medians
        bench.results.add(
            Measure(
                section=section,
                subject=subject,
                quantity=LATENCY,
                value=medians[_ours(runs)] * 1_000,
                unit="ms",
                runs=runs,
                base=medians[_LIMIT] * 1_000,
                peer=medians[_PEER] * 1_000 if is_compared else None,
            )
        )
    ours = medians[_ours(sizes[-1])]
    others = {GROWTH: medians[_ours(sizes[0])] if len(sizes) > 1 else None, OF_FIRST: medians.get(_FIRST)}
    for quantity, other in others.items():
        if other is not None:
            ratio = Measure(
                section=section, subject=subject, quantity=quantity, value=ours / other, unit="x", runs=sizes[-1]
            )
            bench.results.add(ratio)


async def _record_throughput(bench: Bench, section: str, subject: str, questions: Mapping[str, Question]) -> None:
    limit = await bench.limit_throughput()
    ours = await at_once(questions[_ours(bench.large.runs)], seconds=_LOAD_SECONDS)
    theirs = await at_once(questions[_PEER], seconds=_LOAD_SECONDS) if _PEER in questions else None
    bench.results.add(
        Measure(
            section=section,
            subject=subject,
            quantity=THROUGHPUT,
            value=ours.per_second,
            unit="/s",
            runs=bench.large.runs,
            base=limit.per_second,
            peer=None if theirs is None else theirs.per_second,
        )
    )
