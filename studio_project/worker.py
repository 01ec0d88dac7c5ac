"""A worker's life: beside a daemon that executes nothing itself, alone, or as a part of one."""

import asyncio
import os
import signal
from collections.abc import Callable
from typing import Final

from studio_project.banner import root_url
from studio_project.composition import Studio, build_studio
from studio_project.config import StudioConfig
from studio_project.home import find_holder, working
from studio_project.schema import refuse_missing, refuse_unknown, schema_state, usable_database

KILLED_BY_HAND: Final = 130  # what a shell reports for a second Ctrl-C


async def work(studio: Studio) -> None:
    """Execute queued runs until cancelled, and let those who launch some see that somebody does."""
    with working(studio.config.home):
        await studio.work()


def daemon_url(config: StudioConfig) -> str:
    """Return where runs find Studio: as configured, else the daemon that serves the home now, wherever it listens."""
    holder = find_holder(config.home)
    return config.url or root_url(config, (holder and holder.port) or config.port)


class WorkerProcess:
    """One worker, from the look at the schema to the end of its last child. Any number may share a database."""

    def __init__(self, config: StudioConfig, say: Callable[[str], None]) -> None:
        """Take whose runs are executed; `say` prints a line for the person who started it."""
        self._config = config
        self._say = say
        self._stop = asyncio.Event()

    def run(self) -> None:
        """Execute queued runs, and settle those of lost workers, until a signal.

        Raises SchemaMismatch, DatabaseUnusable, HomeUnusable, or what broke it.
        """
        with usable_database(self._config.database):
            state = schema_state()
            refuse_unknown(state)
            refuse_missing(state)
        asyncio.run(self._live())

    async def _live(self) -> None:
        with working(self._config.home):
            self._watch_signals()
            studio = build_studio(self._config)
            studio.url = daemon_url(self._config)
            self._introduce(studio)
            await self._execute(studio)

    async def _execute(self, studio: Studio) -> None:
        parts = [asyncio.create_task(part) for part in (studio.work(), studio.keep_reconciled(), self._stopped())]
        try:
            done, _ = await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for part in parts:
                part.cancel()
            await asyncio.wait(parts)  # its children end here
            studio.stopping()
            await studio.close()
        for part in done:
            part.result()

    def _introduce(self, studio: Studio) -> None:
        at_a_time = f"{self._config.max_concurrent} at a time" if self._config.max_concurrent else "all at once"
        self._say(f"Executing the queued runs of {self._config.database.display}, {at_a_time} with all other workers.")
        self._say(f"They find Studio at {studio.url}. Ctrl-C or SIGTERM ends them and this worker.")

    async def _stopped(self) -> None:
        await self._stop.wait()

    def _watch_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._on_signal)

    def _on_signal(self) -> None:
        if self._stop.is_set():
            os._exit(KILLED_BY_HAND)
        self._say("Stopping; once more to stop at once.")
        self._stop.set()
