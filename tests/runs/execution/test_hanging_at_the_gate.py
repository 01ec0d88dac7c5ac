"""A child that was let go and does not begin is stopped like any other."""

import asyncio
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from contract.events import ProcessIdentity, RunEvent
from runs.endings import Stop
from runs.services.execution_ports import Ending, Lease, SupervisedRunPort
from tests.fakes.turns import turns
from tests.runs.execution.children import ENDLESS, PATIENCE_SECONDS, lives, python
from tests.runs.execution.scenes import Scene


class HangingAtTheGate:
    """A SupervisedRunPort that suspends whom it records: to their worker, somebody whose folder never answers."""

    def __init__(self, runs: SupervisedRunPort) -> None:
        self._runs = runs
        self.hangs = asyncio.Event()

    async def started(self, lease: Lease, process: ProcessIdentity, *, at: float) -> bool:
        os.kill(process.pid, signal.SIGSTOP)
        self.hangs.set()
        return await self._runs.started(lease, process, at=at)

    async def record(self, lease: Lease, events: Sequence[RunEvent], *, at: float) -> bool:
        return await self._runs.record(lease, events, at=at)

    async def end(self, lease: Lease, ending: Ending, *, at: float) -> bool:
        return await self._runs.end(lease, ending, at=at)


async def hung(scene: Scene, *stops: Stop, **fields: float) -> tuple[str, str, str | None]:
    """Execute a child that hangs before it begins, give each of these reasons to end it, and return how it ended."""
    runs = HangingAtTheGate(scene.launches)
    execution = scene.execution(await scene.claimed(*python(ENDLESS), **fields), grace_seconds=0.1, runs=runs)
    async with asyncio.timeout(PATIENCE_SECONDS), asyncio.TaskGroup() as tasks:
        tasks.create_task(execution.run())
        await runs.hangs.wait()
        await scene.until(lambda: scene.run().status == "running")
        await turns(100)
        for stop in stops:
            execution.stop(stop)
    return scene.run().status, scene.run().reason_code, scene.run().reason_summary


@pytest.mark.parametrize(
    ("stop", "end"),
    [
        (Stop(cause="cancel", said="enough"), ("cancelled", "run.cancelled.requested", "enough")),
        (Stop(cause="shutdown"), ("cancelled", "run.cancelled.shutdown", None)),
        (Stop(cause="lost"), ("failed", "run.failed.worker_lost", None)),
    ],
)
async def test_a_child_that_does_not_begin_is_stopped(
    tmp_path: Path, stop: Stop, end: tuple[str, str, str | None]
) -> None:
    scene = Scene(tmp_path)

    told = await hung(scene, stop)

    assert told == end
    assert not lives(scene.child().pid)


async def test_the_deadline_of_a_child_that_does_not_begin_holds(tmp_path: Path) -> None:
    scene = Scene(tmp_path)

    told = await hung(scene, deadline_seconds=0.3)

    assert told == ("timed_out", "run.timed_out.deadline", "after 0.3 seconds")
    assert not lives(scene.child().pid)
