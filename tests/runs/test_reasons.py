"""The registry of reason codes is closed, and consistent with the statuses."""

import re

import pytest

from runs.reasons import REASONS, codes_for, default_reason, reason_fault
from runs.transitions import STATUSES


@pytest.mark.parametrize("code", REASONS)
def test_a_code_is_area_outcome_detail(code: str) -> None:
    assert re.fullmatch(r"[a-z_]+\.[a-z_]+\.[a-z_]+", code)


@pytest.mark.parametrize("code", REASONS)
def test_a_code_explains_known_statuses_with_a_sentence(code: str) -> None:
    assert REASONS[code].statuses
    assert REASONS[code].statuses <= set(STATUSES)
    assert REASONS[code].sentence


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_has_a_default_that_explains_it(status: str) -> None:
    assert reason_fault(default_reason(status), status) is None


@pytest.mark.parametrize("status", STATUSES)
def test_the_codes_of_a_status_are_those_that_explain_it_sorted(status: str) -> None:
    codes = codes_for(status)

    assert list(codes) == sorted(code for code in REASONS if reason_fault(code, status) is None)


def test_an_unknown_code_is_refused_with_the_known_ones() -> None:
    fault = reason_fault("run.failed.moon", "failed")

    assert fault is not None
    assert "is not a reason code" in fault
    assert "run.failed.error" in fault


def test_a_code_of_another_status_is_refused_with_the_fitting_ones() -> None:
    fault = reason_fault("run.completed.ok", "failed")

    assert fault is not None
    assert "does not explain failed" in fault
    assert "run.failed.error" in fault
