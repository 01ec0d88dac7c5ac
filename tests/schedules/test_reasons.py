"""The registry of reason codes."""

from typing import get_args

from contract.schedules import FiringOutcome
from schedules.reasons import DISABLED_REASONS, FIRING_REASONS


def test_each_code_says_its_outcome_and_has_a_sentence() -> None:
    for code, reason in FIRING_REASONS.items():
        area, outcome, detail = code.split(".")
        assert (area, outcome) == ("schedule", reason.outcome)
        assert reason.outcome in get_args(FiringOutcome)
        assert detail
        assert reason.sentence.endswith(".")


def test_each_reason_of_a_disabled_schedule_has_a_sentence() -> None:
    assert all(code.startswith("schedule.disabled.") for code in DISABLED_REASONS)
    assert all(sentence.endswith(".") for sentence in DISABLED_REASONS.values())
