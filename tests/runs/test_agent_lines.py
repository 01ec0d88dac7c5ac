"""An agent CLI that nobody named is recognised by what it prints."""

import json
from typing import Any

import pytest

from runs.agent_lines import AgentLines
from runs.claims import claim_of

CLAUDE_BEGINNINGS = [
    {"type": "system", "subtype": "init", "session_id": "s-1", "uuid": "u-1"},
    {"type": "system", "subtype": "hook_started", "session_id": "s-1", "uuid": "u-1"},
    {
        "type": "result",
        "subtype": "error_during_execution",
        "is_error": True,
        "session_id": "s-1",
        "errors": ["no such"],
    },
]
CODEX_BEGINNINGS = [
    {"type": "thread.started", "thread_id": "t-1"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "item_0", "type": "error", "message": "careful"}},
]
CLAUDE_END = {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "session_id": "s-1"}
CODEX_END: dict[str, Any] = {"type": "turn.completed"}


def feed(reader: AgentLines, *lines: Any) -> list[Any]:
    return [reader.feed(line if isinstance(line, str) else json.dumps(line)) for line in lines]


@pytest.mark.parametrize("beginning", CLAUDE_BEGINNINGS)
def test_claude_code_is_recognised(beginning: Any) -> None:
    reader = AgentLines()

    told = feed(reader, beginning, CLAUDE_END)

    assert None not in told
    assert reader.claim() == claim_of("completed")


@pytest.mark.parametrize("beginning", CODEX_BEGINNINGS)
def test_codex_is_recognised(beginning: Any) -> None:
    reader = AgentLines()

    told = feed(reader, beginning, CODEX_END)

    assert None not in told
    assert reader.claim() == claim_of("completed_empty")


@pytest.mark.parametrize("beginning", [CLAUDE_BEGINNINGS[0], CODEX_BEGINNINGS[0]])
def test_what_a_wrapper_prints_before_and_between_is_output(beginning: Any) -> None:
    reader = AgentLines()

    told = feed(reader, "", "hello from the wrapper", {"level": "info"}, beginning, "a line between")

    assert [found is None for found in told] == [True, True, True, False, True]


@pytest.mark.parametrize(
    "line",
    [
        "plain",
        "{}",
        {"type": "error", "message": "anybody's"},
        {"type": "user", "name": "anybody's"},
        {"type": ["thread.started"]},
        {"type": None},
        {"studio": 1, "type": "message"},
    ],
)
def test_what_anybody_could_print_decides_nothing(line: Any) -> None:
    reader = AgentLines()

    assert feed(reader, line) == [None]
    assert reader.claim() is None
    assert feed(reader, CODEX_BEGINNINGS[0]) != [None]


def test_once_recognised_lines_of_the_other_are_output() -> None:
    reader = AgentLines()

    assert feed(reader, CLAUDE_BEGINNINGS[0], CODEX_BEGINNINGS[0])[1] is None
