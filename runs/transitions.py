"""Which moves of a run's status are allowed. Terminal statuses are final."""

from enum import Enum
from typing import Final

TERMINAL: Final = ("completed", "completed_empty", "failed", "timed_out", "aborted", "cancelled")
STATUSES: Final = ("queued", "running", *TERMINAL)


class Verdict(Enum):
    """What becomes of a wanted move."""

    ACCEPTED = "the run moves"
    UNCHANGED = "the run is there already; nothing is written"
    REFUSED = "the run has ended otherwise, or cannot go back; the refusal is recorded"


def is_terminal(status: str) -> bool:
    """Whether a run with this status has ended for good."""
    return status in TERMINAL


def judge(current: str, wanted: str) -> Verdict:
    """Decide a move: queued -> running -> terminal, forward only, skipping allowed."""
    if current == wanted:
        return Verdict.UNCHANGED
    if is_terminal(current) or wanted == "queued":
        return Verdict.REFUSED
    return Verdict.ACCEPTED
