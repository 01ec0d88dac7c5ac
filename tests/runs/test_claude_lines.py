"""What Claude Code prints, as events of a run."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from contract.events import BranchEvent, MessageEvent, RunEvent, SignalEvent, UsageEvent
from contract.limits import BRANCHES_PER_RUN_MAX
from runs.batch import RunState, fold
from runs.claude_lines import ClaudeLines
from tests.runs.claude_stream import MODEL, SESSION, ClaudeStream, model_usage, text, tool_result, tool_use

STREAM = ClaudeStream()


def read(*lines: str) -> list[Sequence[RunEvent] | None]:
    reader = ClaudeLines()
    return [reader.feed(line) for line in lines]


def events_of(*lines: str) -> list[RunEvent]:
    return [event for told in read(*lines) for event in told or ()]


def messages_of(*lines: str) -> list[MessageEvent]:
    return [event for event in events_of(*lines) if isinstance(event, MessageEvent)]


def branches_of(*lines: str) -> list[BranchEvent]:
    return [event for event in events_of(*lines) if isinstance(event, BranchEvent)]


def signals_of(*lines: str) -> list[SignalEvent]:
    return [event for event in events_of(*lines) if isinstance(event, SignalEvent)]


# The session ------------------------------------------------------------------------------------------------


def test_a_session_begins_with_a_signal_and_the_main_branch() -> None:
    started, branch = events_of(STREAM.init(cwd="/srv/app", model=MODEL, tools=["Bash"], apiKeySource="none"))

    assert isinstance(started, SignalEvent)
    assert started.kind == "SessionStarted"
    assert started.payload == {
        "session_id": SESSION,
        "model": MODEL,
        "cwd": "/srv/app",
        "permissionMode": "default",
        "tools": ["Bash"],
    }
    assert isinstance(branch, BranchEvent)
    assert (branch.name, branch.model, branch.provider) == ("main", MODEL, "anthropic")


def test_a_session_that_goes_on_does_not_begin_again() -> None:
    assert read(STREAM.init(), STREAM.init())[1] == ()


def test_another_session_in_the_same_stream_begins() -> None:
    started = signals_of(STREAM.init(), ClaudeStream("another").init())

    assert [signal.kind for signal in started] == ["SessionStarted"] * 2


def test_another_session_counts_its_money_anew() -> None:
    other = ClaudeStream("another")
    usage = {"large": model_usage(100, 10, 0.1)}
    results = [STREAM.result(modelUsage=usage, total_cost_usd=0.1), other.result(modelUsage=usage, total_cost_usd=0.1)]

    events = events_of(STREAM.init(), results[0], other.init(), results[1])

    assert [event.cost_usd for event in events if isinstance(event, UsageEvent)] == [0.1, 0.1]


def test_without_a_beginning_the_first_answer_tells_the_model() -> None:
    lines = [STREAM.assistant(text("a"), model=model) for model in ("<synthetic>", "claude-small", "claude-large")]

    assert [(branch.name, branch.model) for branch in branches_of(*lines)] == [("main", "claude-small")]


# Messages ---------------------------------------------------------------------------------------------------


def test_each_block_of_an_answer_is_a_message() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}

    messages = messages_of(STREAM.assistant(thinking, text("I look."), tool_use("Read", path="a"), message_id="msg_9"))

    assert {(message.role, message.branch, message.message_id) for message in messages} == {
        ("assistant", "main", "msg_9")
    }
    assert [message.content for message in messages] == [
        {"type": "thinking", "text": "hm"},
        "I look.",
        {"type": "tool_call", "id": "toolu_1", "name": "Read", "input": {"path": "a"}},
    ]


def test_a_result_of_a_tool_names_the_tool() -> None:
    call = STREAM.assistant(tool_use("Read", "toolu_7"))

    message = messages_of(call, STREAM.user(tool_result("no such file", "toolu_7", is_error=True)))[-1]

    assert (message.role, message.sender) == ("tool", "Read")
    assert message.content == {"type": "tool_result", "id": "toolu_7", "content": "no such file", "is_error": True}


def test_a_result_of_a_call_that_nobody_made_has_no_sender() -> None:
    [message] = messages_of(STREAM.user(tool_result("ok")))

    assert message.sender is None


@pytest.mark.parametrize("content", ["Go on.", [text("Go on.")]])
def test_what_the_user_says_is_a_message(content: Any) -> None:
    [message] = messages_of(STREAM.line("user", message={"role": "user", "content": content}))

    assert (message.role, message.content) == ("user", "Go on.")


def test_the_time_of_a_line_is_kept() -> None:
    [message] = messages_of(STREAM.user(text("Go on."), timestamp="1970-01-01T00:01:00.500Z"))

    assert message.at == 60.5


def test_an_answer_that_is_printed_again_as_it_grows_is_told_once() -> None:
    first = STREAM.assistant(text("I look."))
    grown = STREAM.assistant(text("I look."), tool_use())

    contents = [message.content for message in messages_of(first, grown, grown)]

    assert contents == ["I look.", {"type": "tool_call", "id": "toolu_1", "name": "Bash", "input": {}}]


def test_the_same_words_in_another_answer_are_another_message() -> None:
    lines = [STREAM.assistant(text("Ok."), message_id=message_id) for message_id in ("msg_1", "msg_2", None)]

    messages = messages_of(*lines)

    assert [message.content for message in messages] == ["Ok."] * 3
    assert len({message.event_id for message in messages}) == 3


def test_the_same_lines_read_by_another_reader_have_the_same_ids() -> None:
    lines = [STREAM.init(), STREAM.assistant(text("a"), tool_use()), STREAM.user(tool_result("b")), STREAM.result()]

    assert events_of(*lines) == events_of(*lines)


def test_a_line_without_an_id_gets_one_of_its_place() -> None:
    line = json.dumps({"type": "user", "message": {"content": "Go on."}})

    ids = [message.event_id for message in messages_of(line, line)]

    assert len(set(ids)) == 2
    assert None not in ids


# Sub-agents -------------------------------------------------------------------------------------------------


def test_a_sub_agent_has_a_branch_of_its_own() -> None:
    call = STREAM.assistant(tool_use("Task", "toolu_5", subagent_type="Explore", prompt="Look."))
    lines = [
        STREAM.user(text("Look."), parent_tool_use_id="toolu_5"),
        STREAM.assistant(text("I see."), model="claude-small", parent_tool_use_id="toolu_5"),
        STREAM.assistant(text("More."), model="claude-small", parent_tool_use_id="toolu_5", message_id="msg_2"),
    ]

    events = events_of(STREAM.init(), call, *lines)[3:]

    asked, prompt, answered, said, more = events
    assert isinstance(asked, BranchEvent)
    assert isinstance(answered, BranchEvent)
    assert (asked.name, asked.parent, asked.agent_name, asked.model) == ("toolu_5", "main", "Explore", None)
    assert (answered.name, answered.parent, answered.model) == ("toolu_5", "main", "claude-small")
    assert [event.branch for event in (prompt, said, more)] == ["toolu_5"] * 3


def test_a_sub_agent_of_a_sub_agent_hangs_on_its_branch() -> None:
    lines = [
        STREAM.assistant(tool_use("Task", "toolu_5")),
        STREAM.assistant(tool_use("Task", "toolu_6"), parent_tool_use_id="toolu_5"),
        STREAM.assistant(text("deep"), parent_tool_use_id="toolu_6"),
    ]

    assert [(branch.name, branch.parent) for branch in branches_of(*lines)[1:]] == [
        ("toolu_5", "main"),
        ("toolu_6", "toolu_5"),
    ]


def test_the_type_of_an_agent_may_stand_in_its_own_lines() -> None:
    [branch] = branches_of(STREAM.user(text("Look."), parent_tool_use_id="toolu_5", subagent_type="Plan"))

    assert branch.agent_name == "Plan"


def test_any_number_of_sub_agents_fits_into_a_run() -> None:
    lines = [
        STREAM.assistant(text("a"), parent_tool_use_id=f"toolu_{number}", message_id=f"msg_{number}")
        for number in range(BRANCHES_PER_RUN_MAX + 50)
    ]

    effects = fold(RunState(status="running"), events_of(*lines), at=1.0)

    assert effects.branch_count < BRANCHES_PER_RUN_MAX
    assert effects.branches["sub-agents"].message_count > 50


# What else is printed ---------------------------------------------------------------------------------------


def test_what_happens_to_the_session_is_signalled() -> None:
    line = STREAM.line("system", subtype="compact_boundary", compact_metadata={"trigger": "auto"})

    [signal] = signals_of(line)

    assert (signal.kind, signal.payload) == ("CompactBoundary", {"compact_metadata": {"trigger": "auto"}})


def test_a_rate_limit_is_signalled() -> None:
    [signal] = signals_of(STREAM.line("rate_limit_event", rate_limit_info={"status": "allowed_warning"}))

    assert (signal.kind, signal.payload) == ("RateLimit", {"status": "allowed_warning"})


@pytest.mark.parametrize(
    "line",
    [
        STREAM.line("stream_event", event={"type": "content_block_delta"}),
        STREAM.line("tool_progress", tool_name="Bash"),
        STREAM.line("system", subtype="thinking_tokens", estimated_tokens=3),
        STREAM.line("system", subtype="task_progress"),
        STREAM.assistant(text(" ")),
    ],
)
def test_pieces_and_progress_mean_nothing(line: str) -> None:
    assert read(STREAM.init(), line)[1] in ((), [])


@pytest.mark.parametrize(
    "line",
    [
        "",
        "Warning: no stdin data received",
        "[]",
        "{}",
        STREAM.line("poem"),
        STREAM.line("system"),
        STREAM.line("system", subtype=5),
        STREAM.line("system", subtype="Not A Word"),
        STREAM.line("system", subtype="a" * 65),
        STREAM.line("assistant"),
        STREAM.line("assistant", message={"content": [1]}),
        STREAM.line("user", message="hello"),
        STREAM.line("result"),
        STREAM.line("result", subtype="success", is_error="no"),
        json.dumps({"type": ["assistant"]}),
        json.dumps({"type": "assistant", "message": {"content": "cut off"}})[:-5],
    ],
)
def test_what_is_not_understood_is_output(line: str) -> None:
    reader = ClaudeLines()

    assert reader.feed(line) is None
    assert reader.claim() is None
