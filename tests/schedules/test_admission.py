"""Whether a due schedule fires."""

import pytest

from schedules.admission import Standing, Terms, admit, reached_cap


def terms(**changes: object) -> Terms:
    fields = {"overlap_policy": "skip", "max_runs": None, "budget_micros": None, "budget_tokens": None, **changes}
    return Terms(**fields)  # type: ignore[arg-type]


def standing(**changes: object) -> Standing:
    fields = {
        "own_open": 0,
        "run_count": 0,
        "spent_micros": None,
        "spent_tokens": None,
        "all_open": 0,
        "capacity": 0,
        **changes,
    }
    return Standing(**fields)  # type: ignore[arg-type]


def test_a_schedule_that_nothing_bounds_fires() -> None:
    assert admit(terms(), standing()).outcome == "fired"


def test_an_open_run_of_the_schedule_skips_unless_overlap_is_allowed() -> None:
    refused = admit(terms(), standing(own_open=1))

    assert (refused.outcome, refused.reason_code, refused.disables) == ("skipped", "schedule.skipped.overlap", None)
    assert admit(terms(overlap_policy="allow"), standing(own_open=7)).outcome == "fired"


@pytest.mark.parametrize(
    ("bounds", "used"),
    [
        ({"budget_micros": 10}, {"spent_micros": 10}),
        ({"budget_micros": 10}, {"spent_micros": 11}),
        ({"budget_tokens": 5}, {"spent_tokens": 5}),
        ({"budget_micros": 10, "budget_tokens": 5}, {"spent_micros": 1, "spent_tokens": 6}),
    ],
)
def test_a_spent_budget_skips_and_disables(bounds: dict[str, int], used: dict[str, int]) -> None:
    refused = admit(terms(**bounds), standing(**used))

    assert (refused.outcome, refused.reason_code) == ("skipped", "schedule.skipped.budget")
    assert refused.disables == "schedule.disabled.budget"


@pytest.mark.parametrize("used", [{}, {"spent_micros": 9}, {"spent_tokens": 4}])
def test_an_unspent_or_unknown_spend_is_within_its_budget(used: dict[str, int]) -> None:
    assert admit(terms(budget_micros=10, budget_tokens=5), standing(**used)).outcome == "fired"


def test_the_last_start_is_the_last() -> None:
    bounded = terms(max_runs=2)

    assert admit(bounded, standing(run_count=1)).outcome == "fired"
    refused = admit(bounded, standing(run_count=2))
    assert (refused.reason_code, refused.disables) == ("schedule.skipped.max_runs", "schedule.disabled.max_runs")


def test_without_room_it_stays_due() -> None:
    refused = admit(terms(), standing(all_open=4, capacity=4))

    assert (refused.outcome, refused.reason_code, refused.disables) == ("deferred", "schedule.deferred.capacity", None)
    assert admit(terms(), standing(all_open=4, capacity=5)).outcome == "fired"
    assert admit(terms(), standing(all_open=400, capacity=0)).outcome == "fired"


def test_the_order_is_overlap_budget_max_runs_capacity() -> None:
    bounded = terms(max_runs=1, budget_tokens=1)
    all_reached = {"own_open": 1, "run_count": 1, "spent_tokens": 1, "all_open": 9, "capacity": 1}

    codes = []
    for cleared in ({}, {"own_open": 0}, {"own_open": 0, "spent_tokens": 0}):
        codes.append(admit(bounded, standing(**{**all_reached, **cleared})).reason_code)
    unbounded = admit(terms(), standing(**{**all_reached, "own_open": 0}))

    assert codes == ["schedule.skipped.overlap", "schedule.skipped.budget", "schedule.skipped.max_runs"]
    assert unbounded.reason_code == "schedule.deferred.capacity"


def test_no_cap_is_reached_where_there_is_none() -> None:
    assert reached_cap(terms(), standing(run_count=10**9, spent_micros=10**12, spent_tokens=10**12)) is None
