"""One connection of the server: back-pressure, early refusals as JSON, and bounded patience.

daphne 4.2 writes whatever an application sends, however slowly the client reads; it answers its own refusals in
HTML, or not at all; and it reads a whole body before anyone can refuse it.
"""

import asyncio
from typing import Any, Final

from daphne.http_protocol import WebRequest
from twisted.internet.interfaces import IPushProducer
from twisted.web.http import HTTPChannel
from zope.interface import implementer

from contract.errors import RequestRefused
from contract.limits import BODY_MAX_BYTES, STREAM_STALL_SECONDS
from studio_project.asgi_types import Event
from studio_project.http_errors import HttpError, error_of_status, error_response, phrase_of
from studio_project.request_rules import too_large

# After a refusal, what the client still sends is read and dropped for this long: closing at once would reset the
# connection and take the refusal with it (RFC 9112, 9.6).
LINGER_SECONDS: Final = 2
# A client that takes nothing of a finished answer for this long is cut off. While the answer is still being made
# it is twice as long: its maker notices after STREAM_STALL_SECONDS, and may then say so.
STALL_SECONDS: Final = STREAM_STALL_SECONDS
_STALL_CHECK_SECONDS = 5.0


@implementer(IPushProducer)
class FlowControl:
    """Lets a writer wait until the transport has room. Starts open; closed for good it never holds anyone."""

    def __init__(self, *, paused: bool) -> None:
        self._open = asyncio.Event()
        self._ended = False
        if not paused:
            self._open.set()

    def pauseProducing(self) -> None:  # noqa: N802 (Twisted's name)
        """Hold writers: the transport's buffer is full."""
        if not self._ended:
            self._open.clear()

    def resumeProducing(self) -> None:  # noqa: N802 (Twisted's name)
        """Let writers go on: the buffer was flushed."""
        self._open.set()

    def stopProducing(self) -> None:  # noqa: N802 (Twisted's name)
        """Let writers go for good: there is nobody to write to."""
        self._ended = True
        self._open.set()

    async def drained(self) -> None:
        """Wait until there is room, or nobody to write to."""
        await self._open.wait()


