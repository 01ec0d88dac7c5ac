"""The closed registry of reason codes: `area.outcome.detail`, each with what it may explain and its sentence."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """What a reason code means, and which statuses may carry it."""

    statuses: frozenset[str]
    sentence: str


def _reason(*statuses: str, sentence: str) -> Reason:
    return Reason(statuses=frozenset(statuses), sentence=sentence)


REASONS: Final[dict[str, Reason]] = {
    "run.queued.launched": _reason("queued", sentence="waits for a worker"),
    "run.running.registered": _reason("running", sentence="its producer registered it as running"),
    "run.running.started": _reason("running", sentence="left the queue"),
    "run.completed.ok": _reason("completed", sentence="its executor reported success"),
    "run.completed.exit_zero": _reason("completed", sentence="its process ended with exit code 0"),
    "run.completed_empty.no_result": _reason("completed_empty", sentence="ended well but made nothing"),
    "run.failed.error": _reason("failed", sentence="its executor reported an error"),
    "run.failed.exit_nonzero": _reason("failed", sentence="its process ended with a non-zero exit code"),
    "run.failed.process_gone": _reason("failed", sentence="its process is gone and never reported an end"),
    "run.failed.missing_executable": _reason("failed", sentence="the executable it needs was not found"),
    "run.failed.cwd": _reason("failed", sentence="no process can be started in its folder"),
    "run.failed.spawn": _reason("failed", sentence="its process could not be started"),
    "run.failed.signal": _reason("failed", sentence="its process was ended by a signal that Studio did not send"),
    "run.failed.refused": _reason("failed", sentence="its worker's configuration or version lets nobody execute it"),
    "run.failed.worker_lost": _reason("failed", sentence="the worker that executed it is gone or did not answer"),
    "run.timed_out.deadline": _reason("timed_out", sentence="did not end before its deadline"),
    "run.aborted.producer": _reason("aborted", sentence="its executor gave up"),
    "run.cancelled.requested": _reason("cancelled", sentence="somebody asked it to stop"),
    "run.cancelled.shutdown": _reason("cancelled", sentence="Studio was stopped while it ran"),
    "run.cancelled.before_start": _reason("cancelled", sentence="was cancelled while it waited in the queue"),
}

_DEFAULTS: Final = {
    "queued": "run.queued.launched",
    "running": "run.running.started",
    "completed": "run.completed.ok",
    "completed_empty": "run.completed_empty.no_result",
    "failed": "run.failed.error",
    "timed_out": "run.timed_out.deadline",
    "aborted": "run.aborted.producer",
    "cancelled": "run.cancelled.requested",
}


def default_reason(status: str) -> str:
    """Return the code for a status whose reporter gave none."""
    return _DEFAULTS[status]


def reason_fault(code: str, status: str) -> str | None:
    """Say why `code` cannot explain `status`, or None."""
    reason = REASONS.get(code)
    if reason is None:
        return f"is not a reason code; known for {status}: {', '.join(codes_for(status))}"
    if status not in reason.statuses:
        return f"does not explain {status}; known for it: {', '.join(codes_for(status))}"
    return None


def codes_for(status: str) -> tuple[str, ...]:
    """Return the codes that may explain a status, sorted."""
    return tuple(sorted(code for code, reason in REASONS.items() if status in reason.statuses))
