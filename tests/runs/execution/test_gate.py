import asyncio
import errno
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from runs.execution import gate
from runs.execution.child import Child, ChildOrder, NotExecuted
from runs.execution.exits import exited
from runs.processes import identify
from tests.runs.execution.children import ENDLESS, PATIENCE_SECONDS, order_of, python, run, running, until
from tests.runs.execution.dying_worker import identity_of_child_left_by_worker


def touching(path: Path) -> ChildOrder:
    return order_of(*python(f"open({str(path)!r}, 'w')"), cwd=path.parent)


async def refused(order: ChildOrder) -> tuple[str, int]:
    child = Child.start(order)
    with pytest.raises(NotExecuted) as caught:
        await child.release()
    assert not psutil.pid_exists(child.identity.pid)
    return caught.value.stage, caught.value.number


def at_a_gate_whose_worker_died_after(message: bytes) -> int:
    """Return how a gate exits that is told this and nothing more."""
    ours, theirs = socket.socketpair()
    with ours:
        ours.sendall(message)
    with theirs:
        command = [sys.executable, "-I", "-S", gate.__file__, str(theirs.fileno())]
        return subprocess.run(command, pass_fds=(theirs.fileno(),), timeout=PATIENCE_SECONDS, check=False).returncode


async def test_a_child_does_nothing_before_it_is_released(tmp_path: Path) -> None:
    child = Child.start(touching(tmp_path / "begun"))

    await child.abandon()

    assert not (tmp_path / "begun").exists()
    assert not psutil.pid_exists(child.identity.pid)


async def test_a_released_child_begins(tmp_path: Path) -> None:
    await run(touching(tmp_path / "begun"))

    assert (tmp_path / "begun").exists()


async def test_nothing_runs_when_the_worker_is_killed_before_the_release(tmp_path: Path) -> None:
    identity = await identity_of_child_left_by_worker(touching(tmp_path / "begun"))

    async with asyncio.timeout(PATIENCE_SECONDS):
        await exited(identity.pid)

    assert not (tmp_path / "begun").exists()


@pytest.mark.parametrize("sent", [0, 5, 8, 20, -1])
def test_nothing_runs_when_the_order_did_not_come_whole(sent: int, tmp_path: Path) -> None:
    order = touching(tmp_path / "begun")
    message = gate.packed_order(argv=order.argv, env=order.env, cwd=order.cwd)

    code = at_a_gate_whose_worker_died_after(message[:sent])

    assert code == 0
    assert not (tmp_path / "begun").exists()


def test_nothing_runs_when_nobody_is_left_to_read_what_it_prints(tmp_path: Path) -> None:
    order = touching(tmp_path / "begun")

    code = at_a_gate_whose_worker_died_after(gate.packed_order(argv=order.argv, env=order.env, cwd=order.cwd))

    assert code == 0
    assert not (tmp_path / "begun").exists()


async def test_the_process_stays_the_same_through_the_release(tmp_path: Path) -> None:
    code = "import os; print(os.getpid(), os.getsid(0), os.getpgrp())\n" + ENDLESS

    async with running(order_of(*python(code), cwd=tmp_path)) as it:
        identity = it.child.identity
        told = await it.heard.line()
        found = identify(identity.pid)

    assert told == f"{identity.pid} {identity.pid} {identity.pid}"
    assert found == identity


async def test_a_child_has_the_given_arguments_folder_and_environment_and_no_other(tmp_path: Path) -> None:
    arguments = ["", " ", "a=b", "--", "$HOME `x`", "ä\n€", "😀" * 1_000]
    code = "import os, sys; print(ascii([sys.argv[1:], os.getcwd(), sorted(os.environ.items())]))"
    order = order_of(*python(code), *arguments, cwd=tmp_path, env={"LC_ALL": "C.UTF-8", "EMPTY": "", "A": "b=c\n€"})

    _, heard = await run(order)

    environment = [("A", "b=c\n€"), ("EMPTY", ""), ("LC_ALL", "C.UTF-8"), ("STUDIO_RUN_ID", order.run_id)]
    assert heard.text() == ascii([arguments, str(tmp_path), environment]) + "\n"


