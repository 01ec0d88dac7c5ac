"""What the daemon does by itself about old runs, and what it says of it."""

import asyncio
import logging
from collections.abc import Callable

import pytest

from contract.errors import StateUnavailable
from runs.services.pruning import RunPruner
from studio_project.scheduled_runs import ScheduleTotals
from studio_project.upkeep_operations import DAY_SECONDS, UpkeepOperations
from tests.builders import start_run, status
from tests.fakes.clocks import FixedClock
from tests.fakes.run_removal import InMemoryRunFolders, InMemoryRunRemoval, InMemoryStats
from tests.fakes.runs import InMemoryRuns
from tests.fakes.schedules import InMemorySchedules
from tests.fakes.turns import until_idle


class Upkeep(UpkeepOperations):
    """The operations over in-memory ports."""

    def __init__(self, *, keep_days: int) -> None:
        self.clock = self.time = FixedClock()
        self.runs = InMemoryRuns(clock=self.time)
        self.folders = InMemoryRunFolders()
        pruner = RunPruner(runs=InMemoryRunRemoval(self.runs), folders=self.folders, clock=self.time)
        schedules = ScheduleTotals(states=InMemorySchedules(), clock=self.time)
        super().__init__(pruner=pruner, stats=InMemoryStats(self.runs), schedules=schedules, keep_days=keep_days)

    async def ended(self, run_id: str) -> None:
        await self.runs.start_run(run_id, start_run(), at=self.time.now())
        await self.runs.record_events(run_id, [status("completed")], at=self.time.now())
        self.folders.folders[run_id] = 5


async def kept(upkeep: Upkeep, until: Callable[[], bool]) -> None:
    keeping = asyncio.create_task(upkeep.keep_pruned())
    while not until():
        await until_idle()
    keeping.cancel()


async def test_runs_are_kept_for_so_many_days(caplog: pytest.LogCaptureFixture) -> None:
    upkeep = Upkeep(keep_days=2)
    await upkeep.ended("old")
    upkeep.time.advance(2 * DAY_SECONDS)
    await upkeep.ended("new")

    with caplog.at_level(logging.INFO):
        await kept(upkeep, lambda: bool(caplog.messages))

    assert set(upkeep.runs.runs) == {"new"}
    assert caplog.messages == ["retention: 1 old runs were removed, with 5 bytes of files"]


async def test_every_run_is_kept_unless_that_is_set() -> None:
    upkeep = Upkeep(keep_days=0)
    await upkeep.ended("old")
    upkeep.time.advance(1_000 * DAY_SECONDS)

    await upkeep.keep_pruned()

    assert set(upkeep.runs.runs) == {"old"}


async def test_folders_that_resist_are_told_of(caplog: pytest.LogCaptureFixture) -> None:
    upkeep = Upkeep(keep_days=1)
    await upkeep.ended("old")
    upkeep.folders.stuck = {"old"}
    upkeep.time.advance(DAY_SECONDS)

    await kept(upkeep, lambda: bool(caplog.messages))

    assert caplog.messages[-1] == "retention: folders of files could not be removed: old"


async def test_a_store_that_does_not_answer_is_told_of_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    upkeep = Upkeep(keep_days=1)
    upkeep.runs.fault = StateUnavailable(retryable=True, detail="locked")

    await kept(upkeep, lambda: bool(caplog.messages))

    [line] = caplog.messages
    assert line.startswith("retention: old runs were not removed: ")
