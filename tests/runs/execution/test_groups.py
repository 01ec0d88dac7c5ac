import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runs.execution.child import Exit
from runs.execution.groups import RUN_MARK, ProcessGroup, members, terminate, vacated
from runs.processes import identify
from tests.runs.execution.children import (
    ENDLESS,
    GRACE_SECONDS,
    PATIENCE_SECONDS,
    Heard,
    lives,
    order_of,
    python,
    running,
    starting,
    until,
)
from tests.runs.execution.dying_worker import identity_of_child_left_by_worker

_ROOT = Path(__file__).parents[3]
_STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"


@pytest.fixture
def stranger() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that is none of ours: in a session of its own, without a mark. It says what it is told."""
    with subprocess.Popen(
        ["/bin/cat"], env={}, start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        yield process
        process.kill()


def answers(process: "subprocess.Popen[bytes]") -> bool:
    """Whether the process goes on, undisturbed by any signal it was sent before."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"there?\n")
    return process.stdout.read(7) == b"there?\n"


def group_of(process: "subprocess.Popen[bytes]", **changes: object) -> ProcessGroup:
    """The group that this process leads by its record, which the changes make another's."""
    return ProcessGroup(leader=identify(process.pid).model_copy(update=changes), run_id="run-of-nobody")


async def started_pids(heard: Heard, count: int) -> list[int]:
    """The pids of so many descendants, once all of them said that they are ready."""
    pids = [int(await heard.line(number, "stderr")) for number in range(count)]
    await heard.line(count - 1)
    return pids


async def test_a_group_is_the_child_and_all_it_started(tmp_path: Path) -> None:
    code = starting(starting(ENDLESS) + ENDLESS) + ENDLESS

    async with running(order_of(*python(code), cwd=tmp_path)) as it:
        descendants = await started_pids(it.heard, 2)
        found = await members(it.child.group)

    assert sorted(found) == sorted([it.child.identity.pid, *descendants])


async def test_nobody_is_left_of_a_group_that_was_ended(tmp_path: Path) -> None:
    code = starting(ENDLESS) + starting(ENDLESS) + ENDLESS

    async with running(order_of(*python(code), cwd=tmp_path)) as it:
        descendants = await started_pids(it.heard, 2)
        exit_ = await it.stopped(grace_seconds=GRACE_SECONDS)

    assert exit_ == Exit(code=None, signal=signal.SIGTERM)
    assert not [pid for pid in descendants if lives(pid)]


async def test_who_ends_in_its_own_way_has_the_grace_to_do_so(tmp_path: Path) -> None:
    code = "import signal, sys\ndef bye(*_): print('bye'); sys.exit(3)\nsignal.signal(signal.SIGTERM, bye)\n" + ENDLESS

    async with running(order_of(*python(code), cwd=tmp_path)) as it:
        await it.heard.line()
        exit_ = await it.stopped(grace_seconds=GRACE_SECONDS)

    assert exit_ == Exit(code=3, signal=None)
    assert it.heard.text() == "ready\nbye\n"


async def test_who_ignores_term_is_killed_after_the_grace(tmp_path: Path) -> None:
    code = starting(_STUBBORN + ENDLESS) + _STUBBORN + ENDLESS

    async with running(order_of(*python(code), cwd=tmp_path)) as it:
        descendants = await started_pids(it.heard, 1)
        await it.heard.line(1)
        exit_ = await it.stopped(grace_seconds=0.1)

    assert exit_ == Exit(code=None, signal=signal.SIGKILL)
    assert not [pid for pid in descendants if lives(pid)]


async def test_a_grandchild_that_ignores_term_is_killed_though_the_child_has_ended(tmp_path: Path) -> None:
    code = starting(_STUBBORN + ENDLESS) + ENDLESS

    async with running(order_of(*python(code), cwd=tmp_path)) as it:
        descendants = await started_pids(it.heard, 1)
        await it.heard.line(1)
        exit_ = await it.stopped(grace_seconds=0.1)

    assert exit_ == Exit(code=None, signal=signal.SIGTERM)
    assert not [pid for pid in descendants if lives(pid)]


