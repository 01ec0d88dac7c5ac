"""The published contract as files, and the command that writes, checks and compares them."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio_project.config import isolated_environment
from studio_project.contract_export import CHECKED_IN, drift, read, write
from tests.forked_commands import ForkedCommands, forked_commands

ROOT = Path(__file__).parents[2]


def contract(home: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "manage.py", "contract", *arguments],
        cwd=ROOT,
        env=elsewhere(home),
        capture_output=True,
        text=True,
        check=False,
    )


def elsewhere(home: Path) -> dict[str, str]:
    """Return an environment that nobody who wrote the contract had."""
    return isolated_environment(home, timezone="Asia/Tokyo", auth_token="another") | {"TZ": "Asia/Tokyo"}


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkedCommands]:
    """For commands to which their home says nothing."""
    with forked_commands(elsewhere(tmp_path_factory.mktemp("commands"))) as commands:
        yield commands


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of what is checked in."""
    folder = tmp_path / "contract"
    write(read(CHECKED_IN), folder)
    return folder


def test_what_is_checked_in_is_what_the_code_makes_wherever_it_runs(tmp_path: Path) -> None:
    checked = contract(tmp_path / "home", "check")

    assert (checked.returncode, checked.stderr) == (0, "")
    assert not (tmp_path / "home" / "studio.db").exists()


def test_a_drift_is_named_file_by_file_and_export_mends_it(copy: Path, commands: ForkedCommands) -> None:
    (copy / "routes.json").write_text("{}\n")
    (copy / "examples" / "tags-result.json").unlink()
    (copy / "examples" / "stale.json").write_text("{}\n")

    checked = commands.manage("contract", "check", "--folder", str(copy))
    exported = commands.manage("contract", "export", "--folder", str(copy))

    assert checked.returncode == 1
    assert "routes.json: differs" in checked.stderr
    assert "examples/tags-result.json: is not checked in" in checked.stderr
    assert "examples/stale.json: is checked in, but no longer made" in checked.stderr
    assert exported.stdout.split() == ["examples/stale.json", "examples/tags-result.json", "routes.json"]
    assert drift(read(copy), read(CHECKED_IN)) == []


def test_an_additive_change_passes(copy: Path, commands: ForkedCommands) -> None:
    schema = json.loads((copy / "openapi.json").read_text())
    schema["components"]["schemas"]["TagsResult"]["properties"]["more"] = {"type": "string"}
    (copy / "openapi.json").write_text(json.dumps(schema))

    compared = commands.manage("contract", "diff", str(CHECKED_IN), str(copy))

    assert (compared.returncode, compared.stdout) == (0, "Every change is additive.\n")


def test_every_breach_of_both_documents_is_named(copy: Path, commands: ForkedCommands) -> None:
    schema = json.loads((copy / "openapi.json").read_text())
    del schema["components"]["schemas"]["TagsResult"]["properties"]["tags"]
    (copy / "openapi.json").write_text(json.dumps(schema))
    routes = json.loads((copy / "routes.json").read_text())
    del routes["routes"][0]
    (copy / "routes.json").write_text(json.dumps(routes))

    compared = commands.manage("contract", "diff", str(CHECKED_IN), str(copy))

    assert compared.returncode == 1
    assert compared.stderr.splitlines() == [
        "TagsResult.tags: a field was removed or renamed: is gone",
        f"{read_route(0)}: a path was removed or renamed: is gone",
    ]


def read_route(number: int) -> str:
    return str(json.loads((CHECKED_IN / "routes.json").read_text())["routes"][number]["path"])


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"openapi": 1}'])
def test_what_is_no_contract_is_invalid_input(tmp_path: Path, content: str, commands: ForkedCommands) -> None:
    other = tmp_path / "other.json"
    other.write_text(content)

    compared = commands.manage("contract", "diff", str(CHECKED_IN / "openapi.json"), str(other))

    assert (compared.returncode, compared.stdout) == (2, "")
    assert compared.stderr.startswith("error: these cannot be compared: ")


def test_nothing_is_recorded_into_a_database_in_use(tmp_path: Path) -> None:
    (tmp_path / "studio.db").touch()

    recorded = contract(tmp_path, "record", str(tmp_path / "made"))

    assert recorded.returncode == 1
    assert not (tmp_path / "made").exists()


def test_only_artifacts_are_read_and_removed(copy: Path) -> None:
    (copy / "base.py").write_text("x = 1\n")

    removed = write({}, copy)

    assert removed == sorted(read(CHECKED_IN))
    assert (copy / "base.py").exists()


def test_what_is_as_it_was_is_not_written(copy: Path) -> None:
    shutil.rmtree(copy / "sse")

    assert write(read(CHECKED_IN), copy) == ["sse/session.ndjson", "sse/signals.ndjson"]
