"""One `run record`: the input opened, recorded with its progress shown, and what was stored told."""

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from stat import S_ISREG

from contract.application import StudioApplication
from contract.errors import StudioError, ValidationFailure, shown
from contract.events import RecordResult
from contract.limits import EVENTS_PER_BATCH_MAX
from contract.parsing import parse_model
from contract.runs import StartRun
from runs.management.line_source import read_pieces
from runs.management.recorder import Progress, Recorder
from studio_project.system import RandomIds
from studio_project.terminal import Terminal

_STANDARD_INPUT = "-"


class RecordingSession:
    """Records `file` into the run that `fields` of StartRun describe; without a `run_id` a new one gets its own."""

    def __init__(
        self,
        file: str,
        fields: Mapping[str, object],
        *,
        batch_events: int,
        terminal: Terminal,
        standard_input: int,
    ) -> None:
        self._file = file
        self._fields = fields
        self._batch_events = batch_events
        self._terminal = terminal
        self._standard_input = standard_input

    async def record(self, studio: StudioApplication) -> RecordResult:
        """Record to the end of the input. After an error or an interrupt, what was stored before it is told."""
        _check_batch(self._batch_events)
        # An id of our own: a start whose answer got lost can then be repeated without making a second run.
        start = parse_model(StartRun, {"run_id": RandomIds().new_id(), **self._fields})
        with (
            _opened(self._file, self._standard_input) as (descriptor, size_bytes),
            self._terminal.progress("recording", total=size_bytes) as advance,
        ):
            recorder = Recorder(
                studio,
                start,
                exists="run_id" in self._fields,
                batch_events=self._batch_events,
                sleep=asyncio.sleep,
                watch=lambda progress: advance(progress.read_bytes, _words(progress)),
                warn=self._terminal.note,
            )
            return await self._told(recorder, descriptor)

    async def _told(self, recorder: Recorder, descriptor: int) -> RecordResult:
        try:
            return await recorder.record(read_pieces(descriptor))
        except StudioError:
            if _is_any(recorder.result):
                self._terminal.note(f"before that, {_stored(recorder.result)}")
            raise
        except asyncio.CancelledError:
            self._terminal.note(f"interrupted; {_before_interrupt(recorder)}")
            raise


def _before_interrupt(recorder: Recorder) -> str:
    if not recorder.under_way and not _is_any(recorder.result):
        return "nothing was stored"
    # Nobody waits for its answer: a store that hangs would make the interrupt hang.
    uncertain = " (perhaps also the batch that was under way)" if recorder.under_way else ""
    return f"before that, {_stored(recorder.result)}{uncertain}"


def _is_any(result: RecordResult) -> bool:
    return bool(result.accepted or result.duplicates)


def _stored(result: RecordResult) -> str:
    duplicates = f" ({result.duplicates} duplicates)" if result.duplicates else ""
    return f"{result.accepted} events were stored in run {result.run_id}{duplicates}; --run {result.run_id} goes on"


def _words(progress: Progress) -> str:
    return f"{progress.result.accepted} accepted, {progress.result.duplicates} duplicates"


def _check_batch(batch_events: int) -> None:
    if not 1 <= batch_events <= EVENTS_PER_BATCH_MAX:
        message = f"must be from 1 to {EVENTS_PER_BATCH_MAX}"
        raise ValidationFailure.at("batch", code="range", message=message)


@contextmanager
def _opened(file: str, standard_input: int) -> Iterator[tuple[int, int | None]]:
    """Yield a descriptor and the size of what it holds, None for a pipe. ValidationFailure when it cannot be read."""
    try:
        descriptor = standard_input if file == _STANDARD_INPUT else os.open(file, os.O_RDONLY)
        try:
            status = os.fstat(descriptor)
            yield descriptor, status.st_size if S_ISREG(status.st_mode) else None
        finally:
            if file != _STANDARD_INPUT:
                os.close(descriptor)
    except BrokenPipeError:
        raise
    except OSError as fault:
        reason = fault.strerror or type(fault).__name__
        raise ValidationFailure.at("file", code="unreadable", message=f"{shown(file)}: {reason}") from None
