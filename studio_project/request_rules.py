"""Who may ask for what: pure rules over the head of a request. Values in, a refusal or None out.

Order: form of the path, Host, Origin, bearer, method, media type, announced length. `refusal_of` runs them all.
"""

import hmac
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Final, Literal
from urllib.parse import unquote, urlsplit

from contract.errors import NotFound, RequestRefused, StudioError
from contract.limits import BODY_MAX_BYTES

AuthClass = Literal["public", "read", "write"]
Headers = Mapping[bytes, Sequence[bytes]]

# RFC 9110, 9.2.1, without TRACE, which nothing here answers.
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
BODY_METHODS: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
# Compared exactly (RFC 9110, 9.1). Django writes every method in capitals before a route sees it: what is not known
# here must never reach it, or `post` would pass every rule above as another method and then be a POST.
METHODS: Final = SAFE_METHODS | BODY_METHODS
# POST paths that only read, because their question does not fit a query string.
READING_POSTS: Final[frozenset[str]] = frozenset({"/api/v1/projects/detect", "/api/v1/schedules/preview"})

_PUBLIC_PATHS = frozenset({"/", "/health", "/ready"})
_STATIC = "/static/"
_ADMIN = "/admin"
_API = "/api"

_LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})
_WILDCARD_HOSTS = frozenset({"", "*", "0.0.0.0", "[::]"})  # noqa: S104 (named to be refused as a Host)
_HOST = re.compile(r"(?P<name>\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,253}))(?::(?P<port>[0-9]{1,5}))?")
_PORT_MAX = 65_535
_DEFAULT_PORTS = {"http": 80, "https": 443}

# How long a browser may remember a preflight: Chromium caps it at two hours, ten minutes keep a change of mind cheap.
_PREFLIGHT_SECONDS = "600"
_CORS_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
_CORS_HEADERS = "Authorization, Content-Type, Last-Event-ID"
_CORS_EXPOSED = "Allow, Retry-After, WWW-Authenticate"
_FOREIGN_SITES = (b"cross-site", b"same-site")  # same-site is another port or a sibling domain


@dataclass(frozen=True, kw_only=True)
class Head:
    """What is known of a request before its body: decoded path, and header values by lower-case name."""

    method: str
    path: str
    headers: Headers

    def values(self, name: bytes) -> Sequence[bytes]:
        """Return every value of a header, in order."""
        return self.headers.get(name, ())

    def only(self, name: bytes) -> bytes | None:
        """Return the value of a header that is there exactly once."""
        values = self.values(name)
        return values[0] if len(values) == 1 else None


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What the configuration allows. Hosts are lower case, IPv6 in brackets; both tokens None is tokenless mode."""

    hosts: frozenset[str]
    origins: frozenset[str] = frozenset()
    token: bytes | None = None
    read_token: bytes | None = None


def headers_of(pairs: Iterable[tuple[bytes, bytes]]) -> dict[bytes, list[bytes]]:
    """Group raw header pairs by lower-case name."""
    grouped: dict[bytes, list[bytes]] = {}
    for name, value in pairs:
        grouped.setdefault(name.lower(), []).append(value)
    return grouped


def is_api(path: str) -> bool:
    """Say whether a path belongs to the API, known or not."""
    return path == _API or path.startswith(f"{_API}/")


def is_admin(path: str) -> bool:
    """Say whether a path belongs to the admin's pages, which talk to people."""
    return path == _ADMIN or path.startswith(f"{_ADMIN}/")


def auth_class(method: str, path: str) -> AuthClass:
    """Say what a request needs: nothing, a token that may read, or one that may write.

    Everything is guarded unless it is listed here, unknown paths included.
    """
    if path in _PUBLIC_PATHS or path.startswith(_STATIC) or is_admin(path):
        return "public"
    if method in SAFE_METHODS or (method == "POST" and path in READING_POSTS):
        return "read"
    return "write"


def refusal_of(head: Head, rules: Rules) -> StudioError | None:
    """Return the first reason to refuse this request, or None."""
    return (
        path_refusal(head)
        or host_refusal(head, rules)
        or root_refusal(head)
        or origin_refusal(head, rules)
        or (None if is_preflight(head) else bearer_refusal(head, rules))
        or method_refusal(head)
        or media_type_refusal(head)
        or length_refusal(head)
    )


