"""Daemons that give canned and scripted answers to a client, without a network."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx

from contract.client import RemoteStudio
from contract.errors import StudioError
from contract.events import StreamFrame

URL = "http://studio.example:8765"


class CannedDaemon:
    """Answers every request with the same thing and remembers what was asked."""

    def __init__(self, answer: httpx.Response | httpx.HTTPError) -> None:
        self.answer = answer
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if isinstance(self.answer, httpx.HTTPError):
            raise self.answer
        return self.answer

    @property
    def asked(self) -> str:
        """The last request line, path and query as sent."""
        request = self.requests[-1]
        return f"{request.method} {request.url.raw_path.decode()}"

    @property
    def sent(self) -> Any:
        return json.loads(self.requests[-1].content)


def answering(answer: Any, status: int = 200) -> CannedDaemon:
    if isinstance(answer, httpx.Response | httpx.HTTPError):
        return CannedDaemon(answer)
    return CannedDaemon(httpx.Response(status, content=answer.model_dump_json()))


def remote(daemon: Callable[[httpx.Request], httpx.Response], **options: Any) -> RemoteStudio:
    return RemoteStudio(options.pop("url", URL), transport=httpx.MockTransport(daemon), **options)


Operation = Callable[[RemoteStudio], Awaitable[object]]


def wire(cursor: object, payload: Any) -> bytes:
    return f"id: {cursor}\ndata: {payload.model_dump_json()}\n\n".encode()


class Connection(httpx.AsyncByteStream):
    """One scripted answer: a stream of bytes that may break, or a plain answer, or no answer at all."""

    def __init__(
        self, *parts: bytes | httpx.HTTPError, status: int = 200, media_type: str = "text/event-stream"
    ) -> None:
        self.parts = parts
        self.status = status
        self.media_type = media_type
        self.closed = False

    def answer(self) -> httpx.Response:
        match self.parts:
            case (httpx.ConnectError() as fault,):
                raise fault
        return httpx.Response(self.status, headers={"content-type": self.media_type}, stream=self)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self.parts:
            if isinstance(part, httpx.HTTPError):
                raise part
            yield part

    async def aclose(self) -> None:
        self.closed = True


def refusing(error: StudioError, status: int) -> Connection:
    return Connection(error.body().to_json(), status=status, media_type="application/json")


class ScriptedDaemon:
    """Answers each request with the next connection of its script; the last one again and again."""

    def __init__(self, *script: Connection) -> None:
        self.script = list(script)
        self.requests: list[httpx.Request] = []
        self.waits: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return self.script[min(len(self.requests), len(self.script)) - 1].answer()

    async def wait(self, seconds: float) -> None:
        self.waits.append(seconds)

    @property
    def resumed_from(self) -> list[str | None]:
        return [request.headers.get("last-event-id") for request in self.requests]

    async def follow(self, cursor: str | None = None, run_id: str = "r1") -> list[StreamFrame]:
        async with RemoteStudio(URL, transport=httpx.MockTransport(self), sleep=self.wait) as studio:
            return [frame async for frame in studio.stream_messages(run_id, cursor)]
