"""A StudioServer on a real socket, on Twisted's reactor in a thread of the test process."""

import asyncio
import json
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from daphne.server import twisted_loop

from studio_project.application import build_application
from studio_project.composition import get_studio
from studio_project.server import StudioServer, run_on_reactor

T = TypeVar("T")

PATIENCE_SECONDS = 10.0
# Between two looks at a state that is about to change.
_LOOK_SECONDS = 0.005


class LiveServer:
    """Starts once per process: a reactor cannot be restarted."""

    def __init__(self) -> None:
        self.port = 0
        self.server: StudioServer
        self._up = threading.Event()
        self._end: asyncio.Event
        self._thread = threading.Thread(target=run_on_reactor, args=(self._serve,), name="live-server")

    async def _serve(self) -> None:
        self._end = asyncio.Event()
        self.server = StudioServer(build_application(get_studio))
        bound = socket.socket()
        bound.bind(("127.0.0.1", 0))
        self.port = bound.getsockname()[1]
        self.server.open(bound)
        self._up.set()
        await self._end.wait()
        await self.server.close(0.1)

    def start(self) -> "LiveServer":
        self._thread.start()
        assert self._up.wait(PATIENCE_SECONDS)
        return self

    def stop(self) -> None:
        twisted_loop.call_soon_threadsafe(self._end.set)
        self._thread.join(PATIENCE_SECONDS)

    def look(self, state: Callable[[], T]) -> T:
        """Return a state of the server, read on its own loop."""
        found: Future[T] = Future()
        twisted_loop.call_soon_threadsafe(lambda: found.set_result(state()))
        return found.result(PATIENCE_SECONDS)

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds on the server's loop."""

        async def watch() -> None:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not condition():  # noqa: ASYNC110 (the state is Twisted's and has no event)
                    await asyncio.sleep(_LOOK_SECONDS)

        asyncio.run_coroutine_threadsafe(watch(), twisted_loop).result(PATIENCE_SECONDS + 1)

    def connect(self, *, receive_buffer_bytes: int | None = None) -> socket.socket:
        client = socket.socket()
        if receive_buffer_bytes is not None:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
        client.settimeout(PATIENCE_SECONDS)
        client.connect(("127.0.0.1", self.port))
        return client

    def say(self, raw: bytes) -> "RawAnswer":
        """Send bytes on a new connection and read one answer."""
        with self.connect() as client:
            client.sendall(raw)
            return read_answer(client)


@dataclass(frozen=True)
class RawAnswer:
    """One answer as it came over the wire; `closed` when the server closed the connection after it."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def read_answer(client: socket.socket) -> RawAnswer:
    """Read one answer that announces its length."""
    with client.makefile("rb") as stream:
        status = int(stream.readline().split(b" ")[1])
        headers: dict[str, str] = {}
        while (line := stream.readline().strip()) != b"":
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        return RawAnswer(status, headers, stream.read(int(headers["content-length"])))


def is_closed(client: socket.socket) -> bool:
    """Say whether the server closes the connection without another byte."""
    return client.recv(1) == b""
