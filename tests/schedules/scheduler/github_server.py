"""A server that behaves like GitHub's list of pull requests: tags, pages, limits, and every way to go wrong."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "ghp_secret"


@dataclass(frozen=True, kw_only=True)
class Request:
    """What was asked for; names of headers are lower-case."""

    target: str
    headers: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What is answered instead of a listing. `cut` bytes of it are sent, where that is given; `held` sends nothing."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    held: bool = False


def pull(number: int, second: int = 0, **fields: Any) -> dict[str, Any]:
    """Return a pull request as GitHub shows it, opened so many seconds after noon."""
    at = f"2026-01-01T12:{second // 60:02}:{second % 60:02}Z"
    defaults = {
        "number": number, "title": f"change {number}", "html_url": f"https://github.example/o/n/pull/{number}",
        "created_at": at, "updated_at": at, "closed_at": None, "merged_at": None, "draft": False,
        "base": {"ref": "main", "repo": {"full_name": "o/n"}}, "head": {"repo": {"full_name": "o/n"}},
    }  # fmt: skip
    return {**defaults, **fields}


class GithubServer:
    """Pull requests, the newest update first, a hundred on a page; `replies` come first, one by one."""

    def __init__(self) -> None:
        self.pulls: list[dict[str, Any]] = []
        self.replies: list[Reply] = []
        self.requests: list[Request] = []
        self.headers: dict[str, str] = {}
        self.url = ""

    def open(self, *pulls: dict[str, Any]) -> None:
        """Open pull requests."""
        self.pulls.extend(pulls)
        self.pulls.sort(key=lambda found: found["updated_at"], reverse=True)

    def reply_to(self, request: Request) -> Reply:
        """Answer."""
        if self.replies:
            return self.replies.pop(0)
        query = parse_qs(urlsplit(request.target).query)
        page, size = int(query.get("page", ["1"])[0]), int(query["per_page"][0])
        shown = self.pulls[(page - 1) * size : page * size]
        body = json.dumps(shown).encode()
        headers = {"ETag": f'W/"{sha256(body).hexdigest()[:8]}"', **self.headers}
        if request.headers.get("if-none-match") == headers["ETag"]:
            return Reply(status=304, headers=headers)
        if len(self.pulls) > page * size:
            following = f"{self.url}{request.target.split('&page=')[0]}&page={page + 1}"
            headers["Link"] = f'<{following}>; rel="next", <{following}>; rel="last"'
        return Reply(body=body, headers=headers)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request and close."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.split("\r\n")
        fields = (line.partition(": ") for line in lines if line)
        request = Request(target=first.split(" ")[1], headers={name.lower(): value for name, _, value in fields})
        self.requests.append(request)
        reply = self.reply_to(request)
        if reply.held:
            await reader.read()
        else:
            writer.write(_encoded(reply))
        writer.close()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator["GithubServer"]:
        """Listen on a free port of this machine."""
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with server:
            yield self


def listing(pulls: Sequence[dict[str, Any]], **fields: Any) -> Reply:
    """Return a listing as it is, whatever it holds."""
    return Reply(body=json.dumps(pulls).encode(), **fields)


def _encoded(reply: Reply) -> bytes:
    headers = {"Content-Length": str(len(reply.body)), "Connection": "close", **reply.headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    answer = f"HTTP/1.1 {reply.status} X\r\n{head}\r\n".encode() + reply.body
    return answer if reply.cut is None else answer[: len(answer) - len(reply.body) + reply.cut]
