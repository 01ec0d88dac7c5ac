"""Content blocks as entries of a branch."""

from typing import Any

import pytest

from contract.events import Role
from runs.claude_blocks import Entry, blocks_of, entry_of, says_something


def test_a_plain_text_is_one_block() -> None:
    assert blocks_of({"content": "hello"}) == [{"type": "text", "text": "hello"}]


def test_blocks_are_taken_as_they_come() -> None:
    blocks = [{"type": "text", "text": "hello"}, {"type": "new"}]

    assert blocks_of({"content": blocks}) == blocks


@pytest.mark.parametrize("message", [None, "hello", [], {}, {"content": None}, {"content": 1}, {"content": ["hello"]}])
def test_what_holds_no_blocks_is_not_understood(message: Any) -> None:
    assert blocks_of(message) is None


@pytest.mark.parametrize("speaker", ["assistant", "user"])
def test_text_is_what_its_speaker_says(speaker: Role) -> None:
    assert entry_of({"type": "text", "text": " hello "}, speaker) == Entry(role=speaker, content=" hello ")


def test_a_blank_text_is_no_entry() -> None:
    assert entry_of({"type": "text", "text": " \n"}, "assistant") is None


@pytest.mark.parametrize(
    ("block", "thought"),
    [
        ({"type": "thinking", "thinking": "hm", "signature": "c2ln"}, "hm"),
        ({"type": "thinking", "thinking": "", "signature": "c2ln"}, ""),
        ({"type": "redacted_thinking", "data": "c2VjcmV0"}, ""),
    ],
)
def test_thinking_is_kept_without_what_only_the_api_needs(block: Any, thought: str) -> None:
    entry = entry_of(block, "assistant")

    assert entry == Entry(role="assistant", content={"type": "thinking", "text": thought})


@pytest.mark.parametrize("kind", ["tool_use", "server_tool_use", "mcp_tool_use"])
def test_a_call_of_a_tool_has_one_form(kind: str) -> None:
    block = {"type": kind, "id": "toolu_1", "name": "Read", "input": {"path": "a"}}

    content = {"type": "tool_call", "id": "toolu_1", "name": "Read", "input": {"path": "a"}}
    assert entry_of(block, "assistant") == Entry(role="assistant", content=content, calls="toolu_1")


@pytest.mark.parametrize("kind", ["tool_result", "web_search_tool_result", "mcp_tool_result"])
@pytest.mark.parametrize(("said", "is_error"), [({}, False), ({"is_error": False}, False), ({"is_error": True}, True)])
def test_a_result_is_what_the_tool_says(kind: str, said: Any, is_error: bool) -> None:
    block = {"type": kind, "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "ok"}], **said}

    entry = entry_of(block, "user")

    content = {"type": "tool_result", "id": "toolu_1", "content": block["content"], "is_error": is_error}
    assert entry == Entry(role="tool", content=content, answers="toolu_1")


@pytest.mark.parametrize("block", [{"type": "image", "source": {}}, {"type": "text", "text": 5}, {"type": 5}, {}])
def test_a_block_of_another_form_is_kept_as_it_is(block: Any) -> None:
    assert entry_of(block, "user") == Entry(role="user", content=block)


def test_only_text_of_the_assistant_can_be_a_result() -> None:
    assert says_something(Entry(role="assistant", content="Done."))
    assert not says_something(Entry(role="user", content="Do it."))
    assert not says_something(Entry(role="assistant", content={"type": "thinking", "text": "hm"}))