async def test_who_is_started_during_the_grace_is_killed(tmp_path: Path) -> None:
    late = starting(_STUBBORN + ENDLESS).replace("\n", "\n  ")
    code = f"import signal, sys\ndef start(*_):\n  {late}\nsignal.signal(signal.SIGTERM, start)\n{ENDLESS}"

    async with running(order_of(*python(code), cwd=tmp_path)) as it:
        await it.heard.line()
        ending = asyncio.create_task(it.stopped(grace_seconds=0.5))
        late_pid = int(await it.heard.line(0, "stderr"))
        exit_ = await ending

    assert exit_ == Exit(code=None, signal=signal.SIGKILL)
    assert not lives(late_pid)


@pytest.mark.parametrize("more", [", start_new_session=True", ", process_group=0", ", env={}", ""])
async def test_who_left_is_ended_too(more: str, tmp_path: Path) -> None:
    code = starting(ENDLESS, more=more) + ENDLESS

    async with running(order_of(*python(code), cwd=tmp_path)) as it:
        descendants = await started_pids(it.heard, 1)
        await it.stopped(grace_seconds=GRACE_SECONDS)

    assert not [pid for pid in descendants if lives(pid)]


@pytest.mark.parametrize("more", [", start_new_session=True", ", process_group=0", ", env={}", ""])
async def test_who_was_left_behind_is_ended_too(more: str, tmp_path: Path) -> None:
    async with running(order_of(*python(starting(ENDLESS, more=more)), cwd=tmp_path)) as it:
        descendants = await started_pids(it.heard, 1)
        exit_ = await it.ended(linger_seconds=0)

    assert exit_ == Exit(code=0, signal=None)
    assert not [pid for pid in descendants if lives(pid)]


async def test_a_process_whose_first_thread_has_ended_still_lives(tmp_path: Path) -> None:
    wait = "threading.Thread(target=lambda: print(*iter(sys.stdin.readline, None)), daemon=True).start()"
    code = (
        f"import ctypes, os, sys, threading\nsys.stdin = os.fdopen(os.pipe()[0])\n{wait}\n"
        "print('ready', flush=True); ctypes.PyDLL(None).pthread_exit(None)"
    )

    async with running(order_of(*python(code), cwd=tmp_path)) as it:
        pid = it.child.identity.pid
        await it.heard.line()
        until(lambda: not lives(pid))
        found = await members(it.child.group)
        exit_ = await it.stopped(grace_seconds=GRACE_SECONDS)

    assert found == (pid,)
    assert exit_ == Exit(code=None, signal=signal.SIGTERM)


async def test_the_child_of_a_dead_worker_is_ended_with_its_group(tmp_path: Path) -> None:
    order = order_of(*python(starting(ENDLESS, more=", env={}") + ENDLESS), cwd=tmp_path)
    identity = await identity_of_child_left_by_worker(order, ready=2)
    group = ProcessGroup(leader=identity, run_id=order.run_id)

    before = await members(group)
    left = await terminate(group, grace_seconds=GRACE_SECONDS)

    assert identity.pid in before
    assert len(before) == 2
    assert left == ()
    assert not [pid for pid in before if lives(pid)]


async def test_who_was_left_by_the_child_of_a_dead_worker_is_found_by_its_mark(tmp_path: Path) -> None:
    """The child itself has ended and nobody keeps its pid, so that its session proves nothing."""
    order = order_of(*python("print('ready', flush=True)\n" + starting(ENDLESS)), cwd=tmp_path)
    async with running(order) as it:
        descendants = await started_pids(it.heard, 1)
        await it.child.exited()
        it.child._process.wait()
        group = it.child.group
        before = await members(group)
        left = await terminate(group, grace_seconds=GRACE_SECONDS)

    assert list(before) == descendants
    assert left == ()
    assert not [pid for pid in descendants if lives(pid)]


