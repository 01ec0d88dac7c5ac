"""The strict parsers: what they refuse, and where they say it is."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.base import HugeNumber
from contract.diffs import DiffQuery
from contract.errors import ValidationFailure
from contract.events import RecordEvents, StatusEvent
from contract.parsing import parse_model, parse_query, strict_json_loads
from contract.runs import EvidenceRequest, RunQuery

DOCUMENTS: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=10), inner, max_size=5),
    max_leaves=20,
)


def failure_of(call: Any) -> list[tuple[tuple[str | int, ...], str]]:
    with pytest.raises(ValidationFailure) as failure:
        call()
    return [(found.path, found.code) for found in failure.value.field_errors]


# JSON text --------------------------------------------------------------------------------------------------


@given(DOCUMENTS)
def test_every_json_document_reads_back(document: Any) -> None:
    assert strict_json_loads(json.dumps(document).encode()) == document


@given(st.binary(max_size=100))
def test_any_bytes_are_a_document_or_one_failure_at_the_top(raw: bytes) -> None:
    places: list[tuple[str | int, ...]] = []
    try:
        strict_json_loads(raw)
    except ValidationFailure as failure:
        places = [found.path for found in failure.field_errors]

    assert places in ([], [()])


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "not JSON"),
        (b"{", "line 1, column 2"),
        (b"[1,]", "not JSON"),
        (b"{'a': 1}", "not JSON"),
        (b"1 2", "not JSON"),
        (b"\xff", "not UTF-8 (byte 0)"),
        ("{}".encode("utf-16"), "not UTF-8"),
        (b"\xed\xa0\x80", "not UTF-8"),
        (b"\xef\xbb\xbf{}", "not JSON"),
        (b"NaN", "NaN is not JSON"),
        (b"[-Infinity]", "-Infinity is not JSON"),
        (b"1e999", "too large"),
        (b"-1e999", "too large"),
        (b'{"a": 1, "b": 2, "a": 3}', "'a' stands twice"),
        (b'[{"x": {"\\u0061": 1, "a": 1}}]', "'a' stands twice"),
        (b"[" * 100_000, "nested too deeply"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_text_that_is_not_strict_json_is_refused_in_words(raw: bytes, words: str) -> None:
    with pytest.raises(ValidationFailure) as failure:
        strict_json_loads(raw)

    (found,) = failure.value.field_errors
    assert (found.path, found.code) == ((), "json")
    assert words in found.message


def test_a_lone_surrogate_escape_is_json_and_left_to_the_models() -> None:
    assert strict_json_loads(b'"\\ud800"') == "\ud800"


def test_an_integer_of_more_digits_than_python_converts_is_kept_as_its_digits() -> None:
    digits = "9" * 5_000

    number = strict_json_loads(digits.encode())

    assert isinstance(number, HugeNumber)
    assert number == digits


def test_an_integer_python_can_convert_stays_one() -> None:
    assert strict_json_loads(b"-" + b"9" * 4_000) == -int("9" * 4_000)


def test_small_and_negative_zero_floats_stay_finite() -> None:
    assert strict_json_loads(b"1e-999") == 0.0
    assert math.copysign(1, strict_json_loads(b"-0.0")) == -1


# Models -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "path", "code"),
    [
        ({"type": "message", "role": "user"}, ("content",), "missing"),
        ({"type": "message", "role": "boss", "content": 1}, ("role",), "literal_error"),
        ({"type": "message", "role": "user", "content": 1, "at": True}, ("at",), "float_type"),
        ({"type": "message", "role": "user", "content": 1, "extra": 1}, ("extra",), "unknown_field"),
        ({"type": "status", "status": "bogus"}, ("status",), "literal_error"),
        ({"type": "status"}, ("status",), "missing"),
        ({"type": "status", "status": "failed", "reason_code": 1}, ("reason_code",), "string_type"),
        ({"type": "branch", "branch": "b", "name": ""}, ("name",), "string_too_short"),
        ({"type": "branch", "branch": "b"}, ("name",), "missing"),
        ({"type": "branch", "branch": 5, "name": "n"}, ("branch",), "string_type"),
        ({"type": "artifact", "kind": "k", "name": "n", "path": "../x"}, ("path",), "path"),
        (
            {"type": "artifact", "kind": "k", "name": "n", "content": {"a": [1, "\0"]}},
            ("content", "a", 1),
            "unsafe_json",
        ),
        ({"type": "graph", "nodes": [{"id": "a"}, {}]}, ("nodes", 1, "id"), "missing"),
        ({"type": "graph", "edges": [{"source": "a", "target": 1}]}, ("edges", 0, "target"), "string_type"),
        ({"type": "invented"}, (), "union_tag_invalid"),
        ({}, (), "union_tag_not_found"),
        (5, (), "model_attributes_type"),
    ],
    ids=repr,
)
def test_a_fault_is_named_by_its_place_in_the_data(event: Any, path: tuple[str | int, ...], code: str) -> None:
    good = {"type": "usage"}

    faults = failure_of(lambda: parse_model(RecordEvents, {"events": [good, event]}))

    assert faults == [(("events", 1, *path), code)]


def test_a_field_of_a_model_that_is_no_union_member_keeps_its_name() -> None:
    faults = failure_of(lambda: parse_model(StatusEvent, {"type": "status", "status": "bogus"}))

    assert faults == [(("status",), "literal_error")]


def test_every_fault_is_named_once() -> None:
    faults = failure_of(lambda: parse_model(RecordEvents, {"events": [{"type": "message"}], "x": 1}))

    assert faults == [
        (("events", 0, "role"), "missing"),
        (("events", 0, "content"), "missing"),
        (("x",), "unknown_field"),
    ]


@pytest.mark.parametrize("data", [None, [], 5, "text"], ids=repr)
def test_what_is_no_object_is_refused_at_the_top(data: Any) -> None:
    assert failure_of(lambda: parse_model(RecordEvents, data)) == [((), "model_type")]


def test_an_unknown_key_is_shown_printable_and_bounded() -> None:
    ((path, code),) = failure_of(lambda: parse_model(RunQuery, {"\x1b[31m" + "x" * 500: 1}))

    (name,) = path
    assert code == "unknown_field"
    assert str(name).startswith("\\x1b[31mx")
    assert len(str(name)) < 210


# Query strings ----------------------------------------------------------------------------------------------


def test_a_query_string_becomes_typed_fields() -> None:
    query = parse_query(
        RunQuery,
        {
            "status": ["failed", "running"],
            "limit": ["5"],
            "project_is_null": ["true"],
            "started_after": ["-0.0"],
            "started_before": ["1.5e3"],
            "search": ["5"],
        },
    )

    assert query == RunQuery(
        status=("failed", "running"),
        limit=5,
        project_is_null=True,
        started_after=0.0,
        started_before=1500.0,
        search="5",
    )


@pytest.mark.parametrize(("text", "value"), [("true", True), ("1", True), ("false", False), ("0", False)])
def test_booleans_are_read_from_four_words(text: str, value: bool) -> None:
    assert parse_query(RunQuery, {"project_is_null": [text]}).project_is_null is value


@pytest.mark.parametrize(
    ("query", "path", "code"),
    [
        ({"limit": ["five"]}, ("limit",), "int_type"),
        ({"limit": ["5.0"]}, ("limit",), "int_type"),
        ({"limit": ["\u0665"]}, ("limit",), "int_type"),
        ({"limit": ["9" * 20]}, ("limit",), "int_type"),
        ({"limit": [""]}, ("limit",), "int_type"),
        ({"limit": ["0"]}, ("limit",), "greater_than_equal"),
        ({"started_after": ["nan"]}, ("started_after",), "float_type"),
        ({"started_after": ["1e999"]}, ("started_after",), "finite_number"),
        ({"project_is_null": ["yes"]}, ("project_is_null",), "bool_type"),
        ({"limit": ["1", "2"]}, ("limit",), "repeated"),
        ({"invented": ["1"]}, ("invented",), "unknown_field"),
        ({"status": ["ok", "a\0"]}, ("status", 1), "unsafe_text"),
        ({"search": ["\ud800"]}, ("search",), "unsafe_text"),
        ({"kind": ["status"], "status": ["\0"]}, ("status", 0), "unsafe_text"),
    ],
    ids=repr,
)
def test_a_faulty_parameter_is_named(query: Any, path: tuple[str | int, ...], code: str) -> None:
    assert failure_of(lambda: parse_query(RunQuery, query)) == [(path, code)]


def test_unknown_parameters_are_named_beside_the_faults_of_known_ones() -> None:
    assert failure_of(lambda: parse_query(RunQuery, {"x": ["1"], "limit": ["0"]})) == [
        (("x",), "unknown_field"),
        (("limit",), "greater_than_equal"),
    ]


def test_a_field_is_read_by_its_alias_alone() -> None:
    assert parse_query(DiffQuery, {"from": ["2"], "file": ["true"]}) == DiffQuery(from_=2, file=True)
    assert failure_of(lambda: parse_query(DiffQuery, {"from": ["-1"]})) == [(("from",), "greater_than_equal")]
    assert failure_of(lambda: parse_query(DiffQuery, {"from_": ["1"]})) == [(("from_",), "unknown_field")]


def test_what_the_path_gives_is_fixed_and_no_parameter() -> None:
    request = parse_query(EvidenceRequest, {"pane": ["signals"]}, run_id="r1")

    assert request == EvidenceRequest(run_id="r1", pane="signals")
    assert failure_of(lambda: parse_query(EvidenceRequest, {"run_id": ["r2"], "pane": ["output"]}, run_id="r1")) == [
        (("run_id",), "unknown_field")
    ]
