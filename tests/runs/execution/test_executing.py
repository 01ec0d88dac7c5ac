"""How one launched run is executed: every way to its end, and nobody left behind."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import psutil
import pytest

from contract.errors import StateUnavailable
from contract.events import RunEvent
from runs.claims import Claim
from runs.endings import Stop, Verdict
from runs.services.execution_ports import Ending
from tests.fakes.turns import turns
from tests.runs.execution.children import ENDLESS, PATIENCE_SECONDS, lives, python, starting
from tests.runs.execution.scenes import ENDLESS_STUBBORN, Forgetful, Scene, event_line
from tests.runs.state.launches import worker

SHELL = ("/bin/sh", "-c")
CLAIMS_FAILURE = event_line(type="status", status="failed", reason_summary="no luck")
CLAIMS_SUCCESS = event_line(type="status", status="completed")
# An endless stubborn child with such a grandchild, whose pid it prints.
STUBBORN_FAMILY = starting(ENDLESS_STUBBORN) + ENDLESS_STUBBORN


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def told(scene: Scene) -> tuple[str, str, str | None]:
    run = scene.run()
    return run.status, run.reason_code, run.reason_summary


@pytest.mark.parametrize(
    ("script", "end"),
    [
        ("exit 0", ("completed", "run.completed.exit_zero", None)),
        ("exit 3", ("failed", "run.failed.exit_nonzero", "exit code 3")),
        ("kill -SEGV $$", ("failed", "run.failed.signal", "SIGSEGV")),
        (f"echo '{CLAIMS_FAILURE}'", ("failed", "run.failed.error", "no luck")),
        (f"echo '{CLAIMS_SUCCESS}'", ("completed", "run.completed.ok", None)),
        (
            f"echo '{CLAIMS_SUCCESS}'; exit 3",
            ("failed", "run.failed.exit_nonzero", "exit code 3, after it said completed"),
        ),
    ],
)
async def test_a_run_ends_as_its_process_did(scene: Scene, script: str, end: tuple[str, str, str | None]) -> None:
    await scene.ran(*SHELL, script)

    assert told(scene) == end
    assert not scene.run().held


async def test_what_is_known_of_the_process_is_kept(scene: Scene) -> None:
    run = await scene.ran(*SHELL, "echo out; echo error >&2; exit 3")

    assert scene.ending() == Ending(
        status="failed",
        reason_code="run.failed.exit_nonzero",
        reason_summary="exit code 3: error",
        exit_code=3,
        stdout_bytes=4,
        stderr_bytes=6,
        withheld_bytes=0,
        output_tail="out\n\nerror\n",
    )
    assert [transition.to_status for transition in run.transitions] == ["queued", "running", "failed"]


async def test_a_signal_is_kept(scene: Scene) -> None:
    await scene.ran(*SHELL, "kill -KILL $$")

    assert (scene.ending().exit_code, scene.ending().exit_signal) == (None, 9)


async def test_what_cannot_be_executed_ends_before_it_ran(scene: Scene, tmp_path: Path) -> None:
    (tmp_path / "broken").write_bytes(b"\x7fno program")
    (tmp_path / "broken").chmod(0o755)

    await scene.ran(str(tmp_path / "broken"))

    assert told(scene) == ("failed", "run.failed.spawn", "exec: ENOEXEC")


async def test_a_folder_that_is_gone_ends_the_run(scene: Scene, tmp_path: Path) -> None:
    await scene.ran(*SHELL, "exit 0", cwd=str(tmp_path / "gone"))

    assert told(scene) == ("failed", "run.failed.cwd", "cwd: ENOENT")


async def test_without_a_plan_nothing_is_executed(scene: Scene) -> None:
    scene.planner.told = Verdict(status="failed", reason_code="run.failed.refused", reason_summary="not here")

    run = await scene.ran(*SHELL, "exit 0")

    assert told(scene) == ("failed", "run.failed.refused", "not here")
    assert run.command.process is None


@pytest.mark.parametrize("script", ["exit 0", "exit 3"])
async def test_the_plan_is_cleared_up_after(scene: Scene, script: str) -> None:
    await scene.ran(*SHELL, script)

    assert scene.planner.cleared == ["r"]


async def test_a_child_is_ended_at_its_deadline(scene: Scene) -> None:
    await scene.ran(*python(ENDLESS), deadline_seconds=0.3)

    assert told(scene) == ("timed_out", "run.timed_out.deadline", "after 0.3 seconds")
    assert not lives(scene.child().pid)


async def test_nobody_survives_a_cancel(scene: Scene) -> None:
    async with scene.executing(STUBBORN_FAMILY) as execution:
        await scene.until(lambda: scene.printed("stderr") != "")
        execution.stop(Stop(cause="cancel", said="enough"))

    assert told(scene) == ("cancelled", "run.cancelled.requested", "enough")
    assert scene.ending().exit_signal == 9
    assert not [pid for pid in (scene.child().pid, *scene.pids_printed()) if lives(pid)]


async def test_the_first_cause_counts(scene: Scene) -> None:
    async with scene.executing(ENDLESS) as execution:
        execution.stop(Stop(cause="cancel", said="enough"))
        execution.stop(Stop(cause="shutdown"), grace_seconds=0.1)

    assert told(scene) == ("cancelled", "run.cancelled.requested", "enough")


async def test_a_shutdown_does_not_wait_for_the_grace_of_a_cancel(scene: Scene) -> None:
    asked = "import signal\nsignal.signal(signal.SIGTERM, lambda *_: print('asked', flush=True))\n"
    async with scene.executing(asked + ENDLESS, grace_seconds=100 * PATIENCE_SECONDS) as execution:
        execution.stop(Stop(cause="cancel"))
        await scene.until(lambda: "asked" in scene.printed())
        execution.stop(Stop(cause="shutdown"), grace_seconds=0.1)

    assert told(scene) == ("cancelled", "run.cancelled.requested", None)
    assert not lives(scene.child().pid)


async def test_a_child_that_ended_by_itself_was_not_stopped(scene: Scene) -> None:
    left_behind = "import os, signal\nwhile os.getppid() == os.getsid(0): pass\nprint('ready', flush=True)\n"
    async with scene.executing(starting(left_behind + "while True: signal.pause()")) as execution:
        execution.stop(Stop(cause="cancel"))

    assert told(scene) == ("completed", "run.completed.exit_zero", None)
    assert not [pid for pid in scene.pids_printed() if lives(pid)]


async def test_a_run_that_was_cancelled_while_it_waited_never_begins(scene: Scene, tmp_path: Path) -> None:
    launch = await scene.claimed(*SHELL, "touch begun")
    await scene.runs.request_cancel("r", reason="enough", at=scene.clock.now())

    await scene.execution(launch).run()

    assert told(scene) == ("cancelled", "run.cancelled.before_start", "enough")
    assert not (tmp_path / "begun").exists()


async def test_a_run_that_is_stopped_before_its_start_never_begins(scene: Scene, tmp_path: Path) -> None:
    execution = scene.execution(await scene.claimed(*SHELL, "touch begun"))

    execution.stop(Stop(cause="cancel"))
    await execution.run()

    assert told(scene) == ("cancelled", "run.cancelled.requested", None)
    assert not (tmp_path / "begun").exists()


async def test_a_run_that_did_not_begin_before_a_shutdown_still_waits(scene: Scene, tmp_path: Path) -> None:
    execution = scene.execution(await scene.claimed(*SHELL, "touch begun"))

    execution.stop(Stop(cause="shutdown"), grace_seconds=0.1)
    await execution.run()

    assert (scene.run().status, scene.run().held) == ("queued", True)
    assert not (tmp_path / "begun").exists()


async def test_a_lost_lease_ends_the_child_and_writes_nothing_more(scene: Scene) -> None:
    code = "import time\nprint('ready', flush=True)\nwhile True: print('more', flush=True); time.sleep(0.01)"
    async with scene.executing(code):
        taken = await scene.launches.take_over(scene.launch().lease, owner=worker(2), at=scene.clock.now())
        before = scene.printed()

    assert taken is not None
    assert (scene.run().status, scene.launch().owner, scene.launch().lease) == ("running", worker(2), taken)
    assert scene.printed() == before
    assert not lives(scene.child().pid)


class SlowRuns(Forgetful):
    """Takes evidence only when the child is gone, which it lets happen by a file."""

    def __init__(self, scene: Scene, leave: Path) -> None:
        super().__init__(scene.launches, obeys=True)
        self._scene = scene
        self._leave = leave

    async def _answer(self, kind: str, call: Callable[[], Awaitable[bool]]) -> bool:
        if kind == "record":
            self._leave.touch()
            await self._scene.until(lambda: not psutil.pid_exists(self._scene.child().pid))
            await turns(100)
        return await call()


async def test_what_is_being_stored_when_the_child_ends_is_stored(scene: Scene, tmp_path: Path) -> None:
    leave = tmp_path / "leave"
    code = f"import os\nprint('early', flush=True)\nwhile not os.path.exists({str(leave)!r}): pass\nprint('late')"

    await scene.ran(*python(code), runs=SlowRuns(scene, leave))

    assert scene.printed() == "early\nlate\n"


@pytest.mark.parametrize("obeys", [False, True])
async def test_a_store_that_is_away_for_a_while_loses_and_doubles_nothing(scene: Scene, obeys: bool) -> None:
    usage = event_line(type="usage", input_tokens=7)
    script = f"echo one; echo '{usage}'; echo two; echo three >&2"

    run = await scene.ran(*SHELL, script, runs=Forgetful(scene.launches, obeys=obeys))

    assert (scene.printed("stdout"), scene.printed("stderr")) == ("one\ntwo\n", "three\n")
    assert run.state.input_tokens == 7
    assert told(scene) == ("completed", "run.completed.exit_zero", None)


async def test_a_shutdown_does_not_wait_for_a_store_that_is_away(scene: Scene) -> None:
    code = "import signal\nprint('ready', flush=True)\nwhile True: print('more' * 9999, flush=True)"
    async with scene.executing(code) as execution:
        scene.runs.fault = StateUnavailable(retryable=True)
        execution.stop(Stop(cause="shutdown"), grace_seconds=0.1)

    assert scene.run().status == "running", "the reaper settles it"
    assert not lives(scene.child().pid)


async def test_a_cancel_waits_for_a_store_that_is_away(scene: Scene) -> None:
    async with scene.executing(ENDLESS) as execution:
        scene.runs.fault = StateUnavailable(retryable=True)
        execution.stop(Stop(cause="cancel"))
        await scene.until(lambda: scene.runs.calls["end"] > 2)
        scene.runs.fault = None

    assert told(scene) == ("cancelled", "run.cancelled.requested", None)


async def test_a_planner_that_breaks_ends_the_run_and_is_told_of(scene: Scene) -> None:
    scene.planner.told = RuntimeError("broken")

    await scene.ran(*SHELL, "exit 0")

    assert told(scene) == ("failed", "run.failed.error", "unforeseen RuntimeError; see the log")
    assert scene.incidents == [scene.planner.told]


class BrokenReader:
    def feed(self, line: str) -> Sequence[RunEvent] | None:
        raise RuntimeError(line)

    def claim(self) -> Claim | None:
        return None


async def test_a_reader_that_breaks_ends_the_run_and_its_child(scene: Scene) -> None:
    scene.planner.reader = BrokenReader

    await scene.ran(*python(ENDLESS))

    assert told(scene) == ("failed", "run.failed.error", "unforeseen RuntimeError; see the log")
    assert not lives(scene.child().pid)


async def test_a_store_that_breaks_leaves_no_child(scene: Scene) -> None:
    class BrokenRuns(Forgetful):
        async def started(self, *_: object, **__: object) -> bool:
            raise RuntimeError

    before = psutil.Process().children()
    await scene.ran(*python(ENDLESS), runs=BrokenRuns(scene.launches, obeys=False))

    assert told(scene) == ("failed", "run.failed.error", "unforeseen RuntimeError; see the log")
    assert psutil.Process().children() == before


async def test_a_store_that_breaks_later_ends_the_child(scene: Scene) -> None:
    class BrokenRuns(Forgetful):
        async def record(self, *_: object, **__: object) -> bool:
            raise RuntimeError

    await scene.ran(*python(ENDLESS), runs=BrokenRuns(scene.launches, obeys=False))

    assert told(scene) == ("failed", "run.failed.error", "unforeseen RuntimeError; see the log")
    assert not lives(scene.child().pid)


async def test_a_cancelled_execution_leaves_no_child(scene: Scene) -> None:
    execution = scene.execution(await scene.claimed(*python(ENDLESS_STUBBORN)))
    task = asyncio.create_task(execution.run())
    await scene.until(lambda: "ready" in scene.printed())

    task.cancel()
    await asyncio.wait([task])

    assert task.cancelled()
    assert not lives(scene.child().pid)


async def test_a_flood_ends_promptly_with_both_ends_kept(scene: Scene) -> None:
    code = "import os\nline = b'x' * 99 + b'\\n'\nfor _ in range(500): os.write(1, line * 1000)\nprint('the end')"

    await scene.ran(*python(code))

    assert told(scene) == ("completed", "run.completed.exit_zero", None)
    assert scene.ending().stdout_bytes == 50_000_008
    assert scene.ending().withheld_bytes == 50_000_008 - 1024 * 1024 - 64 * 1024
    assert scene.printed().endswith("x\nthe end\n")
    assert f"[{scene.ending().withheld_bytes:,} bytes of stdout are left out here]\n" in scene.printed()
