"""The cursors of schedules and of their firings: what each holds, and what it belongs to."""

from contract.base import Cursor
from contract.cursors import list_identity, seal, unseal
from contract.errors import ValidationFailure
from contract.schedules import FiringQuery, ScheduleQuery


def read_schedules(query: ScheduleQuery) -> str | None:
    """Return the name after which a list goes on. ValidationFailure for a foreign cursor, or an offset with it."""
    if not _given(query.cursor, query.offset):
        return None
    (name,) = unseal(query.cursor or "", "sch", list_identity(query), shape=(str,))
    return str(name)


def after_schedule(query: ScheduleQuery, name: str) -> str:
    """Make the cursor that goes on after a schedule."""
    return seal("sch", list_identity(query), name)


def read_firings(query: FiringQuery, schedule_id: str) -> tuple[float, int] | None:
    """Return decided_at and row number before which a list goes on. ValidationFailure as above."""
    if not _given(query.cursor, query.offset):
        return None
    at, number = unseal(query.cursor or "", "fir", _owner(query, schedule_id), shape=(float, int))
    return at, number


def after_firing(query: FiringQuery, schedule_id: str, decided_at: float, number: int) -> str:
    """Make the cursor that goes on after, that is before in time, a firing."""
    return seal("fir", _owner(query, schedule_id), decided_at, number)


def _owner(query: FiringQuery, schedule_id: str) -> str:
    return f"{schedule_id} {list_identity(query)}"


def _given(cursor: Cursor | None, offset: int) -> bool:
    if cursor is not None and offset:
        raise ValidationFailure.at("offset", code="exclusive", message="cannot be given together with cursor")
    return cursor is not None
