"""The cursors of runs: what each kind holds, and what it belongs to."""

from dataclasses import dataclass
from typing import Final

from contract.cursors import cursor_fault, list_identity, seal, unseal
from contract.errors import ValidationFailure
from contract.retention import PruneRuns
from contract.runs import EvidenceRequest, RunQuery

_START: Final = 0


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
    return seal("l", list_identity(query), position.key, position.number)


def decode_list(query: RunQuery) -> ListPosition | None:
    """Read the cursor of a list; ValidationFailure for one of another list, sort or filter."""
    if query.cursor is None:
        return None
    key, number = unseal(query.cursor, "l", list_identity(query), shape=(float, int))
    return ListPosition(key, number)


def encode_window(run_id: str, message_limit: int, position: WindowPosition) -> str:
    """Make the cursor of an older window of a run's messages."""
    return seal("d", f"{run_id} {message_limit}", position.seq, position.window)


def decode_window(cursor: str | None, run_id: str, message_limit: int) -> WindowPosition | None:
    """Read the cursor of a window; ValidationFailure for another run or message_limit."""
    if cursor is None:
        return None
    seq, window = unseal(cursor, "d", f"{run_id} {message_limit}", shape=(int, int))
    return WindowPosition(seq, window)


def encode_evidence(run_id: str, pane: str, after: int) -> str:
    """Make the cursor that goes on after an entry of a pane."""
    return seal("e", f"{run_id} {pane}", after)


def decode_evidence(request: EvidenceRequest) -> int:
    """Read the cursor of a pane; ValidationFailure for another run or pane. No cursor is the start."""
    if request.cursor is None:
        return _START
    (after,) = unseal(request.cursor, "e", f"{request.run_id} {request.pane}", shape=(int,))
    return int(after)


def encode_stream(run_id: str, seq: int) -> str:
    """Make the cursor of a position in a run: both of its streams go on after it."""
    return seal("s", run_id, seq)


def decode_stream(cursor: str | None, run_id: str) -> int:
    """Read the cursor of a stream; ValidationFailure for another run. None or empty is the start."""
    if not cursor:
        return _START
    (seq,) = unseal(cursor, "s", run_id, shape=(int,))
    return int(seq)


def encode_invocations(kind: str | None, position: ListPosition) -> str:
    """Make the cursor that goes on after an invocation."""
    return seal("i", kind or "", position.key, position.number)


def decode_invocations(cursor: str | None, kind: str | None) -> ListPosition | None:
    """Read the cursor of the invocations; ValidationFailure for another filter."""
    if cursor is None:
        return None
    key, number = unseal(cursor, "i", kind or "", shape=(float, int))
    return ListPosition(key, number)


def encode_prune(command: PruneRuns, position: ListPosition) -> str:
    """Make the cursor that goes on after a run that was looked at, by its end."""
    return seal("p", list_identity(command), position.key, position.number)


def decode_prune(command: PruneRuns) -> ListPosition | None:
    """Read the cursor of a removal; ValidationFailure for one of another command."""
    if command.cursor is None:
        return None
    key, number = unseal(command.cursor, "p", list_identity(command), shape=(float, int))
    return ListPosition(key, number)


def ahead_of_run() -> ValidationFailure:
    """Return the failure of a cursor that points past everything the run has recorded."""
    return cursor_fault("points past what the run has recorded")
