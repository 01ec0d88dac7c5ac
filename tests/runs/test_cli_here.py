"""`run record` and `run launch` in a folder of a project: what the run gets, and what keeps it from that."""

from pathlib import Path

import pytest

from contract.errors import ValidationFailure
from tests.fakes.shell import EVENTS, Shell
from tests.fakes.studio import InMemoryStudio

REMOTE = "git@github.com:team/thing.git"
THING = "github.com/team/thing"
COMMAND = ("command", "--", "make")


class DetectionlessStudio(InMemoryStudio):
    """A daemon that is too old to be asked."""

    async def detect_project(self, query: object) -> None:  # type: ignore[override]  # never returns
        raise ValidationFailure.at(code="x", message="no route")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    shell.remote_url = REMOTE
    return shell


def record(shell: Shell, *options: str) -> str | None:
    """Record, and return the run's project."""
    shell("run", "record", shell.file(*EVENTS), "--run", "r", *options)
    assert shell.exit_code == 0, shell.err
    return shell.studio.runs.runs["r"].command.project


def launch(shell: Shell, *options: str) -> str | None:
    """Launch, and return the run's project."""
    shell("run", "launch", *options, *COMMAND)
    assert shell.exit_code == 0, shell.err
    (run,) = shell.studio.runs.runs.values()
    return run.command.project


def test_a_run_gets_the_project_of_the_folder(shell: Shell) -> None:
    assert record(shell) == THING
    assert shell.looked_at == [str(Path.cwd())]
    assert list(shell.studio.runs.projects) == [THING]


def test_a_launch_gets_the_project_of_the_folder(shell: Shell) -> None:
    assert launch(shell) == THING


def test_a_project_that_is_given_is_the_one(shell: Shell) -> None:
    assert record(shell, "--project", "own") == "own"
    assert launch(Shell(shell.folder), "--project", "own") == "own"
    assert shell.looked_at == []


def test_none_is_wanted(shell: Shell) -> None:
    assert record(shell, "--no-project") is None
    other = Shell(shell.folder)
    other.studio.folders.says("/", configured="of the root")
    assert launch(other, "--no-project", "--cwd", "/") is None
    assert (shell.looked_at, other.looked_at) == ([], [])


def test_the_project_of_another_folder_is_looked_for_where_that_is(shell: Shell) -> None:
    shell.studio.folders.says("/", configured="of the root")

    assert launch(shell, "--cwd", "/") == "of the root"
    assert shell.looked_at == []


@pytest.mark.parametrize("command", [("record", "no-such-file"), ("launch", *COMMAND)])
def test_a_project_and_none_contradict_each_other(shell: Shell, command: tuple[str, ...]) -> None:
    verb, *rest = command

    shell("run", verb, "--project", "a", "--no-project", *rest)

    assert (shell.exit_code, shell.err) == (2, "error: project: cannot be given together with --no-project\n")
    assert not shell.studio.runs.runs


def test_a_faulty_file_is_said_and_the_run_goes_on_without(shell: Shell) -> None:
    shell.disk_fault = ValidationFailure.at(".studio.toml", code="config", message="/srv/.studio.toml: is wrong")

    assert record(shell) is None
    assert shell.err.splitlines()[0] == (
        "the run gets no project of this folder: .studio.toml: /srv/.studio.toml: is wrong"
    )


def test_a_daemon_that_cannot_tell_keeps_no_run_from_beginning(shell: Shell) -> None:
    shell.studio = DetectionlessStudio()

    assert record(shell) is None
    assert "gets no project" in shell.err
