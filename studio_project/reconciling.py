"""Brings the store in line with the world: at the start of a daemon, and again as long as it or a worker lives."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from contract.errors import StateUnavailable, StudioApplicationError
from contract.ports import Clock
from definitions.services import recovering
from definitions.services.writing import DefinitionWriter
from runs.services import control
from runs.services.execution_ports import RunQueue
from runs.services.ports import ProcessProbe, RunSettlementPort
from studio_project.readiness import Readiness

# How soon a worker that is gone is noticed, besides what its lease takes.
_REAP_SECONDS: Final = 10.0
# How long a run whose process has died may still be shown as running.
_RECONCILE_SECONDS: Final = 60.0

Held = Callable[[], Awaitable[frozenset[str]]]

_log = logging.getLogger(__name__)


class Sweeper(Protocol):
    """Settles what workers that are gone have held."""

    async def sweep(self) -> int:
        """Look once; return how many were settled."""
        ...


class Reconciler:
    """Saves that did not end, runs of lost workers, and running runs whose process is gone."""

    def __init__(
        self,
        *,
        writer: DefinitionWriter,
        reaper: Sweeper,
        clear: Callable[[Held], Awaitable[None]],
        queue: RunQueue,
        runs: RunSettlementPort,
        probe: ProcessProbe,
        clock: Clock,
    ) -> None:
        """Take who settles what; `clear` removes the files of runs that nobody holds."""
        self._writer = writer
        self._reaper = reaper
        self._clear = clear
        self._queue = queue
        self._runs = runs
        self._probe = probe
        self._clock = clock

    async def reconcile(self, readiness: Readiness) -> None:
        """Do it once, and tell how far it is."""
        readiness.enter("reconcile definitions")
        await self._recover_definitions(readiness.advance)
        readiness.enter("end runs of lost workers")
        await self._reaper.sweep()
        await self._clear(self._held)
        readiness.enter("reconcile runs")
        await control.settle_gone_runs(
            runs=self._runs, probe=self._probe, clock=self._clock, progress=readiness.advance
        )

    async def keep(self) -> None:
        """Do the same again every minute, and look for lost workers more often, until cancelled."""
        await asyncio.gather(self._keep_runs_settled(), self._keep_definitions_recovered(), self._keep_reaping())

    async def _held(self) -> frozenset[str]:
        return frozenset(launch.lease.run_id for launch in await self._queue.held())

    async def _recover_definitions(self, progress: Callable[[int], None]) -> None:
        for note in await recovering.recover_definitions(writer=self._writer, progress=progress):
            _log.warning("definitions: %s", note)

    async def _keep_reaping(self) -> None:
        while True:
            try:
                await self._reaper.sweep()
            except StateUnavailable as fault:
                _log.warning("lost workers were not looked for: %s", fault)
            except Exception:  # noqa: BLE001 (one sweep that fails ends no other)
                _log.exception("lost workers were not looked for")
            await asyncio.sleep(_REAP_SECONDS)

    async def _keep_definitions_recovered(self) -> None:
        """Let no save that a dead process left half-done wait for the next start to be seen."""
        while True:
            await asyncio.sleep(_RECONCILE_SECONDS)
            try:
                await self._recover_definitions(lambda _: None)
            except StudioApplicationError as fault:
                _log.warning("definitions were not reconciled: %s", fault)

    async def _keep_runs_settled(self) -> None:
        await control.keep_settling(
            runs=self._runs,
            probe=self._probe,
            clock=self._clock,
            every_seconds=_RECONCILE_SECONDS,
            on_fault=lambda fault: _log.warning("runs were not reconciled: %s", fault),
        )


class Collector(Protocol):
    """Registers the files that a run has left."""

    async def collect(self, run_id: str) -> None:
        """Do so; never fails."""
        ...


class LateFiles:
    """Registers what lost runs have left, while nobody waits for it."""

    def __init__(self, collector: Collector) -> None:
        """Take who registers."""
        self._collector = collector
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, run_id: str) -> None:
        """Begin with one run."""
        task = asyncio.create_task(self._collector.collect(run_id))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End what is under way. Idempotent."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
