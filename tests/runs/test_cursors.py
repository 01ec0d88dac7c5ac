"""Opaque cursors: what was encoded comes back, and nothing else is taken for a cursor."""

import base64
import string
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.cursors import seal
from contract.errors import ValidationFailure
from contract.limits import CURSOR_MAX_CHARS
from contract.runs import EvidenceRequest, Pane, RunQuery
from runs.cursors import (
    ListPosition,
    WindowPosition,
    ahead_of_run,
    decode_evidence,
    decode_invocations,
    decode_list,
    decode_stream,
    decode_window,
    encode_evidence,
    encode_invocations,
    encode_list,
    encode_stream,
    encode_window,
)

KEYS = st.floats(min_value=0, max_value=253_402_300_799.0) | st.integers(min_value=-1, max_value=10**15)
NUMBERS = st.integers(min_value=0, max_value=2**53)
PANES: tuple[Pane, ...] = ("messages", "signals", "artifacts", "transitions", "output")


# Copies are not validated: the rules must hold for cursors that the contract's own bounds would keep out as well.
def query_with(cursor: str | None, **fields: Any) -> RunQuery:
    return RunQuery(**fields).model_copy(update={"cursor": cursor})


def request_with(cursor: str | None, run_id: str = "r", pane: Pane = "messages") -> EvidenceRequest:
    return EvidenceRequest(run_id=run_id, pane=pane).model_copy(update={"cursor": cursor})


# One good cursor of each kind, and how it is read.
KINDS: dict[str, tuple[str, Callable[[str], object]]] = {
    "list": (
        encode_list(RunQuery(), ListPosition(1_700_000_000.25, 7)),
        lambda cursor: decode_list(query_with(cursor)),
    ),
    "window": (encode_window("r", 200, WindowPosition(9, 1)), lambda cursor: decode_window(cursor, "r", 200)),
    "evidence": (encode_evidence("r", "messages", 5), lambda cursor: decode_evidence(request_with(cursor))),
    "stream": (encode_stream("r", 50), lambda cursor: decode_stream(cursor, "r")),
    "invocations": (
        encode_invocations(None, ListPosition(1_700_000_000.25, 7)),
        lambda cursor: decode_invocations(cursor, None),
    ),
}
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


@given(KEYS, NUMBERS)
def test_a_list_position_comes_back(key: float, number: int) -> None:
    cursor = encode_list(RunQuery(), ListPosition(key, number))

    assert decode_list(query_with(cursor)) == ListPosition(key, number)


@given(NUMBERS, NUMBERS)
def test_a_window_position_comes_back(seq: int, window: int) -> None:
    cursor = encode_window("r", 20, WindowPosition(seq, window))

    assert decode_window(cursor, "r", 20) == WindowPosition(seq, window)


@given(NUMBERS, st.sampled_from(PANES))
def test_an_evidence_position_comes_back(after: int, pane: Pane) -> None:
    assert decode_evidence(request_with(encode_evidence("r", pane, after), pane=pane)) == after


@given(NUMBERS, st.text(max_size=50))
def test_a_stream_position_comes_back_for_any_run_id(seq: int, run_id: str) -> None:
    assert decode_stream(encode_stream(run_id, seq), run_id) == seq


@given(KEYS, NUMBERS, st.none() | st.sampled_from(["agent", "flow"]))
def test_an_invocation_position_comes_back(key: float, number: int, kind: str | None) -> None:
    assert decode_invocations(encode_invocations(kind, ListPosition(key, number)), kind) == ListPosition(key, number)


def test_no_cursor_is_the_start() -> None:
    assert decode_list(RunQuery()) is None
    assert decode_window(None, "r", 20) is None
    assert decode_evidence(request_with(None)) == 0
    assert decode_stream(None, "r") == 0
    assert decode_stream("", "r") == 0
    assert decode_invocations(None, None) is None


@EVERY_KIND
def test_a_cursor_is_plain_url_text_within_the_bound(kind: str) -> None:
    cursor, _ = KINDS[kind]

    assert set(cursor) <= set(string.ascii_letters + string.digits + "-_")
    assert len(cursor) < CURSOR_MAX_CHARS / 2


@EVERY_KIND
def test_no_single_changed_character_gives_another_position(kind: str) -> None:
    cursor, decode = KINDS[kind]

    for place in range(len(cursor)):
        for char in "A_-9z~=é\x00":
            garbled = cursor[:place] + char + cursor[place + 1 :]
            if garbled != cursor:
                with pytest.raises(ValidationFailure):
                    decode(garbled)


