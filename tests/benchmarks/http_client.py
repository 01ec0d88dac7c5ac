"""A small HTTP/1.1 client on asyncio's streams: keep-alive, bodies by length or in chunks, event streams.

A general client costs as much as the daemon it measures; this one costs about a tenth (the report says how much).
It trusts the daemon: it is for measuring only.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any, Final, Self

HOST: Final = "127.0.0.1"
# A request that takes longer than this has failed.
PATIENCE_SECONDS: Final = 120.0
_BUFFER_BYTES: Final = 16 * 1024 * 1024
_CLOSED: Final = (ConnectionError, asyncio.IncompleteReadError)


class UnexpectedAnswer(Exception):
    """The daemon answered otherwise than the measurement needs: what is measured would mean nothing."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to ask. `body` is JSON already."""

    target: str
    method: str = "GET"
    body: bytes = b""

    def encoded(self) -> bytes:
        """Return the request as it goes over the wire."""
        entity = f"Content-Type: application/json\r\nContent-Length: {len(self.body)}\r\n" if self.body else ""
        return f"{self.method} {self.target} HTTP/1.1\r\nHost: {HOST}\r\n{entity}\r\n".encode() + self.body


def post(target: str, content: object) -> Request:
    """Return a request with a JSON body."""
    return Request(target, "POST", json.dumps(content, separators=(",", ":")).encode())


def put(target: str, content: object) -> Request:
    """Return a request that puts a JSON body in a place."""
    return replace(post(target, content), method="PUT")


async def ask_once(port: int, request: Request) -> Any:
    """Return the decoded answer, over a connection of its own."""
    connection = await Connection.open(port)
    try:
        return json.loads(await connection.ask(request))
    finally:
        connection.close()


@dataclass(frozen=True, slots=True)
class _Head:
    status: int
    length: int | None
    is_chunked: bool


class Connection:
    """One connection, one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, port: int) -> Self:
        """Connect to a daemon of this machine. Raises ConnectionError."""
        return cls(*await asyncio.open_connection(HOST, port, limit=_BUFFER_BYTES))

    async def ask(self, request: Request | bytes) -> bytes:
        """Return the body of a successful answer. Raises UnexpectedAnswer for any other."""
        head = await self._begin(request)
        body = await self._body(head)
        if not _is_success(head.status):
            raise UnexpectedAnswer(f"{head.status}: {body[:300].decode(errors='replace')}")
        return body

    async def follow(self, target: str) -> AsyncIterator[dict[str, Any]]:
        """Return the events of a stream that has begun. Raises UnexpectedAnswer when it is refused."""
        head = await self._begin(Request(target))
        if not _is_success(head.status):
            raise UnexpectedAnswer(f"{head.status}: {(await self._body(head))[:300].decode(errors='replace')}")
        return self._events(head)

    async def _events(self, head: _Head) -> AsyncIterator[dict[str, Any]]:
        pending = b""
        async for piece in self._pieces(head):
            *frames, pending = (pending + piece).split(b"\n\n")
            for frame in frames:
                if (data := _data_of(frame)) is not None:
                    yield data

    def close(self) -> None:
        """Hang up."""
        self._writer.close()

    async def _begin(self, request: Request | bytes) -> _Head:
        self._writer.write(request if isinstance(request, bytes) else request.encoded())
        await self._writer.drain()
        return _read_head(await self._reader.readuntil(b"\r\n\r\n"))

    async def _body(self, head: _Head) -> bytes:
        if head.length is not None:
            return await self._reader.readexactly(head.length)
        return b"".join([piece async for piece in self._pieces(head)])

    async def _pieces(self, head: _Head) -> AsyncIterator[bytes]:
        """Yield the body as it comes; a connection that is closed ends it."""
        try:
            while piece := await (self._chunk() if head.is_chunked else self._reader.read(_BUFFER_BYTES)):
                yield piece
        except _CLOSED:
            return

    async def _chunk(self) -> bytes:
        size = int(await self._reader.readuntil(b"\r\n"), 16)
        return (await self._reader.readexactly(size + 2))[:-2]


def _read_head(raw: bytes) -> _Head:
    lower = raw.lower()
    length = _value_of(lower, b"\r\ncontent-length:")
    return _Head(
        status=int(raw[9:12]),
        length=None if length is None else int(length),
        is_chunked=_value_of(lower, b"\r\ntransfer-encoding:") == b"chunked",
    )


def _value_of(head: bytes, name: bytes) -> bytes | None:
    start = head.find(name)
    return None if start < 0 else head[start + len(name) : head.index(b"\r\n", start + 2)].strip()


def _data_of(frame: bytes) -> dict[str, Any] | None:
    """Return what a frame says; comments and frames that are no object say nothing."""
    lines = [line[5:].strip() for line in frame.split(b"\n") if line.startswith(b"data:")]
    found = json.loads(b"\n".join(lines)) if lines else None
    return found if isinstance(found, dict) else None


def _is_success(status: int) -> bool:
    return 200 <= status < 300
