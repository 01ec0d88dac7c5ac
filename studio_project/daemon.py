"""The daemon's life, in order: lock, port, schema, listen, reconcile, background, ready; and the way back.

daphne has no ASGI lifespan, so what has to happen before the first and after the last request happens here.
"""

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from contract.errors import StudioError
from studio_project.application import build_application
from studio_project.banner import admin_line, banner_lines, has_token, root_url
from studio_project.composition import Studio, build_studio, get_studio, set_studio
from studio_project.config import StudioConfig
from studio_project.first_admin import create_first_admin
from studio_project.home import HomeLock
from studio_project.http_errors import incident
from studio_project.part_process import KILLED_BY_HAND
from studio_project.readiness import Readiness
from studio_project.schema import migrate, refuse_missing, refuse_unknown, schema_state, usable_database
from studio_project.server import StudioServer, run_on_reactor
from studio_project.worker import work

_log = logging.getLogger(__name__)

Say = Callable[[str], None]
Part = Callable[[], Awaitable[None]]

# Of the three seconds a stop may take: what streams and running answers get to end and to be sent.
FLUSH_SECONDS: Final = 1.5
# What the background parts get beside it. They take less than a second, unless the machine is busy; and then a daemon
# that did not wait would leave children behind that nobody looks after.
_PARTS_SECONDS: Final = 15.0


class ServeRefused(Exception):
    """The daemon cannot start as it was asked to."""


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """How to serve.

    Without `work` queued runs wait for a worker elsewhere; without `schedule` nothing fires here. The `background`
    parts start when the store is reconciled, `once_ready` when the gate is open; all run until the end, when they are
    cancelled.
    """

    migrate: bool = True
    insecure: bool = False
    work: bool = True
    schedule: bool = True
    background: Sequence[Part] = ()
    once_ready: Sequence[Part] = ()


def bind(config: StudioConfig) -> socket.socket:
    """Return a socket bound to the configured address, not yet listening. Raises ServeRefused."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    # A daemon that restarts may not wait for the last connections of the one before (RFC 9293, TIME-WAIT).
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((config.host.strip("[]"), config.port))
    except OSError as error:
        bound.close()
        raise ServeRefused(f"cannot listen on {config.host}, port {config.port}: {error.strerror}") from None
    return bound


def refuse_open_door(config: StudioConfig, *, insecure: bool) -> None:
    """Raise ServeRefused for a daemon that anybody on the network could command, unless that was asked for."""
    if config.is_loopback or has_token(config) or insecure or config.insecure:
        return
    raise ServeRefused(
        f"{config.host} can be reached from other machines and there is no token: set auth_token, or pass --insecure"
    )


class Daemon:
    """One daemon, from the lock to the last connection."""

    def __init__(self, config: StudioConfig, options: ServeOptions, say: Say) -> None:
        """Take what is to be served; `say` prints a line for the person who started it."""
        self._config = config
        self._options = options
        self._say = say
        self._lock = HomeLock(config.home)
        self._parts: list[asyncio.Task[None]] = []
        self._stop = asyncio.Event()

    def run(self) -> None:
        """Serve until a signal.

        Raises ServeRefused, HomeTaken, HomeUnusable, SchemaMismatch, DatabaseUnusable, or what broke the start-up.
        """
        refuse_open_door(self._config, insecure=self._options.insecure)
        self._lock.take(pid=os.getpid())
        try:
            with bind(self._config) as bound:
                port = bound.getsockname()[1]
                self._lock.tell(pid=os.getpid(), port=port)
                self._introduce(port, self._prepared_database())
                run_on_reactor(lambda: self._serve(bound))
        finally:
            self._lock.release()

    # -- before the loop

    def _prepared_database(self) -> str | None:
        """Bring the schema up to the code; return the password of the first administrator if one was made now."""
        with usable_database(self._config.database):
            state = schema_state()
            refuse_unknown(state)
            if not self._options.migrate:
                refuse_missing(state)
            elif state.missing:
                self._say(f"Migrating the database: {len(state.missing)} steps, from {state.missing[0]}")
                migrate()
            return create_first_admin()

    def _introduce(self, port: int, password: str | None) -> None:
        for line in (*banner_lines(self._config, port), admin_line(self._config, port, password)):
            self._say(line)

    # -- in the loop

    async def _serve(self, bound: socket.socket) -> None:
        self._watch_signals()
        studio = build_studio(self._config)
        studio.readiness = Readiness(ready=False)
        studio.url = root_url(self._config, bound.getsockname()[1])
        set_studio(studio)
        server = StudioServer(build_application(get_studio))
        server.open(bound)
        starting = asyncio.create_task(self._start(studio))
        starting.add_done_callback(self._stop_if_failed)
        await self._stop.wait()
        await self._end(studio, server, starting)

    async def _start(self, studio: Studio) -> None:
        """Reconcile, then start the parts, then open the gate: no stale row is ever served as healthy."""
        await studio.reconcile()
        worker = (partial(work, studio),) if self._options.work else ()
        scheduler = (studio.schedule,) if self._options.schedule else ()
        kept = (studio.keep_reconciled, studio.keep_pruned)
        self._begin((*kept, *worker, *scheduler, *self._options.background))
        studio.readiness.mark_ready()
        self._say("Ready.")
        self._begin(self._options.once_ready)

    def _begin(self, parts: Sequence[Part]) -> None:
        self._parts += [asyncio.create_task(watched(part)) for part in parts]

    def _stop_if_failed(self, starting: asyncio.Task[None]) -> None:
        if not starting.cancelled() and starting.exception() is not None:
            self._stop.set()

    async def _end(self, studio: Studio, server: StudioServer, starting: asyncio.Task[None]) -> None:
        """Let nobody in, let streams say goodbye and answers be sent, then close the store under nobody's feet."""
        await server.stop_listening()
        studio.stopping()
        for task in (starting, *self._parts):
            task.cancel()
        await asyncio.gather(server.close(FLUSH_SECONDS), self._ended_parts())
        await studio.close()
        set_studio(None)
        if starting.done() and not starting.cancelled():
            starting.result()  # raises what broke the start-up

    async def _ended_parts(self) -> None:
        if self._parts:
            await asyncio.wait(self._parts, timeout=_PARTS_SECONDS)

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


async def watched(part: Part) -> None:
    """Run a part; one that fails is told of at once and does not take the daemon with it."""
    try:
        await part()
    except StudioError as error:
        _log.warning("a background part of the daemon ended: %s", error)
    except Exception as error:  # noqa: BLE001 (whatever a part raises, the others go on)
        incident(error)
