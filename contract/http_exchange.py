"""One HTTP request and its answer, as the application boundary sees them: a contract model or a typed error.

    the daemon's own error body            the error it was made from (`ErrorBody.to_error`)
    no connection, no answer in time       StateUnavailable; retryable where sending again cannot do it twice
    a redirect, or anything but our JSON   RequestRefused("internal"): something else answers at this URL

Answers are read additively: a field that a newer daemon of the same major version added is ignored. No
redirect is followed: the contract's paths are canonical, so a redirect means another origin, and the bearer
stays here.
"""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Any, Final, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, ValidationError

from contract.base import unsafe_text
from contract.errors import (
    ErrorBody,
    NotFound,
    RequestRefused,
    StateUnavailable,
    StudioError,
    ValidationFailure,
    shown,
)
from contract.limits import HEARTBEAT_SECONDS, IDENTIFIER_MAX_CHARS

M = TypeVar("M", bound=BaseModel)
Query = Mapping[str, Any]

# A daemon that listens accepts at once; only a host that is away takes longer.
CONNECT_TIMEOUT_SECONDS: Final = 5.0
# A daemon that lives says so every HEARTBEAT_SECONDS; three may be late or lost in a busy moment.
STREAM_SILENCE_SECONDS: Final = 4 * HEARTBEAT_SECONDS
PORT_MAX: Final = 2**16 - 1

