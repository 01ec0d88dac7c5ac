"""The run list: every filter and sort, first and deep pages, at each size, beside the peer."""

from collections.abc import Sequence
from typing import Final

from tests.benchmarks.bench import Bench
from tests.benchmarks.comparing import compare
from tests.benchmarks.daemons import LiveDaemon
from tests.benchmarks.http_client import Request, ask_once
from tests.benchmarks.list_cases import (
    DEEP_CURSOR,
    DEEP_OFFSET,
    PAGE,
    RUNS,
    ListCase,
    deep_cursor,
    deep_offset,
    deep_position,
    first_pages,
)

SECTION: Final = "list"


async def measure(bench: Bench) -> None:
    """Measure each form of the list."""
    cases = {runs: await _cases(daemon) for runs, daemon in bench.daemons.items()}
    for place, case in enumerate(cases[bench.large.runs]):
        await compare(
            bench,
            SECTION,
            case.name,
            {runs: Request(found[place].target) for runs, found in cases.items()},
            peer=None if case.peer_target is None else Request(case.peer_target),
            first=Request(RUNS) if case.name in (DEEP_OFFSET, DEEP_CURSOR) else None,
        )


async def _cases(daemon: LiveDaemon) -> Sequence[ListCase]:
    """Return the forms for one daemon, in the same order for each."""
    page_before = Request(f"{RUNS}?offset={deep_position(daemon.runs) - PAGE}&limit={PAGE}")
    cursor = (await ask_once(daemon.port, page_before))["next_cursor"]
    return (*first_pages(daemon.runs, daemon.until), deep_offset(daemon.runs), deep_cursor(daemon.runs, cursor))
