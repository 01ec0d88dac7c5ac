import pytest

from tests.benchmarks.goals import GOALS, Goal, judge, worst
from tests.benchmarks.measures import Measure, Results


def _measure(value: float, *, unit: str = "ms", fewest: float | None = None, peer: float | None = None) -> Measure:
    return Measure(
        section="list", subject="any", quantity="p50", value=value, unit=unit, runs=100_000, fewest=fewest, peer=peer
    )


def _results(*measures: Measure) -> Results:
    results = Results()
    results.add(*measures)
    return results


def test_every_goal_has_one_bound() -> None:
    assert not [goal.work for goal in GOALS if (goal.at_least is None) == (goal.at_most is None)]


def test_no_two_goals_are_for_the_same_work() -> None:
    assert len({goal.work for goal in GOALS}) == len(GOALS)


def test_nothing_measured_judges_nothing() -> None:
    assert {judgement.verdict for judgement in judge(Results())} == {"not measured"}


@pytest.mark.parametrize(("found", "verdict"), [(99.0, "met"), (100.0, "met"), (100.1, "missed")])
def test_upper_bound_is_met_up_to_itself(found: float, verdict: str) -> None:
    goal = Goal(work="delay", reading=lambda results: results.value("list", "any", "p50"), at_most=100)

    assert goal.judge(_results(_measure(found))).verdict == verdict


@pytest.mark.parametrize(("found", "verdict"), [(2.9, "missed"), (3.0, "met"), (4.0, "met")])
def test_lower_bound_is_met_from_itself(found: float, verdict: str) -> None:
    goal = Goal(work="rate", reading=lambda results: results.value("list", "any", "p50"), at_least=3)

    assert goal.judge(_results(_measure(found))).verdict == verdict


def test_advantage_is_how_many_times_faster_than_the_peer() -> None:
    assert _results(_measure(2, peer=30)).advantage("list", "any", "p50") == 15


def test_advantage_of_a_rate_is_how_many_times_more() -> None:
    assert _results(_measure(300, unit="/s", peer=20)).advantage("list", "any", "p50") == 15


def test_growth_is_above_one_when_many_runs_cost_more() -> None:
    assert _results(_measure(3, fewest=2)).growth("list", "any", "p50") == 1.5
    assert _results(_measure(200, unit="events/s", fewest=300)).growth("list", "any", "p50") == 1.5


def test_advantage_and_growth_are_unknown_without_the_other_number() -> None:
    results = _results(_measure(2))

    assert results.advantage("list", "any", "p50") is None
    assert results.growth("list", "any", "p50") is None


def test_worst_passes_over_what_was_not_measured() -> None:
    assert worst([None, 4.0, 2.0], min) == 2.0
    assert worst([None, 4.0, 2.0], max) == 4.0
    assert worst([None], min) is None
