"""YAML as plain values, and the places of faults that somebody else finds in them."""

from zoneinfo import ZoneInfo

import pytest

from contract.base import FieldFailure, Path
from contract.errors import ValidationFailure
from studio_project.yaml_values import read_yaml

BERLIN = ZoneInfo("Europe/Berlin")
TEXT = "a:\n  - b: 1\n    c: [x, {d: y}]\ne: null\n"


def place(path: Path, text: str = TEXT) -> tuple[int | None, int | None]:
    fault = FieldFailure(path=path, code="wrong", message="is wrong")
    [placed] = read_yaml(text, zone=BERLIN).placed(ValidationFailure((fault,))).field_errors
    assert (placed.path, placed.code) == (path, "wrong")
    return placed.line, placed.column


def test_values_are_those_of_json() -> None:
    assert read_yaml(TEXT, zone=BERLIN).value == {"a": [{"b": 1, "c": ["x", {"d": "y"}]}], "e": None}
    assert read_yaml("", zone=BERLIN).value is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-07-01T10:00:00", 1_782_892_800.0),
        ("2026-07-01T10:00:00Z", 1_782_900_000.0),
        ("2026-07-01 10:00:00 +01:00", 1_782_896_400.0),
        ("2026-07-01", "2026-07-01"),
        ('"2026-07-01T10:00:00"', "2026-07-01T10:00:00"),
    ],
)
def test_an_instant_is_read_in_the_readers_zone_where_it_names_none(text: str, value: object) -> None:
    assert read_yaml(text, zone=BERLIN).value == value


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ((), (1, 1)),
        (("a",), (1, 1)),
        (("a", 0), (2, 5)),
        (("a", 0, "b"), (2, 5)),
        (("a", 0, "c", 1, "d"), (3, 13)),
        (("a", 0, "missing"), (2, 5)),
        (("a", 7, "b"), (1, 1)),
        (("a", 0, "b", "below a number"), (2, 5)),
        (("nowhere", "at", 0), (1, 1)),
    ],
)
def test_a_fault_is_placed_where_it_is_or_at_what_it_is_missing_in(path: Path, expected: tuple[int, int]) -> None:
    assert place(path) == expected


def test_a_fault_without_any_text_has_no_place() -> None:
    assert place(("a",), "") == (None, None)


def test_what_is_no_yaml_says_where_and_not_in_which_definition() -> None:
    with pytest.raises(ValidationFailure) as refused:
        read_yaml("a: 1\na: 2\n", zone=BERLIN)

    [fault] = refused.value.field_errors
    assert (fault.path, fault.code, fault.line, fault.column) == (("a",), "duplicate", 2, 1)
