"""Fields of JSON that nobody vouches for."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.base import unsafe_text
from contract.errors import ValidationFailure
from contract.limits import NAME_MAX_CHARS, USAGE_COST_USD_MAX, USAGE_TOKENS_MAX
from runs.line_fields import (
    bounded,
    cost_field,
    count_field,
    event_key,
    instant_field,
    json_object,
    name_field,
    object_field,
    said_field,
    strict_object,
    text_field,
)

ANYTHING_ELSE = [None, True, 1, 1.5, [], ["a"], {"a": 1}]


@pytest.mark.parametrize("line", ['{"a": 1}', '  {"a": 1}\r', '\ufeff{"a": 1}'])
def test_a_line_that_is_an_object_is_read(line: str) -> None:
    assert json_object(line) == {"a": 1}


@pytest.mark.parametrize(
    "line",
    [
        "",
        "  ",
        "plain",
        "[1]",
        "1",
        "null",
        "{",
        '{"a": 1} tail',
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": 1, "a": 2}',
        '{"a": "\x00"}',
        '{"a": "\udcff"}',
        '{"a":' * 5_000 + "1" + "}" * 5_000,
        '{"a": ' + "[" * 100_000,
    ],
)
def test_any_other_line_is_no_object(line: str) -> None:
    assert json_object(line) is None


def test_what_is_wrong_with_an_object_is_said() -> None:
    with pytest.raises(ValidationFailure, match="stands twice"):
        strict_object('{"a": 1, "a": 2}')


@pytest.mark.parametrize("value", ANYTHING_ELSE)
def test_what_is_no_text_is_no_text(value: Any) -> None:
    assert text_field(value) is said_field(value) is name_field(value) is None


def test_a_blank_text_says_nothing() -> None:
    assert text_field(" \n") == " \n"
    assert said_field(" \n") is name_field(" \n") is None


def test_what_is_no_object_has_no_fields() -> None:
    assert object_field([1]) == {}
    assert object_field({"a": 1}) == {"a": 1}


@given(st.text(st.characters(codec=None), max_size=400))
def test_a_name_is_always_storable(text: str) -> None:
    name = bounded(text)

    assert len(name) <= NAME_MAX_CHARS
    assert unsafe_text(name) is None


def test_two_long_names_stay_two() -> None:
    assert bounded("x" * 1_000 + "a") != bounded("x" * 1_000 + "b")


def test_a_key_is_the_same_for_the_same_parts_only() -> None:
    assert event_key("a", 1, "b") == event_key("a", 1, "b")
    assert event_key("a", 1, "b") != event_key("a", 2, "b")


@pytest.mark.parametrize("value", [0, 1, USAGE_TOKENS_MAX])
def test_a_number_of_tokens_is_read(value: int) -> None:
    assert count_field(value) == value


@pytest.mark.parametrize("value", [-1, USAGE_TOKENS_MAX + 1, 1.0, True, "1", None, [1]])
def test_what_is_no_number_of_tokens_is_unknown(value: Any) -> None:
    assert count_field(value) is None


@pytest.mark.parametrize(("value", "usd"), [(0, 0.0), (2, 2.0), (0.25, 0.25), (USAGE_COST_USD_MAX, USAGE_COST_USD_MAX)])
def test_a_cost_is_read(value: float, usd: float) -> None:
    assert cost_field(value) == usd


@pytest.mark.parametrize("value", [-0.1, 1e7, 10**400, float("nan"), float("inf"), True, "1", None])
def test_what_is_no_cost_is_unknown(value: Any) -> None:
    assert cost_field(value) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1970-01-01T00:00:01Z", 1.0), ("1970-01-01T01:00:00.250+01:00", 0.25), ("9999-12-31T23:59:59Z", 253402300799.0)],
)
def test_an_instant_is_read(text: str, seconds: float) -> None:
    assert instant_field(text) == seconds


@pytest.mark.parametrize(
    "value",
    ["", "yesterday", "2026-01-01T00:00:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59", 1.5, None, True],
)
def test_what_is_no_instant_is_unknown(value: Any) -> None:
    assert instant_field(value) is None
