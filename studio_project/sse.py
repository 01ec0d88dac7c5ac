"""The base of every stream endpoint: Server-Sent Events (WHATWG HTML, 9.2) over a Channels consumer.

The application yields `StreamFrame`s, heartbeats included, and yields its first one at once; this base only encodes
them, refuses what cannot start as JSON, and ends cleanly when the reader leaves, stalls, or something fails.

A large frame goes out in pieces, each when the one before was taken. A reader that stalls after a whole frame gets
`truncated`. One that stalls within a frame gets the end of the stream and nothing else: a frame that the end cuts off
is never dispatched (9.2.6), so its reader resumes from the id before, and gets that frame again.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from channels.exceptions import StopConsumer
from channels.generic.http import AsyncHttpConsumer
from django.http import QueryDict
from django.urls import URLPattern, path

from contract.application import StudioApplication
from contract.base import ContractModel
from contract.errors import RequestRefused, StateUnavailable
from contract.events import (
    ErrorFrame,
    StreamFrame,
    TruncatedFrame,
)
from contract.limits import STREAM_STALL_SECONDS
from contract.parsing import parse_query
from contract.stream_query import StreamQuery
from studio_project.asgi_types import Event, Receive, Scope, Send
from studio_project.composition import get_studio
from studio_project.frame_encoding import FrameEncoder, encode
from studio_project.http_errors import OK, error_response, known_error
from studio_project.openapi import Json, stream_operation
from studio_project.request_rules import headers_of

STREAM_ROOT: Final = "/api/v1/"
ALLOWED: Final = ("GET", "HEAD")
# `no-transform` keeps proxies from compressing, X-Accel-Buffering keeps nginx from collecting (its proxy module).
HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


def resume_cursor(headers: Mapping[bytes, list[bytes]], query_string: bytes) -> str | None:
    """Return the position a request resumes from; the header `Last-Event-ID` wins. Raises ValidationFailure."""
    query = parse_query(StreamQuery, dict(QueryDict(query_string).lists()))
    sent = [value.decode("utf-8", "replace") for value in headers.get(b"last-event-id", [])]
    from_header = parse_query(StreamQuery, {"cursor": sent}).cursor if sent else None
    return (from_header if sent else query.cursor) or None


class StreamConsumer(AsyncHttpConsumer, ABC):  # type: ignore[misc]  # Channels has no types
    """One open stream. Subclasses say which iterator to follow."""

    # A writer that waits longer than this for the reader to take a piece gives up; tests shorten it.
    stall_seconds: ClassVar[float] = STREAM_STALL_SECONDS
    encoder: ClassVar[FrameEncoder] = FrameEncoder()

    def __init__(self, studio: Callable[[], StudioApplication] = get_studio) -> None:
        super().__init__()
        self._studio = studio
        self._stream: asyncio.Task[None] | None = None
        self._position: str | None = None
        self._is_at_boundary = True

    @abstractmethod
    def open_stream(
        self, studio: StudioApplication, names: Mapping[str, str], cursor: str | None
    ) -> AsyncIterator[StreamFrame]:
        """Return the frames after `cursor` for the resource that the path `names`. Its first step may raise."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; whatever ends it ends the stream as well, and waits for its finally-blocks."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            # Not kept: what ended the task holds its frames, they this consumer, and it the task: a circle.
            stream, self._stream = self._stream, None
            if stream is not None:
                stream.cancel()
                await asyncio.gather(stream, return_exceptions=True)

    async def dispatch(self, message: Event) -> None:
        """Handle one message, without Channels' visit to a thread: no stream holds a database connection."""
        if message["type"] == "http.request":
            await self.http_request(message)
        else:
            raise StopConsumer

    async def http_request(self, message: Event) -> None:
        """Begin once the body, which is ignored, is over."""
        if not message.get("more_body"):
            await self.handle(b"")

    async def handle(self, body: bytes) -> None:  # noqa: ARG002 (Channels' signature)
        """Start the stream as a task: while a handler runs, Channels delivers no disconnect."""
        self._stream = asyncio.create_task(self._serve())

    async def _serve(self) -> None:
        try:
            frames = self._opened()
            first = await anext(frames, None)
        except Exception as error:  # noqa: BLE001 (whatever it is, the client gets an answer)
            await self._refuse(error)
            return
        try:
            await self.send_headers(status=OK, headers=HEADERS)
            closing = None if self.scope["method"] == "HEAD" else await self._follow(first, frames)
            # Frame and end go out together and are not waited for: a reader that stalls is let go by the server.
            await self.send_body(encode(self._position, closing) if closing else b"")
        finally:
            await _close(frames)

    def _opened(self) -> AsyncIterator[StreamFrame]:
        method = self.scope["method"]
        if method not in ALLOWED:
            raise RequestRefused("method_not_allowed", f"{method} is not a method of this route")
        cursor = resume_cursor(headers_of(self.scope["headers"]), self.scope["query_string"])
        self._position = cursor
        return self.open_stream(self._studio(), self.scope["url_route"]["kwargs"], cursor)

    async def _refuse(self, error: Exception) -> None:
        is_method = isinstance(error, RequestRefused) and error.code == "method_not_allowed"
        answer = error_response(error, allow=ALLOWED if is_method else ())
        await self.send_response(answer.status, answer.body, headers=answer.raw_headers)

    async def _follow(self, first: StreamFrame | None, frames: AsyncIterator[StreamFrame]) -> ContractModel | None:
        """Send frame by frame; return the closing frame, if one may follow what was sent."""
        frame = first
        try:
            while frame is not None:
                if not await self._hand_over(frame):
                    return TruncatedFrame(cursor=frame.cursor) if self._is_at_boundary else None
                frame = await anext(frames, None)
        except Exception as error:  # noqa: BLE001 (the stream has begun: its fault is a frame)
            closing = _error_frame(error)
            return closing if self._is_at_boundary else None
        return None

    async def _hand_over(self, frame: StreamFrame) -> bool:
        """Send one frame, piece by piece; False when the reader takes too long for one.

        The server writes a piece before it waits for room, so the last piece was handed over even if it stalls.
        """
        self._position = frame.cursor
        encoded = self.encoder.encoded(frame.cursor, frame.payload)
        try:
            for left, piece in zip(range(len(encoded.pieces))[::-1], encoded.pieces, strict=True):
                self._is_at_boundary = left == 0
                async with asyncio.timeout(self.stall_seconds):
                    await self.send_body(piece, more_body=True)
        except TimeoutError:
            return False
        return True


