"""A worker that is told to stop stops, whatever happens at the same instant."""

import asyncio
from pathlib import Path

import pytest

from runs.execution.worker import Worker
from runs.services.execution_ports import LAUNCHES_TOPIC
from tests.fakes.turns import turns, until_idle
from tests.runs.execution.children import PATIENCE_SECONDS
from tests.runs.execution.scenes import Scene
from tests.runs.state.launches import worker


# From before the news is noticed until the worker waits again.
@pytest.mark.parametrize("turns_between", range(10))
async def test_a_stop_that_meets_news_of_the_queue_is_not_missed(tmp_path: Path, turns_between: int) -> None:
    scene = Scene(tmp_path)
    working = Worker(
        queue=scene.launches, execute=scene.execution, feed=scene.feed, owner=worker(), cap=1, clock=scene.clock
    )
    task = asyncio.create_task(working.run())
    await until_idle()

    scene.feed.publish((LAUNCHES_TOPIC,))
    await turns(turns_between)
    task.cancel()
    async with asyncio.timeout(PATIENCE_SECONDS):
        await asyncio.wait([task])

    assert task.cancelled()