async def test_a_child_whose_clock_was_set_is_found_by_its_mark(tmp_path: Path) -> None:
    order = order_of(*python(starting(ENDLESS, more=", env={}") + ENDLESS), cwd=tmp_path)
    async with running(order) as it:
        descendants = await started_pids(it.heard, 1)
        leader = it.child.identity.model_copy(update={"started_at": 1.0, "started_ticks": None})

        found = await members(ProcessGroup(leader=leader, run_id=order.run_id))

    assert set(found) == {leader.pid, *descendants}


async def test_a_child_whose_clock_was_set_is_known_by_its_ticks(tmp_path: Path) -> None:
    async with running(order_of(*python(ENDLESS), cwd=tmp_path)) as it:
        leader = it.child.identity.model_copy(update={"started_at": 1.0})

        found = await members(ProcessGroup(leader=leader, run_id="run-of-nobody"))

    assert found == (leader.pid,)


@pytest.mark.parametrize(
    "changes",
    [
        {"started_ticks": 1},
        {"started_ticks": None, "started_at": 1.0},
        {"started_ticks": None, "started_at": None},
        {"boot_id": "another-boot"},
    ],
)
async def test_a_process_that_has_the_pid_of_the_child_is_left_alone(
    changes: dict[str, object], stranger: "subprocess.Popen[bytes]"
) -> None:
    group = group_of(stranger, **changes)

    found = await members(group)
    left = await terminate(group, grace_seconds=0)

    assert (found, left) == ((), ())
    assert answers(stranger)


async def test_a_process_that_leads_no_session_is_not_the_child() -> None:
    inmate = await asyncio.create_subprocess_exec(*python(ENDLESS), stdout=subprocess.PIPE)
    group = ProcessGroup(leader=identify(inmate.pid), run_id="run-of-nobody")

    found = await members(group)
    inmate.kill()
    await inmate.communicate()

    assert found == ()


async def test_the_mark_of_another_run_does_not_count(tmp_path: Path) -> None:
    order = order_of(*python(ENDLESS), cwd=tmp_path)
    async with running(order) as it:
        leader = it.child.identity.model_copy(update={"started_ticks": 1})

        left = await terminate(ProcessGroup(leader=leader, run_id=f"{order.run_id}-1"), grace_seconds=0)

        assert left == ()
        assert lives(leader.pid)


async def test_a_worker_that_carries_the_mark_does_not_end_itself() -> None:
    code = (
        "import asyncio, os\n"
        "from runs.execution.groups import ProcessGroup, terminate\nfrom runs.processes import identify\n"
        "group = ProcessGroup(leader=identify(os.getpid()), run_id='run-around')\n"
        "print(asyncio.run(terminate(group, grace_seconds=0)))"
    )

    worker = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code),
        cwd=_ROOT,
        env={RUN_MARK: "run-around"},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    told, _ = await worker.communicate()

    assert (worker.returncode, told) == (0, b"()\n")


async def test_the_group_of_another_host_cannot_be_judged(stranger: "subprocess.Popen[bytes]") -> None:
    group = group_of(stranger, host="elsewhere.example")

    for act in (members(group), vacated(group, seconds=0), terminate(group, grace_seconds=0)):
        with pytest.raises(ValueError):
            await act
    assert answers(stranger)


async def test_who_is_left_when_the_time_is_up_is_told(tmp_path: Path) -> None:
    async with running(order_of(*python(ENDLESS), cwd=tmp_path)) as it:
        left = await vacated(it.child.group, seconds=0)

    assert left == (it.child.identity.pid,)


async def test_a_group_that_ends_by_itself_is_noticed(tmp_path: Path) -> None:
    async with running(order_of(*python(ENDLESS), cwd=tmp_path)) as it, asyncio.timeout(PATIENCE_SECONDS):
        waiting = asyncio.create_task(vacated(it.child.group, seconds=PATIENCE_SECONDS))
        os.kill(it.child.identity.pid, signal.SIGKILL)

        left = await waiting

    assert left == ()
