"""A part of the daemon as a process of its own: beside a daemon that leaves it out, or alone."""

import asyncio
import os
import signal
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, Final

from studio_project.composition import Studio, build_studio
from studio_project.config import StudioConfig
from studio_project.schema import refuse_missing, refuse_unknown, schema_state, usable_database

KILLED_BY_HAND: Final = 130  # what a shell reports for a second Ctrl-C

Say = Callable[[str], None]


class PartProcess(ABC):
    """One process, from the look at the schema to the end of its parts. Any number may share a database."""

    def __init__(self, config: StudioConfig, say: Say) -> None:
        """Take what it works for; `say` prints a line for the person who started it."""
        self._config = config
        self._say = say
        self._stop = asyncio.Event()

    def run(self) -> None:
        """Work until a signal.

        Raises SchemaMismatch, DatabaseUnusable, HomeUnusable, or what broke it.
        """
        with usable_database(self._config.database):
            state = schema_state()
            refuse_unknown(state)
            refuse_missing(state)
        asyncio.run(self._live())

    @abstractmethod
    def parts(self, studio: Studio) -> Sequence[Coroutine[Any, Any, None]]:
        """Return what runs until the end."""
        ...

    @abstractmethod
    def introduction(self) -> Sequence[str]:
        """Return what a person is told at the start, once it can work."""
        ...

    def held(self) -> AbstractContextManager[object]:
        """Return what is held while it works."""
        return nullcontext()

    async def _live(self) -> None:
        with self.held():
            self._watch_signals()
            studio = build_studio(self._config)
            for line in self.introduction():
                self._say(line)
            await self._work(studio)

    async def _work(self, studio: Studio) -> None:
        parts = [asyncio.create_task(part) for part in (*self.parts(studio), self._stopped())]
        try:
            done, _ = await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for part in parts:
                part.cancel()
            await asyncio.wait(parts)
            studio.stopping()
            await studio.close()
        for part in done:
            part.result()

    async def _stopped(self) -> None:
        await self._stop.wait()

    def _watch_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._on_signal)

    def _on_signal(self) -> None:
        if self._stop.is_set():
            os._exit(KILLED_BY_HAND)
        self._stop.set()
        with suppress(OSError):  # who read what is said may be gone
            self._say("Stopping; once more to stop at once.")
