"""From a child's output to evidence: read, gathered for a moment, and recorded in batches.

Order is the order of arrival on each stream. Of plain output the beginning is recorded as it comes and the end when it
has ended; what a reader understands is recorded whole.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from contract.errors import StateUnavailable, ValidationFailure
from contract.events import MessageEvent, RunEvent, SignalEvent
from contract.limits import EVENTS_PER_BATCH_MAX
from runs.claims import Claim
from runs.execution.pipes import Stream
from runs.output_reading import OutputReader
from runs.output_window import OutputPiece, OutputWindow

Record = Callable[[Sequence[RunEvent]], Awaitable[bool]]

# What a viewer does not notice, and what makes a batch of a chatty child.
_GATHER_SECONDS: Final = 0.25
# Recorded without waiting for more: far under what a batch may hold, so that one event more never overflows it.
_GATHER_CHARS: Final = 256 * 1024
_GATHER_EVENTS: Final = 200
# Of one message of output: what a person reads at a time, and a page of them stays light.
_MESSAGE_CHARS: Final = 64 * 1024
# A batch of evidence may have 4 MiB, an event 1 MiB in up to four bytes a character, with room for its other fields.
_BATCH_CHARS: Final = 768 * 1024
_RETRY_SECONDS: Final = 1.0
# The end of what was kept, for a glance at the run.
TAIL_BYTES: Final = 4 * 1024


class OutputRecorder:
    """Takes what one child prints. `record` stores a batch and says whether the lease still holds."""

    def __init__(self, reader: OutputReader, record: Record, *, retry_seconds: float = _RETRY_SECONDS) -> None:
        """Start with nothing; `flush_forever` has to run beside, until `finish` has returned."""
        self.lost = asyncio.Event()
        self._reader = reader
        self._record = record
        self._retry_seconds = retry_seconds
        self._messages = 0
        self._windows: dict[Stream, OutputWindow] = {"stdout": OutputWindow(), "stderr": OutputWindow()}
        self._last_stream: Stream = "stdout"
        self._pending: list[RunEvent] = []
        self._text: list[str] = []
        self._chars = 0
        self._filled = asyncio.Event()
        self._recording = asyncio.Lock()

    @property
    def claim(self) -> Claim | None:
        """What the output so far says of the outcome."""
        return self._reader.claim()

    async def take(self, stream: Stream, pieces: Sequence[OutputPiece]) -> None:
        """Take the next pieces of a stream; waits while much is unrecorded, so that a flood waits in its pipe."""
        # Plain lines together: a flood of short ones would keep the event loop from everything else.
        plain: list[str] = []
        for piece in pieces:
            events = self._reader.feed(piece.text) if stream == "stdout" and piece.whole else None
            if events is None:
                plain.append(piece.text + "\n" if piece.ended else piece.text)
                continue
            self._take_text(stream, "".join(plain))
            plain.clear()
            self._take_events(events, size_chars=len(piece.text))
        self._take_text(stream, "".join(plain))
        if self._chars >= _GATHER_CHARS or len(self._pending) >= _GATHER_EVENTS:
            await self.flush()

    async def flush_forever(self) -> None:
        """Record what was gathered, a moment after it began to gather; until cancelled."""
        while True:
            await self._filled.wait()
            await asyncio.sleep(_GATHER_SECONDS)
            await self.flush()

    async def flush(self) -> None:
        """Record everything gathered so far."""
        async with self._recording:
            self._close_text()
            events, self._pending, self._chars = self._pending, [], 0
            self._filled.clear()
            for batch in _batches(events):
                await self._store(batch)

    async def finish(self) -> int:
        """Record the rest, and what was kept of a flood; return how many bytes were not."""
        withheld = 0
        for stream, window in self._windows.items():
            missing, tail = window.rest()
            withheld += missing
            if missing:
                self._switch(stream)
                self._text.append(f"[{missing:,} bytes of {stream} are left out here]\n")
            if tail:
                self._switch(stream)
                self._text.append(tail)
        await self.flush()
        return withheld

    def tail(self) -> str:
        """Return the end of what was printed: of standard error, if there was any, after that of standard output."""
        ends = [window.end(TAIL_BYTES) for window in self._windows.values()]
        return "\n".join(end for end in ends if end)

    def _take_events(self, events: Sequence[RunEvent], *, size_chars: int) -> None:
        self._close_text()
        self._pending += events
        self._chars += size_chars
        if events:
            self._filled.set()

    def _take_text(self, stream: Stream, text: str) -> None:
        head = self._windows[stream].feed(text)
        if not head:
            return
        self._switch(stream)
        self._text.append(head)
        self._chars += len(head)
        self._filled.set()

    def _switch(self, stream: Stream) -> None:
        if stream != self._last_stream:
            self._close_text()
            self._last_stream = stream

    def _close_text(self) -> None:
        """Make messages of the plain output gathered since the last event."""
        text = "".join(self._text)
        self._text.clear()
        for at in range(0, len(text), _MESSAGE_CHARS):
            self._messages += 1
            message = {
                "role": "output",
                "content": text[at : at + _MESSAGE_CHARS],
                "sender": self._last_stream,
                # So that it is not there twice when it was stored and only the answer was lost.
                "event_id": f"output:{self._messages}",
            }
            self._pending.append(MessageEvent.model_validate(message))

    async def _store(self, batch: Sequence[RunEvent]) -> None:
        try:
            await self._store_surely(batch)
        except ValidationFailure:
            for event in batch:  # one of them asks too much of the run; the others are kept
                await self._store_alone(event)

    async def _store_alone(self, event: RunEvent) -> None:
        try:
            await self._store_surely([event])
        except ValidationFailure as refused:
            told = SignalEvent.model_validate({"kind": "EvidenceRefused", "payload": {"why": str(refused)}})
            await self._store_surely([told])

    async def _store_surely(self, batch: Sequence[RunEvent]) -> None:
        """Store, over any passing fault of the store: the child waits meanwhile, nothing is dropped."""
        while not self.lost.is_set():
            try:
                if not await self._record(batch):
                    self.lost.set()
                return
            except StateUnavailable:
                await asyncio.sleep(self._retry_seconds)


def _batches(events: Sequence[RunEvent]) -> list[list[RunEvent]]:
    """Cut into batches that may be recorded at once."""
    batches: list[list[RunEvent]] = []
    room = 0
    for event in events:
        size = len(event.model_dump_json())
        if not batches or size > room or len(batches[-1]) == EVENTS_PER_BATCH_MAX:
            batches.append([])
            room = _BATCH_CHARS
        batches[-1].append(event)
        room -= size
    return batches
