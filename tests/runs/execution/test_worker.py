"""The worker: how many it executes, when it looks, whom it stops, and how it ends."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from contract.errors import StateUnavailable
from runs.endings import Verdict
from runs.execution.executing import Plan
from runs.execution.worker import Worker
from runs.services.execution_ports import LAUNCHES_TOPIC, ClaimedLaunch
from tests.fakes.turns import turns, until_idle
from tests.runs.execution.children import ENDLESS, PATIENCE_SECONDS, lives, python, starting
from tests.runs.execution.scenes import ENDLESS_STUBBORN, SOON_SECONDS, Scene, ScriptedPlanner
from tests.runs.state.launches import worker

TRUE = ("/bin/sh", "-c", "exit 0")
# As renewals are counted: four of them before a watcher's patience ends.
RENEW_SECONDS = 5.0


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def worker_of(scene: Scene, *, cap: int = 4, grace_seconds: float = 0.1) -> Worker:
    return Worker(
        queue=scene.launches,
        execute=lambda launch: scene.execution(launch, grace_seconds=grace_seconds),
        feed=scene.feed,
        owner=worker(),
        cap=cap,
        clock=scene.clock,
        watch_seconds=SOON_SECONDS,
    )


@asynccontextmanager
async def working(scene: Scene, *, cap: int = 4, grace_seconds: float = 0.1) -> AsyncIterator["asyncio.Task[None]"]:
    """Let a worker work; after the block it is shut down."""
    task = asyncio.create_task(worker_of(scene, cap=cap, grace_seconds=grace_seconds).run())
    try:
        yield task
    finally:
        task.cancel()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await asyncio.wait([task])


def is_now(scene: Scene, status: str, *run_ids: str) -> Callable[[], bool]:
    return lambda: all(scene.run(run_id).status == status for run_id in run_ids or ("r",))


def renewed(scene: Scene, count: int) -> Callable[[], bool]:
    return lambda: scene.launch().renewals == count


async def cancel(scene: Scene, run_id: str = "r") -> None:
    await scene.runs.request_cancel(run_id, reason="enough", at=scene.clock.now())


async def test_what_waits_already_is_executed(scene: Scene) -> None:
    await scene.queue(*TRUE)

    async with working(scene):
        await scene.until(is_now(scene, "completed"))

    assert scene.launch().attempts == 1


async def test_a_launch_wakes_an_idle_worker(scene: Scene) -> None:
    async with working(scene):
        await until_idle()
        await scene.queue(*TRUE)
        await scene.until(is_now(scene, "completed"))


async def test_no_more_run_at_a_time_than_are_allowed(scene: Scene) -> None:
    for run_id in ("a", "b", "c"):
        await scene.queue(*python(ENDLESS), run_id=run_id)

    async with working(scene, cap=2):
        await scene.until(is_now(scene, "running", "a", "b"))
        await until_idle()
        third = scene.run("c").status
        await cancel(scene, "a")
        await scene.until(is_now(scene, "running", "b", "c"))

    assert third == "queued"
    assert scene.run("a").status == "cancelled"


async def test_without_a_cap_all_run(scene: Scene) -> None:
    run_ids = [f"r{number}" for number in range(6)]
    for run_id in run_ids:
        await scene.queue(*TRUE, run_id=run_id)

    async with working(scene, cap=0):
        await scene.until(is_now(scene, "completed", *run_ids))


async def test_a_cancel_ends_the_child_with_all_it_started_and_makes_room(scene: Scene) -> None:
    await scene.queue(*python(starting(ENDLESS_STUBBORN) + ENDLESS_STUBBORN))
    await scene.queue(*TRUE, run_id="next")

    async with working(scene, cap=1):
        await scene.until(lambda: scene.run().status == "running" and scene.printed("stderr") != "")
        await cancel(scene)
        await scene.until(is_now(scene, "completed", "next"))

    run = scene.run()
    assert (run.status, run.reason_code, run.reason_summary) == ("cancelled", "run.cancelled.requested", "enough")
    assert not [pid for pid in (scene.child().pid, *scene.pids_printed()) if lives(pid)]


async def test_leases_are_renewed_every_five_seconds(scene: Scene) -> None:
    await scene.queue(*python(ENDLESS))

    async with working(scene):
        await scene.until(is_now(scene, "running"))
        for renewals in (1, 2, 3):
            scene.clock.advance(RENEW_SECONDS)
            await scene.until(renewed(scene, renewals))

    assert scene.launch().renewals == 3


async def test_a_wall_clock_that_is_set_renews_nothing(scene: Scene) -> None:
    await scene.queue(*python(ENDLESS))

    async with working(scene):
        await scene.until(is_now(scene, "running"))
        scene.clock.step(3_600)
        await watched(scene, 3)

    assert scene.launch().renewals == 0


async def watched(scene: Scene, rounds: int) -> None:
    """Wait until the worker has looked after its children some more times."""
    until = scene.runs.calls["cancel_requests"] + rounds
    await scene.until(lambda: scene.runs.calls["cancel_requests"] >= until)


async def test_idle_children_cost_one_question_for_all(scene: Scene) -> None:
    for run_id in ("a", "b", "c"):
        await scene.queue(*python(ENDLESS), run_id=run_id)

    async with working(scene):
        await scene.until(is_now(scene, "running", "a", "b", "c"))
        await scene.until(lambda: all("ready" in scene.printed(run_id=run_id) for run_id in "abc"))
        await until_idle()
        before = scene.runs.calls.copy()
        await watched(scene, 5)
        asked = scene.runs.calls - before

    assert asked == {"cancel_requests": 5}


async def test_an_idle_worker_asks_nothing(scene: Scene) -> None:
    async with working(scene):
        await until_idle()
        before = scene.runs.calls.copy()
        await turns(1_000)

        assert scene.runs.calls - before == {}


async def test_a_run_that_another_holds_now_is_stopped(scene: Scene) -> None:
    await scene.queue(*python(ENDLESS))

    async with working(scene):
        await scene.until(is_now(scene, "running"))
        taken = await scene.launches.take_over(scene.launch().lease, owner=worker(2), at=scene.clock.now())
        scene.clock.advance(RENEW_SECONDS)
        await scene.until(lambda: not lives(scene.child().pid))

    assert taken == scene.launch().lease
    assert (scene.run().status, scene.launch().owner) == ("running", worker(2))


@pytest.mark.parametrize("call", ["claim", "cancel_requests", "renew"])
async def test_a_store_that_is_away_for_a_while_stops_nobody(scene: Scene, call: str) -> None:
    await scene.queue(*python(ENDLESS))

    async with working(scene):
        await scene.until(is_now(scene, "running"))
        scene.runs.fault, scene.runs.failing = StateUnavailable(retryable=True), call
        before = scene.runs.calls[call]
        scene.clock.advance(RENEW_SECONDS)
        scene.feed.publish([LAUNCHES_TOPIC])
        await scene.until(lambda: scene.runs.calls[call] > before + (call != "claim"))
        scene.runs.fault = None
        await scene.queue(*TRUE, run_id="next")
        await scene.until(is_now(scene, "completed", "next"))
        await scene.until(lambda: scene.launch().renewals == 1)

        assert lives(scene.child().pid)


async def test_a_shutdown_ends_all_children_whatever_their_grace(scene: Scene) -> None:
    for run_id in ("a", "b"):
        await scene.queue(*python(ENDLESS_STUBBORN), run_id=run_id)

    async with working(scene, grace_seconds=100 * PATIENCE_SECONDS):
        await scene.until(lambda: all("ready" in scene.printed(run_id=run_id) for run_id in "ab"))

    told = [(scene.run(run_id).status, scene.run(run_id).reason_code) for run_id in "ab"]
    assert told == [("cancelled", "run.cancelled.shutdown")] * 2
    assert not [run_id for run_id in "ab" if lives(scene.child(run_id).pid) or scene.run(run_id).held]
    assert scene.feed.topics == set()


async def test_what_had_not_begun_at_a_shutdown_waits_for_the_next_worker(scene: Scene) -> None:
    planning = asyncio.Event()

    class SlowPlanner(ScriptedPlanner):
        async def plan(self, launch: ClaimedLaunch) -> Plan | Verdict:
            planning.set()
            await until_idle()
            return await super().plan(launch)

    scene.planner = SlowPlanner(scene.planner.folder)
    await scene.queue(*TRUE)
    async with working(scene):
        await planning.wait()
    left = (scene.run().status, scene.run().held)
    async with working(scene):
        await scene.until(is_now(scene, "completed"))

    assert left == ("queued", False)
    assert scene.launch().attempts == 2


async def test_a_worker_that_breaks_says_so_and_leaves_nobody(scene: Scene) -> None:
    await scene.queue(*python(ENDLESS))

    async with working(scene) as task:
        await scene.until(is_now(scene, "running"))
        scene.runs.fault, scene.runs.failing = RuntimeError("broken"), "cancel_requests"
        with pytest.raises(RuntimeError, match="broken"):
            await task

    assert scene.run().status == "cancelled"
    assert not lives(scene.child().pid)
