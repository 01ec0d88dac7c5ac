"""The error taxonomy: what each member says, and that it comes back from its own body."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    StudioApplicationError,
    StudioError,
    ValidationFailure,
    shown,
)

FAULT = FieldFailure(path=("events", 0, "role"), code="missing", message="is required")
MEMBERS: list[StudioError] = [
    ValidationFailure((FAULT, FieldFailure(path=(), code="json", message="is not JSON"))),
    NotFound("run", "r1"),
    Conflict("run", None, "completed"),
    Conflict("definition", "3", "4", "somebody was faster"),
    StateUnavailable(retryable=True),
    StateUnavailable(retryable=False, detail="no tables"),
    ReconciliationRequired("rec1"),
    PermissionDenied("outside the root"),
    *(RequestRefused(code, text) for code, text in RequestRefused.TRANSPORT_CODES.items()),
    RequestRefused("internal", "unforeseen", incident_id="0123456789abcdef"),
]


def concrete(kind: type[StudioError]) -> Iterator[type[StudioError]]:
    for below in kind.__subclasses__():
        if below.__module__ == "contract.errors":
            yield from concrete(below)
    if not kind.__subclasses__():
        yield kind


@pytest.mark.parametrize("error", MEMBERS, ids=[f"{error.code}-{at}" for at, error in enumerate(MEMBERS)])
def test_an_error_comes_back_from_its_body(error: StudioError) -> None:
    rebuilt = ErrorBody.model_validate_json(error.body().to_json()).to_error()

    assert type(rebuilt) is type(error)
    assert str(rebuilt) == str(error) != ""
    assert {**vars(rebuilt)} == {**vars(error)}


@pytest.mark.parametrize("error", MEMBERS, ids=[f"{error.code}-{at}" for at, error in enumerate(MEMBERS)])
def test_a_body_has_exactly_the_attributes_of_its_error(error: StudioError) -> None:
    body = json.loads(error.body().to_json())

    expected = set(BODY_ATTRIBUTES[error.code])
    if getattr(error, "incident_id", None) is None:
        expected.discard("incident_id")
    assert set(body) == expected
    assert isinstance(body["detail"], str)


def test_the_members_are_all_named_here_and_have_a_body() -> None:
    assert {type(error) for error in MEMBERS} == set(concrete(StudioError))
    assert {error.code for error in MEMBERS} == BODY_ATTRIBUTES.keys()
    assert len(list(concrete(StudioApplicationError))) == 6


def test_a_conflict_says_null_where_nothing_was_expected() -> None:
    assert json.loads(Conflict("run", None, "x").body().to_json())["expected"] is None


def test_a_validation_failure_names_its_first_field_and_counts_the_rest() -> None:
    assert str(ValidationFailure((FAULT,))) == "events.0.role: is required"
    assert str(ValidationFailure((FAULT, FAULT, FAULT))) == "events.0.role: is required (and 2 more)"
    assert str(ValidationFailure.at(code="json", message="is not JSON")) == "input: is not JSON"


def test_a_validation_failure_without_a_fault_is_a_mistake() -> None:
    with pytest.raises(ValueError):
        ValidationFailure(())


def test_a_transport_code_that_is_not_in_the_table_is_a_mistake() -> None:
    with pytest.raises(ValueError):
        RequestRefused("teapot", "no")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"code": "validation"}, ValidationFailure),
        ({"code": "not_found"}, NotFound),
        ({"code": "conflict"}, Conflict),
        ({"code": "state_unavailable"}, StateUnavailable),
        ({"code": "reconciliation_required"}, ReconciliationRequired),
        ({"code": "permission_denied"}, PermissionDenied),
        ({"code": "invented_later"}, RequestRefused),
    ],
    ids=lambda value: value["code"] if isinstance(value, dict) else "",
)
def test_a_body_that_lacks_its_attributes_still_is_an_error(body: dict[str, str], expected: type[StudioError]) -> None:
    error = ErrorBody.model_validate({"detail": "d", **body}).to_error()

    assert type(error) is expected
    assert error.code == body["code"] or "invented_later" in str(error)


@given(st.text(st.characters(exclude_categories=[]), max_size=400))
def test_what_is_shown_is_printable_bounded_and_encodable(text: str) -> None:
    plain = shown(text)

    assert plain.isprintable()
    plain.encode()
    # Each of the 200 characters that are kept takes at most ten as an escape.
    assert len(plain) <= 2_000


def test_an_identifier_that_could_steer_a_terminal_is_escaped() -> None:
    error = NotFound("run", "\x1b[31m\ud800")

    assert str(error) == "no run \\x1b[31m?"
    assert error.body().identifier == "\\x1b[31m?"
    assert error.identifier == "\x1b[31m\ud800"
