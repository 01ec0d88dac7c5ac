"""The tree of a YAML text, and what its readers would stumble over."""

import datetime as dt
import math
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from contract.limits import FIELD_FAILURES_MAX
from definitions.yaml_bounds import parse_yaml
from definitions.yaml_nodes import YamlNode

_KEYS = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x2FF, exclude_categories=["Cc"]), min_size=1)
_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), _KEYS, st.dates(), st.datetimes()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_KEYS, inner, max_size=4)),
    max_leaves=12,
)


def _plain(node: YamlNode) -> Any:
    if node.kind == "mapping":
        return {entry.key: _plain(entry.node) for entry in node.entries}
    return [_plain(item) for item in node.items] if node.kind == "sequence" else node.value


def _told(text: str) -> list[tuple[str, tuple[str | int, ...], int | None, int | None]]:
    failures = parse_yaml(text).failures
    return [(fault.code, fault.path[1:], fault.line, fault.column) for fault in failures]


@given(_VALUES)
def test_the_tree_holds_what_a_loader_reads(value: Any) -> None:
    text = yaml.safe_dump(value, allow_unicode=True)

    root, failures = parse_yaml(text)

    assert failures == ()
    assert root is not None
    assert _plain(root) == yaml.safe_load(text)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("yes", "bool", True),
        ("off", "bool", False),
        ("12", "int", 12),
        ("1:30", "int", 90),
        ("0x1F", "int", 31),
        ("1e3", "str", "1e3"),
        (".inf", "float", math.inf),
        ("2024-02-29", "timestamp", dt.date(2024, 2, 29)),
        ("~", "null", None),
        ("!!str 12", "str", "12"),
        ("!!float 12", "float", 12.0),
        ("!!map {}", "mapping", None),
        ("!!seq []", "sequence", None),
    ],
)
def test_scalars_are_what_pyyaml_makes_of_them(text: str, kind: str, value: object) -> None:
    root, failures = parse_yaml(text)

    assert failures == ()
    assert root is not None
    assert (root.kind, root.value) == (kind, value)


def test_an_alias_is_the_node_it_stands_for() -> None:
    root, failures = parse_yaml("a: &x [1, !t 2]\nb: *x")

    assert root is not None
    assert root.entries[0].node is root.entries[1].node
    assert len(failures) == 1


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("!!python/object/apply:os.system ['id']", "`!!python/object/apply:os.system`"),
        ("!foo x", "`!foo`"),
        ("!!binary aGk=", "`!!binary`"),
        ("!!set {a, b}", "`!!set`"),
        ("!!omap [a: 1]", "`!!omap`"),
        ("!<tag:example.org,2000:x> y", "`tag:example.org,2000:x`"),
        ("!!seq {a: 1}", "`!!seq`"),
        ("!!map [a]", "`!!map`"),
        ("!!str [a]", "`!!str`"),
        ("!!map a", "`!!map`"),
    ],
)
def test_a_foreign_or_unfit_tag_is_refused_by_its_name(text: str, name: str) -> None:
    root, [failure] = parse_yaml(text)

    assert root is not None
    assert root.kind == "refused"
    assert failure.code == "tag"
    assert name in failure.message


@pytest.mark.parametrize(
    "text",
    ['!!int ""', "!!int foo", "!!bool x", '!!float ""', "!!timestamp foo", "2024-13-45", "1" + ":59" * 200 + ".5"],
)
def test_a_scalar_that_does_not_fit_its_tag_is_refused(text: str) -> None:
    assert _told(f"a: {text}") == [("scalar", ("a",), 1, 4)]


@pytest.mark.parametrize("text", ["1" * 1_001, "-" + "1" * 1_000, "1" + ":1" * 500, "0." + "1" * 999])
def test_a_number_of_a_thousand_digits_is_refused(text: str) -> None:
    assert _told(f"a: {text}") == [("too_long", ("a",), 1, 4)]


@pytest.mark.parametrize("text", ["=", "<<"])
def test_signs_that_no_loader_reads_as_a_value_are_refused(text: str) -> None:
    assert _told(f"a: {text}") == [("tag", ("a",), 1, 4)]
    assert _told(f"a: '{text}'") == []


def test_merge_keys_are_refused_and_quoted_ones_are_keys() -> None:
    assert _told("a: &a {x: 1}\nb:\n  <<: *a\n  y: 2") == [("merge_key", ("b",), 3, 3)]
    assert _told("b: {'<<': 1}") == []


def test_a_key_that_stands_twice_is_refused_at_its_second_place() -> None:
    [failure] = parse_yaml("a:\n  b: 1\n  c: 2\n  'b': 3").failures

    assert (failure.code, failure.path, failure.line, failure.column) == ("duplicate", ("content", "a", "b"), 4, 3)
    assert failure.message.endswith("`b` stands here already, in line 2")


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("yes", "`yes` is read as true or false: quote it"),
        ("1", "`1` is read as a whole number: quote it"),
        ("2024-01-01", "`2024-01-01` is read as a date: quote it"),
        ("~", "`~` is read as nothing: quote it"),
        ("? \n", "not nothing"),
        ("? [a]\n", "not a list"),
        ("? {a: b}\n", "not a mapping"),
    ],
)
def test_a_key_that_is_no_text_is_refused(key: str, told: str) -> None:
    [failure] = parse_yaml(f"{key}: value").failures

    assert (failure.path, failure.code, failure.line) == (("content",), "key", 1)
    assert failure.message.endswith(told)


def test_a_key_that_is_refused_itself_is_told_once() -> None:
    assert _told("!x a: 1") == [("tag", (), 1, 1)]


def test_escapes_bring_in_nothing_that_a_command_may_not_hold() -> None:
    assert _told('a: "x\\0"\n"\\x00": 1') == [("unsafe_text", ("a",), 1, 4), ("unsafe_text", (), 2, 1)]


def test_faults_are_collected_up_to_the_bound() -> None:
    few = parse_yaml("a: !x 1\nb: {c: 1, c: 2}\n3: d").failures
    many = parse_yaml("\n".join(f"- !x{n} 1" for n in range(500))).failures

    assert [fault.code for fault in few] == ["tag", "duplicate", "key"]
    assert len(many) == FIELD_FAILURES_MAX


def test_the_last_value_that_is_told_hides_the_fault_of_its_key() -> None:
    text = "a: 1\nb:\n" + "- !x 1\n" * (FIELD_FAILURES_MAX - 1) + "a: !x 1\n"

    assert [fault.code for fault in parse_yaml(text).failures] == ["tag"] * FIELD_FAILURES_MAX
