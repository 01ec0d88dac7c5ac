"""How a run has ended, judged when its process is gone: by who stopped it, by its exit, and by what it claimed."""

import signal
from dataclasses import dataclass
from typing import Final, Literal

from runs.claims import Claim

# Why an executor ended a process that had not ended by itself.
StopCause = Literal["deadline", "cancel", "shutdown", "lost"]

# Of the last line of what was printed: a sentence, not a page.
_LINE_MAX_CHARS: Final = 500
_SUCCESSES: Final = ("completed", "completed_empty")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Who ended the process before it did so itself, and what was said about it."""

    cause: StopCause
    said: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A final status with its reason."""

    status: str
    reason_code: str
    reason_summary: str | None = None


_STOPPED: Final[dict[StopCause, tuple[str, str]]] = {
    "deadline": ("timed_out", "run.timed_out.deadline"),
    "cancel": ("cancelled", "run.cancelled.requested"),
    "shutdown": ("cancelled", "run.cancelled.shutdown"),
    "lost": ("failed", "run.failed.worker_lost"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a process printed of its outcome: a claim, and its last line.

    One that `promises_claim` reports a result whenever it has done anything.
    """

    claim: Claim | None = None
    last_line: str = ""
    promises_claim: bool = False


def verdict_of(
    *, stop: Stop | None, exit_code: int | None, exit_signal: int | None, said: Said = Said(), left: int = 0
) -> Verdict:
    """Judge a run. A success is believed only of a process that exited with 0; `left` processes could not be ended."""
    verdict = _judged(stop, exit_code, exit_signal, said)
    if not left:
        return verdict
    told = f"{left} of its processes could not be ended"
    summary = f"{verdict.reason_summary}; {told}" if verdict.reason_summary else told
    return Verdict(status=verdict.status, reason_code=verdict.reason_code, reason_summary=summary)


def _judged(stop: Stop | None, exit_code: int | None, exit_signal: int | None, said: Said) -> Verdict:
    claim = said.claim
    if stop is not None:
        status, code = _STOPPED[stop.cause]
        return Verdict(status=status, reason_code=code, reason_summary=stop.said)
    if claim is not None and (claim.status not in _SUCCESSES or exit_code == 0):
        return Verdict(status=claim.status, reason_code=claim.reason_code, reason_summary=claim.reason_summary)
    if exit_signal is not None:
        return Verdict(status="failed", reason_code="run.failed.signal", reason_summary=signal_name(exit_signal))
    if exit_code:
        return Verdict(status="failed", reason_code="run.failed.exit_nonzero", reason_summary=_told(exit_code, said))
    if exit_code is None:
        return Verdict(status="failed", reason_code="run.failed.error", reason_summary="nobody saw how it exited")
    if said.promises_claim:
        told = "it exited well and reported no result"
        return Verdict(status="completed_empty", reason_code="run.completed_empty.no_result", reason_summary=told)
    return Verdict(status="completed", reason_code="run.completed.exit_zero")


def _told(exit_code: int, said: Said) -> str:
    """Name the exit code with what programs say before they exit with it."""
    told = f"exit code {exit_code}"
    if said.claim is not None:
        told += f", after it said {said.claim.status}"
    line = said.last_line.strip()[:_LINE_MAX_CHARS]
    return f"{told}: {line}" if line else told


def signal_name(number: int) -> str:
    """Return the name of a signal, such as SIGKILL."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
