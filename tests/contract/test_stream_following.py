"""Following a stream over broken connections: each frame exactly once."""

from contextlib import aclosing
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.client import RemoteStudio
from contract.errors import (
    NotFound,
    RequestRefused,
    StateUnavailable,
    StudioError,
    ValidationFailure,
)
from contract.events import (
    DoneFrame,
    ErrorFrame,
    HeartbeatFrame,
    MessageView,
    ShutdownFrame,
    SignalView,
    StreamFrame,
    TruncatedFrame,
)
from contract.http_exchange import STREAM_SILENCE_SECONDS
from contract.limits import HEARTBEAT_SECONDS
from contract.sse_parsing import EVENT_STREAM_BUFFER_MAX_BYTES
from contract.stream_following import BACK_OFF_SECONDS, OPENINGS_MAX, RECONNECTS_MAX
from tests.fakes.daemons import URL, Connection, ScriptedDaemon, refusing, wire

DONE = DoneFrame(status="completed")
SHUTDOWN = ShutdownFrame()
RETRYABLE = ErrorFrame(code="state_unavailable", retryable=True)


def message(seq: int) -> MessageView:
    return MessageView(seq=seq, branch="main", role="user", content=f"m{seq}", recorded_at=1.0)


def cursors(frames: list[StreamFrame]) -> list[str]:
    return [frame.cursor for frame in frames]


async def test_frames_come_in_order_with_their_cursors_and_done_is_the_last() -> None:
    beat = HeartbeatFrame()
    daemon = ScriptedDaemon(Connection(wire(1, message(1)), wire(1, beat), wire(1, DONE), wire(2, message(2))))

    frames = await daemon.follow()

    assert frames == [
        StreamFrame(cursor="1", payload=message(1)),
        StreamFrame(cursor="1", payload=beat),
        StreamFrame(cursor="1", payload=DONE),
    ]
    assert daemon.waits == []


async def test_signals_have_their_own_route() -> None:
    signal = SignalView(seq=1, kind="NodeStarted", branch="main", recorded_at=1.0)
    daemon = ScriptedDaemon(Connection(wire(1, signal), wire(1, DONE)))

    async with RemoteStudio(URL, transport=httpx.MockTransport(daemon)) as studio:
        frames = [frame async for frame in studio.stream_signals("r 1", None)]

    assert frames[0].payload == signal
    assert daemon.requests[0].url.raw_path == b"/api/v1/runs/r%201/signals"
    assert daemon.requests[0].headers["accept"] == "text/event-stream"


async def test_the_caller_s_cursor_goes_as_a_query_until_a_frame_gives_a_newer_one() -> None:
    daemon = ScriptedDaemon(Connection(), Connection(wire(8, message(8))), Connection(wire(8, DONE)))

    await daemon.follow("a&b 7é")

    assert [request.url.params.get("cursor") for request in daemon.requests] == ["a&b 7é", "a&b 7é", None]
    assert daemon.resumed_from == [None, None, "8"]


BREAKS = {
    "end of the body": [],
    "network error": [httpx.ReadError("reset")],
    "silence": [httpx.ReadTimeout("")],
    "half an answer": [httpx.RemoteProtocolError("incomplete chunked read")],
    "shutdown": [wire(1, SHUTDOWN)],
    "truncated": [wire(1, TruncatedFrame(cursor="1"))],
    "retryable error": [wire(1, RETRYABLE)],
    "half an event": [wire(2, message(2))[:-1]],
    "half a line": [wire(2, message(2))[:20]],
}


@pytest.mark.parametrize("broken", BREAKS.values(), ids=BREAKS.keys())
async def test_a_broken_connection_is_resumed_after_the_last_whole_frame(
    broken: list[bytes | httpx.HTTPError],
) -> None:
    daemon = ScriptedDaemon(Connection(wire(1, message(1)), *broken), Connection(wire(2, message(2)), wire(2, DONE)))

    frames = await daemon.follow()

    assert [frame.payload for frame in frames] == [message(1), message(2), DONE]
    assert daemon.resumed_from == [None, "1"]
    assert daemon.waits == [BACK_OFF_SECONDS[0]]


