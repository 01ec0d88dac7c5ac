"""Opaque cursors: positions that a caller gives back and cannot usefully make.

Each kind names what it belongs to, so that a cursor of another run, list or window size is told apart from a good one.
"""

import base64
import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from contract.errors import ValidationFailure
from contract.runs import EvidenceRequest, RunQuery

_START: Final = 0
# What may differ between two requests that walk the same list.
_PAGING: Final = frozenset({"cursor", "offset", "limit"})


@dataclass(frozen=True, slots=True)
class ListPosition:
    """After which row a list goes on: its sort key and row number."""

    key: float
    number: int


@dataclass(frozen=True, slots=True)
class WindowPosition:
    """Which window of the messages recorded up to `seq`: 0 is the tail."""

    seq: int
    window: int


def encode_list(query: RunQuery, position: ListPosition) -> str:
    """Make the cursor that goes on after a row of this list."""
    return _encode("l", _list_identity(query), position.key, position.number)


def decode_list(query: RunQuery) -> ListPosition | None:
    """Read the cursor of a list; ValidationFailure for one of another list, sort or filter."""
    if query.cursor is None:
        return None
    key, number = _decode(query.cursor, "l", _list_identity(query), shape=(float, int))
    return ListPosition(key, number)


def encode_window(run_id: str, message_limit: int, position: WindowPosition) -> str:
    """Make the cursor of an older window of a run's messages."""
    return _encode("d", f"{run_id} {message_limit}", position.seq, position.window)


def decode_window(cursor: str | None, run_id: str, message_limit: int) -> WindowPosition | None:
    """Read the cursor of a window; ValidationFailure for another run or message_limit."""
    if cursor is None:
        return None
    seq, window = _decode(cursor, "d", f"{run_id} {message_limit}", shape=(int, int))
    return WindowPosition(seq, window)


def encode_evidence(run_id: str, pane: str, after: int) -> str:
    """Make the cursor that goes on after an entry of a pane."""
    return _encode("e", f"{run_id} {pane}", after)


def decode_evidence(request: EvidenceRequest) -> int:
    """Read the cursor of a pane; ValidationFailure for another run or pane. No cursor is the start."""
    if request.cursor is None:
        return _START
    (after,) = _decode(request.cursor, "e", f"{request.run_id} {request.pane}", shape=(int,))
    return int(after)


def encode_stream(run_id: str, seq: int) -> str:
    """Make the cursor of a position in a run: both of its streams go on after it."""
    return _encode("s", run_id, seq)


def decode_stream(cursor: str | None, run_id: str) -> int:
    """Read the cursor of a stream; ValidationFailure for another run. None or empty is the start."""
    if not cursor:
        return _START
    (seq,) = _decode(cursor, "s", run_id, shape=(int,))
    return int(seq)


def encode_invocations(kind: str | None, position: ListPosition) -> str:
    """Make the cursor that goes on after an invocation."""
    return _encode("i", kind or "", position.key, position.number)


def decode_invocations(cursor: str | None, kind: str | None) -> ListPosition | None:
    """Read the cursor of the invocations; ValidationFailure for another filter."""
    if cursor is None:
        return None
    key, number = _decode(cursor, "i", kind or "", shape=(float, int))
    return ListPosition(key, number)


def ahead_of_run() -> ValidationFailure:
    """Return the failure of a cursor that points past everything the run has recorded."""
    return _fault("points past what the run has recorded")


def _list_identity(query: RunQuery) -> str:
    filters = query.model_dump_json(exclude=set(_PAGING))
    return hashlib.sha256(filters.encode()).hexdigest()[:12]


def _encode(kind: str, owner: str, *position: float | int) -> str:
    return _sealed([kind, _mark(owner), *position])


def _sealed(parts: list[Any]) -> str:
    """Write the parts with a mark of themselves, so that a garbled cursor never becomes another position."""
    text = _json([*parts, _mark(_json(parts))])
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def _json(parts: list[Any]) -> str:
    return json.dumps(parts, separators=(",", ":"))


def _mark(text: str) -> str:
    """Shorten what is only compared, never read back."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _decode(cursor: str, kind: str, owner: str, *, shape: tuple[type[float] | type[int], ...]) -> list[Any]:
    found_kind, found_owner, *position = _unsealed(cursor)
    if (found_kind, found_owner) != (kind, _mark(owner)):
        raise _fault("belongs to another run, list, filter or window")
    if len(position) != len(shape) or not all(map(_fits, position, shape)):
        raise _fault("is not a cursor of this daemon")
    return position


def _unsealed(cursor: str) -> list[Any]:
    """Return kind, owner and position of a cursor that is, byte by byte, what `_sealed` makes."""
    parts: list[Any]
    with suppress(ValueError, TypeError, RecursionError):
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        *parts, _ = json.loads(base64.b64decode(padded, b"-_", validate=True))
        if len(parts) > 1 and _sealed(parts) == cursor:
            return parts
    raise _fault("is not a cursor of this daemon")


def _fits(part: object, kind: type[float] | type[int]) -> bool:
    if isinstance(part, bool) or not isinstance(part, int | float):
        return False
    return (kind is float or isinstance(part, int)) and -(2**62) < part < 2**62


def _fault(message: str) -> ValidationFailure:
    return ValidationFailure.at("cursor", code="cursor", message=message)
