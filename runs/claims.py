"""What a child's output says of the outcome: a claim, not yet a status.

A process may say that it is done and go on, or say that all went well and end with an error. So a reader only reports
what was said; who supervises the process decides when it is gone.
"""

from dataclasses import dataclass
from typing import Final

from contract.base import sanitize_text
from contract.events import StatusEvent, TerminalStatus
from contract.limits import SUMMARY_MAX_CHARS
from runs.reasons import default_reason

_CUT: Final = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A final status, why (a code of `runs/reasons.py`), and a sentence of at most 2,000 characters."""

    status: TerminalStatus
    reason_code: str
    reason_summary: str | None = None


def claim_of(status: TerminalStatus, said: str | None = None) -> Claim:
    """Return the claim of a status for its usual reason, with what was said made storable."""
    return Claim(status=status, reason_code=default_reason(status), reason_summary=_summary(said))


def claim_of_event(event: StatusEvent) -> Claim | None:
    """Return what a status event claims; None for `running`, which is no outcome."""
    if event.status == "running":
        return None
    code = event.reason_code or default_reason(event.status)
    return Claim(status=event.status, reason_code=code, reason_summary=event.reason_summary)


def _summary(said: str | None) -> str | None:
    text = sanitize_text(said or "")[0].strip()
    if len(text) > SUMMARY_MAX_CHARS:
        text = text[: SUMMARY_MAX_CHARS - len(_CUT)] + _CUT
    return text or None