async def test_truncated_says_itself_where_to_resume() -> None:
    daemon = ScriptedDaemon(Connection(wire(9, TruncatedFrame(cursor="5"))), Connection(wire(9, DONE)))

    await daemon.follow()

    assert daemon.resumed_from == [None, "5"]


async def test_a_frame_without_an_id_keeps_the_position() -> None:
    without_id = f"data: {SHUTDOWN.model_dump_json()}\n\n".encode()
    daemon = ScriptedDaemon(Connection(wire(4, message(4))), Connection(without_id), Connection(wire(4, DONE)))

    await daemon.follow()

    assert daemon.resumed_from == [None, "4", "4"]


class RecordedRun:
    """A daemon with a log of messages: serves what is after the cursor, cuts each connection at a byte."""

    def __init__(self, total: int, cuts: list[int]) -> None:
        self.total = total
        self.cuts = cuts
        self.connections = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        after = int(request.headers.get("last-event-id", "0"))
        body = b"".join(wire(seq, message(seq)) for seq in range(after + 1, self.total + 1))
        body += wire(self.total, DONE)
        if self.connections < len(self.cuts):
            body = body[: self.cuts[self.connections]]
        self.connections += 1
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=body)


@given(st.lists(st.integers(0, 900), max_size=10))
async def test_no_frame_is_lost_or_repeated_wherever_connections_are_cut(cuts: list[int]) -> None:
    daemon = RecordedRun(total=4, cuts=cuts)
    waits: list[float] = []

    async def wait(seconds: float) -> None:
        waits.append(seconds)

    async with RemoteStudio(URL, transport=httpx.MockTransport(daemon), sleep=wait) as studio:
        frames = [frame async for frame in studio.stream_messages("r1", None)]

    assert [frame.payload for frame in frames] == [*(message(seq) for seq in range(1, 5)), DONE]
    assert len(waits) == daemon.connections - 1


async def test_waiting_grows_to_its_bound_and_ends_in_state_unavailable() -> None:
    daemon = ScriptedDaemon(refusing(StateUnavailable(retryable=True, detail="starting"), 503))

    with pytest.raises(StateUnavailable, match="starting") as failure:
        await daemon.follow()

    assert failure.value.retryable
    assert len(daemon.requests) == RECONNECTS_MAX
    assert daemon.waits[:6] == [0.25, 0.5, 1.0, 2.0, 5.0, 5.0]
    assert 50 < sum(daemon.waits) < 70


async def test_a_daemon_that_never_answered_is_given_up_soon() -> None:
    daemon = ScriptedDaemon(Connection(httpx.ConnectError("refused")))

    with pytest.raises(StateUnavailable, match="studio serve"):
        await daemon.follow()

    assert len(daemon.requests) == OPENINGS_MAX
    assert sum(daemon.waits) < 4


async def test_a_daemon_that_answered_once_is_waited_for_at_length() -> None:
    daemon = ScriptedDaemon(Connection(wire(1, message(1))), Connection(httpx.ConnectError("refused")))

    with pytest.raises(StateUnavailable):
        await daemon.follow()

    assert len(daemon.requests) == RECONNECTS_MAX


async def test_progress_begins_the_count_anew() -> None:
    one_by_one = [Connection(wire(seq, message(seq))) for seq in range(1, 2 * RECONNECTS_MAX)]
    daemon = ScriptedDaemon(*one_by_one, Connection(wire(99, DONE)))

    frames = await daemon.follow()

    assert cursors(frames) == [*(str(seq) for seq in range(1, 2 * RECONNECTS_MAX)), "99"]
    assert set(daemon.waits) == {BACK_OFF_SECONDS[0]}


