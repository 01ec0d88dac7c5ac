"""`run launch` over an in-memory Studio, and what `run show` says of a run that was launched."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from contract.actions import ActionFields, LaunchResult
from contract.events import MessageEvent, ProcessIdentity, StreamFrame
from contract.limits import DEFINITION_MAX_BYTES
from contract.runs import RunDetail
from runs.services.execution_ports import Ending
from studio_project.commands import EXIT_CODES
from studio_project.config import current_config
from studio_project.home import working
from studio_project.run_tailing import EXIT_NOT_COMPLETED
from tests.fakes.shell import Shell

OWNER = ProcessIdentity(host="h", pid=1)
WAITS = "it waits for a worker: `studio serve` or `studio worker`\n"
PLAYBOOK = "prompt: Do it\nsteps: {a: {prompt: Read}}\n"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def launched(shell: Shell, kind: str, *arguments: str) -> str:
    """Launch, and return the run's id."""
    shell("run", "launch", kind, "--json", *arguments)
    assert shell.exit_code == 0, shell.err
    return LaunchResult.model_validate_json(shell.out).run_id


def executed(shell: Shell, status: str, reason_code: str, **fields: Any) -> ActionFields:
    """Be the worker of the one run that waits; return what was to be executed."""

    async def execute() -> ActionFields:
        launches = shell.studio.launches
        at = shell.studio.runs.clock.now()
        [claimed] = await launches.claim(owner=OWNER, limit=1, cap=0, at=at)
        await launches.started(claimed.lease, OWNER, at=at)
        said = MessageEvent(role="output", content="on it\n", sender="stdout")
        await launches.record(claimed.lease, [said], at=at)
        await launches.end(claimed.lease, Ending(status=status, reason_code=reason_code, **fields), at=at)
        assert isinstance(claimed.action, ActionFields)
        return claimed.action

    return asyncio.run(execute())


def detail(shell: Shell, run_id: str) -> RunDetail:
    return RunDetail.model_validate_json(shell("run", "show", run_id, "--json").out)


@contextmanager
def piped(shell: Shell, data: bytes) -> Iterator[None]:
    """Let the shell's standard input be a pipe that holds `data`."""
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    shell.standard_input = reading
    try:
        yield
    finally:
        os.close(reading)


# what is launched --------------------------------------------------------------------------------------------


def test_a_launch_says_its_run_and_that_it_waits_where_nobody_works(shell: Shell) -> None:
    shell("run", "launch", "command", "--", "make", "--all")

    assert (shell.exit_code, shell.err) == (0, WAITS)
    words = shell.out.split()
    assert (words[0], words[2:]) == ("run", ["is", "queued"])
    assert detail(shell, words[1]).status == "queued"


def test_nothing_is_said_of_waiting_where_somebody_works(shell: Shell) -> None:
    with working(current_config().home):
        shell("run", "launch", "command", "--", "make")

    assert shell.err == ""


def test_what_stands_behind_the_dashes_is_the_command(shell: Shell) -> None:
    run_id = launched(shell, "command", "--name", "n", "--", "make", "--json", "-x", "--", "")

    execution = detail(shell, run_id).execution
    assert execution is not None
    assert execution.action == {"kind": "command", "command": ["make", "--json", "-x", "--", ""]}


def test_every_field_is_an_option(shell: Shell) -> None:
    options = "--model m --agent a --project p --runtime li --cwd / --launch-key k --name n --tag x --tag y"
    run_id = launched(
        shell, "agent", "--prompt", "hey", *options.split(), "--invocation", "i", "--deadline", "1.5"
    )  # fmt: skip

    run = detail(shell, run_id)
    assert run.execution is not None
    assert run.execution.action == {
        "kind": "agent", "model": "m", "prompt": "hey", "agent": "a", "project": "p", "runtime": "li", "cwd": "/",
    }  # fmt: skip
    assert (run.execution.launch_key, run.execution.deadline_seconds) == ("k", 1.5)
    assert (run.name, run.tags, run.invocation_id) == ("n", ("x", "y"), "i")


def test_a_prompt_comes_from_a_pipe_as_it_is(shell: Shell) -> None:
    with piped(shell, "Zwei\nZeilen für dich\n".encode()):
        launched(shell, "agent", "--model", "m", "--prompt", "-")

    assert executed(shell, "completed", "run.completed.ok").prompt == "Zwei\nZeilen für dich\n"


def test_a_flow_comes_from_a_file_or_a_pipe(shell: Shell) -> None:
    file = shell.folder / "flow.yaml"
    file.write_text(PLAYBOOK, encoding="utf-8")

    launched(shell, "flow_yaml", "--flow-yaml", str(file))
    assert executed(shell, "completed", "run.completed.ok").flow_yaml == PLAYBOOK
    with piped(shell, PLAYBOOK.encode()):
        launched(shell, "flow_yaml", "--flow-yaml", "-")
    assert executed(shell, "completed", "run.completed.ok").flow_yaml == PLAYBOOK


def test_a_playbook_is_launched_by_its_name(shell: Shell) -> None:
    shell.studio.files.edit("playbooks/nightly.playbook.yaml", PLAYBOOK)

    run_id = launched(shell, "play", "--playbook", "nightly")

    assert detail(shell, run_id).playbook_name == "nightly"


def test_the_same_key_again_says_the_run_there_is(shell: Shell) -> None:
    run_id = launched(shell, "command", "--launch-key", "k", "--", "make")

    shell("run", "launch", "command", "--launch-key", "k", "--", "make")

    assert (shell.exit_code, shell.out) == (0, f"run {run_id} was launched before with key k; it is queued\n")
    assert shell("run", "launch", "command", "--launch-key", "k", "--", "make", "more").exit_code == 5
    assert "stands for another action" in shell.err


