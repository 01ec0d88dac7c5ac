"""The reaper: whose runs it settles, how, and whom it leaves alone."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from contract.errors import StateUnavailable
from contract.events import ProcessIdentity
from runs.execution.reaper import LEASE_SECONDS, Reaper
from runs.processes import LocalProcesses, identify
from runs.services.execution_ports import LAUNCHES_TOPIC, Ending, Lease
from runs.services.ports import ProcessProbe
from tests.fakes.processes import FakeProcesses
from tests.fakes.run_launches import InMemoryLaunches
from tests.fakes.turns import until_idle
from tests.runs.execution.children import ENDLESS, GRACE_SECONDS, Heard, lives, order_of, python, running, starting
from tests.runs.execution.scenes import Scene
from tests.runs.state.launches import child, draft, worker

# As the daemon looks.
EVERY_SECONDS = 10.0


class Watch:
    """A reaper, and the workers it watches on a machine that exists only here."""

    def __init__(self, folder: Path) -> None:
        self.scene = Scene(folder)
        self.ended: list[str] = []
        self.processes = FakeProcesses()
        self.own = self.processes.own()
        self.worker = self.processes.start(2, started_at=10.0)
        self.reaper = self.reaper_by(self.processes)

    def reaper_by(self, probe: ProcessProbe) -> Reaper:
        return Reaper(
            queue=self.scene.launches,
            runs=self.scene.launches,
            probe=probe,
            owner=self.own,
            clock=self.scene.clock,
            grace_seconds=GRACE_SECONDS,
            ended=self.ended.append,
        )

    async def claimed(self, *, owner: ProcessIdentity | None = None) -> Lease:
        """Let a worker hold a run."""
        now = self.scene.clock.now()
        await self.scene.launches.launch(draft(), at=now)
        [claimed] = await self.scene.launches.claim(owner=owner or self.worker, limit=1, cap=0, at=now)
        return claimed.lease

    async def started(self, process: ProcessIdentity, *, owner: ProcessIdentity | None = None) -> Lease:
        """Let a worker hold a run with a child."""
        lease = await self.claimed(owner=owner)
        assert await self.scene.launches.started(lease, process, at=self.scene.clock.now())
        return lease

    async def sweeps(self, count: int) -> list[int]:
        """Look as often as the daemon does."""
        settled = []
        for _ in range(count):
            settled.append(await self.reaper.sweep())
            self.scene.clock.advance(EVERY_SECONDS)
        return settled

    @property
    def told(self) -> tuple[str, str, bool]:
        run = self.scene.run()
        return run.status, run.reason_code, run.held


# On a host whose processes cannot be looked at from here: there is nobody to be ended.
CHILD = child().model_copy(update={"host": "another-host"})
WAITS_AGAIN = ("queued", "run.queued.launched", False)
WORKER_LOST = ("failed", "run.failed.worker_lost", False)


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    return Watch(tmp_path)


@pytest.fixture
def stranger() -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(python(ENDLESS), stdout=subprocess.PIPE, start_new_session=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


async def test_a_worker_that_lives_and_renews_keeps_its_runs(watch: Watch) -> None:
    lease = await watch.started(CHILD)

    for _ in range(10):
        await watch.scene.launches.renew([lease], at=watch.scene.clock.now())
        assert await watch.sweeps(1) == [0]

    assert watch.scene.launch().lease == lease


async def test_it_is_told_which_runs_have_ended(watch: Watch) -> None:
    lease = await watch.started(CHILD)
    await watch.sweeps(1)
    assert watch.ended == []
    watch.processes.end(2)

    await watch.sweeps(2)

    assert watch.ended == [lease.run_id]


async def test_what_a_gone_worker_had_not_started_waits_again(watch: Watch) -> None:
    await watch.claimed()
    watch.processes.end(2)
    watch.scene.feed.published.clear()

    settled = await watch.reaper.sweep()

    assert (settled, watch.told) == (1, WAITS_AGAIN)
    assert LAUNCHES_TOPIC in watch.scene.feed.published


async def test_the_child_of_a_gone_worker_is_ended_with_all_it_started(watch: Watch, tmp_path: Path) -> None:
    gone = identify(psutil.Process().pid).model_copy(update={"started_ticks": 1})
    async with running(order_of(*python(starting(ENDLESS) + ENDLESS), cwd=tmp_path), Heard()) as it:
        grandchild = int(await it.heard.line(stream="stderr"))
        await watch.started(it.child.identity, owner=gone)

        settled = await watch.reaper_by(LocalProcesses()).sweep()

        assert not [pid for pid in (it.child.identity.pid, grandchild) if lives(pid)]
    assert (settled, watch.told) == (1, WORKER_LOST)
    assert watch.scene.run().reason_summary == "its processes are ended"
    ending = watch.scene.ending()
    assert (ending.stdout_bytes, ending.stderr_bytes, ending.withheld_bytes) == (None, None, None), "nobody counted"


async def test_a_worker_that_comes_back_can_write_nothing(watch: Watch) -> None:
    late = await watch.started(CHILD)
    watch.processes.end(2)

    await watch.reaper.sweep()

    assert not await watch.scene.launches.record(late, [], at=watch.scene.clock.now())
    assert not await watch.scene.launches.end(
        late, Ending(status="completed", reason_code="run.completed.exit_zero"), at=watch.scene.clock.now()
    )
    assert watch.told == WORKER_LOST


async def test_a_worker_that_stands_still_loses_its_runs_once(watch: Watch) -> None:
    await watch.started(CHILD)

    settled = await watch.sweeps(6)

    assert settled == [0, 0, 0, 1, 0, 0]
    assert watch.told == WORKER_LOST


async def test_no_run_is_taken_before_a_lease_is_over(watch: Watch) -> None:
    await watch.claimed()

    await watch.reaper.sweep()
    watch.scene.clock.advance(LEASE_SECONDS)

    assert await watch.reaper.sweep() == 0
    watch.scene.clock.advance(0.5)
    assert await watch.reaper.sweep() == 1


@pytest.mark.parametrize("seconds", [3_600.0, -3_600.0])
async def test_a_wall_clock_that_is_set_takes_nothing_from_anybody(watch: Watch, seconds: float) -> None:
    await watch.started(CHILD)

    await watch.reaper.sweep()
    watch.scene.clock.step(seconds)

    assert await watch.reaper.sweep() == 0


async def test_a_reaper_that_stood_still_begins_anew(watch: Watch) -> None:
    await watch.started(CHILD)

    await watch.reaper.sweep()
    watch.scene.clock.advance(3_600)
    settled = await watch.sweeps(4)

    assert settled == [0, 0, 0, 1]


async def test_a_store_that_was_away_says_nothing_about_its_workers(watch: Watch) -> None:
    lease = await watch.started(CHILD)
    await watch.sweeps(1)
    watch.scene.runs.fault = StateUnavailable(retryable=True)
    for _ in range(3):
        with pytest.raises(StateUnavailable):
            await watch.reaper.sweep()
        watch.scene.clock.advance(EVERY_SECONDS)
    watch.scene.runs.fault = None

    settled = await watch.reaper.sweep()

    assert (settled, watch.scene.launch().lease) == (0, lease)


async def test_what_its_own_process_claimed_and_does_not_execute_waits_again(watch: Watch) -> None:
    """The answer to a claim can be lost after it was obeyed."""
    await watch.claimed(owner=watch.own)

    assert await watch.sweeps(4) == [0, 0, 0, 1]
    assert watch.told == WAITS_AGAIN


async def test_what_could_not_be_settled_is_settled_later(watch: Watch) -> None:
    await watch.started(CHILD)
    watch.processes.end(2)
    watch.scene.runs.fault, watch.scene.runs.failing = StateUnavailable(retryable=True), "end"
    with pytest.raises(StateUnavailable):
        await watch.reaper.sweep()
    watch.scene.runs.fault = None

    assert await watch.sweeps(4) == [0, 0, 0, 1]
    assert watch.told == WORKER_LOST


async def test_a_child_that_is_started_meanwhile_is_settled_too(watch: Watch) -> None:
    """Its worker stood still between the claim and the start, and went on just when it was taken for lost."""

    class Woken(InMemoryLaunches):
        async def take_over(self, lease: Lease, *, owner: ProcessIdentity, at: float) -> Lease | None:
            await self.started(lease, CHILD, at=at)
            return await super().take_over(lease, owner=owner, at=at)

    watch.scene.launches = Woken(watch.scene.runs)
    watch.reaper = watch.reaper_by(watch.processes)
    await watch.claimed()
    watch.processes.end(2)

    assert await watch.sweeps(5) == [0, 0, 0, 0, 1]
    assert watch.told == WORKER_LOST


async def test_a_process_that_has_the_pid_of_the_child_is_not_signalled(
    watch: Watch, stranger: "subprocess.Popen[bytes]"
) -> None:
    gone = identify(psutil.Process().pid).model_copy(update={"started_ticks": 1})
    reused = identify(stranger.pid).model_copy(update={"started_ticks": 1})
    await watch.started(reused, owner=gone)

    await watch.reaper_by(LocalProcesses()).sweep()

    assert watch.told == WORKER_LOST
    assert stranger.poll() is None


async def test_a_worker_on_another_host_is_lost_only_when_it_stands_still(watch: Watch) -> None:
    far = worker(7).model_copy(update={"host": "another-host"})
    await watch.started(CHILD, owner=far)

    assert await watch.sweeps(4) == [0, 0, 0, 1]
    assert watch.scene.run().reason_summary == "its process 1000 on another-host cannot be looked at from here"


async def test_two_reapers_settle_a_run_once(watch: Watch) -> None:
    await watch.claimed()
    watch.processes.end(2)
    other = watch.reaper_by(watch.processes)

    settled = [await watch.reaper.sweep(), await other.sweep()]
    await until_idle()

    assert settled == [1, 0]
