"""One run: its detail, and the pages of its evidence."""

from typing import Final

from tests.benchmarks.bench import Bench
from tests.benchmarks.comparing import compare
from tests.benchmarks.daemons import LiveDaemon
from tests.benchmarks.http_client import Request, ask_once
from tests.benchmarks.population import LONG_MESSAGES, SHORT_MESSAGES, long_run, short_run

SECTION: Final = "one run"
SHORT_DETAIL: Final = f"detail, {SHORT_MESSAGES} messages"
LONG_DETAIL: Final = f"detail, last 200 of {LONG_MESSAGES} messages"
_PAGE: Final = 200


async def measure(bench: Bench) -> None:
    """Measure detail and evidence at every size, and the peer's detail of the same runs."""
    for subject, run in ((SHORT_DETAIL, short_run()), (LONG_DETAIL, long_run())):
        detail = dict.fromkeys(bench.daemons, Request(f"/api/v1/runs/{run}"))
        await compare(bench, SECTION, subject, detail, peer=Request(f"/api/runs/{run}"))
    pane = f"/api/v1/runs/{long_run()}/evidence?pane=messages&limit={_PAGE}"
    await compare(bench, SECTION, f"first {_PAGE} messages", dict.fromkeys(bench.daemons, Request(pane)))
    last = {runs: Request(f"{pane}&cursor={await _late(daemon)}") for runs, daemon in bench.daemons.items()}
    await compare(bench, SECTION, f"last {_PAGE} of {LONG_MESSAGES} messages", last)


async def _late(daemon: LiveDaemon) -> str:
    """Return the cursor before the last page: a page of 900 and another of 900 lie before it."""
    target = f"/api/v1/runs/{long_run()}/evidence?pane=messages&limit={(LONG_MESSAGES - _PAGE) // 2}"
    middle = (await ask_once(daemon.port, Request(target)))["next_cursor"]
    return str((await ask_once(daemon.port, Request(f"{target}&cursor={middle}")))["next_cursor"])
