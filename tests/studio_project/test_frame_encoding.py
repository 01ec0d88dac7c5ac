import gc

from contract.events import HeartbeatFrame
from contract.sse_parsing import EventStreamParser
from studio_project.frame_encoding import FrameEncoder, encode
from studio_project.pieces import PIECE_BYTES
from tests.studio_project.scripted import message


def test_viewers_of_one_entry_share_its_bytes_for_as_long_as_one_sends_them() -> None:
    encoder, frame = FrameEncoder(), message(1)

    one, other = (encoder.encoded(frame.cursor, frame.payload) for _ in range(2))
    first = id(one)

    assert one is other
    del one
    assert id(encoder.encoded(frame.cursor, frame.payload)) == first


def test_nothing_is_kept_of_what_nobody_sends() -> None:
    encoder, frame = FrameEncoder(), message(1)
    encoder.encoded(frame.cursor, frame.payload)
    gc.collect()

    assert len(encoder) == 0


def test_equal_entries_at_other_positions_are_other_frames() -> None:
    encoder, frame = FrameEncoder(), message(1)

    here, there = encoder.encoded("c1", frame.payload), encoder.encoded("c2", frame.payload)

    assert here.pieces != there.pieces


def test_the_pieces_of_a_frame_are_the_frame() -> None:
    frame = message(1, "\u20ac" * PIECE_BYTES)

    pieces = FrameEncoder().encoded(frame.cursor, frame.payload).pieces

    assert b"".join(pieces) == encode(frame.cursor, frame.payload)
    assert max(map(len, pieces)) == PIECE_BYTES


def test_a_frame_is_an_id_line_and_one_data_line_ended_by_plain_line_feeds() -> None:
    frame = encode("c1", HeartbeatFrame())

    assert frame == b'id: c1\ndata: {"type":"heartbeat"}\n\n'


def test_a_frame_without_a_position_leaves_the_last_one_alone() -> None:
    assert encode(None, HeartbeatFrame()) == b'data: {"type":"heartbeat"}\n\n'


def test_no_content_can_break_a_frame() -> None:
    hostile = message(1, "a\r\nb\n\ndata: x\rid: y\u2028\u0085\n\nend")

    (event,) = EventStreamParser().feed(encode(hostile.cursor, hostile.payload))

    assert event.id == "c1"
    assert hostile.payload.model_validate_json(event.data) == hostile.payload