@pytest.mark.parametrize("frame", [SHUTDOWN, RETRYABLE, TruncatedFrame(cursor="1")], ids=lambda frame: frame.type)
async def test_a_stream_that_only_ever_ends_is_no_progress(frame: Any) -> None:
    daemon = ScriptedDaemon(Connection(wire(1, frame)))

    with pytest.raises(StateUnavailable):
        await daemon.follow()

    assert len(daemon.requests) == RECONNECTS_MAX


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NotFound("run", "r1"), 404),
        (ValidationFailure.at("cursor", code="cursor", message="is of another run"), 422),
        (RequestRefused("unauthorized", "no token"), 401),
    ],
    ids=["404", "422", "401"],
)
@pytest.mark.parametrize("before", [[], [Connection(wire(1, message(1)))]], ids=["at once", "when resuming"])
async def test_a_refusal_is_raised(error: StudioError, status: int, before: list[Connection]) -> None:
    daemon = ScriptedDaemon(*before, refusing(error, status))

    with pytest.raises(type(error)) as failure:
        await daemon.follow()

    assert failure.value.body() == error.body()
    assert len(daemon.requests) == len(before) + 1


async def test_an_error_that_is_not_retryable_is_the_last_frame() -> None:
    error = ErrorFrame(code="internal", retryable=False)
    daemon = ScriptedDaemon(Connection(wire(1, error)))

    frames = await daemon.follow()

    assert [frame.payload for frame in frames] == [error]
    assert len(daemon.requests) == 1


async def test_a_frame_of_an_unknown_type_is_skipped_but_moves_the_position() -> None:
    daemon = ScriptedDaemon(Connection(b'id: 3\ndata: {"type":"invented","x":1}\n\n'), Connection(wire(3, DONE)))

    frames = await daemon.follow()

    assert [frame.payload for frame in frames] == [DONE]
    assert daemon.resumed_from == [None, "3"]


async def test_fields_that_a_newer_daemon_added_to_a_frame_are_ignored() -> None:
    daemon = ScriptedDaemon(Connection(b'id: 3\ndata: {"type":"done","status":"failed","added":1}\n\n'))

    frames = await daemon.follow()

    assert frames == [StreamFrame(cursor="3", payload=DoneFrame(status="failed"))]


@pytest.mark.parametrize(
    "foreign",
    [
        Connection(b"<html>", media_type="text/html"),
        Connection(b"data: hello\n\n"),
        Connection(b'data: {"type":"message"}\n\n'),
        Connection("id: é\n".encode() + wire(1, DONE)[6:]),
        Connection(b"data: " + b"x" * (EVENT_STREAM_BUFFER_MAX_BYTES + 1)),
        Connection(b"", status=302),
        Connection(b"<html>", status=403, media_type="text/html"),
        Connection(httpx.DecodingError("gzip")),
    ],
    ids=["html", "text", "no frame", "cursor", "endless", "redirect", "403", "gzip"],
)
async def test_a_stream_that_is_not_the_contract_s_is_refused_and_names_the_url(foreign: Connection) -> None:
    daemon = ScriptedDaemon(foreign)

    with pytest.raises(RequestRefused, match=URL) as failure:
        await daemon.follow()

    assert failure.value.code == "internal"


async def test_a_cursor_that_no_url_can_carry_is_refused_before_asking() -> None:
    daemon = ScriptedDaemon(Connection())

    with pytest.raises(ValidationFailure) as failure:
        await daemon.follow("\ud800")

    assert failure.value.field_errors[0].path == ("cursor",)
    assert daemon.requests == []


async def test_a_run_id_that_no_path_can_carry_is_not_found() -> None:
    daemon = ScriptedDaemon(Connection())

    with pytest.raises(NotFound):
        await daemon.follow(run_id="..")


async def test_leaving_the_stream_early_closes_its_connection() -> None:
    connection = Connection(wire(1, message(1)), wire(2, message(2)))
    daemon = ScriptedDaemon(connection)

    async with RemoteStudio(URL, transport=httpx.MockTransport(daemon)) as studio:
        stream: Any = studio.stream_messages("r1", None)
        async with aclosing(stream):
            await anext(stream)

    assert connection.closed


async def test_four_silent_heartbeats_are_the_read_timeout() -> None:
    daemon = ScriptedDaemon(Connection(wire(1, DONE)))

    await daemon.follow()

    assert daemon.requests[0].extensions["timeout"]["read"] == STREAM_SILENCE_SECONDS == 4 * HEARTBEAT_SECONDS
