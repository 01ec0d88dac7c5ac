"""What Claude Code's results say of the outcome of a run."""

from typing import Any

import pytest

from contract.events import UsageEvent
from runs.claims import claim_of
from runs.claude_lines import ClaudeLines
from tests.runs.claude_stream import MODEL, ClaudeStream, model_usage, text, tool_use

STREAM = ClaudeStream()


def usage_of(*lines: str) -> list[UsageEvent]:
    reader = ClaudeLines()
    told = [reader.feed(line) for line in lines]
    return [event for events in told for event in events or () if isinstance(event, UsageEvent)]


def claim_after(*lines: str) -> Any:
    reader = ClaudeLines()
    for line in lines:
        reader.feed(line)
    return reader.claim()


def test_a_result_is_the_usage_and_a_claim() -> None:
    line = STREAM.result(modelUsage={MODEL: model_usage(10, 5, 0.25, written=20, read=30)}, total_cost_usd=0.25)

    [usage] = usage_of(STREAM.init(), line)

    assert (usage.model, usage.input_tokens, usage.output_tokens, usage.cost_usd) == (MODEL, 60, 5, 0.25)
    assert claim_after(STREAM.init(), line) == claim_of("completed")


@pytest.mark.parametrize(
    ("result", "summary"),
    [
        ({"is_error": True, "result": "Overloaded", "api_error_status": 529}, "API error status 529: Overloaded"),
        ({"is_error": True, "result": "Not logged in"}, "Not logged in"),
        ({"subtype": "error_max_turns", "is_error": True, "result": None, "errors": ["2 turns"]}, "2 turns"),
        ({"subtype": "error_during_execution", "result": None, "errors": ["a", 5, "b"]}, "a; b"),
        ({"subtype": "error_max_budget_usd", "result": ""}, "error max budget usd"),
    ],
)
def test_an_error_fails_whatever_else_is_said(result: dict[str, Any], summary: str) -> None:
    lines = [STREAM.init(), STREAM.assistant(text("I begin.")), STREAM.result(**result)]

    assert claim_after(*lines) == claim_of("failed", summary)


@pytest.mark.parametrize("result", ["", " ", None])
def test_success_without_a_word_is_empty(result: str | None) -> None:
    thinking = {"type": "thinking", "thinking": "hm"}
    sub_agent = STREAM.assistant(text("I see."), parent_tool_use_id="toolu_5")
    lines = [STREAM.init(), STREAM.assistant(thinking, tool_use()), sub_agent, STREAM.result(result)]

    assert claim_after(*lines) == claim_of("completed_empty")


@pytest.mark.parametrize(
    "lines",
    [
        [STREAM.result("Done.")],
        [STREAM.assistant(text("Done.")), STREAM.result("")],
        [STREAM.result("", structured_output={"ok": True})],
    ],
)
def test_success_with_something_made_is_completed(lines: list[str]) -> None:
    assert claim_after(*lines) == claim_of("completed")


def test_denied_tool_calls_are_told_with_success() -> None:
    claim = claim_after(STREAM.result(permission_denials=[{"tool_name": "Write"}, {"tool_name": "Write"}]))

    assert claim == claim_of("completed", "tool calls denied for want of permission: 2")


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [STREAM.init()],
        [STREAM.init(), STREAM.assistant(text("I begin."))],
        [STREAM.init(), STREAM.assistant(text("Done.")), STREAM.result()[:-20]],
        [STREAM.init(), STREAM.result(), STREAM.init()],
        [STREAM.init(), STREAM.result(), STREAM.assistant(text("And"), message_id="msg_2")],
    ],
)
def test_a_stream_that_ends_within_a_turn_claims_nothing(lines: list[str]) -> None:
    assert claim_after(*lines) is None


def test_the_last_result_decides() -> None:
    failed = STREAM.result("Overloaded", is_error=True)

    assert claim_after(STREAM.init(), failed, STREAM.init(), STREAM.result()) == claim_of("completed")
    assert claim_after(STREAM.init(), STREAM.result(), STREAM.init(), failed) == claim_of("failed", "Overloaded")


def test_results_may_come_after_the_turn_that_follows_them() -> None:
    usage = {MODEL: model_usage(30, 3, 0.3)}
    lines = [
        STREAM.init(),
        STREAM.assistant(text("It runs in the background."), message_id="msg_1"),
        STREAM.init(),
        STREAM.assistant(text("It has ended."), message_id="msg_2"),
        STREAM.result("It runs in the background.", modelUsage=usage, total_cost_usd=0.1),
        STREAM.result("It has ended.", modelUsage=usage, total_cost_usd=0.3),
    ]

    spent = usage_of(*lines)

    assert claim_after(*lines) == claim_of("completed")
    assert [(event.input_tokens, event.cost_usd) for event in spent] == [(30, 0.1), (0, 0.2)]
