"""Moves of a run's status: forward only, and never out of an end."""

import pytest

from runs.transitions import STATUSES, TERMINAL, Verdict, is_terminal, judge

MOVES = [(current, wanted) for current in STATUSES for wanted in STATUSES]


@pytest.mark.parametrize("status", STATUSES)
def test_only_queued_and_running_are_open(status: str) -> None:
    assert is_terminal(status) == (status not in ("queued", "running"))


@pytest.mark.parametrize("status", STATUSES)
def test_asking_for_the_present_status_changes_nothing(status: str) -> None:
    assert judge(status, status) is Verdict.UNCHANGED


@pytest.mark.parametrize(("current", "wanted"), [move for move in MOVES if move[0] in TERMINAL and len(set(move)) > 1])
def test_no_move_leaves_a_terminal_status(current: str, wanted: str) -> None:
    assert judge(current, wanted) is Verdict.REFUSED


def test_a_running_run_does_not_go_back_to_the_queue() -> None:
    assert judge("running", "queued") is Verdict.REFUSED


@pytest.mark.parametrize("wanted", ["running", *TERMINAL])
def test_a_queued_run_goes_to_any_later_status(wanted: str) -> None:
    assert judge("queued", wanted) is Verdict.ACCEPTED


@pytest.mark.parametrize("wanted", TERMINAL)
def test_a_running_run_goes_to_any_end(wanted: str) -> None:
    assert judge("running", wanted) is Verdict.ACCEPTED
