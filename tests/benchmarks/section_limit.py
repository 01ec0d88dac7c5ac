"""The bare serving limit: an answer that needs nothing, through the same server and middleware."""

from tests.benchmarks.bench import Bench
from tests.benchmarks.load import in_turn
from tests.benchmarks.measures import Measure
from tests.benchmarks.summaries import p50

SECTION = "limit"


async def measure(bench: Bench) -> None:
    """Measure `/health`, and what of a core the daemon and the client use meanwhile."""
    runs = bench.large.runs
    latencies = await in_turn({"one": bench.health()}, seconds=1)
    cpu = bench.large.cpu_seconds()
    found = await bench.limit_throughput(seconds=3)
    daemon_share = (bench.large.cpu_seconds() - cpu) / found.seconds
    values = (
        ("one client", "p50", p50(latencies["one"]) * 1_000, "ms"),
        ("16 clients", "throughput", found.per_second, "/s"),
        ("16 clients", "of a core: daemon", daemon_share * 100, "%"),
        ("16 clients", "of a core: client", found.client_share * 100, "%"),
    )
    bench.results.add(
        *(
            Measure(section=SECTION, subject=subject, quantity=quantity, value=value, unit=unit, runs=runs)
            for subject, quantity, value, unit in values
        )
    )
