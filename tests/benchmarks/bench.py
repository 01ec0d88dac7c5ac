"""What a section needs: the daemons, what was measured so far, and how to add to it."""

import asyncio
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.benchmarks import daemons, peer
from tests.benchmarks.daemons import LiveDaemon
from tests.benchmarks.homes import Fill, Seeds, fill_studio
from tests.benchmarks.http_client import Request
from tests.benchmarks.load import Question, Throughput, at_once
from tests.benchmarks.measures import Results

HEALTH: Final = Request("/health")
READY: Final = "/ready"


@dataclass(frozen=True, slots=True)
class Start:
    """What a daemon took to get ready, on the wall's clock and of a processor."""

    seconds: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Peer:
    """The peer's daemon and what it took to get it."""

    daemon: LiveDaemon
    start: Start
    settles_orphans: bool


@dataclass(slots=True, kw_only=True)
class Bench:
    """The daemons under measurement, by the number of their runs, what makes homes for more, and the results."""

    seeds: Seeds
    daemons: Mapping[int, LiveDaemon]
    starts: Mapping[int, Start]
    peer: Peer | None
    results: Results

    @property
    def large(self) -> LiveDaemon:
        """The daemon with the most runs: the one that single measurements are taken at."""
        return self.daemons[max(self.daemons)]

    @property
    def peer_daemon(self) -> LiveDaemon | None:
        """The peer's daemon, where it takes part."""
        return None if self.peer is None else self.peer.daemon

    def down(self) -> None:
        """Stop every daemon that still runs."""
        for daemon in (*self.daemons.values(), *([self.peer.daemon] if self.peer else [])):
            daemon.stop()

    def health(self) -> Question:
        """Return the question that costs the least: what every other is compared with."""
        return Question(self.large.port, HEALTH)

    async def limit_throughput(self, seconds: float = 0.7) -> Throughput:
        """Measure the bare serving limit anew, so that it stands for the same minute as what is compared with it."""
        return await at_once(self.health(), seconds=seconds)


@dataclass(frozen=True, slots=True)
class Setup:
    """Brings the daemons up, one after another, and takes them down."""

    seeds: Seeds
    counts: tuple[int, ...]
    peer_folder: Path | None
    peer_orphans: bool

    async def up(self) -> Bench:
        """Seed and start everything. What was started is stopped again when a part fails."""
        started: list[LiveDaemon] = []
        try:
            return await self._up(started)
        except BaseException:
            for daemon in started:
                daemon.stop()
            raise

    async def _up(self, started: list[LiveDaemon]) -> Bench:
        starts: dict[int, Start] = {}
        found: dict[int, LiveDaemon] = {}
        for count in self.counts:
            home, until = await self._home(f"studio-{count}", fill_studio(count))
            begin = time.perf_counter()
            found[count] = daemons.serve(home, runs=count, until=until)
            started.append(found[count])
            await daemons.until_ready(found[count], READY)
            starts[count] = Start(time.perf_counter() - begin, found[count].cpu_seconds())
        return Bench(seeds=self.seeds, daemons=found, starts=starts, peer=await self._peer(started), results=Results())

    async def _home(self, name: str, fill: Fill) -> tuple[Path, float]:
        say(f"seeding {name}")
        return await asyncio.to_thread(self.seeds.home, name, fill)

    async def _peer(self, started: list[LiveDaemon]) -> Peer | None:
        if self.peer_folder is None:
            return None
        count, orphans = max(self.counts), self.peer_orphans
        python = await asyncio.to_thread(peer.install, self.peer_folder)
        name = f"peer-{peer.version(python)}-{count}{'-orphans' if orphans else ''}"
        home, until = await self._home(name, peer.filling(python, count, orphans=orphans))
        begin = time.perf_counter()
        daemon = peer.serve(python, home, runs=count, until=until)
        started.append(daemon)
        await daemons.until_ready(daemon, peer.READY, patience_seconds=peer.READY_SECONDS)
        return Peer(daemon, Start(time.perf_counter() - begin, daemon.cpu_seconds()), orphans)


def say(line: str) -> None:
    """Tell a person what is going on, apart from the results."""
    print(line, file=sys.stderr, flush=True)
