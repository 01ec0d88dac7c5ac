"""The event-stream parser: one event list for one byte stream, however it was cut."""

import asyncio
import itertools
from collections.abc import AsyncIterator

import httpx
import pytest
from httpx_sse import EventSource
from hypothesis import example, given
from hypothesis import strategies as st

from contract.sse_parsing import EVENT_STREAM_BUFFER_MAX_BYTES, EventStreamParser, EventTooLarge, ServerEvent


def event(data: str, cursor: str = "", name: str = "message") -> ServerEvent:
    return ServerEvent(data=data, event=name, id=cursor)


def parsed(*chunks: bytes) -> list[ServerEvent]:
    parser = EventStreamParser()
    return [found for chunk in chunks for found in parser.feed(chunk)]


RECORDED = (
    "\ufeff: welcome\n\n"
    'id: 1\ndata: {"text":"größer als 漢字 🎈"}\n\n'
    "data:x\nid: 2\n\n"
    "data: x\n\n"
    "data\n\n"
    "data\ndata\n\n"
    "retry: abc\n\n"
    "retry: 10\nid: 3\n\n"
    "event: special\ndata: one\ndata:  two\n\n"
    "unknown: field\nnocolon\ndata: a\u2028b\u2029c\x85d\x0be\n\n"
    "id: bad\0id\ndata: after a NUL id\n\n"
    "event: dropped\n\n"
    "id\ndata: id reset\n\n"
    "data: never ended\nid: 9\n"
)
EXPECTED = [
    event('{"text":"größer als 漢字 🎈"}', "1"),
    event("x", "2"),
    event("x", "2"),
    event("", "2"),
    event("\n", "2"),
    event("one\n two", "3", "special"),
    event("a\u2028b\u2029c\x85d\x0be", "3"),
    event("after a NUL id", "3"),
    event("id reset", ""),
]
LINE_ENDS = pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])


@LINE_ENDS
def test_the_whole_stream_at_once_gives_the_standard_s_events(line_end: str) -> None:
    stream = RECORDED.replace("\n", line_end).encode()

    assert parsed(stream) == EXPECTED


@LINE_ENDS
def test_pieces_of_one_byte_give_the_same_events(line_end: str) -> None:
    stream = RECORDED.replace("\n", line_end).encode()

    assert parsed(*(stream[at : at + 1] for at in range(len(stream)))) == EXPECTED


@LINE_ENDS
def test_every_cut_into_two_pieces_gives_the_same_events(line_end: str) -> None:
    stream = RECORDED.replace("\n", line_end).encode()

    for cut in range(len(stream) + 1):
        assert parsed(stream[:cut], stream[cut:]) == EXPECTED


@given(st.sampled_from(["\n", "\r\n", "\r"]), st.lists(st.integers(0, 600)))
def test_random_cuts_give_the_same_events(line_end: str, cuts: list[int]) -> None:
    stream = RECORDED.replace("\n", line_end).encode()
    places = [0, *sorted(cuts), len(stream)]

    chunks = [stream[start:end] for start, end in itertools.pairwise(places)]

    assert parsed(*chunks) == EXPECTED


@given(st.binary(max_size=200), st.integers(0, 200))
@example(b"data: x\r", 8)
@example(b"\xef\xbb\xbfdata: x\n\n", 2)
def test_no_bytes_raise_and_no_cut_matters(stream: bytes, cut: int) -> None:
    assert parsed(stream) == parsed(stream[:cut], stream[cut:])


def test_an_event_ended_by_lone_carriage_returns_is_dispatched_at_once() -> None:
    assert parsed(b"data: x\r\r") == [event("x")]


def test_a_line_feed_after_a_carriage_return_of_an_earlier_piece_ends_no_second_line() -> None:
    assert parsed(b"data: a\r", b"\ndata: b\r", b"", b"\n\r", b"\n") == [event("a\nb")]


def test_mixed_line_ends_are_all_line_ends() -> None:
    assert parsed(b"data: a\rdata: b\ndata: c\r\n\n") == [event("a\nb\nc")]


def test_a_byte_order_mark_is_dropped_only_at_the_start() -> None:
    mark = "\ufeff".encode()

    assert parsed(mark + b"data: a\n\n" + mark + b"data: b\n\n") == [event("a")]


def test_broken_utf8_becomes_replacement_characters() -> None:
    assert parsed(b"data: \xff\xe4\n\n") == [event("��")]


def test_an_event_over_the_bound_is_refused_while_its_line_still_grows() -> None:
    parser = EventStreamParser()
    piece = b"data: " + b"x" * (EVENT_STREAM_BUFFER_MAX_BYTES // 2)

    parser.feed(piece)
    with pytest.raises(EventTooLarge):
        parser.feed(piece)


def test_an_event_over_the_bound_is_refused_however_short_its_lines() -> None:
    parser = EventStreamParser()
    lines = b"data: " + b"x" * (EVENT_STREAM_BUFFER_MAX_BYTES // 4) + b"\n"

    for _ in range(4):
        parser.feed(lines)
    with pytest.raises(EventTooLarge):
        parser.feed(lines)


def test_many_events_together_may_be_over_the_bound() -> None:
    parser = EventStreamParser()
    one = b"data: " + b"x" * (EVENT_STREAM_BUFFER_MAX_BYTES // 2) + b"\n\n"

    assert sum(len(parser.feed(one)) for _ in range(4)) == 4


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=30)))
def test_httpx_sse_reads_the_same_events_where_it_follows_the_standard(texts: list[str]) -> None:
    stream = "".join(f"id: {number}\ndata: {text}\n\n" for number, text in enumerate(texts)).encode()

    async def pieces() -> AsyncIterator[bytes]:
        yield stream

    async def read() -> list[tuple[str, str, str]]:
        response = httpx.Response(200, headers={"content-type": "text/event-stream"}, content=pieces())
        return [(found.data, found.event, found.id) async for found in EventSource(response).aiter_sse()]

    assert asyncio.run(read()) == [(found.data, found.event, found.id) for found in parsed(stream)]
