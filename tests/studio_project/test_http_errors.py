import json
import logging
import re

import pytest

from contract.base import FieldFailure
from contract.errors import (
    BODY_ATTRIBUTES,
    Conflict,
    ErrorBody,
    NotFound,
    PermissionDenied,
    ReconciliationRequired,
    RequestRefused,
    StateUnavailable,
    StudioError,
    ValidationFailure,
)
from studio_project.http_errors import (
    NO_CONTENT,
    PERMANENT_REDIRECT,
    STATUS,
    error_of_status,
    error_response,
    phrase_of,
)
from tests.studio_project.scripted import every_member

EXAMPLES: list[StudioError] = [
    ValidationFailure((FieldFailure(path=("a", 0), code="x", message="is wrong"),)),
    NotFound("run", "r1"),
    Conflict("run", "1", "2"),
    StateUnavailable(retryable=True),
    ReconciliationRequired("rec1"),
    PermissionDenied("outside"),
    *(RequestRefused(code, "no") for code in RequestRefused.TRANSPORT_CODES),
]


def test_every_member_of_the_taxonomy_has_a_status() -> None:
    codes = {kind.code for kind in every_member()} | set(RequestRefused.TRANSPORT_CODES)

    assert codes == set(STATUS)


def test_every_member_of_the_taxonomy_has_an_example_here() -> None:
    assert {type(error) for error in EXAMPLES} >= set(every_member())


def test_every_code_has_its_body_attributes() -> None:
    assert set(BODY_ATTRIBUTES) == set(STATUS)


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: error.code)
def test_an_error_survives_the_way_to_a_client_and_back(error: StudioError) -> None:
    answer = error_response(error)

    rebuilt = ErrorBody.model_validate_json(answer.body).to_error()

    assert answer.status == STATUS[error.code]
    assert rebuilt.body() == error.body()


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: error.code)
def test_every_error_answer_is_json_that_nobody_stores_or_guesses_about(error: StudioError) -> None:
    headers = dict(error_response(error).headers)

    assert headers["content-type"] == "application/json"
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-length"] == str(len(error_response(error).body))


def test_a_missing_bearer_is_challenged() -> None:
    headers = dict(error_response(RequestRefused("unauthorized", "no")).headers)

    assert headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(("retryable", "after"), [(True, "1"), (False, None)])
def test_only_a_retryable_outage_says_when_to_retry(retryable: bool, after: str | None) -> None:
    headers = dict(error_response(StateUnavailable(retryable=retryable)).headers)

    assert headers.get("retry-after") == after


def test_a_refused_method_names_the_ones_that_are_allowed() -> None:
    answer = error_response(RequestRefused("method_not_allowed", "no"), allow=("POST", "GET"))

    assert dict(answer.headers)["allow"] == "GET, HEAD, POST"


def test_an_unforeseen_error_tells_an_incident_id_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        answer = error_response(RuntimeError("secret detail"))

    body = json.loads(answer.body)
    assert answer.status == STATUS["internal"]
    assert body["code"] == "internal"
    assert re.fullmatch("[0-9a-f]{16}", body["incident_id"])
    assert "secret" not in answer.body.decode()
    assert set(body) == {"detail", "code", "incident_id"}


def test_an_unforeseen_error_is_logged_once_with_its_traceback_under_that_id(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        answer = error_response(RuntimeError("secret detail"))

    (record,) = caplog.records
    assert json.loads(answer.body)["incident_id"] in record.getMessage()
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], RuntimeError)


def test_header_names_and_values_fit_asgi() -> None:
    for name, value in error_response(NotFound("run", "ü")).raw_headers:
        assert name == name.lower()
        assert b"\n" not in value


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "bad_request"),
        (401, "unauthorized"),
        (403, "permission_denied"),
        (404, "not_found"),
        (405, "method_not_allowed"),
        (413, "payload_too_large"),
        (415, "unsupported_media_type"),
        (429, "bad_request"),
        (500, "internal"),
        (502, "internal"),
        (503, "state_unavailable"),
    ],
)
def test_a_foreign_status_becomes_an_error_of_ours(status: int, code: str) -> None:
    assert error_of_status(status, "text").code == code


@pytest.mark.parametrize("status", [*STATUS.values(), PERMANENT_REDIRECT, NO_CONTENT])
def test_every_status_of_ours_has_a_phrase(status: int) -> None:
    assert phrase_of(status)


def test_phrases_are_those_of_the_standard_whatever_the_interpreter_knows() -> None:
    assert phrase_of(413) == b"Content Too Large"
    assert phrase_of(422) == b"Unprocessable Content"
    assert phrase_of(599) == b""
