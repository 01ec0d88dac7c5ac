"""What the content blocks of Claude Code's messages mean, as entries of a branch.

A call and its result have the same form whichever agent made them (see `runs/codex_lines.py`): `{"type": "tool_call",
"id", "name", "input"}` by the assistant, `{"type": "tool_result", "id", "content", "is_error"}` by the tool.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from contract.events import Role
from runs.line_fields import name_field, said_field, text_field


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of a branch. `calls` is the id of the tool call it makes, `answers` of the one it answers."""

    role: Role
    content: Any
    calls: str | None = None
    answers: str | None = None


def blocks_of(message: object) -> Sequence[dict[str, Any]] | None:
    """Return the content blocks of a message, a plain text as one block; None where they are not understood."""
    if not isinstance(message, dict):
        return None
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
        return None
    return content


def entry_of(block: dict[str, Any], speaker: Role) -> Entry | None:
    """Return the entry a block makes; None for a blank text. A block of an unknown type is kept as it is."""
    kind = text_field(block.get("type")) or ""
    if kind == "text" and isinstance(block.get("text"), str):
        return Entry(role=speaker, content=block["text"]) if said_field(block["text"]) else None
    if kind in ("thinking", "redacted_thinking"):
        return Entry(role=speaker, content=_thinking(block))
    # The API has several of each: `server_tool_use`, `mcp_tool_use`, `web_search_tool_result`.
    if kind.endswith("tool_use"):
        return _call(block, speaker)
    if kind.endswith("tool_result"):
        return _result(block)
    return Entry(role=speaker, content=block)


def says_something(entry: Entry) -> bool:
    """Whether the entry is text of an assistant, which is what a run can have as its result."""
    return entry.role == "assistant" and isinstance(entry.content, str)


def _thinking(block: dict[str, Any]) -> dict[str, Any]:
    # The signature is for the API alone; thinking that was redacted has nothing else.
    return {"type": "thinking", "text": text_field(block.get("thinking")) or ""}


def _call(block: dict[str, Any], speaker: Role) -> Entry:
    content = {"type": "tool_call", "id": block.get("id"), "name": block.get("name"), "input": block.get("input")}
    return Entry(role=speaker, content=content, calls=name_field(block.get("id")))


def _result(block: dict[str, Any]) -> Entry:
    content = {
        "type": "tool_result",
        "id": block.get("tool_use_id"),
        "content": block.get("content"),
        "is_error": block.get("is_error") is True,
    }
    return Entry(role="tool", content=content, answers=name_field(block.get("tool_use_id")))
