"""What Django answers when no view did: our JSON, or one plain line to a person in the admin.

The 404 handler also owns the slash policy: only a path that no route matched can be the other spelling of one.
"""

import sys
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve
from django.utils.encoding import escape_uri_path, iri_to_uri

from contract.errors import NotFound, PermissionDenied, RequestRefused
from studio_project.http_errors import PERMANENT_REDIRECT, django_response, incident
from studio_project.request_rules import is_admin, other_spelling


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 (Django's signature)
    """Answer what Django refuses as suspicious."""
    return _answer(request, RequestRefused("bad_request", "the request is malformed"))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 (Django's signature)
    """Answer what a Django view denies."""
    return _answer(request, PermissionDenied("not allowed"))


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer an exception that no view caught; Django calls this while it handles it."""
    return _answer(request, incident(sys.exc_info()[1] or RuntimeError("no exception is being handled")))


def not_found(is_stream: Callable[[str], bool]) -> Callable[[HttpRequest, Exception], HttpResponse]:
    """Return the 404 handler; `is_stream` says whether a path is a stream's, which Django's URLs do not have."""

    def answer(request: HttpRequest, exception: Exception) -> HttpResponse:
        other = other_spelling(request.path)
        if isinstance(exception, Resolver404) and other and (_is_view(other) or is_stream(other)):
            return _moved(request, other)
        return _answer(request, NotFound("route", request.path))

    return answer


def _is_view(path: str) -> bool:
    try:
        return resolve(path).url_name != "api-root"  # ninja's root is there to be reversed, it shows nothing
    except Resolver404:
        return False


def _moved(request: HttpRequest, path: str) -> HttpResponse:
    """Redirect by a path alone: scheme, host and port stay what the client used, and nothing can name another host."""
    query = request.META.get("QUERY_STRING", "")
    location = escape_uri_path(path) + (f"?{iri_to_uri(query)}" if query else "")
    return HttpResponse(status=PERMANENT_REDIRECT, headers={"Location": location})


def _answer(request: HttpRequest, error: Exception) -> HttpResponse:
    answer = django_response(error)
    if not is_admin(request.path):
        return answer
    return HttpResponse(f"{error}\n", status=answer.status_code, content_type="text/plain; charset=utf-8")
