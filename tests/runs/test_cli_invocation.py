"""`invocation list|show`, and how every command ends after an error."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contract.errors import (
    Conflict,
    PermissionDenied,
    ReconciliationRequired,
    RequestRefused,
    StateUnavailable,
    StudioError,
)
from contract.runs import InvocationDetail, RunDetail
from tests.fakes.clocks import START_AT
from tests.fakes.shell import Shell
from tests.fakes.studio import InMemoryStudio


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


# invocation -------------------------------------------------------------------------------------------------


@pytest.fixture
def invoked(shell: Shell) -> Shell:
    shell.recorded("r1", {"type": "usage"})
    start = shell.studio.runs.runs["r1"].command.model_copy(update={"invocation_id": "i1"})
    shell.studio.runs.add_queued("r2", start.model_copy(update={"run_id": "r2"}), at=START_AT)
    return shell


def test_invocations_are_listed(invoked: Shell) -> None:
    invoked("invocation", "list")

    assert invoked.rows[0][:4] == ["INVOCATION", "KIND", "STATUS", "RUNS"]
    assert invoked.rows[1][:2] == ["i1", "agent"]
    assert len(invoked.rows) == 2


def test_an_invocation_is_shown_with_its_runs(invoked: Shell) -> None:
    invoked("invocation", "show", "i1")

    assert "invocation  i1" in invoked.out
    assert invoked.rows[-1][:2] == ["r2", "queued"]
    detail = InvocationDetail.model_validate_json(invoked("invocation", "show", "i1", "--json").out)
    assert [found.run_id for found in detail.runs] == ["r2"]


def test_an_unknown_invocation_is_not_found(shell: Shell) -> None:
    assert shell("invocation", "show", "i9").exit_code == 4
    assert shell("invocation", "list").out == "no invocations\n"


# errors -----------------------------------------------------------------------------------------------------

ENDS: list[tuple[StudioError, int]] = [
    (Conflict("run", None, "x"), 5),
    (PermissionDenied("outside"), 6),
    (StateUnavailable(retryable=False), 7),
    (ReconciliationRequired("rec1"), 8),
    (RequestRefused("unauthorized", "no token"), 9),
    (RequestRefused("internal", "incident 5"), 1),
]


def failing(error: Exception) -> Callable[[], InMemoryStudio]:
    class FailingStudio(InMemoryStudio):
        async def get_run(self, run_id: str, query: Any) -> RunDetail:
            raise error

    return FailingStudio


@pytest.mark.parametrize(("error", "exit_code"), ENDS, ids=[error.code for error, _ in ENDS])
def test_an_error_ends_with_its_own_code(shell: Shell, error: StudioError, exit_code: int) -> None:
    shell.studio = failing(error)()

    shell("run", "show", "r1")

    assert (shell.exit_code, shell.out, shell.err) == (exit_code, "", f"error: {error}\n")


def test_an_unforeseen_fault_is_one_line_without_its_text(shell: Shell) -> None:
    shell.studio = failing(KeyError("secret"))()

    shell("run", "show", "r1")

    assert shell.exit_code == 1
    assert shell.err == "error: unforeseen KeyError; --traceback shows where\n"
