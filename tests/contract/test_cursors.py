"""Sealed cursors: what was sealed comes back, and nothing else is taken for it."""

import base64
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.cursors import cursor_fault, list_identity, seal, unseal
from contract.definitions import DefinitionQuery, VersionQuery
from contract.errors import ValidationFailure
from contract.limits import CURSOR_MAX_CHARS

NUMBERS = st.integers(min_value=-(2**61), max_value=2**61)
FLOATS = st.floats(min_value=-1e15, max_value=1e15)
OWNERS = st.text(max_size=50)
SEALED = seal("v", "agent coder", 1_700_000_000.25, 7, "name")
SHAPE = (float, int, str)


def opened(cursor: str) -> list[Any]:
    return unseal(cursor, "v", "agent coder", shape=SHAPE)


def as_cursor(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


@given(OWNERS, FLOATS, NUMBERS, st.text(max_size=50))
def test_a_position_comes_back_for_any_owner(owner: str, key: float, number: int, text: str) -> None:
    cursor = seal("k", owner, key, number, text)

    assert unseal(cursor, "k", owner, shape=SHAPE) == [key, number, text]


def test_a_whole_number_stands_where_a_float_is_expected_and_not_the_other_way() -> None:
    assert unseal(seal("k", "o", 3), "k", "o", shape=(float,)) == [3]
    with pytest.raises(ValidationFailure):
        unseal(seal("k", "o", 3.0), "k", "o", shape=(int,))


def test_a_cursor_is_plain_url_text_within_the_bound() -> None:
    longest = seal("v", "o" * 1_000, 253_402_300_799.999, 2**53, "n" * 120)

    assert set(longest) <= set(string.ascii_letters + string.digits + "-_")
    assert len(longest) < CURSOR_MAX_CHARS


def test_no_single_changed_character_gives_another_position() -> None:
    for place in range(len(SEALED)):
        for char in "A_-9z~=é\x00":
            garbled = SEALED[:place] + char + SEALED[place + 1 :]
            if garbled != SEALED:
                with pytest.raises(ValidationFailure):
                    opened(garbled)


def test_no_missing_or_added_character_gives_another_position() -> None:
    shorter = [SEALED[:place] + SEALED[place + 1 :] for place in range(len(SEALED))]
    cut = [SEALED[:length] for length in range(len(SEALED))]
    longer = [SEALED + char for char in "A=\n "] + [char + SEALED for char in "A=\n "]

    for garbled in {*shorter, *cut, *longer} - {SEALED}:
        with pytest.raises(ValidationFailure):
            opened(garbled)


@given(st.text(max_size=80) | st.sampled_from(["abc", "-1", str(10**30), "[]", "null", "W10", "MQ", "e30"]))
def test_any_other_text_is_refused(text: str) -> None:
    if text != SEALED:
        with pytest.raises(ValidationFailure, match="is not a cursor"):
            opened(text)


@pytest.mark.parametrize(
    "text", ["[" * 400, '["v"]', '{"a":1}', '"text"', "NaN", '["v","a",' + "9" * 5_000 + "]", '["\\ud800","x"]']
)
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(ValidationFailure, match="is not a cursor"):
        opened(as_cursor(text))


@pytest.mark.parametrize(
    ("kind", "owner"), [("w", "agent coder"), ("v", "agent other"), ("v", ""), ("", "agent coder")]
)
def test_a_cursor_of_another_kind_or_owner_is_told_apart(kind: str, owner: str) -> None:
    with pytest.raises(ValidationFailure, match="belongs to another") as failure:
        unseal(SEALED, kind, owner, shape=SHAPE)

    assert failure.value.field_errors[0].path == ("cursor",)


@pytest.mark.parametrize(
    "position",
    [
        (1.0, 1),
        (1.0, 1, "a", "b"),
        (1.0, True, "a"),
        (True, 1, "a"),
        (1.0, 1.5, "a"),
        (1.0, 2**62, "a"),
        (1.0, -(2**62), "a"),
        (float("inf"), 1, "a"),
        ("1", 1, "a"),
        (1.0, "1", "a"),
        (1.0, 1, 1),
        (1.0, 1, None),
        (1.0, 1, ["a"]),
        (),
    ],
)
def test_a_forged_position_of_a_wrong_shape_is_refused(position: tuple[Any, ...]) -> None:
    # Sealed with the real owner, as only a reader of the source can: it must still not reach the database.
    with pytest.raises(ValidationFailure, match="is not a cursor"):
        opened(seal("v", "agent coder", *position))


def test_a_list_is_the_same_whatever_the_page_and_another_with_other_filters() -> None:
    plain = list_identity(DefinitionQuery())

    assert list_identity(DefinitionQuery(limit=3, offset=7, cursor="x")) == plain
    assert list_identity(DefinitionQuery(kind="agent")) != plain
    assert list_identity(DefinitionQuery(search="x")) != list_identity(DefinitionQuery(search="y"))
    assert list_identity(DefinitionQuery(deleted=True)) != plain
    assert list_identity(VersionQuery(limit=1)) == list_identity(VersionQuery())


def test_a_fault_of_a_cursor_names_the_field() -> None:
    (failure,) = cursor_fault("points past the end").field_errors

    assert (failure.path, failure.code, failure.message) == (("cursor",), "cursor", "points past the end")
