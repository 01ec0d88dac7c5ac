"""What holds for every reader: it raises nothing, and all that comes out can be stored."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.errors import ValidationFailure
from contract.events import RecordEvents, RunEvent
from runs.batch import RunState, fold
from runs.claims import Claim
from runs.output_reading import READER_NAMES, OutputReader, reader_named
from runs.reasons import reason_fault

# Shapes that come close: each is filled with whatever else is drawn.
WORDS = [
    *("studio", "type", "subtype", "message", "content", "id", "uuid", "session_id", "parent_tool_use_id", "role"),
    *("system", "init", "assistant", "user", "result", "success", "is_error", "error", "errors", "usage", "text"),
    *("modelUsage", "total_cost_usd", "inputTokens", "outputTokens", "costUSD", "input_tokens", "output_tokens"),
    *("tool_use", "tool_result", "tool_use_id", "thinking", "input", "name", "timestamp", "model", "branch"),
    *("thread.started", "turn.started", "turn.completed", "turn.failed", "item.started", "item.completed", "item"),
    *("thread_id", "agent_message", "reasoning", "command_execution", "todo_list", "mcp_tool_call", "items", "status"),
    *("signal", "kind", "payload", "at", "event_id", "failed", "completed", "compact_boundary", "api_error_status"),
]
TEXTS = st.sampled_from(WORDS) | st.text(st.characters(codec=None), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.just("x" * 300),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)
KINDS = st.sampled_from([word for word in WORDS if "." in word] + ["system", "assistant", "user", "result", "message"])
CLOSE = st.fixed_dictionaries(
    {"type": KINDS},
    optional={
        "studio": st.just(1),
        "subtype": TEXTS,
        "message": st.dictionaries(st.sampled_from(["id", "content", "model", "role"]), VALUES) | VALUES,
        "item": st.dictionaries(st.sampled_from(["id", "type", "text", "items", "exit_code", "server"]), VALUES)
        | VALUES,
        "uuid": VALUES,
        "session_id": VALUES,
        "parent_tool_use_id": VALUES,
        "usage": st.dictionaries(TEXTS, st.integers(-1, 10**13) | VALUES, max_size=3),
        "modelUsage": st.dictionaries(TEXTS, st.dictionaries(TEXTS, st.integers() | st.floats()), max_size=3),
        "total_cost_usd": st.floats() | VALUES,
        "is_error": VALUES,
        "timestamp": VALUES,
    },
)
LINES = st.text(st.characters(codec=None), max_size=60) | (CLOSE | VALUES).map(json.dumps)


def read(reader: OutputReader, lines: Sequence[str]) -> tuple[list[RunEvent], Claim | None]:
    told = [reader.feed(line) for line in lines]
    return [event for events in told for event in events or ()], reader.claim()


def stored(events: Sequence[RunEvent]) -> tuple[RunEvent, ...]:
    """Return the events as a recording takes them, checked anew from their JSON."""
    return RecordEvents.model_validate_json(RecordEvents(events=tuple(events)).model_dump_json()).events


def deep(levels: int) -> str:
    return "[" * levels + "]" * levels


@pytest.mark.parametrize("name", READER_NAMES)
@given(lines=st.lists(LINES, max_size=6))
def test_whatever_is_fed_nothing_is_raised_and_all_can_be_stored_again_and_again(name: str, lines: list[str]) -> None:
    events, claim = read(reader_named(name), lines)

    assert (events, claim) == read(reader_named(name), lines)
    if events:
        assert stored(events) == tuple(events)
        fold(RunState(status="running"), events, at=1.0)
    assert all(event.event_id for event in events)
    assert claim is None or reason_fault(claim.reason_code, claim.status) is None


@pytest.mark.parametrize("name", READER_NAMES)
@pytest.mark.parametrize("levels", [50, 150, 400, 900, 100_000])
@pytest.mark.parametrize(
    "shape",
    [
        '{"studio": 1, "type": "message", "role": "user", "content": %s}',
        '{"studio": 1, "type": "usage", "input_tokens": %s}',
        '{"type": "assistant", "message": {"content": [{"type": "tool_use", "input": %s}]}, "session_id": "s"}',
        '{"type": "system", "subtype": "notice", "session_id": "s", "more": %s}',
        '{"type": "item.completed", "item": {"type": "mcp_tool_call", "arguments": %s}}',
        '{"type": "item.completed", "item": {"type": "todo_list", "items": %s}}',
    ],
)
def test_no_depth_is_too_deep(name: str, levels: int, shape: str) -> None:
    events, _ = read(reader_named(name), [shape % deep(levels)])

    if events:
        assert stored(events) == tuple(events)


@pytest.mark.parametrize("name", READER_NAMES)
@pytest.mark.parametrize("literal", ["9" * 10_000, "1e400", "-0", "1" * 400 + ".5", '"\\ud800"', '"\\u0000"'])
def test_no_literal_is_too_strange(name: str, literal: str) -> None:
    shapes: list[Any] = [
        {"studio": 1, "type": "message", "role": "user", "content": "?"},
        {"type": "result", "subtype": "?", "total_cost_usd": "?", "session_id": "?", "result": "?", "uuid": "?"},
        {"type": "assistant", "message": {"id": "?", "model": "?", "content": [{"type": "text", "text": "?"}]}},
        {"type": "thread.started", "thread_id": "?"},
        {"type": "turn.completed", "usage": {"input_tokens": "?", "output_tokens": "?"}},
    ]

    events, _ = read(reader_named(name), [json.dumps(shape).replace('"?"', literal) for shape in shapes])

    if events:
        assert stored(events) == tuple(events)


def test_a_reader_there_is_not_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValidationFailure) as failure:
        reader_named("telepathy")

    [fault] = failure.value.field_errors
    assert fault.path == ("reader",)
    assert all(name in fault.message for name in READER_NAMES)


def test_each_stream_gets_a_reader_of_its_own() -> None:
    assert reader_named("events") is not reader_named("events")
