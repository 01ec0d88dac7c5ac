"""Commands as processes: what they say when they are stopped, when nobody takes their output, or are misspelt."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from contract.base import Page
from contract.events import RecordResult
from contract.runs import RunSummary
from tests.live import ROOT, LiveDaemon
from tests.parity.definition_file_scenarios import file_of

LINES = "".join(json.dumps({"type": "message", "role": "user", "content": n}) + "\n" for n in range(130))
STUDIO = [sys.executable, "manage.py"]
PRINTED = "printed"
# Every command, Django's own included.
PRINTING = [["run", "list"], ["invocation", "list", "--json"], ["run", "record", "/dev/null"], ["doctor"], ["help"]]
PRINTING += [["showmigrations"], ["run", "--help"], ["definition", "list"], ["definition", "show", "agent", PRINTED]]
PRINTING += [["schedule", "export"]]


@pytest.fixture(scope="module", autouse=True)
def printed(daemon: LiveDaemon) -> None:
    """A definition to show."""
    file_of(daemon.home, PRINTED).write_text("Line\n" * 10_000)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("where", [lambda _: [], lambda daemon: ["--remote", daemon.url]], ids=["own", "remote"])
def test_a_stopped_recording_says_its_run_and_goes_on_in_it(
    number: signal.Signals, code: int, where: Callable[[LiveDaemon], list[str]], daemon: LiveDaemon, tmp_path: Path
) -> None:
    project = tmp_path.name
    options = ["--project", project, "--json", *where(daemon)]
    recording = subprocess.Popen(
        [*STUDIO, "run", "record", "-", *options], cwd=ROOT, env=daemon.environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    with recording:
        assert recording.stdin is not None
        assert recording.stderr is not None
        recording.stdin.write(LINES)
        recording.stdin.flush()
        begins = recording.stderr.readline()
        recording.send_signal(number)
        out, err = recording.communicate()

    run_id = begins.split()[1]
    assert (recording.returncode, out) == (code, "")
    assert re.match(rf"interrupted; before that, \d+ events were stored in run {run_id}; --run {run_id} goes on", err)
    assert err.count("\n") == 1

    file = tmp_path / "events.jsonl"
    file.write_text(LINES, encoding="utf-8")
    again = daemon.manage("run", "record", str(file), "--run", run_id, *options)
    result = RecordResult.model_validate_json(again.stdout)
    assert result.accepted + result.duplicates == 130
    page = Page[RunSummary].model_validate_json(daemon.manage("run", "list", *options).stdout)
    assert [(run.run_id, run.message_count) for run in page.items] == [(run_id, 130)]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_who_stops_following_a_launch_is_told_that_the_run_goes_on(
    number: signal.Signals, code: int, daemon: LiveDaemon
) -> None:
    command = [*STUDIO, "run", "launch", "command", "--follow", "--remote", daemon.url, "--", "sh"]
    following = subprocess.Popen(
        command, cwd=ROOT, env=daemon.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with following:
        assert following.stdout is not None
        run_id = following.stdout.readline().split()[1]
        following.send_signal(number)
        _, err = following.communicate()

    assert following.returncode == code
    assert err == f"run {run_id} goes on; `run tail {run_id}` follows it, `run cancel {run_id}` ends it\n"
    assert daemon.manage("run", "cancel", run_id).stdout == f"run {run_id} is cancelled\n"


@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
@pytest.mark.parametrize(("redirection", "why"), [(">&-", "it is closed"), ("> /dev/full", "No space left on device")])
def test_output_that_cannot_be_written_is_one_line(
    arguments: list[str], redirection: str, why: str, daemon: LiveDaemon
) -> None:
    ended = _in_shell(f'"$@" {redirection}', arguments, daemon)

    assert (ended.returncode, ended.stderr) == (1, f"error: standard output cannot be written: {why}\n")


@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_a_reader_that_leaves_is_no_fault(arguments: list[str], daemon: LiveDaemon) -> None:
    ended = _in_shell('"$@" | true', arguments, daemon)

    assert (ended.returncode, ended.stderr) == (0, "")


def test_errors_need_no_stderr(daemon: LiveDaemon) -> None:
    ended = _in_shell('"$@" 2>&-', ["run", "show", "nobody"], daemon)

    assert (ended.returncode, ended.stdout) == (4, "")


@pytest.mark.parametrize("arguments", [["serv"], ["help", "serv"], ["run", "lisst"]], ids=" ".join)
def test_an_unknown_command_is_wrong_input_with_the_nearest_one(arguments: list[str], daemon: LiveDaemon) -> None:
    ended = daemon.manage(*arguments)

    assert ended.returncode == 2
    assert re.search("Did you mean '?(serve|list)'?", ended.stderr)
    assert "Traceback" not in ended.stderr


def _in_shell(line: str, arguments: list[str], daemon: LiveDaemon) -> "subprocess.CompletedProcess[str]":
    """Run `line`, in which "$@" is the command."""
    command = ["sh", "-c", line, "sh", *STUDIO, *arguments]
    return subprocess.run(command, cwd=ROOT, env=daemon.environment, capture_output=True, text=True, check=False)
