"""openapi.json and routes.json: what the code says about itself, as documents that are the same on every machine.

Pure but for the URLs, which it reads.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from django.urls import URLPattern

from contract.limits import CONTRACT_VERSION, HEARTBEAT_SECONDS
from studio_project import urls
from studio_project.http_errors import OK, PERMANENT_REDIRECT, STATUS, UNAVAILABLE
from studio_project.openapi import AUTH, ERROR_CODES, Json
from studio_project.request_rules import auth_class, is_api

# What a stream's last frame means for its reader, by type; every other frame leaves the stream open.
TERMINAL_FRAMES: Final[dict[str, str]] = {
    "done": "the end",
    "error": "when retryable reconnect, else the end",
    "shutdown": "reconnect",
    "truncated": "reconnect from its cursor",
}
# What a reader does about an end that no terminal frame announced, and how it says where it was.
RECONNECT: Final[Json] = {
    "position": "the id of the last frame",
    "header": "Last-Event-ID",
    "query": "cursor",
    "resume": "exclusive",
    "without_terminal_frame": "reconnect",
    "heartbeat_seconds": HEARTBEAT_SECONDS,
}
_OTHER_SPELLING: Final[Json] = {
    "status": PERMANENT_REDIRECT,
    "location": "relative",
    "keeps": ["method", "body", "query", "authorization"],
}
_EVENT_STREAM: Final = "text/event-stream"
_PAGE_CODES: Final = ("bad_request", "internal", "invalid_host")
_GUARDED_PAGE_CODES: Final = ("state_unavailable", "unauthorized")


def as_text(document: Any) -> str:
    """Return a document as it is checked in: keys sorted, one thing a line."""
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def openapi_document() -> Json:
    """Return the published schema."""
    document: Json = json.loads(json.dumps(urls.api.get_openapi_schema()))
    return document


def routes_document() -> Json:
    """Return every route with its slash policy, auth class, success status and error codes; streams also their rules.

    HEAD is answered wherever GET is. What talks to people (the admin, the page that leads there) is no contract.
    """
    schema = openapi_document()
    routes = [*_operations(schema), *_pages()]
    return {
        "version": CONTRACT_VERSION,
        "error_statuses": dict(STATUS),
        "other_spelling": _OTHER_SPELLING,
        "routes": sorted(routes, key=lambda route: (route["path"], route["method"])),
    }


def _operations(schema: Json) -> Iterator[Json]:
    frames = sorted(schema["components"]["schemas"]["StreamPayload"]["discriminator"]["mapping"])
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            success, answer = _success(operation)
            route = _route(method.upper(), path, success=success, errors=operation[ERROR_CODES])
            if route["auth"] != operation[AUTH]:
                raise ValueError(f"{method} {path} has two auth classes")
            if _EVENT_STREAM in answer["content"]:
                route["stream"] = {"frames": frames, "terminal": TERMINAL_FRAMES, "reconnect": RECONNECT}
            yield route


def _success(operation: Json) -> tuple[int, Json]:
    [(status, answer)] = [(key, answer) for key, answer in operation["responses"].items() if key.startswith("2")]
    return int(status), answer


def _route(method: str, path: str, *, success: int, errors: list[str]) -> Json:
    return {
        "method": method,
        "path": path,
        "slash": "always" if path.endswith("/") else "never",
        "auth": auth_class(method, path),
        "success": success,
        "errors": sorted(errors),
    }


def _pages() -> Iterator[Json]:
    """The routes beside the API's operations: probes, the schema itself, its documentation."""
    probes = [f"/{entry.pattern}" for entry in urls.urlpatterns if isinstance(entry, URLPattern)]
    documents = [f"/api{url}" for url in (urls.api.openapi_url, urls.api.docs_url)]
    for path in (*filter(lambda path: path != "/", probes), *documents):
        guarded = _GUARDED_PAGE_CODES if is_api(path) else ()
        route = _route("GET", path, success=OK, errors=[*_PAGE_CODES, *guarded])
        yield {**route, "until_ready": UNAVAILABLE} if path == "/ready" else route
