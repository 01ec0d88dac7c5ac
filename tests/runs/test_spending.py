"""Sums of spend: exact, and the unknown is not zero."""

from runs.spending import Spend, by_dearest, spend_view, total_of


def test_sums_are_exact_however_many() -> None:
    total = total_of(Spend(project=str(at), runs=1, cost_micros=100_000) for at in range(10))

    assert spend_view(total).cost_usd == 1.0
    assert (total.project, total.runs) == (None, 10)


def test_what_nobody_reported_is_unknown_and_counted() -> None:
    total = total_of([Spend(project="a", runs=2, runs_without_cost=2, runs_without_tokens=1, input_tokens=3)])

    assert (total.cost_micros, total.input_tokens, total.output_tokens) == (None, 3, None)
    assert (total.runs_without_cost, total.runs_without_tokens) == (2, 1)


def test_the_unknown_takes_nothing_from_the_known() -> None:
    total = total_of([Spend(project="a", runs=1, runs_without_cost=1), Spend(project="b", runs=1, cost_micros=0)])

    assert (total.cost_micros, total.runs_without_cost) == (0, 1)


def test_the_total_of_nothing_is_no_run_and_no_known_cost() -> None:
    assert total_of([]) == Spend(project=None)


def test_the_dearest_comes_first_and_unknown_cost_last() -> None:
    spends = [
        Spend(project="unknown"),
        Spend(project="b", cost_micros=1),
        Spend(project="free", cost_micros=0),
        Spend(project="dear", cost_micros=5),
        Spend(project=None, cost_micros=1),
        Spend(project="a", cost_micros=1),
    ]

    assert [spend.project for spend in by_dearest(spends)] == ["dear", None, "a", "b", "free", "unknown"]