async def test_a_child_has_no_open_file_but_the_three_of_every_process(tmp_path: Path) -> None:
    code = "import os; print(sorted(int(name) for name in os.listdir('/dev/fd') if os.path.exists(f'/dev/fd/{name}')))"

    _, heard = await run(order_of(*python(code), cwd=tmp_path))

    assert heard.text() == "[0, 1, 2]\n"


async def test_a_child_dies_of_a_broken_pipe_as_programs_do(tmp_path: Path) -> None:
    exit_, heard = await run(order_of("/bin/sh", "-c", "kill -PIPE $$; echo lives", cwd=tmp_path))

    assert exit_.signal == signal.SIGPIPE
    assert heard.text() == ""


async def test_a_name_is_found_in_the_path_of_the_given_environment(tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "tool"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho found\n")
    tool.chmod(0o755)

    _, heard = await run(order_of("tool", cwd=tmp_path, env={"PATH": f"/nowhere:{tool.parent}"}))

    assert heard.text() == "found\n"


async def test_a_missing_executable_is_told(tmp_path: Path) -> None:
    assert await refused(order_of(str(tmp_path / "missing"), cwd=tmp_path)) == ("exec", errno.ENOENT)
    assert await refused(order_of("missing", cwd=tmp_path, env={"PATH": str(tmp_path)})) == ("exec", errno.ENOENT)


async def test_a_file_that_is_no_executable_is_told(tmp_path: Path) -> None:
    plain, garbled = tmp_path / "plain", tmp_path / "garbled"
    plain.write_text("#!/bin/sh\n")
    garbled.write_text("no program\n")
    garbled.chmod(0o755)

    assert await refused(order_of(str(plain), cwd=tmp_path)) == ("exec", errno.EACCES)
    assert await refused(order_of(str(garbled), cwd=tmp_path)) == ("exec", errno.ENOEXEC)


async def test_arguments_beyond_the_systems_bounds_are_told(tmp_path: Path) -> None:
    bound = os.sysconf("SC_ARG_MAX")

    assert await refused(order_of(*python("pass"), "x" * bound, cwd=tmp_path)) == ("exec", errno.E2BIG)


async def test_an_unusable_folder_is_told(tmp_path: Path) -> None:
    removed, file = tmp_path / "removed", tmp_path / "file"
    removed.mkdir()
    removed.rmdir()
    file.touch()

    assert await refused(order_of(*python("pass"), cwd=removed)) == ("cwd", errno.ENOENT)
    assert await refused(order_of(*python("pass"), cwd=file)) == ("cwd", errno.ENOTDIR)


async def test_a_gate_that_was_killed_is_told(tmp_path: Path) -> None:
    order = touching(tmp_path / "begun")
    child = Child.start(order)
    os.kill(child.identity.pid, signal.SIGKILL)
    await child.exited()

    with pytest.raises(NotExecuted) as caught:
        await child.release()

    assert caught.value.stage == "gate"
    assert str(caught.value) == "gate: EPIPE"
    assert not (tmp_path / "begun").exists()


async def test_a_release_that_is_called_off_leaves_a_child_that_can_be_ended(tmp_path: Path) -> None:
    child = Child.start(touching(tmp_path / "begun"))
    os.kill(child.identity.pid, signal.SIGSTOP)
    until(lambda: psutil.Process(child.identity.pid).status() == psutil.STATUS_STOPPED)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await child.release()
    left = await child.end(grace_seconds=0)
    exit_ = await child.close()

    assert left == ()
    assert exit_.signal == signal.SIGKILL
    assert not (tmp_path / "begun").exists()


@pytest.mark.parametrize(
    ("argv", "env"),
    [((), {}), (("tool", "a\0b"), {}), (("tool",), {"A=B": ""}), (("tool",), {"": ""}), (("tool",), {"A": "\0"})],
)
def test_an_order_that_no_process_can_be_given_is_refused_before_one_starts(
    argv: tuple[str, ...], env: dict[str, str], tmp_path: Path
) -> None:
    with pytest.raises(ValueError):
        Child.start(order_of(*argv, cwd=tmp_path, env=env))