def path_refusal(head: Head) -> RequestRefused | None:
    """Refuse targets that are no path: absolute URLs, `*`, an authority."""
    if head.path.startswith("/"):
        return None
    return RequestRefused("bad_request", "the request target must be a path")


def root_refusal(head: Head) -> NotFound | None:
    """Refuse paths that begin with two slashes: routers read them leniently, and clients as another host."""
    return NotFound("route", head.path) if head.path.startswith("//") else None


# ---- Host ------------------------------------------------------------------------------------------------------


def hosts_of(bind_host: str, configured: Iterable[str]) -> frozenset[str]:
    """Return the allowed host names: loopback, the bind address unless it is a wildcard, and what is configured."""
    names = {bracketed(name) for name in (bind_host, *configured)}
    return _LOOPBACK_HOSTS | (names - _WILDCARD_HOSTS)


def bracketed(name: str) -> str:
    """Return a host name in the one form names are compared in: lower case, IPv6 shortest and in brackets."""
    bare = name.strip().lower()
    try:
        return f"[{IPv6Address(bare.strip('[]'))}]"
    except ValueError:
        return bare


def parse_host(value: str) -> tuple[str, int | None] | None:
    """Split `name[:port]` or `[v6][:port]` into comparable name and port; None when it is neither."""
    match = _HOST.fullmatch(value)
    if match is None:
        return None
    name = bracketed(match["name"])
    if name.startswith("[") and not _is_ipv6(name):
        return None
    port = int(match["port"]) if match["port"] else None
    if port is not None and not 1 <= port <= _PORT_MAX:
        return None
    return name, port


def _is_ipv6(name: str) -> bool:
    try:
        IPv6Address(name.strip("[]"))
    except ValueError:
        return False
    return True


def host_refusal(head: Head, rules: Rules) -> RequestRefused | None:
    """Refuse any Host but ours, so that a name an attacker points here (DNS rebinding) reaches nothing."""
    value = head.only(b"host")
    if value is None:
        return RequestRefused("invalid_host", "exactly one Host header is required")
    host = parse_host(value.decode("latin-1"))
    if host is None:
        return RequestRefused("invalid_host", "the Host header must be name[:port] or [ipv6][:port]")
    if host[0] not in rules.hosts:
        return RequestRefused(
            "invalid_host", "this Host is not one of the daemon's; add it to allowed_hosts if it should be"
        )
    return None


# ---- Origin ----------------------------------------------------------------------------------------------------


def is_preflight(head: Head) -> bool:
    """Say whether a browser asks for permission before it sends a request."""
    return head.method == "OPTIONS" and bool(head.values(b"origin") and head.values(b"access-control-request-method"))


def origin_refusal(head: Head, rules: Rules) -> RequestRefused | None:
    """Refuse what a page of another origin wants to change, whatever it sends along."""
    if head.method in SAFE_METHODS and not is_preflight(head):
        return None
    refused = RequestRefused("origin_refused", "this origin may not change anything here; see cors_origins")
    if not head.values(b"origin"):
        return refused if _is_from_elsewhere(head) else None
    if allowed_origin(head, rules) is not None or _is_same_origin(head):
        return None
    return refused


def _is_from_elsewhere(head: Head) -> bool:
    """Say whether any Sec-Fetch-Site names a foreign site; a browser sends one, so a second excuses nothing."""
    sites = b",".join(head.values(b"sec-fetch-site")).lower().split(b",")
    return any(site.strip() in _FOREIGN_SITES for site in sites)


def allowed_origin(head: Head, rules: Rules) -> bytes | None:
    """Return the request's Origin when it is configured; compared exactly, as browsers send it."""
    origin = head.only(b"origin")
    return origin if origin is not None and origin.decode("latin-1") in rules.origins else None


def _is_same_origin(head: Head) -> bool:
    """Compare Origin and Host without the scheme: a proxy that ends TLS hides the one the browser used."""
    origin, host = head.only(b"origin"), head.only(b"host")
    if origin is None or host is None:
        return False
    try:
        parts = urlsplit(origin.decode("latin-1"))
    except ValueError:
        return False
    default = _DEFAULT_PORTS.get(parts.scheme)
    ours, theirs = parse_host(host.decode("latin-1")), parse_host(parts.netloc)
    if default is None or ours is None or theirs is None:
        return False
    return (ours[0], ours[1] or default) == (theirs[0], theirs[1] or default)


