"""From bytes of JSON lines to batches of run events, so that a recording can be repeated safely.

An event without an `event_id` gets one made of its line's number and content: recording the same lines into the
same run again stores nothing twice. A batch is cut at a number of events and below the bound of a request body.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from contract.base import FieldFailure
from contract.errors import ValidationFailure
from contract.events import MessageEvent, RecordEvents, RunEvent, SignalEvent
from contract.limits import BODY_MAX_BYTES, EVENT_MAX_BYTES
from contract.parsing import parse_model, strict_json_loads

# Far over any event (1 MiB is kept of one), and what a process can hold a few times over.
LINE_MAX_BYTES: Final = 64 * 1024 * 1024
# A body holds 4 MiB; the rest is room for the envelope and for what a proxy may add.
BATCH_MAX_BYTES: Final = BODY_MAX_BYTES * 7 // 8
# Characters that fit whatever they are: JSON needs at most six bytes for each, and a batch holds at least one event.
_FITTING_CHARS: Final = EVENT_MAX_BYTES // 4
# Half of SHA-256: 128 bits keep two lines of one number apart.
_DIGEST_CHARS: Final = 32
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class NumberedLine:
    """One line without its end; `number` counts from 1, blank lines included."""

    number: int
    raw: bytes


@dataclass(frozen=True, slots=True)
class SizedEvent:
    """An event and the bytes of its JSON."""

    event: RunEvent
    size_bytes: int


class LineSplitter:
    """Cuts a stream of bytes into lines, wherever the pieces were cut. Blank lines are counted and left out."""

    def __init__(self, *, line_max_bytes: int = LINE_MAX_BYTES) -> None:
        self._line_max_bytes = line_max_bytes
        self._pieces: list[bytes] = []
        self._held_bytes = 0
        self._number = 0

    def feed(self, chunk: bytes) -> Iterator[NumberedLine]:
        """Yield the lines that `chunk` completes. Raises ValidationFailure for a line over the bound."""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._hold(end)
            yield from self._complete()
        self._hold(rest)

    def end(self) -> Iterator[NumberedLine]:
        """Yield the last line where no line end came after it."""
        if self._held_bytes:
            yield from self._complete()

    def _hold(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._held_bytes += len(piece)
        if self._held_bytes > self._line_max_bytes:
            message = f"is longer than {self._line_max_bytes} bytes"
            raise ValidationFailure.at(_place(self._number + 1), code="too_long", message=message)

    def _complete(self) -> Iterator[NumberedLine]:
        raw = b"".join(self._pieces)
        self._pieces.clear()
        self._held_bytes = 0
        self._number += 1
        if self._number == 1:
            raw = raw.removeprefix(_BYTE_ORDER_MARK)
        raw = raw.strip()
        if raw:
            yield NumberedLine(self._number, raw)


def read_event(line: NumberedLine) -> SizedEvent:
    """Return the event of a line, with an id. Raises ValidationFailure whose paths begin with `line N`."""
    try:
        data = strict_json_loads(line.raw)
        if not isinstance(data, dict):
            raise ValidationFailure.at(code="type", message="must be a JSON object")
        (event,) = parse_model(RecordEvents, {"events": [data]}).events
    except ValidationFailure as failure:
        raise _at_line(line.number, failure) from None
    if event.event_id is None:
        event = event.model_copy(update={"event_id": line_event_id(line)})
    return _fitted(event)


def line_event_id(line: NumberedLine) -> str:
    """Return the id of a line's event: the same for the same line of the same file."""
    return f"line-{line.number}-{hashlib.sha256(line.raw).hexdigest()[:_DIGEST_CHARS]}"


class Batch:
    """Events that travel together, up to `events_max` of them and `BATCH_MAX_BYTES`."""

    def __init__(self, events_max: int) -> None:
        self._events_max = events_max
        self._events: list[RunEvent] = []
        self._size_bytes = 0

    def __len__(self) -> int:
        return len(self._events)

    def has_room(self, event: SizedEvent) -> bool:
        """Whether the event may join; an empty batch takes any."""
        if not self._events:
            return True
        return len(self._events) < self._events_max and self._size_bytes + event.size_bytes <= BATCH_MAX_BYTES

    @property
    def is_full(self) -> bool:
        """Whether no further event can join."""
        return len(self._events) >= self._events_max or self._size_bytes >= BATCH_MAX_BYTES

    def add(self, event: SizedEvent) -> None:
        """Take an event that there is room for."""
        self._events.append(event.event)
        self._size_bytes += event.size_bytes

    def take(self) -> RecordEvents:
        """Return what was gathered, at least one event, and begin anew."""
        command = RecordEvents(events=tuple(self._events))
        self._events.clear()
        self._size_bytes = 0
        return command


def _fitted(event: RunEvent) -> SizedEvent:
    """Withhold what of a text no request can carry: one of escapes takes six times its size in JSON."""
    size_bytes = _json_bytes(event)
    if size_bytes > BATCH_MAX_BYTES and isinstance(event, MessageEvent | SignalEvent):
        key = "content" if isinstance(event, MessageEvent) else "payload"
        text = getattr(event, key)
        event = event.model_copy(update={key: text[:_FITTING_CHARS], "withheld": True})
        size_bytes = _json_bytes(event)
    return SizedEvent(event, size_bytes)


def _json_bytes(event: RunEvent) -> int:
    return len(event.model_dump_json().encode())


def _at_line(number: int, failure: ValidationFailure) -> ValidationFailure:
    place = _place(number)
    return ValidationFailure(
        tuple(
            FieldFailure(path=(place, *_within(found.path)), code=found.code, message=found.message)
            for found in failure.field_errors
        )
    )


def _within(path: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Drop `events.0`, which is how the line was checked and not where it is wrong."""
    return path[2:] if path[:1] == ("events",) else path


def _place(number: int) -> str:
    return f"line {number}"
