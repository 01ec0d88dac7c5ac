"""The sentences of a text that is no YAML: the same from both parsers of PyYAML."""

import pytest
import yaml

from definitions.yaml_bounds import LOADER, Loader, parse_yaml
from definitions.yaml_faults import DIRECTIVE, Place, fault_at, place_of, syntax_fault

LOADERS = pytest.mark.parametrize("loader", [LOADER, yaml.SafeLoader], ids=["default", "python"])


@LOADERS
@pytest.mark.parametrize(
    ("text", "line", "column", "told"),
    [
        ('a: "x\nb: 1\n', 1, 4, "this quote is not closed"),
        ("a: [1, 2\nb: 3", 1, 4, "this `[` is not closed"),
        ("a: {x: 1\nb: 3", 1, 4, "this `{` is not closed"),
        ("a: **bold**", 1, 4, "`*` begins an alias"),
        ("a: & b", 1, 4, "`&` begins an anchor"),
        ("a: &x 1\nb: &x 2", 2, 4, "this anchor has been given before"),
        ("a: 1\nfoo\nb: 2", 2, 1, "a `:` is missing"),
        ("a:\n\tb: 1", 2, 1, "a tab cannot indent"),
        ("a:\n  b: 1\n\tc: 2", 3, 1, "a tab cannot indent"),
        ("a: @x", 1, 4, "`@` cannot begin a value"),
        ("a: `x`", 1, 4, "``` cannot begin a value"),
        ("a: b: c", 1, 5, "a `:` is not possible here"),
        ("a: - b", 1, 4, "a `-` is not possible here"),
        ("a:\n    b: 1\n  c: 2", 3, 3, "this does not go on"),
        ("- a\nb: 1", 2, 1, "this does not go on"),
        (" a: 1\nb: 2", 2, 1, "this does not go on"),
        ("a: }", 1, 4, "a value is missing here"),
        ('a: "\\xZZ"', 1, 7, "this is no escape"),
        ("!e!x a", 1, 1, "this tag has a prefix"),
        ("%YAML 2.0\n---\na", 1, 1, DIRECTIVE),
        ("# b\n%TAG !e! x\n---\na", 2, 1, DIRECTIVE),
        ("a\n...\n%YAML 1.1\n---\nb", 3, 1, DIRECTIVE),
        ("a: 1\n%strange\n", 2, 1, DIRECTIVE),
    ],
)
def test_a_fault_of_the_syntax_is_told_in_plain_words(
    loader: Loader, text: str, line: int, column: int, told: str
) -> None:
    root, [failure] = parse_yaml(text, loader=loader)

    assert root is None
    assert (failure.path, failure.code) == (("content",), "yaml")
    assert (failure.line, failure.column) == (line, column)
    assert failure.message.startswith(f"line {line}, column {column}: {told}")


def test_a_parser_that_gives_up_before_our_bound_means_the_same() -> None:
    error = yaml.MarkedYAMLError(problem="exceeded maximum nesting depth")

    failure = syntax_fault(error, "[", 1)

    assert failure.code == "too_deep"


def test_an_error_without_marks_and_words_is_told_at_the_beginning() -> None:
    unfit = syntax_fault(yaml.MarkedYAMLError(problem="found character that cannot start any token"), "@", 3)
    mute = syntax_fault(yaml.MarkedYAMLError(), "", 3)

    assert [(fault.line, fault.column) for fault in (unfit, mute)] == [(3, 1), (3, 1)]


def test_places_are_counted_from_one_and_from_the_first_line() -> None:
    assert place_of(yaml.Mark("", 0, 0, 0, None, 0), 1) == Place(1, 1)
    assert place_of(yaml.Mark("", 9, 2, 4, None, 9), 5) == Place(7, 5)
    assert place_of(None, 5) == Place(5, 1)


def test_strange_and_long_keys_of_a_path_are_cut() -> None:
    failure = fault_at(Place(1, 2), ("a\n", 3, "k" * 1_000), "type", "is odd")

    assert failure.path == ("content", "a\\x0a", 3, "k" * 200)
    assert failure.message == "line 1, column 2: is odd"
