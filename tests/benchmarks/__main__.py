"""`python -m tests.benchmarks`: seeds, starts, measures, and says what reached its goal. See docs/benchmarks.md."""

import argparse
import asyncio
import json
import resource
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console

from tests.benchmarks import (
    section_definitions,
    section_delays,
    section_life,
    section_limit,
    section_list,
    section_prune,
    section_reading,
    section_recording,
    section_stats,
    section_viewers,
)
from tests.benchmarks.bench import Bench, Setup, say
from tests.benchmarks.daemons import ROOT, DaemonFailed
from tests.benchmarks.goals import judge
from tests.benchmarks.homes import Seeds
from tests.benchmarks.measures import Results
from tests.benchmarks.peer import PeerMissing
from tests.benchmarks.report import as_json, show

# In the order of measuring: the last one stops the daemon.
SECTIONS: Final[Mapping[str, Callable[[Bench], Awaitable[None]]]] = {
    "limit": section_limit.measure,
    "list": section_list.measure,
    "run": section_reading.measure,
    "stats": section_stats.measure,
    "recording": section_recording.measure,
    "definitions": section_definitions.measure,
    "sse": section_delays.measure,
    "viewers": section_viewers.measure,
    "prune": section_prune.measure,
    "daemon": section_life.measure,
}
_RUNS: Final = (1_000, 100_000)
_PEER_FOLDER: Final = ROOT / ".venv-peer"
_FAILED: Final = 1
# Fewer have no deep page and not every kind of run.
_FEWEST_RUNS: Final = 500
# A thousand viewers, and as many connections again in the daemon, which inherits the limit.
_OPEN_FILES: Final = 4_096


def main(arguments: Sequence[str]) -> int:
    """Measure what was asked for and print it; 1 when a daemon could not be brought up."""
    asked = _parser().parse_args(arguments)
    _allow_open_files()
    try:
        with tempfile.TemporaryDirectory(prefix="studio-bench-") as work:
            results = asyncio.run(_measure(asked, Path(work)))
    except (DaemonFailed, PeerMissing) as error:
        say(str(error))
        return _FAILED
    judgements = judge(results)
    if asked.json:
        print(json.dumps(as_json(results, judgements), indent=2))
    else:
        show(Console(width=None if sys.stdout.isatty() else 160), results, judgements)
    return 0


async def _measure(asked: argparse.Namespace, work: Path) -> Results:
    setup = Setup(
        seeds=Seeds(work, asked.keep_seeds),
        counts=asked.runs,
        peer_folder=asked.peer,
        peer_orphans=asked.peer_orphans,
    )
    bench = await setup.up()
    try:
        for name in asked.only:
            say(f"measuring: {name}")
            await SECTIONS[name](bench)
    finally:
        bench.down()
    return bench.results


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument(
        "--only", type=_sections, default=tuple(SECTIONS), metavar="A,B", help=f"sections: {', '.join(SECTIONS)}"
    )
    parser.add_argument("--runs", type=_counts, default=_RUNS, metavar="N,M", help="how many runs the daemons hold")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--peer",
        type=Path,
        nargs="?",
        const=_PEER_FOLDER,
        metavar="VENV",
        help="measure lionagi[studio] as well; installed from PyPI into VENV (.venv-peer) when that is not there",
    )
    parser.add_argument(
        "--peer-orphans", action="store_true", help="the peer has to settle its orphans too: minutes until it is ready"
    )
    parser.add_argument("--keep-seeds", type=Path, metavar="FOLDER", help="keep seeded homes there for the next time")
    return parser


def _sections(text: str) -> tuple[str, ...]:
    names = text.split(",")
    if unknown := [name for name in names if name not in SECTIONS]:
        raise argparse.ArgumentTypeError(f"no such section: {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    return tuple(name for name in SECTIONS if name in names)


def _counts(text: str) -> tuple[int, ...]:
    counts = sorted({int(number) for number in text.split(",")})
    if counts[0] < _FEWEST_RUNS:
        raise argparse.ArgumentTypeError(f"at least {_FEWEST_RUNS} runs are needed")
    return tuple(counts)


def _allow_open_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < _OPEN_FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(_OPEN_FILES, hard) if hard > 0 else _OPEN_FILES, hard))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
