"""Following a run's stream over any number of connections, so that each frame comes exactly once.

What ends a connection, and what follows:

    done                                             the frame is yielded; the end
    error that is not retryable                      the frame is yielded; the end
    heartbeat, message, signal                       the frame is yielded; the connection goes on
    a frame of a type not known here                 skipped: new types are additive, never terminal
    error that is retryable, shutdown, truncated     connect again after the last cursor
    end of the body without done                     connect again
    network error, silence of four heartbeats        connect again
    an answer of 500 and above                       connect again
    any other answer that is no stream               its error is raised

Connecting again waits `BACK_OFF_SECONDS`, step by step, the last one from then on. A message, signal or
heartbeat begins the count anew; after `RECONNECTS_MAX` failures in a row StateUnavailable is raised, and
after `OPENINGS_MAX` where nothing has ever answered, which is a daemon that does not run.

Neither loss nor repetition: the cursor of a frame is kept before it is yielded, resuming is exclusive, and an
event that a broken connection cut in two was never dispatched by the parser.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing
from typing import Final

import httpx
from pydantic import TypeAdapter, ValidationError

from contract.errors import StateUnavailable, StudioError, shown
from contract.events import (
    DoneFrame,
    ErrorFrame,
    FramePayload,
    HeartbeatFrame,
    MessageView,
    ShutdownFrame,
    SignalView,
    StreamFrame,
    TruncatedFrame,
)
from contract.http_exchange import HttpExchange
from contract.parsing import parse_model
from contract.sse_parsing import EventStreamParser, EventTooLarge, ServerEvent
from contract.stream_query import StreamQuery

Sleep = Callable[[float], Awaitable[object]]

BACK_OFF_SECONDS: Final = (0.25, 0.5, 1.0, 2.0, 5.0)
# With the back-off above, a minute: a daemon that restarts, migrations included, is back by then.
RECONNECTS_MAX: Final = 16
# Under four seconds: someone who mistyped a URL is told soon.
OPENINGS_MAX: Final = 5

_PAYLOAD: TypeAdapter[FramePayload] = TypeAdapter(FramePayload)


class _Broken(Exception):
    """This connection is over; connecting again may help. `reason` says what to tell if it does not."""

    def __init__(self, reason: StudioError, *, answered: bool = True) -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.answered = answered


class StreamFollower:
    """Follows one stream at `path` of a daemon from after `cursor`; `sleep` waits the back-off."""

    def __init__(self, exchange: HttpExchange, path: str, cursor: str | None, *, sleep: Sleep) -> None:
        self._exchange = exchange
        self._path = path
        self._cursor = parse_model(StreamQuery, {"cursor": cursor}).cursor
        self._last_id: str | None = None
        self._sleep = sleep
        self._failures = 0
        self._answered = False

    async def frames(self) -> AsyncGenerator[StreamFrame, None]:
        """Yield frames until the stream is done, by the rules at the top of this module."""
        while True:
            try:
                async with aclosing(self._connection()) as connection:
                    async for frame in connection:
                        yield frame
                return
            except _Broken as broken:
                self._count(broken)
            await self._sleep(BACK_OFF_SECONDS[min(self._failures, len(BACK_OFF_SECONDS)) - 1])

    def _count(self, broken: _Broken) -> None:
        self._answered = self._answered or broken.answered
        self._failures += 1
        if self._failures >= (RECONNECTS_MAX if self._answered else OPENINGS_MAX):
            raise StateUnavailable(retryable=True, detail=str(broken.reason)) from None

    async def _connection(self) -> AsyncGenerator[StreamFrame, None]:
        """Yield one connection's frames. Returns at the stream's end, raises _Broken at the connection's."""
        query, headers = self._position()
        try:
            async with self._exchange.stream(self._path, query, headers) as response:
                await self._check(response)
                parser = EventStreamParser()
                async for chunk in response.aiter_bytes():
                    for frame in self._frames_of(parser, chunk):
                        yield frame
                        if isinstance(frame.payload, DoneFrame | ErrorFrame):
                            return
        except httpx.DecodingError:
            raise self._exchange.foreign_answer("a body that cannot be decoded") from None
        except httpx.TransportError as fault:
            raise _Broken(self._exchange.no_answer(fault), answered=False) from None
        raise self._ended("without its last frame")

    def _position(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return query and headers that say where to begin: the caller's words, then the last cursor seen."""
        if self._last_id is not None:
            return {}, {"Last-Event-ID": self._last_id}
        return {} if self._cursor is None else {"cursor": self._cursor}, {}

    async def _check(self, response: httpx.Response) -> None:
        self._answered = True
        fault = await self._exchange.fault_of_stream(response)
        if fault is not None:
            raise _Broken(fault) if response.is_server_error else fault

    def _frames_of(self, parser: EventStreamParser, chunk: bytes) -> Iterator[StreamFrame]:
        try:
            events = parser.feed(chunk)
        except EventTooLarge:
            raise self._exchange.foreign_answer("an event over every bound") from None
        for event in events:
            payload = self._payload_of(event)
            self._keep_position(payload.cursor if isinstance(payload, TruncatedFrame) else event.id)
            if payload is not None:
                self._judge(payload)
                yield StreamFrame(cursor=event.id, payload=payload)

    def _payload_of(self, event: ServerEvent) -> FramePayload | None:
        """Return what an event says; None for a type that is not known here."""
        try:
            return _PAYLOAD.validate_json(event.data, extra="ignore")
        except ValidationError as fault:
            if fault.errors()[0]["type"] == "union_tag_invalid":
                return None
            raise self._exchange.foreign_answer("a frame that is none of the contract's") from None

    def _keep_position(self, cursor: str) -> None:
        if not cursor.isascii() or not cursor.isprintable():
            raise self._exchange.foreign_answer("a cursor that no header can carry")
        self._last_id = cursor or self._last_id

    def _judge(self, payload: FramePayload) -> None:
        match payload:
            case MessageView() | SignalView() | HeartbeatFrame():
                self._failures = 0
            case ShutdownFrame() | TruncatedFrame():
                raise self._ended(f"with {payload.type}")
            case ErrorFrame(retryable=True):
                raise self._ended(f"with the error {shown(payload.code)}")

    def _ended(self, how: str) -> _Broken:
        detail = f"the stream of {self._exchange.shown_url} ended {how}"
        return _Broken(StateUnavailable(retryable=True, detail=detail))
