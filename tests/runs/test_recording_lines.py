"""Lines to events to batches: numbers, ids, bounds."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.errors import ValidationFailure
from contract.events import MessageEvent, RecordEvents, SignalEvent, UsageEvent
from contract.limits import BODY_MAX_BYTES, EVENT_MAX_BYTES
from runs.recording_lines import (
    BATCH_MAX_BYTES,
    Batch,
    LineSplitter,
    NumberedLine,
    SizedEvent,
    line_event_id,
    read_event,
)


def lines_of(*chunks: bytes, line_max_bytes: int = 1_000) -> list[tuple[int, bytes]]:
    splitter = LineSplitter(line_max_bytes=line_max_bytes)
    found = [line for chunk in chunks for line in splitter.feed(chunk)]
    return [(line.number, line.raw) for line in (*found, *splitter.end())]


def line(event: Any, number: int = 1) -> NumberedLine:
    return NumberedLine(number, json.dumps(event).encode())


def sized(size_bytes: int) -> SizedEvent:
    return SizedEvent(UsageEvent(input_tokens=1), size_bytes)


# Lines ------------------------------------------------------------------------------------------------------


def test_lines_are_numbered_and_blank_ones_are_counted() -> None:
    assert lines_of(b"a\n\n  \r\n\tb\r\nc") == [(1, b"a"), (4, b"b"), (5, b"c")]


def test_an_input_of_nothing_has_no_lines() -> None:
    assert lines_of() == lines_of(b"") == lines_of(b"\n\n") == lines_of(b"  ") == []


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    assert lines_of(b"\xef\xbb\xbfa\n\xef\xbb\xbfb") == [(1, b"a"), (2, b"\xef\xbb\xbfb")]


@given(st.lists(st.sampled_from([b"a", b"bb", b"\n", b"\r\n", b" "])), st.lists(st.integers(0, 60)))
def test_it_does_not_matter_where_the_pieces_are_cut(parts: list[bytes], cuts: list[int]) -> None:
    text = b"".join(parts)
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})

    pieces = [text[start:end] for start, end in pairwise(places)]

    assert lines_of(*pieces) == lines_of(text)


def test_a_line_over_the_bound_is_refused_while_it_grows() -> None:
    splitter = LineSplitter(line_max_bytes=10)
    list(splitter.feed(b"ok\n12345"))

    with pytest.raises(ValidationFailure) as failure:
        list(splitter.feed(b"678901"))

    assert failure.value.field_errors[0].path == ("line 2",)


def test_a_line_at_the_bound_is_read() -> None:
    assert lines_of(b"1234567890\n", line_max_bytes=10) == [(1, b"1234567890")]


# Events -----------------------------------------------------------------------------------------------------


def test_a_line_is_an_event_with_an_id_of_its_number_and_content() -> None:
    raw = line({"type": "message", "role": "user", "content": "hi"}, number=7)

    event = read_event(raw).event

    assert event == MessageEvent(role="user", content="hi", event_id=line_event_id(raw), size_bytes=2)
    assert line_event_id(raw).startswith("line-7-")


def test_the_id_is_the_same_each_time_and_another_for_another_line() -> None:
    same = {line_event_id(NumberedLine(1, b"{}")), line_event_id(NumberedLine(1, b"{}"))}
    others = {line_event_id(NumberedLine(2, b"{}")), line_event_id(NumberedLine(1, b"[]"))}

    assert len(same) == 1
    assert len(same | others) == 3


def test_an_id_of_the_producer_is_kept() -> None:
    assert read_event(line({"type": "usage", "event_id": "mine"})).event.event_id == "mine"


@pytest.mark.parametrize(
    ("raw", "path", "code"),
    [
        (b"{", ("line 3",), "json"),
        (b"\xff", ("line 3",), "json"),
        (b'{"a":1,"a":2}', ("line 3",), "json"),
        (b"[]", ("line 3",), "type"),
        (b"5", ("line 3",), "type"),
        (b"{}", ("line 3",), "union_tag_not_found"),
        (b'{"type":"start"}', ("line 3",), "union_tag_invalid"),
        (b'{"type":"usage","at":"x"}', ("line 3", "at"), "float_type"),
        (b'{"type":"artifact","kind":"k","name":"n","path":"/x"}', ("line 3", "path"), "path"),
    ],
    ids=repr,
)
def test_a_bad_line_is_named_by_its_number(raw: bytes, path: tuple[str, ...], code: str) -> None:
    with pytest.raises(ValidationFailure) as failure:
        read_event(NumberedLine(3, raw))

    assert [(found.path, found.code) for found in failure.value.field_errors] == [(path, code)]


def test_the_size_is_that_of_the_event_s_json() -> None:
    event = read_event(line({"type": "message", "role": "user", "content": "größer"}))

    assert event.size_bytes == len(event.event.model_dump_json().encode())


@pytest.mark.parametrize("body", ["\x01" * (EVENT_MAX_BYTES - 1), ["\x01" * (EVENT_MAX_BYTES // 7)] * 6])
@pytest.mark.parametrize("kind", ["message", "signal"])
def test_a_body_that_no_request_can_carry_is_withheld_with_its_size(kind: str, body: Any) -> None:
    key = "content" if kind == "message" else "payload"
    named = {"role": "tool"} if kind == "message" else {"kind": "Note"}

    event = read_event(line({"type": kind, key: body, **named}))

    kept = event.event
    assert isinstance(kept, MessageEvent | SignalEvent)
    assert kept.withheld
    assert kept.size_bytes is not None
    assert kept.size_bytes > len(str(getattr(kept, key)))
    assert event.size_bytes <= BATCH_MAX_BYTES


def test_any_event_alone_fits_a_request() -> None:
    escapes = read_event(line({"type": "message", "role": "tool", "content": "\x01" * (5 * EVENT_MAX_BYTES)}))

    assert len(RecordEvents(events=(escapes.event,)).model_dump_json()) < BODY_MAX_BYTES


# Batches ----------------------------------------------------------------------------------------------------


def test_a_batch_is_full_at_its_number_of_events() -> None:
    batch = Batch(2)

    batch.add(sized(1))
    room_for_second = batch.has_room(sized(1)) and not batch.is_full
    batch.add(sized(1))

    assert room_for_second
    assert batch.is_full
    assert not batch.has_room(sized(1))


def test_a_batch_is_cut_before_the_bound_of_a_body() -> None:
    batch = Batch(100)

    batch.add(sized(BATCH_MAX_BYTES - 5))

    assert batch.has_room(sized(5))
    assert not batch.has_room(sized(6))
    assert not batch.is_full


def test_an_empty_batch_takes_any_event() -> None:
    batch = Batch(100)

    assert batch.has_room(sized(BATCH_MAX_BYTES + 1))
    batch.add(sized(BATCH_MAX_BYTES + 1))
    assert batch.is_full


def test_taking_a_batch_begins_a_new_one() -> None:
    batch = Batch(1)
    batch.add(sized(BATCH_MAX_BYTES))

    command = batch.take()

    assert command == RecordEvents(events=(UsageEvent(input_tokens=1),))
    assert len(batch) == 0
    assert batch.has_room(sized(BATCH_MAX_BYTES))
