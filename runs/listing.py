"""Rules of a run query that no single field can check."""

from contract.base import FieldFailure
from contract.errors import ValidationFailure
from contract.runs import RunQuery
from runs.cursors import decode_list
from runs.transitions import STATUSES


def check_query(query: RunQuery) -> None:
    """Raise ValidationFailure for unknown statuses and for fields that exclude each other."""
    failures = [
        *_unknown_statuses(query),
        *([_excludes("project_is_null", "project")] if query.project is not None and query.project_is_null else []),
        *([_excludes("offset", "cursor")] if query.cursor is not None and query.offset > 0 else []),
    ]
    if failures:
        raise ValidationFailure(tuple(failures))
    decode_list(query)


def _unknown_statuses(query: RunQuery) -> list[FieldFailure]:
    message = f"is not a status; known: {', '.join(STATUSES)}"
    return [
        FieldFailure(path=("status", index), code="unknown_status", message=message)
        for index, status in enumerate(query.status)
        if status not in STATUSES
    ]


def _excludes(field: str, other: str) -> FieldFailure:
    return FieldFailure(path=(field,), code="exclusive", message=f"cannot be given together with {other}")
