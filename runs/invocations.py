"""What the status of an invocation is, given those of its runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from runs.transitions import is_terminal

# The worst first: what a person must look at stands in front of what went well.
_WORST_FIRST: Final = ("timed_out", "failed", "aborted", "cancelled", "completed_empty", "completed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How many runs of an invocation have a status, and when the last of them ended."""

    status: str
    count: int
    ended_at: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InvocationStatus:
    """The runs of an invocation, summed up."""

    status: str
    run_count: int
    open_run_count: int
    ended_at: float | None


def invocation_status(outcomes: Sequence[Outcome]) -> InvocationStatus:
    """Sum up: queued while nothing has begun, running while any run is open, else the worst status."""
    statuses = {outcome.status for outcome in outcomes}
    open_count = sum(outcome.count for outcome in outcomes if not is_terminal(outcome.status))
    ends = [outcome.ended_at for outcome in outcomes if outcome.ended_at is not None]
    if open_count or not outcomes:
        status = "running" if statuses - {"queued"} else "queued"
    else:
        status = next(status for status in _WORST_FIRST if status in statuses)
    return InvocationStatus(
        status=status,
        run_count=sum(outcome.count for outcome in outcomes),
        open_run_count=open_count,
        ended_at=max(ends, default=None) if not open_count else None,
    )
