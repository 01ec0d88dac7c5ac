"""The base of the contract's models: strictness, safe text, and evidence that is never refused."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from contract.base import (
    CommandJson,
    ContractModel,
    FieldFailure,
    HugeNumber,
    Identifier,
    Instant,
    Name,
    Page,
    Text,
    Token,
    Tup,
    sanitize_json,
    sanitize_text,
    unsafe_text,
)
from contract.limits import IDENTIFIER_MAX_CHARS, INSTANT_MAX, JSON_DEPTH_MAX, NAME_MAX_CHARS, SAFE_INTEGER_MAX
from contract.parsing import strict_json_loads

_REPLACED = "\ufffd"
ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=10)
EVIDENCE: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=20,
)


class Sample(ContractModel):
    number: int = 0
    ratio: float = 0.0
    flag: bool = False
    words: Tup[str] = ()
    data: bytes = b""


def nested(depth: int) -> Any:
    value: Any = "bottom"
    for _ in range(depth):
        value = [value]
    return value


def accepts(annotation: Any, value: Any) -> bool:
    try:
        TypeAdapter(annotation).validate_python(value)
    except ValidationError:
        return False
    return True


# Models -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"unknown": 1},
        {"number": True},
        {"number": 1.0},
        {"number": "1"},
        {"ratio": True},
        {"ratio": math.nan},
        {"ratio": math.inf},
        {"flag": 1},
        {"words": "abc"},
        {"words": ["a", 1]},
        {"words": None},
    ],
    ids=repr,
)
def test_nothing_is_coerced_and_nothing_unknown_is_taken(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Sample.model_validate(fields)


def test_an_integer_is_a_float_and_a_list_is_a_tuple() -> None:
    sample = Sample.model_validate({"ratio": 1, "words": ["a", "b"]})

    assert (sample.ratio, sample.words) == (1.0, ("a", "b"))


def test_a_model_is_frozen() -> None:
    with pytest.raises(ValidationError):
        Sample().number = 1  # type: ignore[misc]  # this is what is tested


@given(st.binary())
def test_bytes_travel_as_base64(data: bytes) -> None:
    sample = Sample(data=data)

    assert Sample.model_validate_json(sample.model_dump_json()) == sample


def test_a_page_is_named_after_its_items_in_the_schema() -> None:
    class Thing(BaseModel):
        name: str

    assert Page[Thing].__name__ == "ThingPage"


def test_a_path_keeps_keys_and_indexes_apart() -> None:
    failure = FieldFailure.model_validate({"path": ["a", 0, "0"], "code": "c", "message": "m"})

    assert failure.path == ("a", 0, "0")


# Commands ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("größe 漢字 🎈 \n\t\x7f", None),
        ("a\0b", "NUL"),
        ("\ud800", "lone surrogate U+D800"),
        ("\udfff", "lone surrogate U+DFFF"),
    ],
)
def test_text_of_a_command_holds_neither_nul_nor_lone_surrogates(text: str, fault: str | None) -> None:
    assert unsafe_text(text) == fault
    assert accepts(Text, text) is (fault is None)


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        (Name, ["x", "x" * NAME_MAX_CHARS], ["", "x" * (NAME_MAX_CHARS + 1), "\0"]),
        (
            Identifier,
            ["r1", "A.b_c:d-e", "x" * IDENTIFIER_MAX_CHARS],
            ["", "-x", ".x", "a/b", "a b", "é", "a\n", "x" * (IDENTIFIER_MAX_CHARS + 1)],
        ),
        (Token, ["agent", "NodeStarted", "flow_yaml", "a.b-c"], ["", "1a", "-a", "a b", "a\n", "x" * 65]),
        (Instant, [0, 0.5, INSTANT_MAX], [-1, INSTANT_MAX + 1, math.nan, True, "1"]),
    ],
    ids=["name", "identifier", "token", "instant"],
)
def test_a_field_type_takes_the_good_and_refuses_the_bad(annotation: Any, good: list[Any], bad: list[Any]) -> None:
    class Field(ContractModel):
        value: annotation

    assert [value for value in good if not accepts(Field, {"value": value})] == []
    assert [value for value in bad if accepts(Field, {"value": value})] == []


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": [1, {"b": "\0"}]}, ("a", 1, "b")),
        ({"a\0": 1}, ()),
        (["\ud800"], (0,)),
        ({"n": SAFE_INTEGER_MAX + 1}, ("n",)),
        ([-SAFE_INTEGER_MAX - 1], (0,)),
        ([HugeNumber("9" * 5_000)], (0,)),
        (nested(JSON_DEPTH_MAX + 1), (0,) * (JSON_DEPTH_MAX + 1)),
    ],
    ids=["nul", "key", "surrogate", "big", "small", "huge", "deep"],
)
def test_json_of_a_command_is_refused_at_the_place_of_its_fault(value: Any, path: tuple[str | int, ...]) -> None:
    with pytest.raises(ValidationError) as failure:
        TypeAdapter(CommandJson).validate_python(value)

    (error,) = failure.value.errors()
    assert (error["type"], error["ctx"]["path"]) == ("unsafe_json", path)


def test_json_of_a_command_up_to_the_bounds_is_taken() -> None:
    for value in (True, None, 1.5, SAFE_INTEGER_MAX, -SAFE_INTEGER_MAX, nested(JSON_DEPTH_MAX), {"a": ["x"]}):
        assert accepts(CommandJson, value)


# Evidence ---------------------------------------------------------------------------------------------------


@given(EVIDENCE)
def test_evidence_becomes_storable_json_whatever_it_holds(value: Any) -> None:
    clean, _ = sanitize_json(value)

    text = json.dumps(clean, ensure_ascii=False, allow_nan=False)
    assert "\0" not in text
    assert strict_json_loads(text.encode()) == clean


@given(EVIDENCE)
def test_what_is_clean_stays_as_it_is_and_unmarked(value: Any) -> None:
    clean, _ = sanitize_json(value)

    assert sanitize_json(clean) == (clean, False)


@given(EVIDENCE)
def test_the_mark_says_whether_anything_differs(value: Any) -> None:
    clean, changed = sanitize_json(value)

    assert changed is (json.dumps(clean) != json.dumps(value))


def test_text_keeps_its_length_where_characters_are_replaced() -> None:
    assert sanitize_text("a\0b\ud800c") == ("a�b�c", True)
    assert sanitize_text("\ud83c\udf88") == ("��", True)
    assert sanitize_text("ok") == ("ok", False)


@pytest.mark.parametrize(
    ("value", "clean"),
    [
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (HugeNumber("9" * 5_000), "9" * 5_000),
        ({1: "x"}, {"1": "x"}),
        ({"\0": 1, "\ud800": 2, _REPLACED: 3}, {_REPLACED: 1, _REPLACED * 2: 2, _REPLACED * 3: 3}),
    ],
    ids=["nan", "inf", "huge", "number-key", "colliding-keys"],
)
def test_what_json_cannot_hold_becomes_text(value: Any, clean: Any) -> None:
    assert sanitize_json(value)[0] == clean


def test_numbers_of_any_size_stay() -> None:
    assert sanitize_json([10**100, -(2**64), 1e300]) == ([10**100, -(2**64), 1e300], False)


def test_tuples_are_lists() -> None:
    assert sanitize_json((1, ("\0",))) == ([1, ["�"]], True)


def test_levels_below_the_bound_are_kept_as_their_text() -> None:
    clean, changed = sanitize_json(nested(JSON_DEPTH_MAX + 3))

    for _ in range(JSON_DEPTH_MAX):
        assert isinstance(clean, list)
        (clean,) = clean
    assert (clean, changed) == ('[[["bottom"]]]', True)
    assert sanitize_json(nested(JSON_DEPTH_MAX))[1] is False


def test_nesting_that_no_encoder_follows_is_a_fault_and_no_crash() -> None:
    with pytest.raises(PydanticCustomError) as failure:
        sanitize_json(nested(50_000))

    assert failure.value.type == "too_deep"


def test_what_is_no_json_at_all_is_refused() -> None:
    with pytest.raises(PydanticCustomError) as failure:
        sanitize_json({"a": [object()]})

    assert failure.value.type == "json_type"
