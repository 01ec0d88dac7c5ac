"""Every route: the API's routers, the streams, and the few pages beside them."""

import re
from collections.abc import Collection
from functools import cache

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import path

from artifacts.api import router as artifacts_router
from definitions.api import router as definitions_router
from projects.api import router as projects_router
from runs.api import router as runs_router
from runs.consumers import streams as run_streams
from schedules.api import router as schedules_router
from studio_project import error_pages
from studio_project.api import build_api, get_only
from studio_project.composition import get_studio
from studio_project.http_errors import OK, UNAVAILABLE
from studio_project.request_rules import BODY_METHODS, SAFE_METHODS, is_admin
from studio_project.version import VERSION

# The one parameter of a path that may hold slashes.
_WITH_SLASHES = re.escape("{project}")
_routers = (runs_router, definitions_router, artifacts_router, projects_router, schedules_router)
_streams = (*run_streams,)

api = build_api(_routers, {stream.template: stream.described() for stream in _streams})
stream_patterns = [stream.pattern() for stream in _streams]


def is_stream(path: str) -> bool:
    """Say whether a path is one of the streams', which the ASGI application routes itself."""
    return any(pattern.resolve(path.removeprefix("/")) for pattern in stream_patterns)


def methods_of(path: str) -> Collection[str]:
    """Return the methods of a path, for a request whose own is none of anybody's. All pages are there to be read."""
    if is_admin(path):
        return ("GET", "HEAD", "POST")
    return next((methods for template, methods in _documented() if template.fullmatch(path)), ("GET", "HEAD"))


@cache
def _documented() -> list[tuple[re.Pattern[str], Collection[str]]]:
    """Return what the schema says of every endpoint, its path as a pattern; what leaves less open comes first."""
    found: list[tuple[re.Pattern[str], Collection[str]]] = []
    described = api.get_openapi_schema()["paths"].items()
    for template, operations in sorted(described, key=lambda item: -len(re.sub(r"{\w+}", "", item[0]))):
        plain = re.escape(template).replace(_WITH_SLASHES, ".+")
        pattern = re.sub(r"\\{\w+\\}", "[^/]+", plain)
        methods = {name.upper() for name in operations} & (SAFE_METHODS | BODY_METHODS)
        found.append((re.compile(pattern), methods))
    return found


@get_only
def home(_: HttpRequest) -> HttpResponse:
    """Send people to the admin, by a relative Location that holds behind any prefix."""
    return HttpResponseRedirect("admin/")


@get_only
def health(_: HttpRequest) -> HttpResponse:
    """Say that the process answers, and which version it is."""
    return JsonResponse({"status": "ok", "version": VERSION})


@get_only
def ready(_: HttpRequest) -> HttpResponse:
    """Say how far the start-up is; an error status until it ended, so that probes need not read the body."""
    studio = get_studio()
    readiness, fault = studio.readiness, studio.store_fault()
    body = {"phase": fault or readiness.phase, "done": readiness.done, "total": readiness.total}
    return JsonResponse(body, status=OK if readiness.ready and fault is None else UNAVAILABLE)


urlpatterns = [
    path("", home),
    path("health", health),
    path("ready", ready),
    path("api/", api.urls),
    path("admin/", admin.site.urls),
]

handler400 = error_pages.bad_request
handler403 = error_pages.permission_denied
handler404 = error_pages.not_found(is_stream)
handler500 = error_pages.server_error
