"""Follows one run on the terminal until it is done."""

import asyncio
from datetime import tzinfo
from typing import Final

from contract.application import StudioApplication
from contract.errors import ErrorBody, StateUnavailable, StudioError
from contract.events import DoneFrame, ErrorFrame, StreamFrame
from studio_project.frame_wording import frame_lines
from studio_project.terminal import Terminal

# How a followed run ends a command when it did not end well. No error ends one with it (studio_project/commands.py).
EXIT_NOT_COMPLETED: Final = 3
_ENDED_WELL: Final = ("completed", "completed_empty")


class Tail:
    """Prints the frames after `cursor`, each as JSON or for people, `zone` being theirs."""

    def __init__(
        self,
        run_id: str,
        cursor: str | None,
        *,
        signals: bool,
        as_json: bool,
        terminal: Terminal,
        zone: tzinfo,
    ) -> None:
        self._run_id = run_id
        self._cursor = cursor
        self._signals = signals
        self._as_json = as_json
        self._terminal = terminal
        self._zone = zone

    async def follow(self, studio: StudioApplication) -> DoneFrame:
        """Print until `done`, and return that. Any other end is an error, and a note says from where to go on."""
        started_from = self._cursor
        try:
            return await self._print_all(studio)
        except StudioError:
            if self._cursor != started_from:
                self._terminal.note(f"to go on: --cursor {self._cursor}")
            raise

    async def follow_launched(self, studio: StudioApplication) -> int:
        """Follow a run of one's own; return the exit code. Who stops following is told that the run goes on."""
        try:
            done = await self.follow(studio)
        except asyncio.CancelledError:
            run_id = self._run_id
            self._terminal.note(f"run {run_id} goes on; `run tail {run_id}` follows it, `run cancel {run_id}` ends it")
            raise
        return 0 if done.status in _ENDED_WELL else EXIT_NOT_COMPLETED

    async def _print_all(self, studio: StudioApplication) -> DoneFrame:
        stream = studio.stream_signals if self._signals else studio.stream_messages
        async for frame in stream(self._run_id, self._cursor):
            self._cursor = frame.cursor or self._cursor
            self._print(frame)
            if isinstance(frame.payload, DoneFrame):
                return frame.payload
            if isinstance(frame.payload, ErrorFrame):
                raise _error_of(frame.payload)
        raise StateUnavailable(retryable=True, detail="the stream ended before the run did")

    def _print(self, frame: StreamFrame) -> None:
        if self._as_json:
            self._terminal.model(frame)
        else:
            self._terminal.lines(frame_lines(frame.payload, self._run_id, self._zone))


def _error_of(frame: ErrorFrame) -> StudioError:
    detail = f"the stream ended with {frame.code}"
    return ErrorBody(detail=detail, code=frame.code, retryable=frame.retryable).to_error()
