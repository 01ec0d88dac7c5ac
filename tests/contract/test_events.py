"""Run events: evidence is cleaned, bounded and marked; commands among them are refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from contract.artifacts import relative_path_fault
from contract.errors import ValidationFailure
from contract.events import (
    ArtifactEvent,
    GraphEvent,
    MessageEvent,
    ProcessIdentity,
    RecordEvents,
    SignalEvent,
    StatusEvent,
    UsageEvent,
)
from contract.limits import (
    EVENT_MAX_BYTES,
    EVENTS_PER_BATCH_MAX,
    GRAPH_EDGES_MAX,
    GRAPH_NODES_MAX,
    USAGE_COST_USD_MAX,
    USAGE_TOKENS_MAX,
)
from contract.parsing import parse_model


def message(content: Any, **fields: Any) -> MessageEvent:
    return MessageEvent.model_validate({"role": "user", "content": content, **fields})


def signal(payload: Any, **fields: Any) -> SignalEvent:
    return SignalEvent.model_validate({"kind": "Note", "payload": payload, **fields})


def accepts(model: type[Any], fields: dict[str, Any]) -> bool:
    try:
        model.model_validate(fields)
    except ValidationError:
        return False
    return True


# Evidence ---------------------------------------------------------------------------------------------------


def test_clean_content_is_kept_unmarked_with_its_size() -> None:
    event = message("größe")

    assert (event.content, event.sanitized, event.withheld, event.size_bytes) == ("größe", False, False, 7)


@pytest.mark.parametrize(
    ("content", "size_bytes"), [({"a": [1, None]}, 14), (None, 4), ("", 0), ({"ö": 1}, 8), (10**30, 31)], ids=repr
)
def test_the_size_of_anything_but_text_is_that_of_its_json(content: Any, size_bytes: int) -> None:
    assert message(content).size_bytes == size_bytes
    assert signal(content).size_bytes == size_bytes


def test_hostile_content_is_cleaned_and_marked() -> None:
    event = message({"k\0": "\ud800", "n": float("nan")})

    assert (event.content, event.sanitized) == ({"k�": "�", "n": "nan"}, True)


def test_a_signal_without_a_payload_has_no_size() -> None:
    event = SignalEvent(kind="Note")

    assert (event.payload, event.size_bytes, event.sanitized) == (None, None, False)


def test_content_at_the_bound_is_kept() -> None:
    event = message("x" * EVENT_MAX_BYTES)

    assert (event.content, event.withheld) == ("x" * EVENT_MAX_BYTES, False)


@pytest.mark.parametrize("character", ["x", "é", "漢", "🎈"])
def test_longer_text_is_truncated_within_the_bound_and_marked(character: str) -> None:
    text = character * (EVENT_MAX_BYTES + 1)

    event = message(text)

    assert isinstance(event.content, str)
    assert text.startswith(event.content)
    assert 0 < len(event.content.encode()) <= EVENT_MAX_BYTES
    assert (event.withheld, event.size_bytes) == (True, len(text.encode()))


def test_of_longer_json_the_beginning_of_its_text_is_kept() -> None:
    event = signal({"a": "x" * EVENT_MAX_BYTES})

    assert isinstance(event.payload, str)
    assert event.payload.startswith('{"a":"xxx')
    assert event.withheld
    assert event.size_bytes == EVENT_MAX_BYTES + len('{"a":""}')


def test_an_artifact_with_too_much_content_is_refused() -> None:
    with pytest.raises(ValidationFailure) as refused:
        parse_model(ArtifactEvent, {"kind": "k", "name": "n", "content": "x" * (EVENT_MAX_BYTES + 1)})

    assert [(failure.path, failure.code) for failure in refused.value.field_errors] == [(("content",), "too_large")]


def test_a_batch_with_too_much_evidence_is_refused_in_process_too() -> None:
    events = [{"type": "message", "role": "user", "content": "x" * EVENT_MAX_BYTES} for _ in range(5)]

    with pytest.raises(ValidationFailure) as refused:
        parse_model(RecordEvents, {"events": events})

    assert [(failure.path, failure.code) for failure in refused.value.field_errors] == [(("events",), "too_large")]


def test_a_producer_may_know_of_more_than_it_sends_but_not_of_less() -> None:
    assert message("short", size_bytes=10_000_000, withheld=True).size_bytes == 10_000_000
    assert message("short", size_bytes=1).size_bytes == 5
    assert not accepts(MessageEvent, {"role": "user", "content": "x", "size_bytes": True})


@given(st.recursive(st.text(max_size=5) | st.integers() | st.none(), st.lists, max_leaves=8))
def test_an_event_reads_back_from_its_own_json(content: Any) -> None:
    batch = RecordEvents(events=(message(content), signal(content)))

    assert RecordEvents.model_validate_json(batch.model_dump_json()) == batch


def test_content_must_be_there_even_if_null() -> None:
    assert not accepts(MessageEvent, {"role": "user"})
    assert accepts(MessageEvent, {"role": "user", "content": None})


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(ValidationError):
        MessageEvent.model_validate("text")


# Commands ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (StatusEvent, {"status": "queued"}),
        (StatusEvent, {"status": "done"}),
        (StatusEvent, {"status": "failed", "reason_code": "x" * 201}),
        (UsageEvent, {"input_tokens": -1}),
        (UsageEvent, {"input_tokens": 1.5}),
        (UsageEvent, {"output_tokens": USAGE_TOKENS_MAX + 1}),
        (UsageEvent, {"cost_usd": -0.01}),
        (UsageEvent, {"cost_usd": USAGE_COST_USD_MAX + 1}),
        (UsageEvent, {"event_id": ""}),
        (UsageEvent, {"event_id": "\0"}),
        (UsageEvent, {"branch": ""}),
        (UsageEvent, {"at": -1}),
        (UsageEvent, {"type": "message"}),
        (SignalEvent, {"kind": "two words"}),
        (ArtifactEvent, {"kind": "k", "name": "n", "content": {"a": "\0"}}),
        (ArtifactEvent, {"kind": "k", "name": "n", "media_type": "x"}),
        (GraphEvent, {"nodes": [{"id": str(n)} for n in range(GRAPH_NODES_MAX + 1)]}),
        (GraphEvent, {"edges": [{"source": "a", "target": "b"}] * (GRAPH_EDGES_MAX + 1)}),
        (ProcessIdentity, {"host": "h", "pid": 0}),
        (ProcessIdentity, {"host": "h", "pid": 2**31}),
        (RecordEvents, {"events": []}),
        (RecordEvents, {"events": [{"type": "usage"}] * (EVENTS_PER_BATCH_MAX + 1)}),
        (RecordEvents, {"events": [{"type": "invented"}]}),
        (RecordEvents, {}),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else json.dumps(value)[:40],
)
def test_what_a_producer_commands_is_checked(model: type[Any], fields: dict[str, Any]) -> None:
    assert not accepts(model, fields)


def test_a_batch_up_to_its_bound_is_taken() -> None:
    assert accepts(RecordEvents, {"events": [{"type": "usage"}] * EVENTS_PER_BATCH_MAX})


def test_an_unknown_cost_is_null_and_never_zero() -> None:
    assert UsageEvent().cost_usd is None


# Paths ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["a", "a/b.txt", "größe/漢字", ".hidden", "a..b", "...", "c/d:e"])
def test_a_path_below_a_root_is_taken(path: str) -> None:
    assert relative_path_fault(path) is None
    assert accepts(ArtifactEvent, {"kind": "k", "name": "n", "path": path})


@pytest.mark.parametrize(
    "path",
    [
        "/a",
        "//host/a",
        "a\\b",
        "\\\\host\\a",
        "C:",
        "c:/a",
        "..",
        "a/../b",
        "a/..",
        ".",
        "./a",
        "a//b",
        "a/",
        "a\nb",
        "a\x7f",
    ],
    ids=repr,
)
def test_a_path_that_could_leave_its_root_is_refused(path: str) -> None:
    assert relative_path_fault(path)
    assert not accepts(ArtifactEvent, {"kind": "k", "name": "n", "path": path})