# Visible ASCII without spaces: what an Authorization header carries unchanged (RFC 9110, 5.6.2 and 11.4).
_TOKEN = re.compile(r"[\x21-\x7e]+")
# Nothing was sent when these are raised.
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class HttpExchange:
    """Speaks to one daemon. `url` is its root; `shown_url` the same, fit for people and logs.

    Raises ValidationFailure for a URL or token that cannot be used.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None,
        transport: httpx.AsyncBaseTransport | None,
        timeout_seconds: float,
    ) -> None:
        base = _checked_url(url)
        self.shown_url = str(base).rstrip("/")
        self._client = httpx.AsyncClient(
            base_url=base,
            headers=_headers(token),
            transport=transport,
            timeout=httpx.Timeout(timeout_seconds, connect=min(timeout_seconds, CONNECT_TIMEOUT_SECONDS)),
            limits=httpx.Limits(max_connections=None),  # each open stream holds one
            follow_redirects=False,
            # No proxy leads to this machine, and none must see the token that was meant for it.
            trust_env=not _is_loopback(base.host),
        )

    async def close(self) -> None:
        """Close every connection."""
        await self._client.aclose()

    async def get(self, model: type[M], path: str, query: Query | None = None) -> M:
        """Read `path`."""
        return await self._send(model, self._client.build_request("GET", path, params=query))

    async def get_raw(self, path: str) -> httpx.Response:
        """Read what is no JSON: the whole answer with its headers, or the error that it was."""
        return await self._answer(self._client.build_request("GET", path, headers={"Accept": "*/*"}))

    async def send(self, model: type[M], method: str, path: str, body: BaseModel, *, repeatable: bool) -> M:
        """Send a command. `repeatable`: doing it twice has the effect of doing it once."""
        headers = {"Content-Type": "application/json"}
        request = self._client.build_request(method, path, content=body.model_dump_json().encode(), headers=headers)
        return await self._send(model, request, repeatable=repeatable)

    async def delete(self, model: type[M], path: str, query: Query, *, repeatable: bool) -> M:
        """Remove what is at `path`; `repeatable` as for a command. The media type is asked for without a body too."""
        headers = {"Content-Type": "application/json"}
        request = self._client.build_request("DELETE", path, params=query, headers=headers)
        return await self._send(model, request, repeatable=repeatable)

    @asynccontextmanager
    async def stream(self, path: str, query: Query, headers: Mapping[str, str]) -> AsyncIterator[httpx.Response]:
        """Ask for an event stream. httpx's errors pass through: what they mean is the follower's rule."""
        request = self._client.build_request(
            "GET",
            path,
            params=query,
            headers={"Accept": "text/event-stream", "Accept-Encoding": "identity", **headers},
            timeout=httpx.Timeout(CONNECT_TIMEOUT_SECONDS, read=STREAM_SILENCE_SECONDS),
        )
        response = await self._client.send(request, stream=True)
        try:
            yield response
        finally:
            await response.aclose()

    async def fault_of_stream(self, response: httpx.Response) -> StudioError | None:
        """Say why an answer is no event stream; None when it is one."""
        if not response.is_success:
            await response.aread()
            return self._error_of(response)
        media_type = response.headers.get("content-type", "").partition(";")[0].strip()
        return None if media_type == "text/event-stream" else self.foreign_answer("no event stream")

    def foreign_answer(self, what: str) -> RequestRefused:
        """Build the error for an answer that no daemon of this contract gives."""
        detail = f"{self.shown_url} answers with {what}: is this a Studio daemon's URL?"
        return RequestRefused("internal", detail)

    def no_answer(self, fault: httpx.HTTPError, *, retryable: bool = True) -> StateUnavailable:
        """Build the error for a daemon that cannot be reached."""
        reason = shown(str(fault)) or type(fault).__name__
        detail = f"the daemon at {self.shown_url} does not answer ({reason}); `studio serve` starts one"
        return StateUnavailable(retryable=retryable, detail=detail)

    async def _send(self, model: type[M], request: httpx.Request, *, repeatable: bool = True) -> M:
        response = await self._answer(request, repeatable=repeatable)
        try:
            return model.model_validate_json(response.content, extra="ignore")
        except ValidationError:
            raise self.foreign_answer(f"status {response.status_code} and no {model.__name__}") from None

    async def _answer(self, request: httpx.Request, *, repeatable: bool = True) -> httpx.Response:
        try:
            response = await self._client.send(request)
        except httpx.DecodingError:
            raise self.foreign_answer("a body that cannot be decoded") from None
        except httpx.TransportError as fault:
            raise self.no_answer(fault, retryable=repeatable or isinstance(fault, _NOT_SENT)) from None
        if not response.is_success:
            raise self._error_of(response)
        return response

    def _error_of(self, response: httpx.Response) -> StudioError:
        if response.is_redirect:
            return self.foreign_answer(f"a redirect to {_place(response)}, which is not followed")
        try:
            return ErrorBody.model_validate_json(response.content, extra="ignore").to_error()
        except ValidationError:
            return self.foreign_answer(f"status {response.status_code} and no error of the contract")


def segment(resource: str, identifier: str) -> str:
    """Return an identifier as one segment of a path.

    Raises NotFound for one that no resource has and no segment carries: empty, `..`, with a slash, too long.
    """
    fits = 0 < len(identifier) <= IDENTIFIER_MAX_CHARS and identifier not in (".", "..")
    if not fits or "/" in identifier or unsafe_text(identifier):
        raise NotFound(resource, identifier)
    return quote(identifier, safe="")


def query_of(model: BaseModel, *, exclude: frozenset[str] = frozenset()) -> Query:
    """Return the fields that were set as query parameters; lists repeat their key."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True, exclude=set(exclude))


def _checked_url(text: str) -> httpx.URL:
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, TypeError, ValueError):
        raise _bad_url("is not a URL") from None
    if url.scheme not in ("http", "https") or not url.host or (url.port or 0) > PORT_MAX:
        raise _bad_url("must be http:// or https:// with a host, and a port up to 65535 if any")
    if url.userinfo:
        raise _bad_url("must not carry a user or password; the token has its own place")
    if url.query or url.fragment:
        raise _bad_url("must not carry a query or fragment")
    return url


def _bad_url(message: str) -> ValidationFailure:
    return ValidationFailure.at("url", code="url", message=message)


def _headers(token: str | None) -> dict[str, str]:
    headers = {"Accept": "application/json"}
    if token is not None:
        if not _TOKEN.fullmatch(token):
            message = "must be visible ASCII characters without spaces, and not empty"
            raise ValidationFailure.at("token", code="token", message=message)
        headers["Authorization"] = f"Bearer {token}"
    return headers


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _place(response: httpx.Response) -> str:
    """Name where a redirect leads, without what a URL can hide behind the path."""
    try:
        target = response.url.join(response.headers.get("location", ""))
    except (httpx.InvalidURL, ValueError):
        return "nowhere"
    return shown(f"{target.scheme}://{target.host}{f':{target.port}' if target.port else ''}{target.path}")
