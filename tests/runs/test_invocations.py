"""The status of an invocation follows from those of its runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.invocations import Outcome, invocation_status
from runs.transitions import STATUSES, TERMINAL, is_terminal

OUTCOMES = st.builds(
    Outcome, status=st.sampled_from(STATUSES), count=st.integers(1, 50), ended_at=st.none() | st.floats(0, 1e9)
)


def outcomes(*statuses: str) -> list[Outcome]:
    return [
        Outcome(status=status, count=1, ended_at=float(number) if is_terminal(status) else None)
        for number, status in enumerate(statuses)
    ]


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ((), "queued"),
        (("queued",), "queued"),
        (("queued", "running"), "running"),
        (("queued", "completed"), "running"),
        (("running", "failed"), "running"),
        (("completed",), "completed"),
        (("completed", "completed_empty"), "completed_empty"),
        (("completed_empty", "cancelled"), "cancelled"),
        (("cancelled", "aborted"), "aborted"),
        (("aborted", "failed"), "failed"),
        (("failed", "timed_out"), "timed_out"),
    ],
)
def test_open_runs_keep_it_running_and_ended_ones_show_the_worst(statuses: tuple[str, ...], expected: str) -> None:
    assert invocation_status(outcomes(*statuses)).status == expected


@pytest.mark.parametrize("status", TERMINAL)
def test_every_end_of_a_single_run_is_the_invocation_s(status: str) -> None:
    assert invocation_status(outcomes(status)).status == status


def test_it_ended_when_its_last_run_did() -> None:
    assert invocation_status(outcomes("completed", "failed", "completed")).ended_at == 2.0


def test_it_has_not_ended_while_a_run_is_open() -> None:
    assert invocation_status(outcomes("completed", "running")).ended_at is None


@given(st.lists(OUTCOMES, max_size=8))
def test_counts_add_up(found: list[Outcome]) -> None:
    summary = invocation_status(found)

    ended = sum(outcome.count for outcome in found if is_terminal(outcome.status))
    assert summary.run_count == sum(outcome.count for outcome in found)
    assert summary.open_run_count == summary.run_count - ended


@given(st.lists(OUTCOMES, min_size=1, max_size=8))
def test_it_is_open_exactly_while_a_run_is(found: list[Outcome]) -> None:
    summary = invocation_status(found)

    assert is_terminal(summary.status) == (summary.open_run_count == 0)
