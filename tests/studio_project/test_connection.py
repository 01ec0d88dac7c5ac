"""One connection, over a transport in memory and a clock that the test moves."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest
from twisted.internet.error import ConnectionDone
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure

from contract.limits import BODY_MAX_BYTES
from studio_project.asgi_types import Receive, Scope, Send
from studio_project.connection import LINGER_SECONDS, STALL_SECONDS, FlowControl, StudioChannel
from studio_project.pieces import PIECE_BYTES
from studio_project.server import REQUEST_SECONDS, StudioServer

REQUEST = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
ABORT_SECONDS = StudioChannel.abortTimeout


class Wire(StringTransport):
    """A transport that keeps what is written, and says how much of it the operating system took."""

    offset = 0
    write_closed = False
    aborting = False

    @property
    def dataBuffer(self) -> bytes:  # noqa: N802 (Twisted's name)
        return bytes(self.value())

    def abortConnection(self) -> None:  # noqa: N802 (Twisted's name)
        self.aborting = True

    def loseWriteConnection(self) -> None:  # noqa: N802 (Twisted's name)
        self.write_closed = True


class Connection:
    """A channel of a server that answers nothing by itself."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.server = StudioServer(never_answers)
        self.channel: StudioChannel = self.server.http_factory.buildProtocol(None)
        self.channel.callLater = self.clock.callLater
        self.wire = Wire()
        self.channel.makeConnection(self.wire)

    @property
    def request(self) -> Any:
        return self.channel.requests[0]

    @property
    def is_cut_off(self) -> bool:
        return bool(self.wire.disconnecting or self.wire.aborting)

    def lose(self) -> None:
        self.channel.connectionLost(Failure(ConnectionDone()))


async def never_answers(scope: Scope, receive: Receive, send: Send) -> None:
    await asyncio.Event().wait()


@pytest.fixture
def connection() -> Connection:
    return Connection()


async def begun(work: Awaitable[None]) -> "asyncio.Future[None]":
    """Start some work, let it go as far as it can, and return what waits for its end."""
    waiting = asyncio.ensure_future(work)
    await asyncio.wait([waiting], timeout=0)
    return waiting


def start(connection: Connection) -> None:
    """Send a request and begin to answer it."""
    connection.channel.dataReceived(REQUEST)
    connection.request.handle_reply({"type": "http.response.start", "status": 200, "headers": []})
    connection.request.handle_reply({"type": "http.response.body", "body": b"x", "more_body": True})


# ---- time


async def test_a_silent_connection_is_closed(connection: Connection) -> None:
    connection.clock.advance(REQUEST_SECONDS)

    assert connection.is_cut_off


async def test_a_head_that_drips_in_is_no_sign_of_life(connection: Connection) -> None:
    for byte in REQUEST[:30]:
        connection.channel.dataReceived(bytes([byte]))
        connection.clock.advance(REQUEST_SECONDS / 29)

    assert connection.is_cut_off


