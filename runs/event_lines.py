"""Reads the run-event protocol from a child's standard output: a line that is a JSON object with `"studio": 1`.

Any other line is output. A line that means to be an event and is none stays output too, followed by a signal
`InvalidEvent` that says what is wrong with it: whoever wrote the child finds the fault in the run.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

from pydantic import JsonValue

from contract.base import FieldFailure
from contract.errors import ValidationFailure
from contract.events import DEFAULT_BRANCH, MessageEvent, RecordEvents, RunEvent, SignalEvent, StatusEvent
from contract.limits import BRANCHES_PER_RUN_MAX
from contract.parsing import parse_model
from runs.batch import branch_names, check_events
from runs.claims import Claim, claim_of_event
from runs.line_fields import bare, event_key, strict_object
from runs.recording_lines import NumberedLine, line_event_id

_MARK: Final = "studio"
_VERSION: Final = 1
# Faults shown of one line; whoever makes more has one fault, repeated.
_FAULTS_MAX: Final = 10


class EventLines:
    """The events of one stream. Lines are counted, blank ones too: an event without an id gets one of its line."""

    def __init__(self) -> None:
        self._number = 0
        self._branches = {DEFAULT_BRANCH}
        self._claim: Claim | None = None

    def feed(self, line: str) -> Sequence[RunEvent] | None:
        """Return the events of a line, none for a status that is only claimed; None for output."""
        self._number += 1
        try:
            fields = _marked_object(line)
            if fields is None:
                return None
            event = self._event(line, fields)
        except ValidationFailure as failure:
            return self._invalid(line, failure.field_errors) if _is_marked(line) else None
        return self._claimed(line, event) if isinstance(event, StatusEvent) else (event,)

    def claim(self) -> Claim | None:
        """Return the first final status that was told: as in a recording, a final status stays."""
        return self._claim

    def _event(self, line: str, fields: dict[str, Any]) -> RunEvent:
        (event,) = parse_model(RecordEvents, {"events": [fields]}).events
        check_events((event,))
        branches = self._branches | branch_names((event,))
        if len(branches) > BRANCHES_PER_RUN_MAX:
            message = f"a run has at most {BRANCHES_PER_RUN_MAX} branches"
            raise ValidationFailure.at("branch", code="too_many_branches", message=message)
        self._branches = branches
        return event if event.event_id is not None else event.model_copy(update={"event_id": self._id_of(line)})

    def _claimed(self, line: str, event: StatusEvent) -> Sequence[RunEvent]:
        claim = claim_of_event(event)
        if claim is None or (self._claim is not None and claim.status == self._claim.status):
            return ()
        if self._claim is None:
            self._claim = claim
            return ()
        refused: dict[str, JsonValue] = {
            "status": claim.status,
            "reason_code": claim.reason_code,
            "reason_summary": claim.reason_summary,
        }
        return (SignalEvent(kind="StatusRefused", payload=refused, at=event.at, event_id=self._id_of(line)),)

    def _invalid(self, line: str, faults: Sequence[FieldFailure]) -> Sequence[RunEvent]:
        event_id = self._id_of(line)
        told: dict[str, JsonValue] = {
            "line": self._number,
            "field_errors": [_told(fault) for fault in faults[:_FAULTS_MAX]],
        }
        return (
            MessageEvent(role="output", content=line, event_id=event_key(event_id, "output")),
            SignalEvent(kind="InvalidEvent", payload=told, event_id=event_id),
        )

    def _id_of(self, line: str) -> str:
        return line_event_id(NumberedLine(self._number, bare(line).encode("utf-8", "surrogatepass")))


def _marked_object(line: str) -> dict[str, Any] | None:
    """Return the fields of an event line without its mark, or None. ValidationFailure: it is no proper JSON."""
    data = strict_object(line)
    if data is None or not _has_mark(data):
        return None
    return {key: value for key, value in data.items() if key != _MARK}


def _is_marked(line: str) -> bool:
    """Whether a line means to be an event, read as leniently as can be: with NaN, with a key twice."""
    try:
        data = json.loads(bare(line))
    except (ValueError, RecursionError):
        return False
    return isinstance(data, dict) and _has_mark(data)


def _has_mark(data: dict[str, Any]) -> bool:
    # A truth value equals 1, but is another type.
    version = data.get(_MARK)
    return type(version) is int and version == _VERSION


def _told(fault: FieldFailure) -> JsonValue:
    # `events.0` is how the line was checked and not where it is wrong.
    path = fault.path[2:] if fault.path[:1] == ("events",) else fault.path
    return {"path": list(path), "code": fault.code, "message": fault.message}
