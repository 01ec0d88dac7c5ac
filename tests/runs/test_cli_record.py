"""`run record` over an in-memory Studio: what is stored, told, and how it ends."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from contract.events import RecordEvents, RecordResult
from tests.fakes.shell import EVENTS, Shell
from tests.fakes.studio import InMemoryStudio


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_record_starts_the_run_it_was_told_and_says_what_was_stored(shell: Shell) -> None:
    shell("run", "record", shell.file(*EVENTS), "--run", "r1", "--kind", "flow", "--name", "n")

    stored = shell.studio.runs.runs["r1"]
    assert shell.out == "run r1: 8 accepted, 0 duplicates\n"
    assert (stored.command.kind, stored.command.name, stored.status) == ("flow", "n", "completed")


def test_record_without_a_run_makes_a_new_one(shell: Shell) -> None:
    shell("run", "record", shell.file(*EVENTS), "--json")

    result = RecordResult.model_validate_json(shell.out)
    assert list(shell.studio.runs.runs) == [result.run_id]
    assert result.accepted == len(EVENTS)


def test_recording_the_same_file_again_stores_nothing_twice(shell: Shell) -> None:
    shell.recorded("r1")
    shell.recorded("r1", options=("--batch", "3"))

    assert shell.out == "run r1: 0 accepted, 8 duplicates\n"
    assert len(shell.studio.runs.runs["r1"].messages) == 2


def test_record_sends_batches_of_the_size_asked_for(shell: Shell) -> None:
    shell.recorded("r1", options=("--batch", "3"))

    # The first batch finds no run, which is then started.
    assert shell.studio.runs.calls["record_events"] == 1 + 3


def test_a_bad_line_ends_the_recording_with_its_number_and_what_was_stored(shell: Shell) -> None:
    file = shell.file(*EVENTS[:4], "", {"type": "message", "role": "boss", "content": 1, "x": 2})

    shell("run", "record", file, "--run", "r1", "--batch", "3")

    assert shell.exit_code == 2
    assert shell.out == ""
    begins, before, *faults = shell.err.splitlines()
    assert begins.startswith("run r1 begins; ")
    assert before == "before that, 3 events were stored in run r1; --run r1 goes on"
    assert [line.split(": ")[1] for line in faults] == ["line 6.role", "line 6.x"]
    assert len(shell.studio.runs.runs["r1"].messages) == 2


def test_a_bad_first_line_starts_no_run(shell: Shell) -> None:
    shell("run", "record", shell.file("nonsense"))

    assert shell.exit_code == 2
    assert shell.err.startswith("error: line 1: ")
    assert shell.studio.runs.runs == {}


def test_a_corrected_file_goes_on_where_the_bad_line_was(shell: Shell) -> None:
    shell("run", "record", shell.file(*EVENTS[:4], "bad"), "--run", "r1", "--batch", "2")

    shell("run", "record", shell.file(*EVENTS), "--run", "r1")

    assert shell.out == "run r1: 4 accepted, 4 duplicates\n"


def test_an_empty_input_records_nothing(shell: Shell) -> None:
    shell("run", "record", shell.file(), "--run", "r1")

    assert shell.out == "run r1: 0 accepted, 0 duplicates\n"
    assert shell.studio.runs.runs == {}


def test_record_reads_standard_input(shell: Shell) -> None:
    shell.standard_input, writing = os.pipe()
    os.write(writing, json.dumps(EVENTS[1]).encode())
    os.close(writing)

    shell("run", "record", "-", "--run", "r1")
    os.close(shell.standard_input)

    assert shell.out == "run r1: 1 accepted, 0 duplicates\n"


def test_a_producer_is_told_once_that_its_run_should_stop(shell: Shell) -> None:
    shell.recorded("r1", {"type": "usage"})
    shell("run", "cancel", "r1")

    shell("run", "record", shell.file(*EVENTS[:4]), "--run", "r1", "--batch", "1")

    assert shell.exit_code == 0
    assert shell.err == "run r1 was asked to stop: its producer should end\n"


def test_refused_moves_are_counted(shell: Shell) -> None:
    shell.recorded("r1")

    shell("run", "record", shell.file({"type": "status", "status": "failed"}), "--run", "r1")

    assert shell.out == "run r1: 1 accepted, 0 duplicates, 1 refused moves\n"


@pytest.mark.parametrize("batch", ["0", "501", "-1"])
def test_a_batch_out_of_bounds_is_refused(shell: Shell, batch: str) -> None:
    shell("run", "record", shell.file(), "--batch", batch)

    assert (shell.exit_code, shell.err) == (2, "error: batch: must be from 1 to 500\n")


def test_a_file_that_cannot_be_read_is_refused_in_words(shell: Shell) -> None:
    missing = str(shell.folder / "missing")

    assert shell("run", "record", missing).exit_code == 2
    assert shell.err == f"error: file: {missing}: No such file or directory\n"
    assert shell("run", "record", str(shell.folder)).exit_code == 2
    assert shell.err == f"error: file: {shell.folder}: Is a directory\n"


def test_a_run_id_that_no_run_can_have_is_refused(shell: Shell) -> None:
    shell("run", "record", shell.file(*EVENTS), "--run", "-x/y")

    assert shell.exit_code == 2
    assert shell.err.startswith("error: run_id: ")


def test_a_new_run_is_named_before_it_is_recorded_and_leaves_stdout_to_the_result(shell: Shell) -> None:
    shell("run", "record", shell.file(*EVENTS), "--json")

    run_id = RecordResult.model_validate_json(shell.out).run_id
    assert shell.err == f"run {run_id} begins; follow it elsewhere with: studio run tail {run_id}\n"


class StoppedStudio(InMemoryStudio):
    """A Studio during whose third batch a signal comes: before it is stored, or after."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__()
        self._number = number

    async def record_events(self, run_id: str, command: RecordEvents) -> RecordResult:
        if self.runs.calls["record_events"] == 2:
            signal.raise_signal(self._number)
            await asyncio.Event().wait()
        return await super().record_events(run_id, command)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_recording_says_what_was_stored_before_and_what_is_uncertain(
    shell: Shell, number: signal.Signals, code: int
) -> None:
    shell.studio = StoppedStudio(number)

    shell("run", "record", shell.file(*EVENTS), "--batch", "2")

    [run_id] = shell.studio.runs.runs
    uncertain = " (perhaps also the batch that was under way)"
    assert (shell.exit_code, shell.out) == (code, "")
    assert shell.err.splitlines()[1:] == [
        f"interrupted; before that, 4 events were stored in run {run_id}; --run {run_id} goes on{uncertain}"
    ]


class ShellStoppedAtOnce(Shell):
    """A shell whose commands are told to end when they have just begun."""

    def open_studio(self) -> InMemoryStudio:
        signal.raise_signal(signal.SIGTERM)
        return super().open_studio()


def test_a_recording_stopped_before_its_first_batch_says_that_nothing_is_stored(tmp_path: Path) -> None:
    shell = ShellStoppedAtOnce(tmp_path)
    shell.standard_input, writing = os.pipe()

    shell("run", "record", "-")
    os.close(writing)
    os.close(shell.standard_input)

    assert (shell.exit_code, shell.err) == (143, "interrupted; nothing was stored\n")
