"""The one security middleware, around every protocol and path: pure ASGI, thin over `request_rules`.

In order: protocol sanity, Host, Origin and CORS, bearer, method, media type, body limit, readiness. What passes goes on
with its script prefix removed and its body counted. Every answer gets the headers that belong on all of them, and
an error answer of a library below that is not ours is replaced by one that is.
"""

from collections.abc import Callable, Collection
from typing import Protocol

from contract.errors import RequestRefused, StateUnavailable, StudioError
from contract.limits import BODY_MAX_BYTES
from studio_project.asgi_types import App, Event, RawHeaders, Receive, Scope, Send
from studio_project.config import StudioConfig
from studio_project.http_errors import (
    FIRST_ERROR_STATUS,
    NO_CONTENT,
    HttpError,
    error_of_status,
    error_response,
)
from studio_project.readiness import Readiness
from studio_project.request_rules import (
    METHODS,
    Head,
    Rules,
    cors_headers,
    headers_of,
    hosts_of,
    is_admin,
    is_api,
    is_preflight,
    preflight_headers,
    refusal_of,
    too_large,
)

_JSON = b"application/json"
_ON_EVERY_ANSWER = ((b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"same-origin"))
_ON_API_ANSWERS = ((b"cache-control", b"no-store"),)


class Guarded(Protocol):
    """What the middleware needs of Studio."""

    @property
    def config(self) -> StudioConfig:
        """Hosts, origins and tokens."""
        ...

    @property
    def readiness(self) -> Readiness:
        """Whether the API may answer yet."""
        ...


def rules_of(config: StudioConfig) -> Rules:
    """Return the rules that a configuration sets."""
    token, read_token = config.auth_token, config.auth_read_token
    return Rules(
        hosts=hosts_of(config.host, config.allowed_hosts),
        origins=frozenset(config.cors_origins),
        token=token.get_secret_value().encode() if token else None,
        read_token=read_token.get_secret_value().encode() if read_token else None,
    )


class SecurityMiddleware:
    """Refuses, or hands on to `app`. `studio` is asked at each request, so that none is built at import.

    `methods_of` tells the methods of a path, for requests with a method that nothing here has.
    """

    def __init__(
        self, app: App, studio: Callable[[], Guarded], methods_of: Callable[[str], Collection[str]] = lambda _: METHODS
    ) -> None:
        self._app = app
        self._methods_of = methods_of
        self._studio = studio
        self._rules: tuple[StudioConfig, Rules] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one connection."""
        if scope["type"] == "websocket":
            await _refuse_websocket(receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            raise ValueError(f"no such protocol here: {scope['type']}")

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = Head(method=scope["method"], path=scope["path"], headers=headers_of(scope["headers"]))
        answer = _Answer(send, head)
        try:
            studio = self._studio()
            rules = self._rules_for(studio.config)
            answer.extra += cors_headers(head, rules)
            if refusal := refusal_of(head, rules) or _unready(head, studio.readiness):
                await answer.error(refusal, self._allowed(refusal, head))
            elif is_preflight(head):
                await answer.empty(preflight_headers())
            else:
                await self._inner(scope, receive, answer)
        except Exception as error:  # noqa: BLE001 (the outermost: whatever it is, the client gets an answer)
            await answer.error(error)

    def _allowed(self, refusal: StudioError, head: Head) -> Collection[str]:
        is_method = isinstance(refusal, RequestRefused) and refusal.code == "method_not_allowed"
        return self._methods_of(head.path) if is_method else ()

    async def _inner(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        body = _CountedBody(receive)
        # A script prefix would let a client move every URL that Django builds (the Daphne-Root-Path header).
        await self._app({**scope, "root_path": ""}, body, answer)
        if body.over_limit and not answer.started:
            await answer.error(too_large())

    def _rules_for(self, config: StudioConfig) -> Rules:
        if self._rules is None or self._rules[0] is not config:
            self._rules = (config, rules_of(config))
        return self._rules[1]


class _CountedBody:
    """Hands the body on while it is within the limit, then says that the client is gone, which ends the reader."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._bytes = 0
        self.over_limit = False

    async def __call__(self) -> Event:
        event = await self._receive()
        if event["type"] == "http.request":
            self._bytes += len(event.get("body", b""))
            if self._bytes > BODY_MAX_BYTES:
                self.over_limit = True
                return {"type": "http.disconnect"}
        return event


class _Answer:
    """The way back: adds the headers of every answer, and turns foreign error bodies into ours."""

    def __init__(self, send: Send, head: Head) -> None:
        self._send = send
        self._head = head
        self.started = False
        self._replaced = False
        self.extra: RawHeaders = []

    async def __call__(self, event: Event) -> None:
        if event["type"] == "http.response.start":
            headers = [(name.lower(), value) for name, value in event.get("headers", ())]
            if self._is_foreign_error(event["status"], headers):
                self._replaced = True
                await self.error(*_ours(event["status"], headers, self._head))
                return
            self.started = True
            await self._send({**event, "headers": self._completed(headers)})
        elif not self._replaced:
            await self._send(event)

    async def error(self, error: BaseException, allow: Collection[str] = ()) -> None:
        """Send an error. An answer that has begun can only be cut off: raised, so that the server closes."""
        if self.started:
            raise error
        await self._whole(error_response(error, allow=allow))

    async def empty(self, headers: RawHeaders) -> None:
        """Send an answer without a body."""
        await self._whole(HttpError(status=NO_CONTENT, headers=(), body=b""), headers)

    async def _whole(self, answer: HttpError, headers: RawHeaders | None = None) -> None:
        self.started = True
        completed = self._completed([*answer.raw_headers, *(headers or [])])
        await self._send({"type": "http.response.start", "status": answer.status, "headers": completed})
        await self._send({"type": "http.response.body", "body": answer.body})

    def _completed(self, headers: RawHeaders) -> RawHeaders:
        present = {name for name, _ in headers}
        wanted = (*_ON_EVERY_ANSWER, *(_ON_API_ANSWERS if is_api(self._head.path) else ()))
        return [*headers, *self.extra, *(pair for pair in wanted if pair[0] not in present)]

    def _is_foreign_error(self, status: int, headers: RawHeaders) -> bool:
        kind = dict(headers).get(b"content-type", b"")
        return status >= FIRST_ERROR_STATUS and not is_admin(self._head.path) and not kind.startswith(_JSON)


def _ours(status: int, headers: RawHeaders, head: Head) -> tuple[StudioError, tuple[str, ...]]:
    """Return our error for a foreign one, with the methods it allows."""
    allow = dict(headers).get(b"allow", b"").decode("latin-1")
    detail = "the request is refused" if not allow else f"{head.method} is not a method of this route"
    error = error_of_status(status, detail, path=head.path)
    return error, tuple(method.strip() for method in allow.split(",") if method.strip())


def _unready(head: Head, readiness: Readiness) -> StudioError | None:
    if readiness.ready or not is_api(head.path):
        return None
    return StateUnavailable(retryable=True, detail=f"the daemon is starting: {readiness.phase}")


async def _refuse_websocket(receive: Receive, send: Send) -> None:
    """Nothing here speaks WebSocket; closing before accepting makes the server answer 403."""
    await receive()
    await send({"type": "websocket.close", "code": 1000, "reason": "no WebSocket here"})
