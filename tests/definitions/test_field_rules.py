"""Rules for single values, by the YAML they judge."""

from collections.abc import Iterable

import pytest

from contract.base import FieldFailure
from definitions.field_rules import (
    Rule,
    closed_entries,
    entry_of,
    flag,
    free,
    is_set,
    known_entries,
    of_kind,
    required,
    suggestion,
    text,
    text_of,
    text_or_flag,
    whole_number,
)
from definitions.yaml_bounds import parse_yaml
from definitions.yaml_nodes import YamlNode


def _node(yaml_text: str) -> YamlNode:
    root = parse_yaml(yaml_text).root
    assert root is not None
    return root


def _codes(failures: Iterable[FieldFailure]) -> list[str]:
    return [failure.code for failure in failures]


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        (text, ["a", "'1'", "''", "|\n a"]),
        (text_of(3), ["abc", "''"]),
        (flag, ["true", "no", "off"]),
        (text_or_flag, ["a", "false"]),
        (whole_number(1, 32), ["1", "32", "0x10"]),
        (whole_number(1), ["1", "99999999999999999999"]),
        (of_kind("mapping", "sequence"), ["{}", "[]"]),
        (free, ["1", "[a]", "2024-01-01"]),
    ],
)
def test_a_rule_takes_what_it_is_for_and_null_and_what_is_refused_already(rule: Rule, values: list[str]) -> None:
    told = [failure for value in [*values, "null", "!x y"] for failure in rule(_node(value), ("key",))]

    assert told == []


@pytest.mark.parametrize(
    ("rule", "value", "code", "sentence"),
    [
        (text, "1", "type", "must be text, not a whole number: quote it"),
        (text, "on", "type", "must be text, not true or false: quote it"),
        (text, "2024-01-01", "type", "must be text, not a date: quote it"),
        (text, "[a]", "type", "must be text, not a list"),
        (text_of(3), "{}", "type", "must be text, not a mapping"),
        (text_of(3), "abcd", "too_long", "has 4 characters; at most 3 are possible"),
        (flag, "maybe", "type", "must be true or false, not text"),
        (flag, "1", "type", "must be true or false, not a whole number"),
        (text_or_flag, "1.5", "type", "must be text or true or false, not a number: quote it"),
        (whole_number(1, 32), "0", "range", "must be a whole number from 1 to 32"),
        (whole_number(1, 32), "33", "range", "must be a whole number from 1 to 32"),
        (whole_number(1), "0", "range", "must be a whole number of at least 1"),
        (whole_number(1, 32), "true", "type", "must be a whole number from 1 to 32, not true or false"),
        (whole_number(1), "1.0", "type", "must be a whole number of at least 1, not a number"),
        (required("mapping"), "~", "type", "must be a mapping, not nothing"),
        (required("str"), "[]", "type", "must be text, not a list"),
    ],
)
def test_a_rule_says_what_must_be_there_and_what_is(rule: Rule, value: str, code: str, sentence: str) -> None:
    [failure] = rule(_node(value), ("key", 0))

    assert (failure.path, failure.code) == (("content", "key", 0), code)
    assert failure.message == f"line 1, column 1: {sentence}"


def test_a_required_value_that_is_there_or_refused_already_is_no_fault() -> None:
    assert _codes(required("mapping")(_node("{}"), ())) == []
    assert _codes(required("mapping")(_node("!x {}"), ())) == []


def test_known_entries_are_judged_and_others_are_free() -> None:
    failures = list(known_entries(_node("a: 1\nb: 2"), ("top",), {"a": text}))

    assert [failure.path for failure in failures] == [("content", "top", "a")]


def test_closed_entries_refuse_others_and_suggest_the_nearest() -> None:
    failures = list(closed_entries(_node("a: x\nRequird: no\nzzz: 1"), (), {"a": text, "required": flag}, "a thing"))

    assert _codes(failures) == ["unknown_key", "unknown_key"]
    assert failures[0].message == "line 2, column 1: `Requird` is not a key of a thing; did you mean `required`?"
    assert failures[1].message == "line 3, column 1: `zzz` is not a key of a thing"


def test_long_words_and_many_words_are_not_compared() -> None:
    assert suggestion("wokers", ["workers"]) == "; did you mean `workers`?"
    assert suggestion("x" * 41, ["x" * 41]) == ""
    assert suggestion("w1", [f"w{n}" for n in range(31)]) == ""


def test_an_entry_that_is_null_is_not_set() -> None:
    node = _node("a: ~\nb: 1")

    assert entry_of(node, "a") is None
    assert entry_of(node, "c") is None
    assert entry_of(node, "b") is node.entries[1]
    assert [is_set(entry.node) for entry in node.entries] == [False, True]
