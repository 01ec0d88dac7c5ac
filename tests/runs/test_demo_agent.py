"""The demo's agent: as a function, and as the program that it is."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from contract.errors import ValidationFailure
from contract.events import BranchEvent, MessageEvent, StatusEvent
from runs.claims import Claim
from runs.demo_agent import event_line, tell
from runs.demo_survey import survey
from runs.output_reading import reader_named
from tests.live import ROOT

_MADE_BY_READING = {"event_id", "size_bytes"}


def agent(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "runs.demo_agent", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "größe.py").write_text("x = 1\n", encoding="utf-8")
    return tmp_path


def test_every_line_is_an_event_and_the_last_one_claims_the_end(root: Path) -> None:
    told = agent(str(root), "--pace", "0")

    reader = reader_named("events")
    events = [reader.feed(line) for line in told.stdout.splitlines()]
    assert (told.returncode, told.stderr) == (0, "")
    assert None not in events
    assert all("InvalidEvent" not in str(event) for event in events)
    assert isinstance(reader.claim(), Claim)
    assert json.loads(told.stdout.splitlines()[-1]) == {"studio": 1, "type": "status", "status": "completed"}


def test_a_line_means_the_event_it_was_made_of(root: Path) -> None:
    reader = reader_named("events")

    for event in (event for step in survey(root) for event in step if not isinstance(event, StatusEvent)):
        [read] = reader.feed(event_line(event).rstrip("\n")) or ()
        assert read.model_dump(exclude=_MADE_BY_READING) == event.model_dump(exclude=_MADE_BY_READING)


def test_a_line_is_ascii_and_leaves_out_what_goes_without_saying() -> None:
    line = event_line(MessageEvent(role="user", content="größe\n"))

    assert line == '{"studio": 1, "type": "message", "role": "user", "content": "gr\\u00f6\\u00dfe\\n"}\n'
    assert event_line(BranchEvent(name="b")) == '{"studio": 1, "type": "branch", "name": "b"}\n'


def test_it_pauses_after_each_step_and_not_after_each_event(root: Path) -> None:
    happened: list[object] = []

    tell(root, pace_seconds=0.5, write=happened.append, pause=happened.append)

    lines = [len(step) for step in survey(root)]
    paused_at = [number for number, what in enumerate(happened) if what == 0.5]
    assert [after - before - 1 for before, after in zip([-1, *paused_at], paused_at, strict=False)] == lines


def test_what_is_no_folder_is_told_before_anything_else(root: Path) -> None:
    written: list[str] = []

    with pytest.raises(ValidationFailure):
        tell(root / "none", pace_seconds=0, write=written.append, pause=lambda _: None)
    told = agent(str(root / "none"))

    assert written == []
    assert (told.returncode, told.stdout, told.stderr) == (2, "", "studio-demo-agent: folder: is not a folder\n")


@pytest.mark.parametrize("pace", ["-1", "61", "nan", "fast"])
def test_a_pace_that_is_none_is_refused(pace: str) -> None:
    told = agent(f"--pace={pace}")

    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.endswith("argument --pace: must be seconds from 0 to 60\n")


def test_it_ends_quietly_when_nobody_listens_any_more(root: Path) -> None:
    command = [sys.executable, "-m", "runs.demo_agent", str(root), "--pace", "0.01"]

    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()

    assert (process.returncode, said) == (1, b"")


def test_it_knows_nothing_of_what_serves_studio() -> None:
    script = "import sys, runs.demo_agent; print([name for name in sys.modules if name.split('.')[0] in sys.argv[1:]])"
    command = [sys.executable, "-c", script, "django", "httpx", "psycopg", "studio_project", "twisted"]

    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    assert told.stdout == "[]\n"
