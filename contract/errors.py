"""The closed error taxonomy of the application boundary.

    Exception
    └── StudioError
        ├── StudioApplicationError        what an operation says; closed, six members
        │   ├── ValidationFailure         validation               the input is wrong, here is where
        │   ├── NotFound                  not_found                no such resource
        │   ├── Conflict                  conflict                 name taken, stale version, wrong status
        │   ├── StateUnavailable          state_unavailable        the store cannot answer now
        │   ├── ReconciliationRequired    reconciliation_required  committed, but file and history disagree
        │   └── PermissionDenied          permission_denied        refused by containment or authorization
        └── RequestRefused                what only a transport says, before or around an operation

A capability may subclass a member to carry typed context; adapters know only this set.
"""

from typing import ClassVar, Final

from contract.base import ContractModel, FieldFailure, Tup


class StudioError(Exception):
    """Base of every error that has a stable `code` and a body on the wire."""

    code: str

    def body(self) -> "ErrorBody":
        """Return what is serialized for this error: `detail`, `code` and the error's own attributes."""
        return ErrorBody(detail=str(self), code=self.code)


class StudioApplicationError(StudioError):
    """Base of the six members; never raised itself."""


class ValidationFailure(StudioApplicationError):
    """The input is refused before any port is reached."""

    code = "validation"

    def __init__(self, field_errors: tuple[FieldFailure, ...]) -> None:
        """Take at least one fault; the text names the first and counts the rest."""
        if not field_errors:
            raise ValueError("a ValidationFailure names at least one field")
        super().__init__(_summary_of(field_errors))
        self.field_errors = field_errors

    @classmethod
    def at(cls, *path: str | int, code: str, message: str) -> "ValidationFailure":
        """Build the failure of one field."""
        return cls((FieldFailure(path=path, code=code, message=message),))

    def body(self) -> "ErrorBody":
        """Return the body with `field_errors`."""
        return ErrorBody(detail=str(self), code=self.code, field_errors=self.field_errors)


class NotFound(StudioApplicationError):
    """No resource of that kind has that identifier."""

    code = "not_found"

    def __init__(self, resource: str, identifier: str) -> None:
        """Name the kind of resource and what was asked for."""
        super().__init__(f"no {resource} {shown(identifier)}")
        self.resource = resource
        self.identifier = identifier

    def body(self) -> "ErrorBody":
        """Return the body with `resource` and `identifier`."""
        return ErrorBody(detail=str(self), code=self.code, resource=self.resource, identifier=shown(self.identifier))


class Conflict(StudioApplicationError):
    """The resource is not as the caller expected: name taken, stale version, wrong status."""

    code = "conflict"

    def __init__(self, resource: str, expected: str | None, actual: str | None, detail: str = "") -> None:
        """Say what was expected and what is; `detail` overrides the default sentence."""
        super().__init__(detail or f"{resource} conflict: expected {expected}, found {actual}")
        self.resource = resource
        self.expected = expected
        self.actual = actual

    def body(self) -> "ErrorBody":
        """Return the body with `resource`, `expected` and `actual`."""
        return ErrorBody(
            detail=str(self),
            code=self.code,
            resource=self.resource,
            expected=self.expected,
            actual=self.actual,
        )


class StateUnavailable(StudioApplicationError):
    """The store cannot answer; `retryable` says whether the same call may be sent again as it is."""

    code = "state_unavailable"

    def __init__(self, *, retryable: bool, detail: str = "the state store is unavailable") -> None:
        """Carry whether a retry is safe and useful."""
        super().__init__(detail)
        self.retryable = retryable

    def body(self) -> "ErrorBody":
        """Return the body with `retryable`."""
        return ErrorBody(detail=str(self), code=self.code, retryable=self.retryable)


class ReconciliationRequired(StudioApplicationError):
    """History was committed but the file was not written; a persisted record says so."""

    code = "reconciliation_required"

    def __init__(self, reconciliation_id: str) -> None:
        """Name the persisted reconciliation."""
        super().__init__(f"saved to history, but the file was not written: see reconciliation {reconciliation_id}")
        self.reconciliation_id = reconciliation_id

    def body(self) -> "ErrorBody":
        """Return the body with `reconciliation_id`."""
        return ErrorBody(detail=str(self), code=self.code, reconciliation_id=self.reconciliation_id)


