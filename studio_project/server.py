"""daphne's server on a socket of ours, that ends when it is told to. Its connections are connection.py's."""

import asyncio
import logging
import socket
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

from daphne.http_protocol import HTTPFactory
from daphne.server import Server, twisted_loop
from twisted.internet import reactor
from twisted.internet.defer import maybeDeferred
from twisted.logger import STDLibLogObserver, globalLogBeginner

from studio_project.asgi_types import App, Event
from studio_project.connection import StudioChannel, StudioRequest
from studio_project.pieces import in_pieces

_reactor: Any = reactor  # Twisted fills the module in at run time: daphne.server chose the one on asyncio

# A request must be complete within this of its last sign of life, its head within this of its beginning.
REQUEST_SECONDS: Final = 60
_BACKLOG: Final = 128


class StudioFactory(HTTPFactory):  # type: ignore[misc]  # daphne has no types
    """Makes the connections of one server, and knows which are open."""

    protocol = StudioChannel

    def __init__(self, server: "StudioServer") -> None:
        super().__init__(server)
        self.timeOut = REQUEST_SECONDS
        self.channels: set[StudioChannel] = set()
        self.empty = asyncio.Event()
        self.empty.set()

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 (Twisted's name)
        """Return a connection whose requests are ours."""
        channel = super().buildProtocol(addr)
        channel.requestFactory = StudioRequest
        return channel

    def log(self, request: Any) -> None:
        """Write no access log: Twisted would format a line for each request only for it to be dropped."""

    def remember(self, channel: StudioChannel) -> None:
        """Count a connection that opened."""
        self.channels.add(channel)
        self.empty.clear()

    def forget(self, channel: StudioChannel) -> None:
        """Count a connection that closed."""
        self.channels.discard(channel)
        if not self.channels:
            self.empty.set()


class StudioServer(Server):  # type: ignore[misc]  # daphne has no types
    """Serves one application on one socket that the caller has bound. Runs on Twisted's asyncio reactor."""

    def __init__(self, application: App) -> None:
        super().__init__(application, endpoints=["adopted"], signal_handlers=False, server_name="")
        self.connections: dict[Any, dict[str, Any]] = {}
        self.http_factory = StudioFactory(self)
        self._port: Any = None

    def open(self, bound: socket.socket) -> None:
        """Begin to listen on a bound socket, which is taken over, and to look after the connections."""
        bound.setblocking(False)  # noqa: FBT003 (its only form)
        bound.listen(_BACKLOG)
        self._port = _reactor.adoptStreamPort(bound.fileno(), bound.family, self.http_factory)
        bound.close()  # Twisted has its own descriptor now, and the port is to be free when that is closed
        self.application_checker()
        self.timeout_checker()

    async def handle_reply(self, protocol: StudioRequest, message: Event) -> None:
        """Pass a message on, a large body in pieces; return once the client has room for more of the same answer.

        Each piece is written before the wait for room, and the next one after it, so that the transport of a client
        that does not read holds no more than one.
        """
        for part in in_pieces(message):
            await super().handle_reply(protocol, part)
            if part.get("more_body"):
                await asyncio.sleep(0)  # an application that never waits would keep the loop from everybody else
                await protocol.drained()

    async def stop_listening(self) -> None:
        """Accept no further connection. Idempotent."""
        port, self._port = self._port, None
        if port is not None:
            await maybeDeferred(port.stopListening).asFuture(asyncio.get_running_loop())

    async def close(self, patience_seconds: float) -> None:
        """Stop listening, let running answers end and be sent for so long, then cut off what is left."""
        await self.stop_listening()
        for channel in list(self.http_factory.channels):
            channel.retire()
        with suppress(TimeoutError):
            # Not wait_for: before Python 3.12 it swallows a cancellation that meets the event.
            async with asyncio.timeout(patience_seconds):
                await self.http_factory.empty.wait()
        for channel in list(self.http_factory.channels):
            channel.abort()
        # daphne's own kill_all_applications raises KeyError for connections whose application has ended.
        running = [
            details["application_instance"]
            for details in self.connections.values()
            if "application_instance" in details
        ]
        for application in running:
            application.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def run_on_reactor(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run `main` on Twisted's reactor, which shares asyncio's loop, and return when it ends. Once per process.

    Raises what `main` raises. Signals are the caller's.
    """
    tasks: list[asyncio.Task[None]] = []

    async def then_stop() -> None:
        try:
            await main()
        finally:
            _reactor.stop()

    # Twisted keeps what it logs until somebody listens; only its warnings and errors are worth a line.
    logging.getLogger("twisted").setLevel(logging.WARNING)
    observer: Any = STDLibLogObserver("twisted")
    globalLogBeginner.beginLoggingTo([observer], redirectStandardIO=False)
    asyncio.set_event_loop(twisted_loop)
    _reactor.callWhenRunning(lambda: tasks.append(twisted_loop.create_task(then_stop())))
    _reactor.run(installSignalHandlers=False)
    tasks[0].result()
