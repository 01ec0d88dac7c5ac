"""What becomes of a launched run's files: registered after its end was told, and never in the way of it."""

import asyncio
from pathlib import Path

import pytest

from contract.errors import StateUnavailable
from runs.endings import Stop, Verdict
from tests.fakes.run_files import FakeRunFiles
from tests.runs.execution.children import PATIENCE_SECONDS
from tests.runs.execution.scenes import Scene
from tests.runs.state.launches import worker


class HangingFiles(FakeRunFiles):
    """Never comes to an end with what it collects; `began` is set when it begins."""

    def __init__(self) -> None:
        super().__init__()
        self.began = asyncio.Event()

    async def collect(self, run_id: str) -> None:
        self.began.set()
        await asyncio.Event().wait()


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


async def test_files_are_collected_once_the_run_has_ended(scene: Scene) -> None:
    run = await scene.ran("/bin/true")

    assert (run.status, scene.files.collected) == ("completed", ["r"])


async def test_files_of_a_run_that_was_not_executed_are_collected_too(scene: Scene) -> None:
    scene.planner.told = Verdict(status="failed", reason_code="run.failed.spawn")

    await scene.ran("/bin/true")

    assert scene.files.collected == ["r"]


async def test_files_of_a_run_that_somebody_else_ended_are_not_ours(scene: Scene) -> None:
    launch = await scene.claimed("/bin/true")
    await scene.launches.take_over(launch.lease, owner=worker(), at=scene.clock.now())

    await scene.execution(launch).run()

    assert scene.files.collected == []


@pytest.mark.parametrize("fault", [StateUnavailable(retryable=True), RuntimeError("a disk on fire")])
async def test_a_collection_that_fails_changes_nothing_about_the_end(scene: Scene, fault: Exception) -> None:
    scene.files.fault = fault

    run = await scene.ran("/bin/true")

    assert (run.status, scene.incidents) == ("completed", [])


async def test_a_worker_that_stops_waits_for_no_collection(scene: Scene) -> None:
    scene.files = files = HangingFiles()
    execution = scene.execution(await scene.claimed("/bin/true"))
    task = asyncio.create_task(execution.run())
    async with asyncio.timeout(PATIENCE_SECONDS):
        await files.began.wait()

        execution.stop(Stop(cause="shutdown"), grace_seconds=0)
        await task

    assert (scene.run().status, scene.incidents) == ("completed", [])