class PermissionDenied(StudioApplicationError):
    """The operation or the containment of a path refuses; never a missing bearer."""

    code = "permission_denied"

    def __init__(self, reason: str) -> None:
        """Give the reason, free of secrets and host paths."""
        super().__init__(reason)
        self.reason = reason

    def body(self) -> "ErrorBody":
        """Return the body with `reason`."""
        return ErrorBody(detail=str(self), code=self.code, reason=self.reason)


class RequestRefused(StudioError):
    """What only a transport says. `code` is one of `TRANSPORT_CODES`."""

    TRANSPORT_CODES: ClassVar[dict[str, str]] = {
        "bad_request": "the request is not well-formed HTTP",
        "unauthorized": "the bearer token is missing, wrong, or may only read",
        "invalid_host": "the Host header names no host of this daemon",
        "origin_refused": "the Origin is not allowed to change anything here",
        "method_not_allowed": "the route exists, but not with this method",
        "payload_too_large": "the request body is over the limit",
        "unsupported_media_type": "a request that changes something must be application/json",
        "internal": "unforeseen; the incident id is in the daemon's log",
    }

    def __init__(self, code: str, detail: str, *, incident_id: str | None = None) -> None:
        """Take a code of the table; `incident_id` goes with `internal`."""
        if code not in self.TRANSPORT_CODES:
            raise ValueError(f"unknown transport code {code!r}")
        super().__init__(detail)
        self.code = code
        self.incident_id = incident_id

    def body(self) -> "ErrorBody":
        """Return the body, with `incident_id` where there is one."""
        return ErrorBody(detail=str(self), code=self.code, incident_id=self.incident_id)


class ErrorBody(ContractModel):
    """The JSON of every error, whoever raises it. `code` discriminates; `detail` is for people only.

    Attributes that an error does not have are left out of the JSON, except where null is a value of its own
    (`expected` and `actual` of a conflict).
    """

    detail: str
    code: str
    field_errors: Tup[FieldFailure] | None = None
    resource: str | None = None
    identifier: str | None = None
    expected: str | None = None
    actual: str | None = None
    retryable: bool | None = None
    reconciliation_id: str | None = None
    reason: str | None = None
    incident_id: str | None = None

    def to_json(self) -> bytes:
        """Serialize with only the attributes of this error."""
        kept = set(BODY_ATTRIBUTES[self.code])
        if self.incident_id is None:
            kept.discard("incident_id")
        return self.model_dump_json(include=kept).encode()

    def to_error(self) -> StudioError:
        """Rebuild the error that was serialized: the client's half of the mapping."""
        match self.code:
            case "validation":
                return ValidationFailure(self.field_errors or (_UNNAMED_FIELD,))
            case "not_found":
                return NotFound(self.resource or "resource", self.identifier or "")
            case "conflict":
                return Conflict(self.resource or "resource", self.expected, self.actual, self.detail)
            case "state_unavailable":
                return StateUnavailable(retryable=bool(self.retryable), detail=self.detail)
            case "reconciliation_required":
                return ReconciliationRequired(self.reconciliation_id or "")
            case "permission_denied":
                return PermissionDenied(self.reason or self.detail)
            case code if code in RequestRefused.TRANSPORT_CODES:
                return RequestRefused(code, self.detail, incident_id=self.incident_id)
            case _:
                return RequestRefused("internal", f"unknown error code {self.code!r}: {self.detail}")


BODY_ATTRIBUTES: Final[dict[str, tuple[str, ...]]] = {
    "validation": ("detail", "code", "field_errors"),
    "not_found": ("detail", "code", "resource", "identifier"),
    "conflict": ("detail", "code", "resource", "expected", "actual"),
    "state_unavailable": ("detail", "code", "retryable"),
    "reconciliation_required": ("detail", "code", "reconciliation_id"),
    "permission_denied": ("detail", "code", "reason"),
    **dict.fromkeys(RequestRefused.TRANSPORT_CODES, ("detail", "code", "incident_id")),
}

_UNNAMED_FIELD = FieldFailure(path=(), code="invalid", message="the input is invalid")
_SHOWN_MAX_CHARS = 200


def shown(text: str) -> str:
    """Return `text` fit to stand in an error: printable, one line, bounded."""
    plain = text.encode("utf-8", "replace").decode("utf-8")[:_SHOWN_MAX_CHARS]
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in plain)


def _summary_of(field_errors: tuple[FieldFailure, ...]) -> str:
    first = field_errors[0]
    where = ".".join(str(part) for part in first.path) or "input"
    more = f" (and {len(field_errors) - 1} more)" if len(field_errors) > 1 else ""
    return f"{where}: {first.message}{more}"
