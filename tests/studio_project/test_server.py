"""The server on a real socket: what the wire shows, and what a client that does not read costs."""

import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from typing import Final, cast

import pytest

from contract.events import StreamFrame
from contract.limits import BODY_MAX_BYTES
from studio_project.composition import Studio, set_studio
from studio_project.connection import StudioChannel
from studio_project.pieces import PIECE_BYTES
from studio_project.sse import StreamConsumer
from tests.studio_project.live_server import LiveServer, is_closed, read_answer
from tests.studio_project.scripted import ScriptedStudio, message

FRAME_CHARS: Final = 1_000_000
# Head of an answer and framing of a chunk.
_AROUND_BYTES: Final = 1_000
# More than the buffers of two kernels and the server hold together, far less than an unheld stream would write.
HELD_BYTES: Final = 20_000_000
GET = b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST_HEAD = b"POST /api/v1/runs/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


class EndlessStudio(ScriptedStudio):
    """Every stream goes on for as long as somebody takes its frames."""

    produced = 0

    def stream_messages(self, run_id: str, cursor: str | None) -> AsyncIterator[StreamFrame]:
        return self._endless()

    async def _endless(self) -> AsyncIterator[StreamFrame]:
        self.open_streams += 1
        try:
            while True:
                self.produced += 1
                yield message(self.produced, "x" * FRAME_CHARS)
        finally:
            self.open_streams -= 1


@pytest.fixture(scope="session")
def live() -> Iterator[LiveServer]:
    server = LiveServer().start()
    yield server
    server.stop()


@pytest.fixture
def endless(studio: ScriptedStudio) -> EndlessStudio:
    endless = EndlessStudio()
    set_studio(cast("Studio", endless))
    return endless


def channels(live: LiveServer) -> list[StudioChannel]:
    return list(live.server.http_factory.channels)


# ---- the wire


def test_one_connection_serves_one_request_after_the_other(live: LiveServer, studio: ScriptedStudio) -> None:
    with live.connect() as client:
        for path in (b"/health", b"/api/v1/runs/", b"/nowhere", b"/api/v1/runs/r1"):
            client.sendall(GET % path)
            assert read_answer(client).status in (200, 404)


def test_the_server_does_not_say_what_it_is(live: LiveServer, studio: ScriptedStudio) -> None:
    assert "server" not in live.say(GET % b"/health").headers


@pytest.mark.parametrize(
    "raw",
    [
        b"GARBAGE\r\n\r\n",
        b"GET / HTTP/3.0\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost localhost\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: a\x0bb\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX y: z\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + b"9" * 5_000 + b"\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST /health HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 20_000 + b"\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"X: a\r\n" * 600 + b"\r\n",
        b"GET /\xa9 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /?\xa9 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /health HTTP/1.0\r\n\r\n",
    ],
    ids=range(20),
)
def test_what_is_not_http_is_refused_in_json(live: LiveServer, studio: ScriptedStudio, raw: bytes) -> None:
    answer = live.say(raw)

    assert answer.status == 400
    assert answer.json["code"] in ("bad_request", "invalid_host")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_an_upgrade_is_ignored_so_that_every_request_is_judged_as_http(
    live: LiveServer, studio: ScriptedStudio
) -> None:
    handshake = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n"

    here = live.say(b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + handshake + b"\r\n")
    rebound = live.say(b"GET /health HTTP/1.1\r\nHost: evil.example\r\n" + handshake + b"\r\n")

    assert here.status == 200
    assert rebound.json["code"] == "invalid_host"


@pytest.mark.parametrize("prefix", [b"/evil", b"\xff"])
def test_a_client_cannot_move_the_routes(live: LiveServer, studio: ScriptedStudio, prefix: bytes) -> None:
    answer = live.say(b"GET /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nDaphne-Root-Path: " + prefix + b"\r\n\r\n")

    assert answer.status == 308
    assert answer.headers["location"] == "/api/v1/runs/"


# ---- bodies


def test_an_announced_body_over_the_limit_is_refused_before_it_is_asked_for(
    live: LiveServer, studio: ScriptedStudio
) -> None:
    announced = b"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n" % (BODY_MAX_BYTES + 1)

    with live.connect() as client:
        client.sendall(POST_HEAD + announced)
        answer = read_answer(client)

        assert (answer.status, answer.json["code"]) == (413, "payload_too_large")
        assert answer.headers["connection"] == "close"
        assert is_closed(client)


def test_a_client_that_sends_on_regardless_still_reads_why_it_was_refused(
    live: LiveServer, studio: ScriptedStudio
) -> None:
    size = 2 * BODY_MAX_BYTES

    with live.connect() as client:
        client.sendall(POST_HEAD + b"Content-Length: %d\r\n\r\n" % size)
        client.sendall(b"x" * size)

        assert read_answer(client).json["code"] == "payload_too_large"


