"""The only module that knows status numbers: from an error of ours to an HTTP answer, for every adapter.

Pure ASGI, ninja, Django's own handlers, stream consumers and the server all build their error answers here, so
that a client sees one kind of body whoever refused it.
"""

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from http.client import responses
from typing import Final

from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError as NinjaHttpError
from ninja.errors import ValidationError as NinjaValidationError

from contract.base import FieldFailure
from contract.errors import NotFound, PermissionDenied, RequestRefused, StateUnavailable, StudioError, ValidationFailure
from studio_project.system import RandomIds

logger = logging.getLogger(__name__)

OK: Final = 200
CREATED: Final = 201
ACCEPTED: Final = 202
NO_CONTENT: Final = 204
PERMANENT_REDIRECT: Final = 308  # unlike 301, method and body survive (RFC 9110, 15.4.9)
UNAVAILABLE: Final = 503

STATUS: Final[Mapping[str, int]] = {
    "validation": 422,
    "not_found": 404,
    "conflict": 409,
    "permission_denied": 403,
    "state_unavailable": UNAVAILABLE,
    "reconciliation_required": 500,
    "bad_request": 400,
    "unauthorized": 401,
    "invalid_host": 400,
    "origin_refused": 403,
    "method_not_allowed": 405,
    "payload_too_large": 413,
    "unsupported_media_type": 415,
    "internal": 500,
}
# From here on a status is an error.
FIRST_ERROR_STATUS: Final = 400
# RFC 9110, 15.5; Python has these two names from 3.13 on.
_PHRASES: Final[Mapping[int, str]] = {**responses, 413: "Content Too Large", 422: "Unprocessable Content"}

_RETRY_AFTER_SECONDS = "1"
_JSON = "application/json"
# On errors from here, so that those which never pass the security middleware have them too.
_ON_EVERY_ERROR = (
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "same-origin"),
)
_ids = RandomIds()


@dataclass(frozen=True, kw_only=True)
class HttpError:
    """An error answer as plain values; header names are lower case."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def raw_headers(self) -> list[tuple[bytes, bytes]]:
        """The headers as ASGI wants them."""
        return [(name.encode("ascii"), value.encode("latin-1")) for name, value in self.headers]


def phrase_of(status: int) -> bytes:
    """Return the reason phrase of a status, empty for one that has none."""
    return _PHRASES.get(status, "").encode("ascii")


def error_response(error: BaseException, *, allow: Collection[str] = ()) -> HttpError:
    """Return the answer for any error.

    `allow` are the methods of the route, for `method_not_allowed`; HEAD is answered wherever GET is.

    What is not a StudioError becomes `internal`: it is logged once, with its traceback, under the incident id that
    the body carries, and nothing of it is told to the client.
    """
    known = known_error(error)
    body = known.body().to_json()
    headers = [("content-type", _JSON), ("content-length", str(len(body))), *_ON_EVERY_ERROR, *_extra_headers(known)]
    if allow:
        methods = {*allow, *(("HEAD",) if "GET" in allow else ())}
        headers.append(("allow", ", ".join(sorted(methods))))
    return HttpError(status=STATUS[known.code], headers=tuple(headers), body=body)


def known_error(error: BaseException) -> StudioError:
    """Return an error as one of our tree; what is unforeseen becomes an incident."""
    if isinstance(error, StudioError):
        return error
    if isinstance(error, SuspiciousOperation):  # Django's word for what a client should not have sent
        return RequestRefused("bad_request", "the request is malformed")
    return incident(error)


def incident(error: BaseException) -> RequestRefused:
    """Log an unforeseen error with its traceback and return what may be said about it."""
    incident_id = _ids.new_id()
    logger.error("incident %s: unforeseen %s", incident_id, type(error).__name__, exc_info=error)
    return RequestRefused("internal", f"unforeseen; see incident {incident_id} in the log", incident_id=incident_id)


def error_of_status(status: int, detail: str, *, path: str = "") -> StudioError:
    """Return the error that a library meant which knows only a status and a text."""
    if status == STATUS["not_found"]:
        return NotFound("route", path)
    if status == STATUS["permission_denied"]:
        return PermissionDenied(detail)
    if status == UNAVAILABLE:
        return StateUnavailable(retryable=True, detail=detail)
    for code in ("unauthorized", "method_not_allowed", "payload_too_large", "unsupported_media_type"):
        if status == STATUS[code]:
            return RequestRefused(code, detail)
    return RequestRefused("bad_request" if status < STATUS["internal"] else "internal", detail)


def django_response(error: BaseException, *, allow: Collection[str] = ()) -> HttpResponse:
    """Return the answer for any error as Django sends it."""
    answer = error_response(error, allow=allow)
    return HttpResponse(answer.body, status=answer.status, headers=dict(answer.headers))


def install(api: NinjaAPI) -> None:
    """Make `api` answer every error from here: one handler for our whole tree, and one for each foreign kind."""

    def answer_with(convert: Callable[[HttpRequest, Exception], BaseException]) -> Callable[..., HttpResponse]:
        return lambda request, error: django_response(convert(request, error))

    api.add_exception_handler(StudioError, answer_with(lambda _, error: error))
    api.add_exception_handler(NinjaValidationError, answer_with(_validation_failure))
    api.add_exception_handler(NinjaHttpError, answer_with(_of_ninja))
    api.add_exception_handler(Http404, answer_with(lambda request, _: NotFound("route", request.path)))
    api.add_exception_handler(Exception, answer_with(lambda _, error: error))


def _extra_headers(error: StudioError) -> list[tuple[str, str]]:
    if error.code == "unauthorized":
        return [("www-authenticate", "Bearer")]
    if isinstance(error, StateUnavailable) and error.retryable:
        return [("retry-after", _RETRY_AFTER_SECONDS)]
    return []


def _validation_failure(_: HttpRequest, error: Exception) -> StudioError:
    """Ninja prefixes a place with where it was sent (`path`, `query`); ours begin at the parameter."""
    faults = error.errors if isinstance(error, NinjaValidationError) else []
    failures = (
        FieldFailure(path=tuple(fault["loc"][1:]), code=str(fault["type"]), message=str(fault["msg"]))
        for fault in faults
    )
    return ValidationFailure(tuple(failures))


def _of_ninja(request: HttpRequest, error: Exception) -> StudioError:
    status = error.status_code if isinstance(error, NinjaHttpError) else STATUS["internal"]
    return error_of_status(status, str(error), path=request.path)