def test_launches_without_a_key_are_two(shell: Shell) -> None:
    assert launched(shell, "command", "--", "make") != launched(shell, "command", "--", "make")


# what is refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        (["dance"], ["kind"]),
        (["agent", "--cwd", "here", "--", "make"], ["command", "prompt", "cwd", "runtime"]),
        (["command", "--", "rm", "-r", "/"], ["command.0"]),
        (["command", "--deadline", "-1", "--", "make"], ["deadline_seconds"]),
        (["command", "--tag", "two words", "--", "make"], ["tags.0"]),
        (["play", "--playbook", "nobody"], ["playbook"]),
        (["flow_yaml", "--flow-yaml", "/nowhere/flow.yaml"], ["flow_yaml"]),
        (["flow_yaml", "--flow-yaml", "-", "--prompt", "-"], ["flow_yaml"]),
    ],
    ids=" ".join,
)
def test_each_fault_is_a_line_with_its_field(shell: Shell, arguments: list[str], fields: list[str]) -> None:
    shell("run", "launch", *arguments)

    assert (shell.exit_code, shell.out) == (2, "")
    assert [line.split(": ")[:2] for line in shell.err.splitlines()] == [["error", field] for field in fields]
    assert not shell.studio.runs.runs


def test_a_text_that_is_too_long_or_none_is_refused_at_its_option(shell: Shell) -> None:
    file = shell.folder / "flow.yaml"

    file.write_bytes(b"a" * (DEFINITION_MAX_BYTES + 1))
    assert shell("run", "launch", "flow_yaml", "--flow-yaml", str(file)).exit_code == 2
    assert "is larger than 1048576 bytes" in shell.err
    with piped(shell, b"\xff"):
        assert shell("run", "launch", "agent", "--prompt", "-").exit_code == 2
    assert shell.err.startswith("error: prompt: standard input is not UTF-8")


# --follow ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "reason_code", "exit_code"),
    [
        ("completed", "run.completed.exit_zero", 0),
        ("completed_empty", "run.completed_empty.no_result", 0),
        ("failed", "run.failed.exit_nonzero", EXIT_NOT_COMPLETED),
        ("timed_out", "run.timed_out.deadline", EXIT_NOT_COMPLETED),
        ("cancelled", "run.cancelled.requested", EXIT_NOT_COMPLETED),
    ],
)
def test_a_followed_launch_ends_as_its_run_did(shell: Shell, status: str, reason_code: str, exit_code: int) -> None:
    run_id = launched(shell, "command", "--launch-key", "k", "--", "make")
    executed(shell, status, reason_code)

    shell("run", "launch", "command", "--launch-key", "k", "--follow", "--", "make")

    assert (shell.exit_code, shell.err) == (exit_code, "")
    assert shell.out == (
        f"run {run_id} was launched before with key k; it is {status}\n"
        "22:13:20 main output stdout: on it\n"
        f"run {run_id} ended: {status} ({reason_code})\n"
    )


def test_a_followed_launch_as_json_is_its_result_and_then_the_frames(shell: Shell) -> None:
    launched(shell, "command", "--launch-key", "k", "--", "make")
    executed(shell, "completed", "run.completed.ok")

    shell("run", "launch", "command", "--launch-key", "k", "--follow", "--json", "--", "make")

    first, *frames = shell.out.splitlines()
    assert LaunchResult.model_validate_json(first).repeated
    assert [StreamFrame.model_validate_json(frame).payload.type for frame in frames] == ["message", "done"]


def test_the_exit_code_of_a_run_that_did_not_complete_is_that_of_no_error() -> None:
    assert EXIT_NOT_COMPLETED not in {0, *EXIT_CODES.values()}


# show --------------------------------------------------------------------------------------------------------


def test_show_tells_how_a_run_is_executed(shell: Shell) -> None:
    run_id = launched(shell, "agent", "--model", "m", "--prompt", "x" * 100, "--launch-key", "k", "--cwd", "/")
    waiting = shell("run", "show", run_id).out
    executed(
        shell, "failed", "run.failed.signal", exit_signal=9, stdout_bytes=2048, stderr_bytes=3, withheld_bytes=1,
        output_tail="last\x1b words\n",
    )  # fmt: skip

    shell("run", "show", run_id)

    assert f"action    agent, model m, prompt {'x' * 80}… (100 characters), cwd /\n" in waiting
    assert "claimed" not in waiting
    for piece in (
        "execution\n  runtime   li\n",
        "  cwd       /\n",
        "  key       k\n",
        "  claimed   2023-11-14 22:13:20\n",
        "  attempts  1\n",
        "  deadline  600s\n",
        "  signal    SIGKILL\n",
        "  printed   2.0 KiB stdout, 3 B stderr\n",
        "  not kept  1 B\n",
        "output, its end\n  last\\x1b words\n",
    ):
        assert piece in shell.out


def test_show_tells_the_command_as_a_shell_takes_it_and_its_exit_code(shell: Shell) -> None:
    run_id = launched(shell, "command", "--", "make", "a b")
    executed(shell, "failed", "run.failed.exit_nonzero", exit_code=3)

    shell("run", "show", run_id)

    assert "  action     command make 'a b'\n" in shell.out
    assert "  exit code  3\n" in shell.out
    assert "signal " not in shell.out