def test_a_chunked_body_is_refused_when_it_grows_over_the_limit(live: LiveServer, studio: ScriptedStudio) -> None:
    chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"

    with live.connect() as client:
        client.sendall(POST_HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * (BODY_MAX_BYTES // 65_536 + 1))

        assert read_answer(client).json["code"] == "payload_too_large"


def test_a_body_within_the_limit_is_taken_whole(live: LiveServer, studio: ScriptedStudio) -> None:
    body = b'{"run_id": "whole"}'.ljust(BODY_MAX_BYTES)

    answer = live.say(POST_HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    assert answer.status == 201
    assert "whole" in studio.runs


# ---- streams, and clients that do not read


def test_a_client_that_never_reads_holds_its_stream_and_not_the_memory(
    live: LiveServer, endless: EndlessStudio
) -> None:
    with live.connect(receive_buffer_bytes=4_096) as client:
        client.sendall(GET % b"/api/v1/runs/r1/stream")
        live.until(settled(live, endless))

        held = live.look(lambda: endless.produced)
        (waiting,) = live.look(lambda: [_buffered(channel) for channel in channels(live)])

        assert held * FRAME_CHARS < HELD_BYTES
        assert waiting < PIECE_BYTES + _AROUND_BYTES


def test_many_clients_that_never_read_hold_one_copy_of_a_frame(live: LiveServer, studio: ScriptedStudio) -> None:
    studio.frames = tuple(message(seq, "x" * FRAME_CHARS) for seq in range(1, 40))
    before = live.look(lambda: len(StreamConsumer.encoder))
    with ExitStack() as clients:
        for _ in range(20):
            client = clients.enter_context(live.connect(receive_buffer_bytes=4_096))
            client.sendall(GET % b"/api/v1/runs/r1/stream")
        live.until(lambda: len(channels(live)) == 20 and all(channel.is_stalled for channel in channels(live)))

        encoded = live.look(lambda: len(StreamConsumer.encoder)) - before
        waiting = live.look(lambda: max(_buffered(channel) for channel in channels(live)))

    live.until(lambda: studio.open_streams == 0 and len(StreamConsumer.encoder) == before)
    assert encoded < 10, "viewers stand at the few frames that their kernels' buffers differ by"
    assert waiting < PIECE_BYTES + _AROUND_BYTES


def test_the_status_line_has_the_standards_phrase(live: LiveServer, studio: ScriptedStudio) -> None:
    with live.connect() as client:
        client.sendall(GET % b"/api/v1/runs/?nope=1")
        assert client.recv(100).startswith(b"HTTP/1.1 422 Unprocessable Content\r\n")


def test_a_stream_goes_on_when_the_client_reads_again(live: LiveServer, endless: EndlessStudio) -> None:
    with live.connect(receive_buffer_bytes=4_096) as client:
        client.sendall(GET % b"/api/v1/runs/r1/stream")
        live.until(settled(live, endless))
        held = live.look(lambda: endless.produced)

        received = 0
        while received < 2 * held * FRAME_CHARS:
            received += len(client.recv(1_000_000))

        assert live.look(lambda: endless.produced) > held


def test_a_stalled_client_that_leaves_frees_everything(live: LiveServer, endless: EndlessStudio) -> None:
    client = live.connect(receive_buffer_bytes=4_096)
    client.sendall(GET % b"/api/v1/runs/r1/stream")
    live.until(settled(live, endless))

    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    client.close()  # with a reset, as a killed process leaves it

    live.until(lambda: endless.open_streams == 0 and not channels(live))


def test_readers_that_leave_free_everything(live: LiveServer, studio: ScriptedStudio) -> None:
    studio.stays_open = True
    clients = [live.connect() for _ in range(20)]
    for client in clients:
        client.sendall(GET % b"/api/v1/runs/r1/stream")
    live.until(lambda: studio.open_streams == len(clients))

    for client in clients:
        client.close()

    live.until(lambda: studio.open_streams == 0 and not channels(live))


def test_a_frame_is_on_the_wire_before_the_next_one_is_there(live: LiveServer, studio: ScriptedStudio) -> None:
    studio.frames = (message(1),)
    studio.stays_open = True

    with live.connect() as client:
        client.sendall(GET % b"/api/v1/runs/r1/stream")
        received = b""
        while b"id: c1" not in received:
            received += client.recv(65_536)

    live.until(lambda: studio.open_streams == 0)


def settled(live: LiveServer, studio: EndlessStudio) -> Callable[[], bool]:
    """Return a condition: the writer is held, and nothing was produced for many looks, as an unheld one would."""
    seen: list[int] = []

    def is_settled() -> bool:
        seen.append(studio.produced)
        return any(channel.is_stalled for channel in channels(live)) and seen[-40:].count(studio.produced) == 40

    return is_settled


def _buffered(channel: StudioChannel) -> int:
    waiting: int = len(channel.transport.dataBuffer) + channel.transport._tempDataLen
    return waiting
