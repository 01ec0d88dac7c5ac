"""A client of an ASGI application without a network: what it sends and gets is what the contract's examples show."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from studio_project.asgi_types import App, Event, RawHeaders, Scope

HOST: Final = "127.0.0.1:8765"
# Far longer than any answer takes: an application that hangs is a fault, not something to wait for.
PATIENCE_SECONDS: Final = 30.0


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request. `headers` are added to, and win over, Host and the media type of a body."""

    method: str = "GET"
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None

    @property
    def target(self) -> str:
        """The path with its query."""
        return f"{self.path}?{self.query}" if self.query else self.path

    def scope(self, common: Mapping[str, str]) -> Scope:
        """Return the ASGI scope; `common` are headers of every request of a client."""
        json_body = {} if self.method == "GET" else {"content-type": "application/json"}
        headers = {"host": HOST, **common, **json_body, **{name.lower(): value for name, value in self.headers.items()}}
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": self.method,
            "scheme": "http",
            "path": self.path,
            "raw_path": self.path.encode(),
            "root_path": "",
            "query_string": self.query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 0),
            "server": ("127.0.0.1", 8765),
        }

    def payload(self) -> bytes:
        """Return the body on the wire: bytes as they are, nothing for None, else JSON."""
        if self.body is None or isinstance(self.body, bytes):
            return self.body or b""
        return json.dumps(self.body).encode()


class Exchange:
    """One request being answered. The client never takes body part number `stall_at`, until the server gives up."""

    def __init__(self, request: Request, *, stall_at: int | None = None) -> None:
        self._body: bytes | None = request.payload()
        self._stall_at = stall_at
        self._sent = 0
        self._parts: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._ended = asyncio.Event()
        self.status = 0
        self.headers: RawHeaders = []
        self.started = asyncio.Event()

    async def receive(self) -> Event:
        """Hand over the body, then say goodbye when the answer is whole."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._ended.wait()
        return {"type": "http.disconnect"}

    async def send(self, event: Event) -> None:
        """Take a piece of the answer."""
        if event["type"] == "http.response.start":
            self.status, self.headers = event["status"], list(event["headers"])
            self.started.set()
            return
        if event.get("body"):
            self._parts.put_nowait(bytes(event["body"]))
        if not event.get("more_body"):
            self._parts.put_nowait(None)
            self._ended.set()
        self._sent += 1
        if self._sent == self._stall_at:
            await asyncio.Event().wait()

    async def part(self) -> bytes | None:
        """Return the next part of the body, None after the last. Raises TimeoutError."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self._parts.get()

    async def rest(self) -> bytes:
        """Return everything from here to the end of the body."""
        parts = []
        while (part := await self.part()) is not None:
            parts.append(part)
        return b"".join(parts)


class AsgiClient:
    """Sends requests to `app` with `headers` on each of them."""

    def __init__(self, app: App, headers: Mapping[str, str]) -> None:
        self._app = app
        self._headers = headers

    @asynccontextmanager
    async def open(self, request: Request, *, stall_at: int | None = None) -> AsyncIterator[Exchange]:
        """Yield the exchange once its status is known, and leave when the application has let it go."""
        exchange = Exchange(request, stall_at=stall_at)
        running = asyncio.ensure_future(self._app(request.scope(self._headers), exchange.receive, exchange.send))
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await exchange.started.wait()
            yield exchange
            async with asyncio.timeout(PATIENCE_SECONDS):
                await running
        finally:
            running.cancel()

    async def whole(self, request: Request) -> tuple[Exchange, bytes]:
        """Return an answer with all of its body."""
        async with self.open(request) as exchange:
            return exchange, await exchange.rest()
