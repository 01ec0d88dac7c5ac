"""`project list|show|create|update|delete|assign|detect`: what is asked, printed, and how it ends."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from contract.base import Page
from contract.errors import ValidationFailure
from contract.projects import (
    AssignResult,
    DetectedProject,
    DetectProject,
    ProjectDeleted,
    ProjectSummary,
)
from contract.runs import StartRun
from projects.management.commands.project import Command
from tests.fakes.clocks import START_AT
from tests.fakes.studio import InMemoryStudio

THING = "github.com/team/thing"


class Shell:
    """Runs `project` against one Studio."""

    def __init__(self) -> None:
        self.studio = InMemoryStudio()
        self.out = self.err = ""
        self.exit_code = 0
        self.looked_at: list[str] = []
        self.found: DetectProject | ValidationFailure = DetectProject(folders=("/",))

    def __call__(self, *arguments: str) -> "Shell":
        made = Command()
        made.in_process = self.open_studio
        made.look = self.look
        out, err = StringIO(), StringIO()
        self.exit_code = 0
        try:
            call_command(made, *arguments, stdout=out, stderr=err)
        except CommandError as end:
            self.exit_code = end.returncode
        self.out, self.err = out.getvalue(), err.getvalue()
        return self

    def open_studio(self) -> InMemoryStudio:
        """Return what a command asks, once it runs."""
        return self.studio

    def look(self, folder: str) -> DetectProject:
        """Return what the disk says."""
        self.looked_at.append(folder)
        if isinstance(self.found, ValidationFailure):
            raise self.found
        return self.found

    def label(self, run_id: str) -> str | None:
        return self.studio.runs.runs[run_id].command.project

    @property
    def rows(self) -> list[list[str]]:
        return [line.split() for line in self.out.splitlines()]


@pytest.fixture
def shell() -> Shell:
    return Shell()


def start(shell: Shell, *run_ids: str, project: str | None = None) -> None:
    for run_id in run_ids:
        shell.studio.runs.add_queued(run_id, StartRun(project=project), at=START_AT)


def test_a_project_is_made_and_shown(shell: Shell) -> None:
    made = ProjectSummary.model_validate_json(shell("create", THING, "--path", "/srv/thing", "--json").out)
    shell("show", THING)

    assert (made.name, made.path, made.created_at) == (THING, "/srv/thing", START_AT)
    assert ["project", THING] in shell.rows
    assert ["runs", "0,", "0", "running"] in shell.rows


def test_a_taken_or_impossible_name_ends_with_its_exit_code(shell: Shell) -> None:
    shell("create", THING)

    assert shell("create", THING).exit_code == 5
    assert shell.err == f"error: a project {THING} exists already\n"
    assert shell("create", "a//b").exit_code == 2
    assert shell.err == "error: name: must not hold empty, `.` or `..` parts\n"
    assert shell("show", "a//b").exit_code == 4
    assert shell("show", "nobody").exit_code == 4
    assert shell("create", "a", "--path", "here").exit_code == 2
    assert shell.err == "error: path: must be an absolute path\n"


def test_projects_are_listed_with_their_runs(shell: Shell) -> None:
    shell("create", "b", "--description", "Sells things.")
    start(shell, "r1", "r2", project=THING)

    shell("list")
    listed = shell.rows
    page = Page[ProjectSummary].model_validate_json(shell("list", "--search", "TEAM", "--json").out)

    assert listed == [
        ["PROJECT", "RUNS", "RUNNING", "LAST", "ACTIVITY", "PATH", "DESCRIPTION"],
        ["b", "0", "0", "-", "-", "Sells", "things."],
        [THING, "2", "0", "2023-11-14", "22:13", "-", "-"],
    ]
    assert [project.run_count for project in page.items] == [2]


def test_a_list_goes_on_and_reads_itself_to_its_end(shell: Shell) -> None:
    for name in ("a", "b", "c"):
        shell("create", name)

    shell("list", "--limit", "1")
    cursor = shell.err.split()[2].rstrip(",")
    shell("list", "--cursor", cursor)
    rest = [row[0] for row in shell.rows[1:]]
    shell("list", "--all")

    assert rest == ["b", "c"]
    assert [row[0] for row in shell.rows[1:]] == ["a", "b", "c"]


def test_an_update_changes_what_is_given_and_clears_what_is_told(shell: Shell) -> None:
    shell("create", "a", "--path", "/a", "--description", "d")
    start(shell, "r1", project="a")

    shell("update", "a", "--name", THING, "--no-path")
    changed = ProjectSummary.model_validate_json(shell("show", THING, "--json").out)

    assert (changed.path, changed.description, changed.run_count) == (None, "d", 1)
    assert shell.label("r1") == THING


def test_an_update_that_contradicts_itself_or_comes_late_changes_nothing(shell: Shell) -> None:
    before = shell("create", "a", "--path", "/a", "--json").out

    assert shell("update", "a", "--path", "/b", "--no-path").exit_code == 2
    assert shell.err == "error: path: cannot be given together with --no-path\n"
    assert shell("update", "a", "--path", "/b", "--expected-updated-at", "1.5").exit_code == 5
    assert shell("show", "a", "--json").out == before


def test_a_project_with_runs_is_removed_only_when_they_are_detached(shell: Shell) -> None:
    start(shell, "r1", project="a")

    assert shell("delete", "a").exit_code == 5
    assert shell.err == "error: project a has 1 run: detach them, or keep it\n"
    result = ProjectDeleted.model_validate_json(shell("delete", "a", "--detach", "--json").out)
    assert (result.detached_runs, shell.label("r1")) == (1, None)


def test_runs_are_assigned_by_id_or_all_that_have_no_project(shell: Shell) -> None:
    shell("create", "a")
    start(shell, "r1", "r2", "r3")

    assert shell("assign", "a", "r1", "nobody").exit_code == 4
    assert shell.label("r1") is None
    assert shell("assign", "a").exit_code == 2
    assert shell("assign", "a", "r1").out == "project a got 1 run\n"
    result = AssignResult.model_validate_json(shell("assign", "a", "--unassigned", "--json").out)
    assert result.assigned == 2


def test_the_current_folder_or_the_given_one_is_looked_at(shell: Shell, tmp_path: Path) -> None:
    shell("detect")
    shell("detect", str(tmp_path / "x/.."))

    assert shell.looked_at == [str(Path.cwd()), str(tmp_path)]
    assert shell.out == "no project\n"


def test_what_is_detected_is_told_with_the_reason(shell: Shell) -> None:
    shell.found = DetectProject(folders=("/srv",), remote_url="git@github.com:team/thing.git")

    assert shell("detect").out == (
        f"{THING}  by the remote of its git repository; there is no such project yet: its first run makes it\n"
    )
    shell("create", THING)
    assert shell("detect").out == f"{THING}  by the remote of its git repository\n"
    found = DetectedProject.model_validate_json(shell("detect", "--json").out)
    assert (found.name, found.registered) == (THING, True)


def test_a_faulty_file_is_said_with_its_place(shell: Shell) -> None:
    shell.found = ValidationFailure.at(".studio.toml", code="config", message="/srv/.studio.toml: is wrong")

    assert shell("detect").exit_code == 2
    assert shell.err == "error: .studio.toml: /srv/.studio.toml: is wrong\n"
