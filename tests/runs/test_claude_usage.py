"""What Claude Code's results say was spent: told once, and never more or less than the total."""

from typing import Any

import pytest

from contract.events import UsageEvent
from runs.claude_usage import ClaudeSpending
from tests.runs.claude_stream import model_usage

TURN = {"input_tokens": 10, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 30, "output_tokens": 5}


def report(*results: dict[str, Any]) -> list[list[UsageEvent]]:
    """Return what is told of each result."""
    spending = ClaudeSpending()
    return [
        spending.report(result, model="session-model", event_id=f"r{number}", at=None)
        for number, result in enumerate(results)
    ]


def spent(events: list[UsageEvent]) -> list[tuple[str | None, int | None, int | None, float | None]]:
    return [(event.model, event.input_tokens, event.output_tokens, event.cost_usd) for event in events]


def test_input_is_all_that_was_read_from_the_cache_or_not() -> None:
    usage = {"large": model_usage(10, 5, 0.25, written=20, read=30)}

    [told] = report({"modelUsage": usage, "total_cost_usd": 0.25})

    assert spent(told) == [("large", 60, 5, 0.25)]


def test_a_result_without_models_is_told_by_its_turn_and_the_model_of_the_session() -> None:
    [told] = report({"usage": TURN, "total_cost_usd": 0.25})

    assert spent(told) == [("session-model", 60, 5, 0.25)]


def test_of_several_models_each_is_told() -> None:
    usage = {"large": model_usage(100, 10, 0.0034125), "small": model_usage(50, 5, 0.000455)}

    [told] = report({"modelUsage": usage, "usage": TURN, "total_cost_usd": 0.0038675})

    assert spent(told) == [("large", 100, 10, 0.0034125), ("small", 50, 5, 0.000455)]
    assert len({event.event_id for event in told}) == 2


def test_one_model_spent_the_total_whatever_is_said_of_it() -> None:
    [told] = report({"modelUsage": {"large": model_usage(100, 10, 0.1)}, "total_cost_usd": 0.25})

    assert spent(told) == [("large", 100, 10, 0.25)]


def test_what_only_the_total_has_is_told_of_no_model() -> None:
    usage = {"large": model_usage(100, 10, 0.1), "small": model_usage(50, 5, 0.05)}

    [told] = report({"modelUsage": usage, "total_cost_usd": 0.25})

    assert spent(told) == [("large", 100, 10, 0.1), ("small", 50, 5, 0.05), (None, None, None, 0.1)]


def test_a_difference_of_rounding_is_none() -> None:
    usage = {"large": model_usage(100, 10, 0.1), "small": model_usage(50, 5, 0.2)}

    [told] = report({"modelUsage": usage, "total_cost_usd": 0.1 + 0.2})

    assert [event.model for event in told] == ["large", "small"]


def test_of_a_second_result_only_what_is_new_is_told() -> None:
    first = {"large": model_usage(100, 10, 0.1)}
    second = {"large": model_usage(150, 30, 0.3), "small": model_usage(7, 1, 0.01)}

    _, told = report({"modelUsage": first, "total_cost_usd": 0.1}, {"modelUsage": second, "total_cost_usd": 0.31})

    assert spent(told) == [("large", 50, 20, 0.2), ("small", 7, 1, 0.01)]


def test_the_same_result_again_adds_nothing() -> None:
    result = {"modelUsage": {"large": model_usage(100, 10, 0.1)}, "total_cost_usd": 0.1}

    _, told = report(result, result)

    assert told == []


def test_a_total_that_lags_behind_its_models_is_not_told_twice_when_it_has_caught_up() -> None:
    usage = {"large": model_usage(100, 10, 0.3), "small": model_usage(50, 5, 0.1)}

    first, second = report({"modelUsage": usage, "total_cost_usd": 0.2}, {"modelUsage": usage, "total_cost_usd": 0.4})

    assert spent(first) == [("large", 100, 10, 0.3), ("small", 50, 5, 0.1)]
    assert second == []


def test_a_total_of_one_model_that_lags_behind_is_made_good_later() -> None:
    usage = {"large": model_usage(100, 10, 0.4)}

    first, second = report({"modelUsage": usage, "total_cost_usd": 0.25}, {"modelUsage": usage, "total_cost_usd": 0.4})

    assert spent(first) == [("large", 100, 10, 0.25)]
    assert spent(second) == [("large", 0, 0, 0.15)]


def test_counts_that_fall_are_those_of_another_process() -> None:
    first, second = {"large": model_usage(100, 10, 0.1)}, {"large": model_usage(40, 4, 0.04)}

    _, told = report({"modelUsage": first, "total_cost_usd": 0.1}, {"modelUsage": second, "total_cost_usd": 0.04})

    assert spent(told) == [("large", 40, 4, 0.04)]


def test_a_model_that_is_gone_was_one_of_another_process() -> None:
    first = {"modelUsage": {"large": model_usage(100, 10, 0.25)}, "total_cost_usd": 0.25}
    another = {"modelUsage": {"small": model_usage(20, 2, 0.01)}, "total_cost_usd": 0.01}

    told = report(first, another)

    assert spent(told[1]) == [("small", 20, 2, 0.01)]


def test_turns_without_models_add_up_to_the_total() -> None:
    _, told = report({"usage": TURN, "total_cost_usd": 0.25}, {"usage": TURN, "total_cost_usd": 0.4})

    assert spent(told) == [("session-model", 60, 5, 0.15)]


def test_an_unknown_cost_stays_unknown() -> None:
    [by_turn] = report({"usage": TURN})
    [by_model] = report({"modelUsage": {"large": {"inputTokens": 1, "outputTokens": 2}}})

    assert spent(by_turn) == [("session-model", 60, 5, None)]
    assert spent(by_model) == [("large", 1, 2, None)]


def test_a_cost_of_nothing_is_known() -> None:
    nothing = dict.fromkeys(TURN, 0)

    first, second = report(*[{"usage": nothing, "modelUsage": {}, "total_cost_usd": 0}] * 2)

    assert spent(first) == [("session-model", 0, 0, 0.0)]
    assert second == []


@pytest.mark.parametrize("result", [{}, {"usage": None}, {"usage": {"input_tokens": "many"}, "modelUsage": [1]}])
def test_a_result_that_tells_nothing_is_not_told(result: dict[str, Any]) -> None:
    assert report(result) == [[]]


@pytest.mark.parametrize(
    "usage",
    [
        {"large": None},
        {"large": {"inputTokens": -1, "outputTokens": 1}},
        {"large": {"inputTokens": True, "outputTokens": 1}},
        {"large": model_usage(1, 1, 0.1), "small": {}},
        {f"model-{number}": model_usage(1, 1, 0.1) for number in range(1_000)},
    ],
)
def test_models_that_are_not_understood_leave_the_turn(usage: dict[str, Any]) -> None:
    [told] = report({"modelUsage": usage, "usage": TURN, "total_cost_usd": 0.25})

    assert spent(told) == [("session-model", 60, 5, 0.25)]


def test_a_model_without_output_tokens_is_told_with_what_is_known() -> None:
    [told] = report({"modelUsage": {"large": {"inputTokens": 3}}, "total_cost_usd": 0.25})

    assert spent(told) == [("large", 3, None, 0.25)]


def test_a_cost_beyond_all_bounds_is_unknown() -> None:
    [told] = report({"usage": TURN, "total_cost_usd": 1e9})

    assert spent(told) == [("session-model", 60, 5, None)]