def cors_headers(head: Head, rules: Rules) -> list[tuple[bytes, bytes]]:
    """Return the headers that let a configured origin read the answer. No credentials: bearers travel by hand."""
    if not rules.origins:
        return []
    headers = [(b"vary", b"Origin")]
    if origin := allowed_origin(head, rules):
        headers.append((b"access-control-allow-origin", origin))
        headers.append((b"access-control-expose-headers", _CORS_EXPOSED.encode()))
    return headers


def preflight_headers() -> list[tuple[bytes, bytes]]:
    """Return what a preflight of an allowed origin is answered beside `cors_headers`."""
    return [
        (b"access-control-allow-methods", _CORS_METHODS.encode()),
        (b"access-control-allow-headers", _CORS_HEADERS.encode()),
        (b"access-control-max-age", _PREFLIGHT_SECONDS.encode()),
    ]


# ---- bearer, media type, length --------------------------------------------------------------------------------


def bearer_refusal(head: Head, rules: Rules) -> RequestRefused | None:
    """Refuse a missing, wrong or too weak bearer. Cookies authorize nothing here."""
    if rules.token is None and rules.read_token is None:
        return None
    needed = auth_class(head.method, head.path)
    if needed == "public":
        return None
    given = _bearer(head)
    if given is None:
        return RequestRefused("unauthorized", "send one header `Authorization: Bearer <token>`")
    if _same(given, rules.token):
        return None
    if not _same(given, rules.read_token):
        return RequestRefused("unauthorized", "the bearer token is wrong")
    return None if needed == "read" else RequestRefused("unauthorized", "this bearer token may only read")


def _bearer(head: Head) -> bytes | None:
    scheme, _, token = (head.only(b"authorization") or b"").partition(b" ")
    return token.strip() if scheme.lower() == b"bearer" and token.strip() else None


def _same(given: bytes, expected: bytes | None) -> bool:
    """Compare in time that does not depend on where the first difference is."""
    return expected is not None and hmac.compare_digest(given, expected)


def method_refusal(head: Head) -> RequestRefused | None:
    """Refuse every method that is not exactly a known one, on every path."""
    if head.method in METHODS:
        return None
    return RequestRefused("method_not_allowed", "this is not a method of this server; methods are written in capitals")


def media_type_refusal(head: Head) -> RequestRefused | None:
    """Demand JSON of everything that may change something, bodyless requests too.

    A page of another origin cannot send this type without a preflight (Fetch standard, CORS-safelisted headers).
    """
    if head.method not in BODY_METHODS or not is_api(head.path):
        return None
    if head.values(b"content-encoding") or not _is_json(head.only(b"content-type")):
        return RequestRefused("unsupported_media_type", "send `Content-Type: application/json`, bodyless requests too")
    return None


def _is_json(content_type: bytes | None) -> bool:
    if content_type is None:
        return False
    media_type, *parameters = (part.strip().lower() for part in content_type.split(b";"))
    return media_type == b"application/json" and all(
        parameter in (b"", b"charset=utf-8", b'charset="utf-8"') for parameter in parameters
    )


def length_refusal(head: Head) -> RequestRefused | None:
    """Refuse an announced length over the limit; chunked bodies are counted as they come."""
    values = head.values(b"content-length")
    if not values:
        return None
    if len(values) > 1 or not values[0].isdigit():
        return RequestRefused("bad_request", "Content-Length must be one number")
    # The digits are counted first: Python refuses to convert thousands of them.
    length = values[0].lstrip(b"0")
    if len(length) > len(str(BODY_MAX_BYTES)) or int(length or b"0") > BODY_MAX_BYTES:
        return too_large()
    return None


def too_large() -> RequestRefused:
    """Return the refusal of a body over the limit."""
    return RequestRefused("payload_too_large", f"a request body may have at most {BODY_MAX_BYTES} bytes")


# ---- spelling --------------------------------------------------------------------------------------------------


def other_spelling(path: str) -> str | None:
    """Return the path with its last slash added or taken away, or None where that could name another place.

    A client resolves dot segments of a Location, encoded ones too (RFC 3986, 5.2.4; WHATWG URL).
    """
    if path == "/" or not path.startswith("/") or "//" in path:
        return None
    if any(unquote(segment) in (".", "..") for segment in path.split("/")):
        return None
    return path[:-1] if path.endswith("/") else f"{path}/"