async def test_a_body_that_keeps_coming_has_its_time(connection: Connection) -> None:
    connection.channel.dataReceived(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n")
    for _ in range(5):
        connection.clock.advance(REQUEST_SECONDS - 1)
        connection.channel.dataReceived(b"x")

    assert not connection.is_cut_off


async def test_a_body_that_stops_coming_is_given_up(connection: Connection) -> None:
    connection.channel.dataReceived(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nx")
    connection.clock.advance(REQUEST_SECONDS)

    assert connection.is_cut_off


async def test_an_answer_may_take_its_time(connection: Connection) -> None:
    start(connection)
    connection.clock.advance(100 * REQUEST_SECONDS)

    assert not connection.is_cut_off


async def test_a_client_that_does_not_close_is_cut_off_after_the_timeout(connection: Connection) -> None:
    connection.clock.advance(REQUEST_SECONDS)
    connection.clock.advance(ABORT_SECONDS)

    assert connection.wire.aborting


# ---- refusals


async def test_after_a_refusal_nothing_more_is_read_or_answered(connection: Connection) -> None:
    connection.channel.dataReceived(b"GARBAGE\r\n" + REQUEST + REQUEST)
    connection.channel.dataReceived(REQUEST)

    assert connection.wire.value().count(b"HTTP/1.1 ") == 1
    assert connection.wire.write_closed


async def test_a_refused_client_has_a_moment_to_read_why(connection: Connection) -> None:
    connection.channel.dataReceived(b"GARBAGE\r\n\r\n")
    assert not connection.wire.aborting

    connection.clock.advance(LINGER_SECONDS)

    assert connection.wire.aborting


async def test_a_body_over_the_limit_is_not_stored(connection: Connection) -> None:
    connection.channel.dataReceived(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (BODY_MAX_BYTES + 1))
    connection.channel.dataReceived(b"x" * 1_000)

    assert connection.request.content.tell() == 0
    assert b"413" in connection.wire.value()


# ---- clients that do not read


def stalled(connection: Connection) -> None:
    """Finish an answer of which the transport holds a part."""
    start(connection)
    connection.channel.pauseProducing()
    connection.request.handle_reply({"type": "http.response.body", "body": b""})


async def test_a_client_that_takes_nothing_of_a_finished_answer_is_cut_off(connection: Connection) -> None:
    stalled(connection)
    connection.clock.pump([1] * int(STALL_SECONDS - 1))
    assert not connection.wire.aborting

    connection.clock.pump([1] * 6)

    assert connection.wire.aborting


async def test_a_client_that_reads_slowly_is_not(connection: Connection) -> None:
    stalled(connection)
    for _ in range(10):
        connection.clock.pump([1] * 10)
        connection.wire.offset += 1
        connection.channel.setTimeout(REQUEST_SECONDS)

    assert not connection.wire.aborting


async def test_a_client_that_catches_up_is_not_watched_any_more(connection: Connection) -> None:
    start(connection)
    connection.channel.pauseProducing()
    connection.channel.resumeProducing()
    connection.clock.pump([1] * int(3 * STALL_SECONDS))

    assert not connection.wire.aborting


async def test_the_maker_of_an_answer_has_the_first_word_about_a_stall(connection: Connection) -> None:
    start(connection)
    connection.channel.pauseProducing()
    connection.clock.pump([1] * int(STALL_SECONDS + 10))
    assert not connection.wire.aborting

    connection.clock.pump([1] * int(STALL_SECONDS))

    assert connection.wire.aborting


# ---- back-pressure


async def test_a_writer_waits_while_the_transport_is_full_and_goes_on_when_it_is_not() -> None:
    flow = FlowControl(paused=False)
    await flow.drained()

    flow.pauseProducing()
    waiting = await begun(flow.drained())
    assert not waiting.done()
    flow.resumeProducing()

    await waiting


async def test_a_writer_does_not_wait_for_a_client_that_is_gone() -> None:
    flow = FlowControl(paused=True)
    flow.stopProducing()
    flow.pauseProducing()

    await flow.drained()


async def test_a_lost_connection_wakes_the_writer(connection: Connection) -> None:
    start(connection)
    connection.channel.pauseProducing()
    waiting = await begun(connection.request.drained())

    connection.lose()

    await waiting


async def test_an_answer_that_begins_on_a_full_transport_waits_from_the_start(connection: Connection) -> None:
    connection.channel.dataReceived(REQUEST)
    connection.channel.pauseProducing()
    connection.request.handle_reply({"type": "http.response.start", "status": 200, "headers": []})
    waiting = await begun(connection.request.drained())

    assert not waiting.done()
    connection.lose()
    await waiting


async def test_of_an_answer_that_is_not_taken_the_transport_holds_one_piece(connection: Connection) -> None:
    start(connection)
    connection.channel.pauseProducing()
    before = len(connection.wire.value())
    whole = {"type": "http.response.body", "body": b"y" * 20 * PIECE_BYTES}

    waiting = await begun(connection.server.handle_reply(connection.request, whole))
    held = len(connection.wire.value()) - before
    connection.channel.resumeProducing()
    await waiting

    assert PIECE_BYTES <= held < PIECE_BYTES + 100
    assert connection.wire.value().count(b"y") == 20 * PIECE_BYTES
    assert connection.wire.value().endswith(b"0\r\n\r\n")


# ---- applications that fail


async def test_an_application_that_fails_before_its_answer_is_an_internal_error(connection: Connection) -> None:
    connection.channel.dataReceived(REQUEST)
    connection.request.handle_exception(RuntimeError("a secret"))

    assert connection.wire.value().startswith(b"HTTP/1.1 500 ")
    assert b'"code":"internal"' in connection.wire.value()
    assert b"secret" not in connection.wire.value()


async def test_an_application_that_fails_in_its_answer_is_cut_off(connection: Connection) -> None:
    start(connection)
    connection.request.handle_exception(RuntimeError("late"))

    assert connection.wire.aborting


# ---- the end


async def test_an_idle_connection_is_closed_at_the_end(connection: Connection) -> None:
    connection.channel.retire()

    assert connection.wire.disconnecting


async def test_an_incomplete_request_is_cut_off_at_the_end(connection: Connection) -> None:
    connection.channel.dataReceived(b"POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nx")
    connection.channel.retire()

    assert connection.wire.aborting


async def test_a_running_answer_is_finished_at_the_end_and_then_closed(connection: Connection) -> None:
    start(connection)
    connection.channel.retire()
    assert not connection.is_cut_off

    connection.request.handle_reply({"type": "http.response.body", "body": b"end"})

    assert b"end" in connection.wire.value()
    assert connection.wire.disconnecting


async def test_the_server_knows_its_open_connections(connection: Connection) -> None:
    factory = connection.server.http_factory
    assert factory.channels == {connection.channel}
    assert not factory.empty.is_set()

    connection.lose()

    assert factory.channels == set()
    assert factory.empty.is_set()


async def test_the_end_does_not_wait_for_applications_that_do_not_end(connection: Connection) -> None:
    connection.channel.dataReceived(REQUEST)
    (details,) = connection.server.connections.values()
    await begun(details["application_instance"])

    await connection.server.close(0.0)

    assert connection.wire.aborting
    assert all(details["application_instance"].cancelled() for details in connection.server.connections.values())
