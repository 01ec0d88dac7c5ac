"""Money: integer micro-dollars, exact in any order; unknown is never zero."""

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.limits import USAGE_COST_USD_MAX
from contract.money import add_known, to_micros, to_usd

COSTS = st.floats(min_value=0, max_value=USAGE_COST_USD_MAX)
AMOUNTS = st.none() | st.integers(min_value=0, max_value=10**12)


@pytest.mark.parametrize(
    ("cost_usd", "micros"),
    [
        (0.0, 0),
        (0.1, 100_000),
        (0.29, 290_000),
        (1e-7, 0),
        (0.0000005, 0),
        (0.0000015, 2),
        (0.0000025, 2),
        (1_000_000.0, 10**12),
    ],
)
def test_dollars_are_rounded_half_to_even_at_the_millionth(cost_usd: float, micros: int) -> None:
    assert to_micros(cost_usd) == micros


def test_unknown_stays_unknown() -> None:
    assert to_micros(None) is None
    assert to_usd(None) is None
    assert add_known(None, None) is None


def test_free_is_not_unknown() -> None:
    assert to_usd(to_micros(0.0)) == 0.0
    assert add_known(None, 0) == 0
    assert add_known(0, None) == 0


@given(COSTS)
def test_rounding_is_off_by_half_a_millionth_at_most(cost_usd: float) -> None:
    micros = to_micros(cost_usd)

    # The shortest decimal that names the float is what the producer wrote.
    assert micros is not None
    assert abs(Fraction(micros, 10**6) - Fraction(repr(cost_usd))) <= Fraction(1, 2 * 10**6)


@given(st.integers(min_value=0, max_value=10**15))
def test_whole_micros_survive_the_way_to_dollars_and_back(micros: int) -> None:
    assert to_micros(to_usd(micros)) == micros


@given(st.lists(st.integers(min_value=0, max_value=10**6).map(lambda cents: cents / 100), max_size=50))
def test_a_sum_of_cents_is_exact(dollars: list[float]) -> None:
    total: int | None = None
    for cost_usd in dollars:
        total = add_known(total, to_micros(cost_usd))

    assert total == (sum(round(cost_usd * 100) for cost_usd in dollars) * 10_000 if dollars else None)


@given(st.lists(AMOUNTS, max_size=4))
def test_the_order_of_reports_does_not_change_their_sum(amounts: list[int | None]) -> None:
    sums = set()
    for ordered in permutations(amounts):
        total: int | None = None
        for amount in ordered:
            total = add_known(total, amount)
        sums.add(total)

    assert len(sums) == 1