@EVERY_KIND
def test_no_missing_or_added_character_gives_another_position(kind: str) -> None:
    cursor, decode = KINDS[kind]
    shorter = [cursor[:place] + cursor[place + 1 :] for place in range(len(cursor))]
    cut = [cursor[:length] for length in range(1, len(cursor))]
    longer = [cursor + char for char in "A=\n "] + [char + cursor for char in "A=\n "]

    for garbled in {*shorter, *cut, *longer} - {cursor}:
        with pytest.raises(ValidationFailure):
            decode(garbled)


@EVERY_KIND
@pytest.mark.parametrize("other", KINDS)
def test_a_cursor_of_another_kind_is_refused(kind: str, other: str) -> None:
    cursor, _ = KINDS[other]
    _, decode = KINDS[kind]

    if kind != other:
        with pytest.raises(ValidationFailure) as failure:
            decode(cursor)

        assert failure.value.field_errors[0].path == ("cursor",)


@EVERY_KIND
@given(text=st.text(max_size=80) | st.sampled_from(["abc", "-1", str(10**30), "[]", "null", "W10", "MQ", "e30"]))
def test_any_other_text_is_refused(kind: str, text: str) -> None:
    cursor, decode = KINDS[kind]

    if text not in ("", cursor):
        with pytest.raises(ValidationFailure):
            decode(text)


@EVERY_KIND
@pytest.mark.parametrize(
    "text", ["[" * 400, '["s"]', '{"a":1}', '"text"', "NaN", '["s","a",' + "9" * 5_000 + "]", '["\\ud800","x"]']
)
def test_other_json_is_refused(kind: str, text: str) -> None:
    _, decode = KINDS[kind]
    cursor = base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()

    with pytest.raises(ValidationFailure):
        decode(cursor)


@pytest.mark.parametrize(
    "fields",
    [
        {"status": ("running",)},
        {"project": "p"},
        {"project_is_null": True},
        {"tags": ("t",)},
        {"tags_match": "any"},
        {"search": "x"},
        {"sort": "cost"},
        {"started_after": 1.0},
        {"kind": "agent"},
    ],
)
def test_a_list_cursor_belongs_to_its_filters_and_sort(fields: dict[str, Any]) -> None:
    cursor = encode_list(RunQuery(), ListPosition(1.0, 1))

    with pytest.raises(ValidationFailure, match="belongs to another"):
        decode_list(query_with(cursor, **fields))


def test_a_list_cursor_serves_any_page_size() -> None:
    cursor = encode_list(RunQuery(limit=13), ListPosition(1.0, 1))

    assert decode_list(query_with(cursor, limit=500)) == ListPosition(1.0, 1)


def test_a_window_cursor_belongs_to_its_run_and_limit() -> None:
    cursor = encode_window("r", 20, WindowPosition(1, 1))

    for run_id, limit in (("r", 21), ("other", 20), ("r 2", 0)):
        with pytest.raises(ValidationFailure, match="belongs to another"):
            decode_window(cursor, run_id, limit)


def test_an_evidence_cursor_belongs_to_its_run_and_pane() -> None:
    cursor = encode_evidence("r", "messages", 1)

    for request in (request_with(cursor, run_id="other"), request_with(cursor, pane="output")):
        with pytest.raises(ValidationFailure, match="belongs to another"):
            decode_evidence(request)


def test_a_stream_cursor_belongs_to_its_run() -> None:
    with pytest.raises(ValidationFailure, match="belongs to another"):
        decode_stream(encode_stream("r", 1), "other")


def test_an_invocation_cursor_belongs_to_its_filter() -> None:
    with pytest.raises(ValidationFailure, match="belongs to another"):
        decode_invocations(encode_invocations("agent", ListPosition(1.0, 1)), None)


@pytest.mark.parametrize("position", [(1.5,), (True,), (2**62,), (-(2**62),), (1, 2), ("1",), (None,), ()])
def test_a_forged_position_of_a_wrong_shape_is_refused(position: tuple[Any, ...]) -> None:
    # Sealed with the real owner, as only a reader of the source can: it must still not reach the database.
    with pytest.raises(ValidationFailure, match="is not a cursor"):
        decode_stream(seal("s", "r", *position), "r")


def test_a_cursor_ahead_of_its_run_names_the_field() -> None:
    assert ahead_of_run().field_errors[0].path == ("cursor",)
