"""Bytes of a `text/event-stream` to events, whatever way the network cut them.

Follows WHATWG HTML, 9.2.5 and 9.2.6. httpx-sse 0.4.3 departs from it in five ways that a client can meet:
it keeps a leading byte order mark, dispatches events without data once an id was seen, holds back a line
that ends in a lone CR until more arrives, decodes by the response's charset, and lets an event grow
without bound.

`retry` is ignored: when to reconnect is the client's own rule (`contract.stream_following`).
"""

import re
from dataclasses import dataclass
from typing import Final

# The largest frame is one message: 1 MiB of content, at most six bytes a character in JSON, and its envelope.
EVENT_STREAM_BUFFER_MAX_BYTES: Final = 8 * 1024 * 1024

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class EventTooLarge(ValueError):
    """One event is over `EVENT_STREAM_BUFFER_MAX_BYTES`: this is no stream of ours."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerEvent:
    """One dispatched event. `id` is the last one seen, of this event or of an earlier one."""

    data: str
    event: str
    id: str


class EventStreamParser:
    """Takes the body of one response in pieces. What no blank line ended is never dispatched."""

    def __init__(self) -> None:
        """Begin at the start of a stream."""
        self._line: list[bytes] = []
        self._line_bytes = 0
        self._data_chars = 0
        self._at_start = True
        self._after_cr = False
        self._data: list[str] = []
        self._event = ""
        self._id = ""

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """Return the events that `chunk` completes. Raises EventTooLarge."""
        events: list[ServerEvent] = []
        for line in self._lines(chunk):
            if line:
                self._take_field(line)
            elif (event := self._dispatch()) is not None:
                events.append(event)
        if self._line_bytes + self._data_chars > EVENT_STREAM_BUFFER_MAX_BYTES:
            raise EventTooLarge(f"one event is over {EVENT_STREAM_BUFFER_MAX_BYTES} bytes")
        return events

    def _lines(self, chunk: bytes) -> list[bytes]:
        """Return the lines that `chunk` completes. A CR ends one at once, with an LF right after it."""
        if not chunk:
            return []
        rest = chunk[1:] if self._after_cr and chunk.startswith(b"\n") else chunk
        self._after_cr = chunk.endswith(b"\r")
        *lines, last = _LINE_END.split(rest)
        if lines:
            lines[0] = self._joined(lines[0])
        self._line.append(last)
        self._line_bytes += len(last)
        return lines

    def _joined(self, end: bytes) -> bytes:
        line = b"".join((*self._line, end))
        self._line.clear()
        self._line_bytes = 0
        if self._at_start:
            self._at_start = False
            return line.removeprefix(_BYTE_ORDER_MARK)
        return line

    def _take_field(self, line: bytes) -> None:
        name, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
            self._data_chars += len(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value

    def _dispatch(self) -> ServerEvent | None:
        event = ServerEvent(data="\n".join(self._data), event=self._event or "message", id=self._id)
        has_data = bool(self._data)
        self._data.clear()
        self._event = ""
        self._data_chars = 0
        return event if has_data else None
