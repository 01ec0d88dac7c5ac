"""Records the events of a stream of JSON lines into one run, batch by batch, of any StudioApplication."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from contract.application import StudioApplication
from contract.errors import Conflict, NotFound, StateUnavailable
from contract.events import RecordEvents, RecordResult
from contract.runs import StartRun
from contract.stream_following import BACK_OFF_SECONDS, OPENINGS_MAX, RECONNECTS_MAX, Sleep
from runs.management.line_source import Piece
from runs.recording_lines import Batch, LineSplitter, NumberedLine, read_event

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a recording is: input bytes taken, and what was stored of them."""

    read_bytes: int
    result: RecordResult


class Recorder:
    """Records into the run that `start` describes; its `run_id` must be given.

    `exists`: whether the run is expected to exist already; either way it is started when it does not. What was
    stored so far is `result`, also after an error; while `under_way` a batch was sent and not answered. `watch` is
    called after every batch and piece of input, `warn` with a sentence for people, such as which run begins. Every
    event has an id, so that sending a batch again stores nothing twice.
    """

    def __init__(
        self,
        studio: StudioApplication,
        start: StartRun,
        *,
        exists: bool,
        batch_events: int,
        sleep: Sleep,
        watch: Callable[[Progress], None],
        warn: Callable[[str], None],
    ) -> None:
        if start.run_id is None:
            raise ValueError("a recorder needs to know its run")
        self._studio = studio
        self._start = start
        self._ready = exists
        self._batch = Batch(batch_events)
        self._sleep = sleep
        self._watch = watch
        self._warn = warn
        self._answered = False
        self._read_bytes = 0
        self._run_id = start.run_id
        self.under_way = False
        self.result = RecordResult(run_id=start.run_id, accepted=0, duplicates=0, last_seq=0)

    async def record(self, pieces: AsyncIterator[Piece]) -> RecordResult:
        """Record until the input ends; a pause sends what is there.

        Raises ValidationFailure for a bad line, whose batch is then not sent, and whatever the operations raise.
        """
        splitter = LineSplitter()
        async for piece in pieces:
            if piece is None:
                await self._send()
                continue
            for line in splitter.feed(piece):
                await self._take(line)
            self._read_bytes += len(piece)
            self._tell()
        for line in splitter.end():
            await self._take(line)
        await self._send()
        return self.result

    async def _take(self, line: NumberedLine) -> None:
        event = read_event(line)
        if not self._batch.has_room(event):
            await self._send()
        self._batch.add(event)
        if self._batch.is_full:
            await self._send()

    async def _send(self) -> None:
        if not self._batch:
            return
        self.under_way = True
        stored = await self._store(self._batch.take())
        self.under_way = False
        if stored.cancel_requested and not self.result.cancel_requested:
            self._warn(f"run {self._run_id} was asked to stop: its producer should end")
        self.result = RecordResult(
            run_id=self._run_id,
            accepted=self.result.accepted + stored.accepted,
            duplicates=self.result.duplicates + stored.duplicates,
            last_seq=stored.last_seq,
            refused_transitions=self.result.refused_transitions + stored.refused_transitions,
            cancel_requested=stored.cancel_requested,
        )
        self._tell()

    async def _store(self, command: RecordEvents) -> RecordResult:
        if not self._ready:
            await self._begin()
        try:
            return await self._patiently(lambda: self._studio.record_events(self._run_id, command))
        except NotFound:
            await self._begin()
            return await self._patiently(lambda: self._studio.record_events(self._run_id, command))

    async def _begin(self) -> None:
        # A conflict is an answer that got lost, or another recorder: the run is there, which is all that is wanted.
        with suppress(Conflict):
            await self._patiently(lambda: self._studio.start_run(self._start))
        self._ready = True
        self._warn(f"run {self._run_id} begins; follow it elsewhere with: studio run tail {self._run_id}")

    async def _patiently(self, call: Callable[[], Awaitable[T]]) -> T:
        """Repeat a call while the store says that it is worth it."""
        failures = 0
        while True:
            try:
                answer = await call()
            except StateUnavailable as fault:
                failures += 1
                if not fault.retryable or failures >= (RECONNECTS_MAX if self._answered else OPENINGS_MAX):
                    raise
                if failures == 1:
                    self._warn(f"{fault}; trying again")
                await self._sleep(BACK_OFF_SECONDS[min(failures, len(BACK_OFF_SECONDS)) - 1])
            else:
                self._answered = True
                return answer

    def _tell(self) -> None:
        self._watch(Progress(read_bytes=self._read_bytes, result=self.result))
