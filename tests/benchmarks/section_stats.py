"""The statistics of the last day: latency alone, for the peer hangs up on who waits as long as 16 of them take."""

from typing import Final

from tests.benchmarks.bench import Bench
from tests.benchmarks.comparing import LATENCY
from tests.benchmarks.http_client import Request
from tests.benchmarks.load import Question, in_turn
from tests.benchmarks.measures import Measure
from tests.benchmarks.summaries import p50

SECTION: Final = "statistics"
LAST_DAY: Final = "of the last day"
_OURS: Final = Request("/api/v1/stats")
_THEIRS: Final = Request("/api/stats")
_SECONDS: Final = 3.0


async def measure(bench: Bench) -> None:
    """Measure them at every size, and the peer's."""
    questions = {f"{runs} runs": Question(daemon.port, _OURS) for runs, daemon in bench.daemons.items()}
    questions["limit"] = bench.health()
    if bench.peer_daemon is not None:
        questions["peer"] = Question(bench.peer_daemon.port, _THEIRS)
    found = await in_turn(questions, seconds=_SECONDS)
    medians = {name: 1_000 * p50(times) for name, times in found.items()}
    large, small = bench.large.runs, min(bench.daemons)
    bench.results.add(
        Measure(
            section=SECTION,
            subject=LAST_DAY,
            quantity=LATENCY,
            value=medians[f"{large} runs"],
            unit="ms",
            runs=large,
            base=medians["limit"],
            fewest=None if small == large else medians[f"{small} runs"],
            peer=medians.get("peer"),
        )
    )
