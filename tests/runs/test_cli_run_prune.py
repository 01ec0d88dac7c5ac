"""`run prune` over an in-memory Studio: what is asked, printed, and how it ends."""

from dataclasses import replace
from pathlib import Path

import pytest

from contract.errors import StateUnavailable
from contract.limits import PRUNE_DEFAULT_RUNS
from contract.retention import PruneResult
from tests.fakes.shell import Shell

DAY = 86_400.0


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    for run_id in ("r1", "r2"):
        shell.recorded(run_id)
        shell.studio.kept_files.folders[run_id] = 2_048
    shell.studio.runs.clock.advance(DAY)  # type: ignore[attr-defined]  # the fakes' clock moves when told
    return shell


def test_old_runs_are_removed_and_told(shell: Shell) -> None:
    shell("run", "prune", "--older-than", "1d")

    assert shell.out == "2 runs removed, with 4 messages, 2 signals, 2 artifacts and 4.0 KiB of files\n"
    assert not shell.studio.runs.runs


def test_a_dry_run_says_what_would_go(shell: Shell) -> None:
    shell("run", "prune", "--older-than", "24h", "--dry-run")

    assert shell.out.startswith("2 runs would be removed, with 4 messages")
    assert set(shell.studio.runs.runs) == {"r1", "r2"}


@pytest.mark.parametrize("age", ["1d", "24h", "1440m", "86400", "86400s", "0.5d", " 1d ", "0"])
def test_an_age_is_a_number_of_seconds_or_of_larger_units(shell: Shell, age: str) -> None:
    assert shell("run", "prune", "--older-than", age).out.startswith("2 runs removed")


@pytest.mark.parametrize("age", ["2d", "1w", "86401"])
def test_younger_runs_stay(shell: Shell, age: str) -> None:
    assert shell("run", "prune", "--older-than", age).out.startswith("0 runs removed")


@pytest.mark.parametrize("age", ["", "d", "1y", "-1d", "1 month", "30 d", "1e3", "nan", "inf", "٣d", "1d2h"])
def test_what_is_no_age_is_refused(shell: Shell, age: str) -> None:
    shell("run", "prune", f"--older-than={age}")

    assert shell.exit_code == 2
    assert "older_than: must be a number of seconds" in shell.err
    assert len(shell.studio.runs.runs) == 2


def test_an_age_beyond_all_bounds_is_refused(shell: Shell) -> None:
    assert shell("run", "prune", "--older-than", "99999999w").exit_code == 2
    assert "older_than_seconds" in shell.err


def test_an_age_is_needed(shell: Shell) -> None:
    assert shell("run", "prune").exit_code != 0
    assert len(shell.studio.runs.runs) == 2


def test_only_what_is_asked_for_goes(shell: Shell) -> None:
    assert shell("run", "prune", "--older-than", "0", "--status", "failed").out.startswith("0 runs removed")
    assert shell("run", "prune", "--older-than", "0", "--project", "p").out.startswith("0 runs removed")
    assert shell("run", "prune", "--older-than", "0", "--status", "running").exit_code == 2
    assert "status.0: is not the status of a run that has ended" in shell.err


def test_it_asks_until_nothing_is_left_and_tells_it_as_one(shell: Shell) -> None:
    runs = shell.studio.runs.runs
    for number in range(PRUNE_DEFAULT_RUNS):
        runs[f"c{number}"] = replace(runs["r1"], run_id=f"c{number}", number=100 + number)

    result = PruneResult.model_validate_json(shell("run", "prune", "--older-than", "0", "--json").out)

    assert (result.runs, result.has_more, result.next_cursor) == (PRUNE_DEFAULT_RUNS + 2, False, None)
    assert not shell.studio.runs.runs


def test_what_stays_and_what_could_not_be_removed_is_told(shell: Shell) -> None:
    shell.studio.kept_files.stuck = {"r1"}
    start = shell.studio.runs.runs["r2"].command.model_copy(update={"invocation_id": "i"})
    shell.studio.runs.runs["r2"].command = start
    shell.studio.runs.add_queued("open", start, at=0.0)

    shell("run", "prune", "--older-than", "1d")

    assert shell.out.splitlines()[1:] == [
        "1 run kept: something still refers to what they belong to",
        "left, because they could not be removed whole:",
        "  r1",
    ]


def test_a_store_that_does_not_answer_ends_with_its_code(shell: Shell) -> None:
    shell.studio.runs.fault = StateUnavailable(retryable=True)

    assert shell("run", "prune", "--older-than", "1d").exit_code == 7
