"""Calls an ASGI application as a server would, and keeps what it sent."""

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from studio_project.asgi_types import App, Event

JSON = {"content-type": "application/json"}


@dataclass
class Answer:
    """What came back: status, header values by lower-case name, and the whole body."""

    status: int = 0
    headers: dict[str, list[str]] = field(default_factory=dict)
    body: bytes = b""
    ended: bool = False

    def header(self, name: str) -> str | None:
        values = self.headers.get(name, [])
        return values[0] if values else None

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        return str(self.json["code"])

    async def take(self, event: Event) -> None:
        if event["type"] == "http.response.start":
            assert self.status == 0, "an answer may start once"
            self.status = event["status"]
            for name, value in event["headers"]:
                self.headers.setdefault(name.decode().lower(), []).append(value.decode("latin-1"))
        else:
            self.body += event.get("body", b"")
            self.ended = not event.get("more_body", False)


def scope_of(method: str, target: str, headers: Iterable[tuple[str, str]]) -> dict[str, Any]:
    raw_path, _, query = target.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(raw_path),
        "raw_path": raw_path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers],
        "client": ["127.0.0.1", 50000],
        "server": ["127.0.0.1", 8765],
    }


async def ask(
    app: App,
    method: str,
    target: str,
    headers: dict[str, str] | Sequence[tuple[str, str]] = (),
    *,
    host: str | None = "localhost:8765",
    body: bytes | Sequence[bytes] = b"",
) -> Answer:
    """Send one request and return its whole answer."""
    pairs = list(headers.items() if isinstance(headers, dict) else headers)
    if host is not None:
        pairs.insert(0, ("host", host))
    chunks = [body] if isinstance(body, bytes) else list(body)
    waiting: asyncio.Queue[Event] = asyncio.Queue()
    for number, chunk in enumerate(chunks, start=1):
        waiting.put_nowait({"type": "http.request", "body": chunk, "more_body": number < len(chunks)})
    answer = Answer()

    async def send(event: Event) -> None:
        await answer.take(event)
        if answer.ended:  # as daphne does
            waiting.put_nowait({"type": "http.disconnect"})

    await app(scope_of(method, target, pairs), waiting.get, send)
    return answer
