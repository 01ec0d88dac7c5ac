import pytest

from tests.benchmarks.summaries import p50, p95, percentile, times_better


def test_percentile_is_a_value_that_was_measured() -> None:
    values = [4.0, 1.0, 3.0, 2.0]

    assert p50(values) == 2.0
    assert percentile(values, 75) == 3.0
    assert percentile(values, 76) == 4.0


def test_percentiles_of_one_value_are_that_value() -> None:
    assert p50([7.0]) == p95([7.0]) == percentile([7.0], 0) == 7.0


def test_p95_leaves_one_value_in_twenty_above_it() -> None:
    values = [float(value) for value in range(1, 101)]

    assert sum(value > p95(values) for value in values) == 5


def test_percentile_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no values"):
        p50([])


@pytest.mark.parametrize(("ours", "other", "higher_is_better", "times"), [(2, 8, False, 4), (8, 2, True, 4)])
def test_better_is_above_one_whichever_way_the_number_points(
    ours: float, other: float, higher_is_better: bool, times: float
) -> None:
    assert times_better(ours, other, higher_is_better=higher_is_better) == times
    assert times_better(other, ours, higher_is_better=higher_is_better) == 1 / times