class StudioRequest(WebRequest):  # type: ignore[misc]  # daphne has no types
    """One request: refused early and in JSON, answered no faster than it is read."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._flow: FlowControl | None = None

    def gotLength(self, length: int | None) -> None:  # noqa: N802 (Twisted's name)
        """Refuse an announced length over the limit before a byte of the body is stored or asked for."""
        too_long = length is not None and length > BODY_MAX_BYTES
        super().gotLength(0 if too_long else length)
        if too_long:
            self.requestHeaders.removeHeader(b"expect")
            self.channel.refuse(too_large())

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 (Twisted's name)
        """Store a piece of the body, or refuse the one that goes over the limit."""
        if self.content.tell() + len(data) > BODY_MAX_BYTES:
            self.channel.refuse(too_large())
        else:
            super().handleContentChunk(data)

    def process(self) -> Any:
        """Hand the complete request to the application.

        Nothing here speaks WebSocket, and an Upgrade may be ignored (RFC 9110, 7.8), so every request is an HTTP one
        and refused as such; the script prefix is not the client's to choose.
        """
        self.requestHeaders.removeHeader(b"upgrade")
        self.requestHeaders.removeHeader(b"daphne-root-path")
        return super().process()

    def handle_reply(self, message: Event) -> None:
        """Pass one message of the application on, watching the transport once an answer has begun."""
        if self._flow is None and self.channel is not None and not self.finished:
            self._flow = FlowControl(paused=self.channel.is_stalled)
            self.registerProducer(self._flow, streaming=True)
        super().handle_reply(message)

    def setResponseCode(self, code: int, message: bytes | None = None) -> None:  # noqa: N802 (Twisted's name)
        """Set the status; Twisted has no phrase for several of ours."""
        super().setResponseCode(code, message or phrase_of(code))

    async def drained(self) -> None:
        """Wait until the transport has room for more of this answer."""
        if self._flow is not None:
            await self._flow.drained()

    def finish(self) -> None:
        """End the answer."""
        self._let_go()
        super().finish()

    def connectionLost(self, reason: Any) -> None:  # noqa: N802 (Twisted's name)
        """Let writers go when the client is gone."""
        if self._flow is not None:
            self._flow.stopProducing()
        super().connectionLost(reason)

    def handle_exception(self, exception: Exception) -> None:
        """End a request whose application raised; an answer that has begun can only be cut off."""
        if self._response_started and self.channel is not None:
            self.channel.abort()
        else:
            self._answer(error_response(exception))

    def basic_error(self, status: int, status_text: bytes, body: str) -> None:  # noqa: ARG002 (daphne's signature)
        """Answer what daphne refuses itself: malformed headers, paths and queries, or a broken application."""
        self._answer(error_response(error_of_status(status, body)))

    def _answer(self, answer: HttpError) -> None:
        self.handle_reply({"type": "http.response.start", "status": answer.status, "headers": answer.raw_headers})
        self.handle_reply({"type": "http.response.body", "body": answer.body})

    def _let_go(self) -> None:
        if self._flow is not None and self.producer is not None:
            self._flow.stopProducing()
            self.unregisterProducer()


class StudioChannel(HTTPChannel):
    """One connection: says in JSON why it refuses, and waits for nobody for ever."""

    transport: Any  # a TCP server's, which Twisted's interfaces do not say

    def __init__(self) -> None:
        super().__init__()
        self._refused = False
        self._stall_check: Any = None
        self._stalled_seconds = 0.0
        self._seen: tuple[int, int] = (0, 0)

    # -- reading

    def connectionMade(self) -> None:  # noqa: N802 (Twisted's name)
        """Begin to read."""
        super().connectionMade()
        self.factory.remember(self)

    def connectionLost(self, reason: Any = None) -> None:  # noqa: N802 (Twisted's name)
        """Forget the connection."""
        self._stop_watching()
        super().connectionLost(reason)
        self.factory.forget(self)

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 (Twisted's name)
        """Read on, unless the client was refused."""
        if not self._refused:
            super().dataReceived(data)

    def lineReceived(self, line: bytes) -> None:  # noqa: N802 (Twisted's name)
        """Read a line of the head; the parser goes on with what it holds after a refusal."""
        if not self._refused:
            super().lineReceived(line)

    def rawDataReceived(self, data: bytes) -> None:  # noqa: N802 (Twisted's name)
        """Read a piece of the body; the parser goes on with what it holds after a refusal."""
        if not self._refused:
            super().rawDataReceived(data)

    def headerReceived(self, line: bytes) -> bool:  # noqa: N802 (Twisted's name)
        """Take a header in; a Content-Length of thousands of digits is one that Python refuses to read."""
        try:
            return bool(super().headerReceived(line))
        except ValueError:
            self._respondToBadRequestAndDisconnect()
            return False

    def allHeadersReceived(self) -> None:  # noqa: N802 (Twisted's name)
        """Begin with the body, which has its own time."""
        super().allHeadersReceived()
        super().resetTimeout()

    def resetTimeout(self) -> None:  # noqa: N802 (Twisted's name)
        """Count data as a sign of life, but not in a head: one that drips in would live for ever."""
        if not self.line_mode:
            super().resetTimeout()

    def timeoutConnection(self) -> None:  # noqa: N802 (Twisted's name)
        """Give up on a client that is silent."""
        if self._refused:
            self.abort()
        else:
            super().timeoutConnection()

    # -- refusing

    def refuse(self, error: RequestRefused) -> None:
        """Answer, close our side, and drop what still comes for a moment, so that the answer is not reset away."""
        if self._refused:
            return
        self._refused = True
        self.transport.write(_raw(error_response(error)))
        self.transport.loseWriteConnection()
        self.setTimeout(LINGER_SECONDS)

    def lineLengthExceeded(self, line: bytes) -> None:  # noqa: ARG002, N802 (Twisted's signature)
        """Refuse a request line or header beyond the parser's limit."""
        self.refuse(RequestRefused("bad_request", "the request line or a header is too long"))

    def _respondToBadRequestAndDisconnect(self) -> None:  # noqa: N802 (Twisted's name)
        """Refuse what is not HTTP; Twisted's own answer has no body."""
        self.refuse(RequestRefused("bad_request", "the request is not well-formed HTTP"))

    # -- writing

    @property
    def is_stalled(self) -> bool:
        """Whether the client has not yet taken what was written."""
        return bool(self._waitingForTransport)

    def pauseProducing(self) -> None:  # noqa: N802 (Twisted's name)
        """Hold writers, and watch whether the client takes anything."""
        super().pauseProducing()
        self._stalled_seconds = 0.0
        self._watch()

    def resumeProducing(self) -> None:  # noqa: N802 (Twisted's name)
        """Let writers go on."""
        self._stop_watching()
        super().resumeProducing()

    def requestDone(self, request: Any) -> None:  # noqa: N802 (Twisted's name)
        """End an answer; from now on the client alone decides how fast it goes."""
        self._stalled_seconds = 0.0
        super().requestDone(request)

    def _watch(self) -> None:
        self._seen = self._progress()
        self._stall_check = self.callLater(_STALL_CHECK_SECONDS, self._check)

    def _check(self) -> None:
        self._stall_check = None
        moved = self._progress() != self._seen
        self._stalled_seconds = 0.0 if moved else self._stalled_seconds + _STALL_CHECK_SECONDS
        if self._stalled_seconds >= (2 * STALL_SECONDS if self.requests else STALL_SECONDS):
            self.abort()
        else:
            self._watch()

    def _progress(self) -> tuple[int, int]:
        """Return what changes whenever the operating system takes some of the buffer."""
        return len(self.transport.dataBuffer), self.transport.offset

    def _stop_watching(self) -> None:
        if self._stall_check is not None:
            self._stall_check.cancel()
            self._stall_check = None

    # -- ending

    def abort(self) -> None:
        """Close at once; what was not sent is lost."""
        self.transport.abortConnection()

    def retire(self) -> None:
        """Close as soon as the running answer is sent; a request that is not complete will not be answered."""
        self.persistent = False
        if self._handlingRequest:
            return
        if self.requests:
            self.abort()
        else:
            self.loseConnection()


def _raw(answer: HttpError) -> bytes:
    """Return a whole answer as it goes over the wire, announcing the end of the connection."""
    head = [b"HTTP/1.1 %d %s" % (answer.status, phrase_of(answer.status))]
    head += [name + b": " + value for name, value in (*answer.raw_headers, (b"connection", b"close"))]
    return b"\r\n".join([*head, b"", answer.body])
