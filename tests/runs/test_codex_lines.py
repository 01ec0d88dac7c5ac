"""What Codex prints, as events of a run."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from contract.events import MessageEvent, RunEvent, SignalEvent, UsageEvent
from runs.claims import claim_of
from runs.codex_lines import CodexLines


def line(kind: str, **fields: Any) -> str:
    return json.dumps({"type": kind, **fields})


def thread(thread_id: str = "t-1") -> str:
    return line("thread.started", thread_id=thread_id)


def item(kind: str, phase: str = "completed", item_id: str | None = "item_1", **fields: Any) -> str:
    return line(f"item.{phase}", item={"id": item_id, "type": kind, **fields})


def said(text: str = "Done.", item_id: str = "item_1") -> str:
    return item("agent_message", item_id=item_id, text=text)


def completed(input_tokens: int = 10, output_tokens: int = 5) -> str:
    return line("turn.completed", usage={"input_tokens": input_tokens, "output_tokens": output_tokens})


def command(phase: str, **fields: Any) -> str:
    return item("command_execution", phase, command="ls", aggregated_output="a\n", **fields)


STARTED = line("turn.started")


def read(*lines: str) -> list[Sequence[RunEvent] | None]:
    reader = CodexLines()
    return [reader.feed(found) for found in lines]


def events_of(*lines: str) -> list[RunEvent]:
    return [event for told in read(*lines) for event in told or ()]


def messages_of(*lines: str) -> list[MessageEvent]:
    return [event for event in events_of(*lines) if isinstance(event, MessageEvent)]


def contents_of(*lines: str) -> list[Any]:
    return [message.content for message in messages_of(*lines)]


def spent(*lines: str) -> list[tuple[int | None, int | None, float | None]]:
    usage = [event for event in events_of(*lines) if isinstance(event, UsageEvent)]
    return [(event.input_tokens, event.output_tokens, event.cost_usd) for event in usage]


def claim_after(*lines: str) -> Any:
    reader = CodexLines()
    for found in lines:
        reader.feed(found)
    return reader.claim()


# Messages ---------------------------------------------------------------------------------------------------


def test_a_thread_begins_with_a_signal() -> None:
    [signal] = events_of(thread("t-1"), STARTED)

    assert isinstance(signal, SignalEvent)
    assert (signal.kind, signal.payload) == ("SessionStarted", {"session_id": "t-1"})


@pytest.mark.parametrize("kind", ["agent_message", "plan"])
def test_what_the_agent_says_is_a_message(kind: str) -> None:
    [message] = messages_of(item(kind, "started", text=""), item(kind, text="Done."))

    assert (message.role, message.content, message.message_id) == ("assistant", "Done.", "item_1")


def test_reasoning_is_thinking() -> None:
    assert contents_of(item("reasoning", text="hm")) == [{"type": "thinking", "text": "hm"}]


def test_a_command_is_a_call_and_its_result() -> None:
    lines = [command("started", exit_code=None), command("updated"), command("completed", exit_code=3, status="failed")]

    call, result = messages_of(*lines)

    assert (call.role, call.sender) == ("assistant", None)
    assert call.content == {
        "type": "tool_call",
        "id": "item_1",
        "name": "command_execution",
        "input": {"command": "ls"},
    }
    assert (result.role, result.sender) == ("tool", "command_execution")
    assert result.content == {
        "type": "tool_result",
        "id": "item_1",
        "content": "a\n",
        "is_error": True,
        "exit_code": 3,
    }


def test_a_tool_that_is_told_of_only_at_its_end_is_called_then() -> None:
    call, result = messages_of(item("file_change", changes=[{"path": "a.txt", "kind": "add"}], status="completed"))

    assert [call.role, result.role] == ["assistant", "tool"]
    assert call.content == {
        "type": "tool_call",
        "id": "item_1",
        "name": "file_change",
        "input": {"changes": [{"path": "a.txt", "kind": "add"}]},
    }


@pytest.mark.parametrize("kind", ["file_change", "mcp_tool_call", "web_search", "collab_tool_call"])
def test_each_tool_has_a_message_by_the_tool(kind: str) -> None:
    roles = [message.role for message in messages_of(item(kind, "started"), item(kind))]

    assert roles == ["assistant", "tool"]


def test_a_list_of_things_to_do_is_told_whenever_it_changes() -> None:
    first, second = ([{"text": "read", "completed": is_done}] for is_done in (False, True))
    phases = [("started", first), ("updated", second), ("completed", second)]

    messages = messages_of(*(item("todo_list", phase, items=items) for phase, items in phases))

    assert [message.content for message in messages] == [
        {"type": "todo_list", "id": "item_1", "items": items} for items in (first, second)
    ]
    assert {(message.role, message.sender) for message in messages} == {("tool", "todo_list")}
    assert len({message.event_id for message in messages}) == 2


def test_a_warning_is_a_signal_and_no_failure() -> None:
    lines = [thread(), item("error", message="careful"), STARTED, said(), completed()]

    warning = events_of(*lines)[1]

    assert isinstance(warning, SignalEvent)
    assert (warning.kind, warning.payload) == ("Warning", {"message": "careful"})
    assert claim_after(*lines) == claim_of("completed")


def test_the_time_of_a_line_is_kept() -> None:
    [event] = events_of(line("thread.started", thread_id="t-1", timestamp="1970-01-01T00:01:00Z"))

    assert event.at == 60.0


# Ids --------------------------------------------------------------------------------------------------------


def test_the_same_lines_read_by_another_reader_have_the_same_ids() -> None:
    lines = [thread(), STARTED, command("started"), command("completed"), said(), completed()]

    assert events_of(*lines) == events_of(*lines)


def test_the_same_line_again_has_the_same_id() -> None:
    first, second = messages_of(thread(), said(), said())

    assert first.event_id == second.event_id


def test_items_of_another_call_of_the_cli_are_others() -> None:
    lines = [thread(), STARTED, said(), completed(10), thread(), STARTED, said(), completed(20)]

    ids = [event.event_id for event in events_of(*lines)]

    assert len(set(ids)) == len(ids) == 6


def test_items_without_an_id_are_kept_apart() -> None:
    lines = [item("agent_message", item_id=None, text="a")] * 2

    assert len({message.event_id for message in messages_of(*lines)}) == 2


# Usage ------------------------------------------------------------------------------------------------------


def test_a_turn_tells_what_it_spent_and_not_what_it_cost() -> None:
    usage = {"input_tokens": 240, "cached_input_tokens": 100, "output_tokens": 34, "reasoning_output_tokens": 8}

    assert spent(thread(), STARTED, line("turn.completed", usage=usage)) == [(240, 34, None)]


def test_the_sums_of_a_thread_are_told_as_what_is_new() -> None:
    assert spent(thread(), STARTED, completed(100, 10), STARTED, completed(250, 30)) == [
        (100, 10, None),
        (150, 20, None),
    ]


def test_a_thread_that_is_resumed_goes_on_with_its_sum() -> None:
    lines = [thread("t-1"), STARTED, completed(100, 10), thread("t-1"), STARTED, completed(250, 30)]

    assert spent(*lines) == [(100, 10, None), (150, 20, None)]


def test_another_thread_has_a_sum_of_its_own() -> None:
    lines = [thread("t-1"), STARTED, completed(100, 10), thread("t-2"), STARTED, completed(250, 30)]

    assert spent(*lines) == [(100, 10, None), (250, 30, None)]


@pytest.mark.parametrize("second", [(100, 10), (40, 4), (200, 4)])
def test_what_did_not_grow_is_no_sum_and_adds_up(second: tuple[int, int]) -> None:
    lines = [thread(), STARTED, completed(100, 10), STARTED, completed(*second)]

    assert spent(*lines) == [(100, 10, None), (*second, None)]


@pytest.mark.parametrize("usage", [None, {}, {"input_tokens": 5}, {"input_tokens": True, "output_tokens": 1}])
def test_a_usage_that_is_not_understood_is_unknown(usage: Any) -> None:
    lines = [STARTED, said(), line("turn.completed", usage=usage)]

    assert spent(*lines) == []
    assert claim_after(*lines) == claim_of("completed")


# The outcome ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lines", [[], [command("completed", exit_code=0)], [said(" ")], [item("reasoning", text="hm")]]
)
def test_a_turn_without_a_word_is_empty(lines: list[str]) -> None:
    assert claim_after(thread(), STARTED, *lines, completed()) == claim_of("completed_empty")


@pytest.mark.parametrize(
    ("message", "summary"),
    [
        ("quota exceeded", "quota exceeded"),
        ('{"type": "error", "error": {"message": "no such model"}}', "no such model"),
        ('{"type": "error"}', '{"type": "error"}'),
    ],
)
def test_a_turn_that_fails_says_why(message: str, summary: str) -> None:
    lines = [thread(), STARTED, said(), line("turn.failed", error={"message": message})]

    failed = events_of(*lines)[-1]

    assert isinstance(failed, SignalEvent)
    assert (failed.kind, failed.payload) == ("TurnFailed", {"message": summary})
    assert claim_after(*lines) == claim_of("failed", summary)


def test_a_turn_that_fails_without_a_word_fails_all_the_same() -> None:
    assert claim_after(STARTED, line("turn.failed")) == claim_of("failed", "the turn failed")


def test_an_error_of_the_stream_fails() -> None:
    lines = [thread(), STARTED, line("error", message="connection lost")]

    error = events_of(*lines)[-1]

    assert isinstance(error, SignalEvent)
    assert (error.kind, error.payload) == ("Error", {"message": "connection lost"})
    assert claim_after(*lines) == claim_of("failed", "connection lost")


def test_an_error_that_was_overcome_is_no_failure() -> None:
    reconnecting = line("error", message="Reconnecting... 1/5")

    assert claim_after(thread(), STARTED, reconnecting, said(), completed()) == claim_of("completed")
    assert claim_after(thread(), STARTED, reconnecting, said()) is None


@pytest.mark.parametrize(
    ("last", "claim"),
    [
        ([STARTED, said(), completed()], claim_of("completed")),
        ([STARTED, completed()], claim_of("completed_empty")),
        ([STARTED, line("turn.failed", error={"message": "quota"})], claim_of("failed", "quota")),
        ([STARTED], None),
    ],
)
@pytest.mark.parametrize("first", [[said(), completed()], [line("turn.failed", error={"message": "busy"})]])
def test_the_last_turn_decides(first: list[str], last: list[str], claim: Any) -> None:
    assert claim_after(thread(), STARTED, *first, *last) == claim


@pytest.mark.parametrize("lines", [[], [thread()], [thread(), STARTED, said()], [STARTED, said(), completed()[:-9]]])
def test_a_stream_that_ends_within_a_turn_claims_nothing(lines: list[str]) -> None:
    assert claim_after(*lines) is None


@pytest.mark.parametrize(
    "found",
    [
        "",
        "Reading prompt from stdin...",
        "[]",
        "{}",
        line("thread.started"),
        line("thread.renamed"),
        line("error"),
        line("item.completed"),
        line("item.completed", item="hello"),
        item("poem", text="roses"),
        item("agent_message", text=5),
        item("error", message=None),
        json.dumps({"type": ["turn.completed"]}),
    ],
)
def test_what_is_not_understood_is_output(found: str) -> None:
    reader = CodexLines()

    assert reader.feed(found) is None
    assert reader.claim() is None
