"""The called worker: whom it executes, what it waits for, and how it is stopped."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from contract.errors import StateUnavailable
from runs.endings import Stop, Verdict
from runs.execution.called_worker import CalledWorker
from runs.execution.executing import Plan
from runs.services.execution_ports import LAUNCHES_TOPIC, ClaimedLaunch
from tests.fakes.turns import turns, until_idle
from tests.runs.execution.children import ENDLESS, PATIENCE_SECONDS, lives, python
from tests.runs.execution.scenes import SOON_SECONDS, Scene, ScriptedPlanner
from tests.runs.execution.test_worker import RENEW_SECONDS, TRUE, cancel, is_now, renewed
from tests.runs.state.launches import worker

SHUTDOWN = Stop(cause="shutdown", said="its worker was stopped")


class Called:
    """A called worker, and the call of it for one run."""

    def __init__(self, scene: Scene, *, cap: int = 4) -> None:
        self.worker = CalledWorker(
            queue=scene.launches,
            execute=lambda launch: scene.execution(launch, grace_seconds=0.1),
            feed=scene.feed,
            owner=worker(),
            cap=cap,
            clock=scene.clock,
            watch_seconds=SOON_SECONDS,
        )
        self.stopped: dict[str, asyncio.Future[Stop]] = {}

    async def executed(self, run_id: str = "r") -> bool:
        """Call for a run; what the call returns."""
        self.stopped[run_id] = asyncio.get_running_loop().create_future()
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self.worker.execute(run_id, self.stopped[run_id])

    @asynccontextmanager
    async def calling(self, run_id: str = "r") -> AsyncIterator["asyncio.Task[bool]"]:
        """Call for a run beside the block; after it the call has ended."""
        task = asyncio.create_task(self.executed(run_id))
        await turns()
        try:
            yield task
        finally:
            if not task.done() and not self.stopped[run_id].done():
                self.stopped[run_id].set_result(SHUTDOWN)
            await asyncio.wait([task])


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@pytest.fixture
def called(scene: Scene) -> Called:
    return Called(scene)


async def test_the_run_that_is_named_is_executed_and_no_other(scene: Scene, called: Called) -> None:
    for run_id in ("older", "r"):
        await scene.queue(*TRUE, run_id=run_id)

    assert await called.executed("r")

    assert (scene.run("older").status, scene.run("r").status) == ("queued", "completed")


@pytest.mark.parametrize("case", ["unknown", "cancelled", "held by another", "ended"])
async def test_who_does_not_wait_is_not_executed_and_not_waited_for(scene: Scene, called: Called, case: str) -> None:
    if case != "unknown":
        await scene.queue(*TRUE)
    if case == "cancelled":
        await cancel(scene)
    if case == "held by another":
        await scene.launches.claim(owner=worker(2), limit=1, cap=0, at=scene.clock.now())
    if case == "ended":
        await called.executed()
    before = scene.runs.calls["started"]

    assert await called.executed()

    assert scene.runs.calls["started"] == before


async def test_called_twice_at_once_it_executes_once(scene: Scene, called: Called) -> None:
    await scene.queue(*TRUE)

    assert all(await asyncio.gather(called.executed(), called.executed()))

    assert (scene.run().status, scene.launch().attempts) == ("completed", 1)


async def test_without_room_it_waits_asking_nothing_until_there_is_some(scene: Scene) -> None:
    called = Called(scene, cap=1)
    await scene.queue(*python(ENDLESS), run_id="first")
    await scene.queue(*TRUE)

    async with called.calling("first"):
        await scene.until(is_now(scene, "running", "first"))
        async with called.calling() as call:
            await until_idle()
            before = scene.runs.calls["claim"]
            await turns(1_000)
            asked = scene.runs.calls["claim"] - before
            await cancel(scene, "first")
            over = await call

    assert (asked, over, scene.run().status) == (0, True, "completed")


async def test_a_call_without_room_that_is_stopped_leaves_the_run_to_the_next(scene: Scene) -> None:
    await scene.queue(*TRUE, run_id="held")
    await scene.launches.claim(owner=worker(2), limit=1, cap=0, at=scene.clock.now())
    await scene.queue(*TRUE)
    called = Called(scene, cap=1)

    async with called.calling() as call:
        await until_idle()
        called.stopped["r"].set_result(SHUTDOWN)
        over = await call

    assert (over, scene.run().status, scene.run().held) == (False, "queued", False)
    assert scene.feed.topics == set()


async def test_a_run_that_is_cancelled_while_it_waits_for_room_is_not_waited_with(scene: Scene) -> None:
    await scene.queue(*TRUE, run_id="held")
    [held] = await scene.launches.claim(owner=worker(2), limit=1, cap=0, at=scene.clock.now())
    await scene.queue(*TRUE)
    called = Called(scene, cap=1)

    async with called.calling() as call:
        await until_idle()
        await cancel(scene)
        scene.feed.publish([LAUNCHES_TOPIC])

        assert await call

    assert held.lease.run_id == "held"
    assert scene.run().status == "cancelled"


async def test_a_shutdown_ends_the_child(scene: Scene, called: Called) -> None:
    await scene.queue(*python(ENDLESS))

    async with called.calling() as call:
        await scene.until(is_now(scene, "running"))
        called.stopped["r"].set_result(SHUTDOWN)
        over = await call

    assert (over, scene.run().reason_code) == (True, "run.cancelled.shutdown")
    assert not lives(scene.child().pid)


async def test_what_had_not_begun_at_a_shutdown_waits_again(scene: Scene, called: Called) -> None:
    planning = asyncio.Event()

    class SlowPlanner(ScriptedPlanner):
        async def plan(self, launch: ClaimedLaunch) -> Plan | Verdict:
            planning.set()
            await until_idle()
            return await super().plan(launch)

    scene.planner = SlowPlanner(scene.planner.folder)
    await scene.queue(*TRUE)
    async with called.calling():
        await planning.wait()

    assert (scene.run().status, scene.run().held) == ("queued", False)


async def test_a_cancel_is_obeyed_and_the_lease_is_kept(scene: Scene, called: Called) -> None:
    await scene.queue(*python(ENDLESS))

    async with called.calling() as call:
        await scene.until(is_now(scene, "running"))
        scene.clock.advance(RENEW_SECONDS)
        await scene.until(renewed(scene, 1))
        await cancel(scene)
        await call

    assert (scene.run().reason_code, scene.run().reason_summary) == ("run.cancelled.requested", "enough")


async def test_nobody_is_watched_over_when_nobody_is_executed(scene: Scene, called: Called) -> None:
    for run_id in ("a", "b"):
        await scene.queue(*TRUE, run_id=run_id)
        await called.executed(run_id)
    await until_idle()
    before = scene.runs.calls.copy()

    await turns(1_000)

    assert scene.runs.calls - before == {}


@pytest.mark.parametrize("call", ["claim", "waiting"])
async def test_a_store_that_is_away_is_asked_again(scene: Scene, called: Called, call: str) -> None:
    await scene.queue(*TRUE, run_id="held")
    await scene.launches.claim(owner=worker(2), limit=1, cap=0, at=scene.clock.now())
    await scene.queue(*TRUE)
    called = Called(scene, cap=1)
    scene.runs.fault, scene.runs.failing = StateUnavailable(retryable=True), call

    async with called.calling() as waiting:
        await until_idle()
        scene.runs.fault = None
        await cancel(scene, "held")
        scene.feed.publish([LAUNCHES_TOPIC])

        assert await waiting

    assert scene.run().status == "completed"


async def test_runs_that_nobody_watches_over_any_more_are_ended_and_the_next_is_watched_again(
    scene: Scene, called: Called, caplog: pytest.LogCaptureFixture
) -> None:
    await scene.queue(*python(ENDLESS))
    async with called.calling() as call:
        await scene.until(is_now(scene, "running"))
        scene.runs.fault, scene.runs.failing = RuntimeError("broken"), "cancel_requests"
        await call
    scene.runs.fault = None

    await scene.queue(*python(ENDLESS), run_id="next")
    async with called.calling("next") as call:
        await scene.until(is_now(scene, "running", "next"))
        await cancel(scene, "next")
        await call

    assert (scene.run().reason_summary, scene.run("next").reason_code) == (
        "its worker broke",
        "run.cancelled.requested",
    )
    assert [record.levelno for record in caplog.records if record.exc_info] == [logging.ERROR]
