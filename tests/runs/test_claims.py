"""What a child's output claims of the outcome: always storable, always with a reason that explains it."""

from typing import get_args

import pytest

from contract.events import StatusEvent, TerminalStatus
from contract.limits import SUMMARY_MAX_CHARS
from runs.claims import Claim, claim_of, claim_of_event
from runs.reasons import reason_fault


@pytest.mark.parametrize("status", get_args(TerminalStatus))
def test_a_claim_has_a_reason_that_explains_its_status(status: TerminalStatus) -> None:
    claim = claim_of(status)

    assert reason_fault(claim.reason_code, status) is None


def test_what_was_said_is_made_clean() -> None:
    assert claim_of("failed", " out of \x00 \ud800 tokens\n").reason_summary == "out of � � tokens"


@pytest.mark.parametrize("said", [None, "", " \n"])
def test_nothing_said_is_no_summary(said: str | None) -> None:
    assert claim_of("failed", said).reason_summary is None


def test_a_long_text_is_cut_where_a_summary_ends() -> None:
    summary = claim_of("failed", "x" * 100_000).reason_summary

    assert summary is not None
    assert len(summary) == SUMMARY_MAX_CHARS
    assert summary.endswith("x…")


def test_a_running_status_claims_no_outcome() -> None:
    assert claim_of_event(StatusEvent(status="running")) is None


def test_a_final_status_is_claimed_with_its_own_reason() -> None:
    event = StatusEvent(status="failed", reason_code="run.failed.exit_nonzero", reason_summary="exit code 3")

    assert claim_of_event(event) == Claim(
        status="failed", reason_code="run.failed.exit_nonzero", reason_summary="exit code 3"
    )


def test_a_final_status_without_a_reason_has_the_usual_one() -> None:
    assert claim_of_event(StatusEvent(status="completed")) == claim_of("completed")