@dataclass(frozen=True, kw_only=True)
class StreamRoute:
    """Where a stream is served: `path` below `/api/v1/` in Django's notation, and its name in the schema."""

    path: str
    operation_id: str
    consumer: type[StreamConsumer]
    errors: tuple[str, ...] = ("not_found",)

    @property
    def template(self) -> str:
        """The whole path as the schema writes it."""
        return STREAM_ROOT + self.path.replace("<", "{").replace(">", "}")

    def pattern(self) -> URLPattern:
        """Return the route for Channels' URLRouter."""
        application: Any = self.consumer.as_asgi()
        pattern: URLPattern = path(STREAM_ROOT.removeprefix("/") + self.path, application)
        return pattern

    def described(self) -> Json:
        """Return the schema's entry."""
        summary = (self.consumer.__doc__ or "").strip()
        return stream_operation(operation_id=self.operation_id, summary=summary, path=self.template, errors=self.errors)


def _error_frame(error: Exception) -> ErrorFrame:
    known = known_error(error)
    return ErrorFrame(code=known.code, retryable=isinstance(known, StateUnavailable) and known.retryable)


async def _close(frames: Any) -> None:
    """Run the finally-blocks of an async generator; plain iterators have none."""
    close = getattr(frames, "aclose", None)
    if close is not None:
        await close()
