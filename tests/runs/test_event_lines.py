"""Lines of a child that speaks the run-event protocol."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from contract.events import ArtifactEvent, BranchEvent, GraphEvent, MessageEvent, RunEvent, SignalEvent, UsageEvent
from contract.limits import BRANCHES_PER_RUN_MAX, EVENT_MAX_BYTES
from runs.claims import Claim, claim_of
from runs.event_lines import EventLines


def event(**fields: Any) -> str:
    return json.dumps({"studio": 1, **fields})


def message(content: Any = "hello", **fields: Any) -> str:
    return event(**{"type": "message", "role": "assistant", "content": content, **fields})


def read(*lines: str) -> tuple[list[Sequence[RunEvent] | None], Claim | None]:
    reader = EventLines()
    return [reader.feed(line) for line in lines], reader.claim()


def invalid(line: str) -> tuple[MessageEvent, dict[str, Any]]:
    """Return the output that an invalid line stays, and what the signal says of it."""
    [told], _ = read(line)
    assert told is not None
    output, signal = told
    assert isinstance(output, MessageEvent)
    assert isinstance(signal, SignalEvent)
    assert signal.kind == "InvalidEvent"
    assert isinstance(signal.payload, dict)
    return output, signal.payload


# Lines ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (message(), MessageEvent),
        (event(type="signal", kind="NodeStarted", op_id="read"), SignalEvent),
        (event(type="branch", name="judge"), BranchEvent),
        (event(type="artifact", kind="report", name="review"), ArtifactEvent),
        (event(type="usage", input_tokens=3), UsageEvent),
        (event(type="graph", nodes=[{"id": "read"}]), GraphEvent),
        ("  " + message() + "\r", MessageEvent),
        ("\ufeff" + message(), MessageEvent),
    ],
)
def test_a_marked_line_is_an_event(line: str, kind: type) -> None:
    [told], claim = read(line)

    assert told is not None
    assert [type(found) for found in told] == [kind]
    assert claim is None


@pytest.mark.parametrize(
    "line",
    [
        "",
        "compiling...",
        "[1, 2]",
        '{"level": "info", "type": "message"}',
        '{"studio": 2, "type": "message"}',
        '{"studio": true, "type": "message"}',
        '{"studio": 1.0, "type": "message"}',
        '{"studio": "1", "type": "message"}',
        '{"studio": 1, "type": "message"',
        '["studio", 1]',
        '{"studio": [' * 50_000,
    ],
)
def test_any_other_line_is_output(line: str) -> None:
    assert read(line) == ([None], None)


def test_what_an_event_holds_is_made_storable() -> None:
    [told], _ = read(message({"text": "\x00\ud800"}))

    assert told is not None
    [found] = told
    assert isinstance(found, MessageEvent)
    assert found.content == {"text": "��"}
    assert found.sanitized


def test_a_large_body_is_kept_in_part() -> None:
    [told], _ = read(message("x" * (EVENT_MAX_BYTES + 1)))

    assert told is not None
    [found] = told
    assert isinstance(found, MessageEvent)
    assert found.withheld
    assert found.size_bytes == EVENT_MAX_BYTES + 1


# Ids --------------------------------------------------------------------------------------------------------


def test_reading_the_same_lines_again_gives_the_same_ids() -> None:
    lines = [message(), "output", message(), message(role="nobody")]

    first, _ = read(*lines)
    second, _ = read(*lines)

    assert first == second


def test_equal_lines_are_two_events_for_they_stand_on_two_lines() -> None:
    first, second = (told[0].event_id for told in read(message(), message())[0] if told)

    assert first is not None
    assert first != second


def test_an_id_of_its_own_stays() -> None:
    [told], _ = read(message(event_id="m-1"))

    assert told is not None
    assert told[0].event_id == "m-1"


# Faults -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "path", "code"),
    [
        (message(role="nobody"), ["role"], "literal_error"),
        (message(colour="red"), ["colour"], "unknown_field"),
        (event(type="poem"), [], "union_tag_invalid"),
        (event(content="no type"), [], "union_tag_not_found"),
        (event(type="artifact", kind="report", name="r", path="../r"), ["path"], "path"),
        (event(type="status", status="failed", reason_code="run.failed.moon"), ["reason_code"], "reason_code"),
        (event(type="status", status="queued"), ["status"], "literal_error"),
        ('{"studio": 1, "type": "usage", "cost_usd": NaN}', [], "json"),
        ('{"studio": 1, "studio": 1}', [], "json"),
        ('{"studio": 1, "type": "\udcff"}', [], "json"),
    ],
)
def test_a_wrong_event_stays_output_and_its_fault_is_signalled(line: str, path: list[str], code: str) -> None:
    output, payload = invalid(line)

    assert output.role == "output"
    assert output.content == line.replace("\udcff", "�")
    assert payload["line"] == 1
    assert [(fault["path"], fault["code"]) for fault in payload["field_errors"]] == [(path, code)]
    assert payload["field_errors"][0]["message"]


def test_of_many_faults_ten_are_told() -> None:
    _, payload = invalid(message(**{f"key_{number}": 1 for number in range(50)}))

    assert len(payload["field_errors"]) == 10


def test_an_event_after_a_wrong_one_is_read() -> None:
    (_, told), _ = read(event(type="poem"), message("still here"))

    assert told is not None
    assert isinstance(told[0], MessageEvent)
    assert told[0].content == "still here"


def test_a_branch_more_than_a_run_can_hold_is_refused_alone() -> None:
    names = [f"branch-{number}" for number in range(BRANCHES_PER_RUN_MAX - 1)]
    reader = EventLines()
    for name in names:
        reader.feed(event(type="branch", name=name))

    refused = reader.feed(message(branch="one-more"))
    welcome = reader.feed(message(branch=names[-1]))

    assert refused is not None
    assert [found.type for found in refused] == ["message", "signal"]
    assert welcome is not None
    assert [found.branch for found in welcome] == [names[-1]]


# Claims -----------------------------------------------------------------------------------------------------


def test_a_final_status_is_a_claim_and_no_event() -> None:
    line = event(type="status", status="failed", reason_code="run.failed.exit_nonzero", reason_summary="exit code 3")

    assert read(line) == (
        [()],
        Claim(status="failed", reason_code="run.failed.exit_nonzero", reason_summary="exit code 3"),
    )


def test_running_is_neither() -> None:
    assert read(event(type="status", status="running")) == ([()], None)


def test_the_same_status_again_changes_nothing() -> None:
    lines = [event(type="status", status="completed", reason_summary=text) for text in ("first", "second")]

    assert read(*lines) == ([(), ()], claim_of("completed", "first"))


def test_the_first_final_status_stays_and_another_one_is_signalled() -> None:
    (_, told), claim = read(event(type="status", status="completed"), event(type="status", status="failed", at=5.0))

    assert claim == claim_of("completed")
    assert told is not None
    [refused] = told
    assert isinstance(refused, SignalEvent)
    assert (refused.kind, refused.at) == ("StatusRefused", 5.0)
    assert refused.payload == {"status": "failed", "reason_code": "run.failed.error", "reason_summary": None}
