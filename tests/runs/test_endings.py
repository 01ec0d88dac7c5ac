"""How a run has ended: who stopped it counts before its exit, and its exit before what it claimed."""

import pytest

from runs.claims import Claim, claim_of
from runs.endings import Said, Stop, StopCause, Verdict, verdict_of
from runs.reasons import reason_fault


def verdict(
    *, code: int | None = None, signal: int | None = None, claim: Claim | None = None, stop: Stop | None = None
) -> Verdict:
    return verdict_of(stop=stop, exit_code=code, exit_signal=signal, said=Said(claim=claim))


def failed(what: str, summary: str) -> Verdict:
    return Verdict(status="failed", reason_code=f"run.failed.{what}", reason_summary=summary)


def test_an_exit_with_zero_is_a_success() -> None:
    assert verdict(code=0) == Verdict(status="completed", reason_code="run.completed.exit_zero")


@pytest.mark.parametrize("code", [1, 3, 255])
def test_any_other_exit_is_a_failure_that_names_the_code(code: int) -> None:
    assert verdict(code=code) == failed("exit_nonzero", f"exit code {code}")


def test_a_signal_is_named() -> None:
    assert verdict(signal=11) == failed("signal", "SIGSEGV")
    assert verdict(signal=63) == failed("signal", "signal 63")


def test_an_exit_that_nobody_saw_is_no_success() -> None:
    assert verdict().status == "failed"
    assert verdict(claim=claim_of("completed", "done")).status == "failed"


@pytest.mark.parametrize("status", ["completed", "completed_empty"])
def test_a_success_that_was_claimed_is_believed_of_an_exit_with_zero(status: str) -> None:
    claim = claim_of("completed" if status == "completed" else "completed_empty", "made a report")

    assert verdict(code=0, claim=claim) == Verdict(
        status=status, reason_code=claim.reason_code, reason_summary="made a report"
    )


def test_a_success_that_was_claimed_is_not_believed_of_any_other_end() -> None:
    claim = claim_of("completed", "all went well")

    assert verdict(code=3, claim=claim) == failed("exit_nonzero", "exit code 3, after it said completed")
    assert verdict(signal=9, claim=claim) == failed("signal", "SIGKILL")


@pytest.mark.parametrize("code", [0, 1])
def test_a_failure_that_was_claimed_is_believed_of_any_exit(code: int) -> None:
    assert verdict(code=code, claim=claim_of("failed", "no luck")) == failed("error", "no luck")


@pytest.mark.parametrize(
    ("cause", "status", "code"),
    [
        ("deadline", "timed_out", "run.timed_out.deadline"),
        ("cancel", "cancelled", "run.cancelled.requested"),
        ("shutdown", "cancelled", "run.cancelled.shutdown"),
        ("lost", "failed", "run.failed.worker_lost"),
    ],
)
def test_who_stopped_it_counts_before_all_else(cause: StopCause, status: str, code: str) -> None:
    stop = Stop(cause=cause, said="why")

    told = verdict(stop=stop, code=0, claim=claim_of("completed"))

    assert told == Verdict(status=status, reason_code=code, reason_summary="why")
    assert reason_fault(code, status) is None


def test_who_could_not_be_ended_is_told() -> None:
    quiet = verdict_of(stop=None, exit_code=0, exit_signal=None, left=1)
    spoken = verdict_of(stop=None, exit_code=3, exit_signal=None, left=2)

    assert (quiet.status, quiet.reason_summary) == ("completed", "1 of its processes could not be ended")
    assert spoken.reason_summary == "exit code 3; 2 of its processes could not be ended"


@pytest.mark.parametrize(
    ("line", "told"), [("Not a trusted directory", "exit code 1: Not a trusted directory"), ("  ", "exit code 1")]
)
def test_an_exit_code_is_told_with_what_was_said_before_it(line: str, told: str) -> None:
    found = verdict_of(stop=None, exit_code=1, exit_signal=None, said=Said(last_line=line))

    assert found == failed("exit_nonzero", told)


def test_who_promised_a_result_and_reported_none_made_nothing() -> None:
    found = verdict_of(stop=None, exit_code=0, exit_signal=None, said=Said(promises_claim=True))

    assert (found.status, found.reason_code) == ("completed_empty", "run.completed_empty.no_result")
