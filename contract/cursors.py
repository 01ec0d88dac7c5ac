"""Opaque cursors: positions that a caller gives back and cannot usefully make.

Each names the kind of list and what it belongs to, so that a cursor of another list, filter or owner is told apart
from a good one, and carries a mark of itself, so that a garbled one never becomes another position.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from contract.base import ContractModel
from contract.errors import ValidationFailure

Part = float | int | str

# What may differ between two requests that walk the same list.
_PAGING: Final = frozenset({"cursor", "offset", "limit"})


def seal(kind: str, owner: str, *position: Part) -> str:
    """Make the cursor of a position; `owner` is the text of what it belongs to and is only compared."""
    return _sealed([kind, _mark(owner), *position])


def unseal(cursor: str, kind: str, owner: str, *, shape: Sequence[type[float] | type[int] | type[str]]) -> list[Any]:
    """Return the position, one part for each type in `shape`. ValidationFailure for a cursor of anything else."""
    found_kind, found_owner, *position = _unsealed(cursor)
    if (found_kind, found_owner) != (kind, _mark(owner)):
        raise cursor_fault("belongs to another run, list, filter or window")
    if len(position) != len(shape) or not all(map(_fits, position, shape)):
        raise cursor_fault("is not a cursor of this daemon")
    return position


def list_identity(query: ContractModel) -> str:
    """Return what names the list that a query walks: its filters, whatever the page."""
    filters = query.model_dump_json(exclude=set(_PAGING))
    return hashlib.sha256(filters.encode()).hexdigest()[:12]


def cursor_fault(message: str) -> ValidationFailure:
    """Return the failure of the field `cursor`."""
    return ValidationFailure.at("cursor", code="cursor", message=message)


def _sealed(parts: list[Any]) -> str:
    text = _json([*parts, _mark(_json(parts))])
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def _json(parts: list[Any]) -> str:
    return json.dumps(parts, separators=(",", ":"), ensure_ascii=False)


def _mark(text: str) -> str:
    """Shorten what is only compared, never read back."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _unsealed(cursor: str) -> list[Any]:
    """Return kind, owner and position of a cursor that is, byte by byte, what `_sealed` makes."""
    parts: list[Any]
    with suppress(ValueError, TypeError, RecursionError):
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        *parts, _ = json.loads(base64.b64decode(padded, b"-_", validate=True))
        if len(parts) > 1 and _sealed(parts) == cursor:
            return parts
    raise cursor_fault("is not a cursor of this daemon")


def _fits(part: object, kind: type[float] | type[int] | type[str]) -> bool:
    if kind is str or isinstance(part, str):
        return kind is str and isinstance(part, str)
    if isinstance(part, bool) or not isinstance(part, int | float):
        return False
    return (kind is float or isinstance(part, int)) and -(2**62) < part < 2**62
