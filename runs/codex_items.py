"""What the items of Codex mean: messages, thinking, and calls of tools with their results.

A call and its result have the same form whichever agent made them (see `runs/claude_blocks.py`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from runs.line_fields import name_field, object_field, text_field


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """One use of a tool: its name, what went in, what came out (once it is completed), and whether that is a failure.

    `more` are further keys of the result.
    """

    name: str
    input: Any
    output: Any
    is_error: bool
    more: Mapping[str, Any]


def tool_use_of(item: Mapping[str, Any]) -> ToolUse | None:
    """Return the use of a tool that an item is, or None."""
    read = _TOOLS.get(text_field(item.get("type")) or "")
    return None if read is None else read(item)


def call_content(item_id: str | None, use: ToolUse) -> dict[str, Any]:
    """Return the body of the message that makes the call."""
    return {"type": "tool_call", "id": item_id, "name": use.name, "input": use.input}


def result_content(item_id: str | None, use: ToolUse) -> dict[str, Any]:
    """Return the body of the message that answers the call."""
    return {"type": "tool_result", "id": item_id, "content": use.output, "is_error": use.is_error, **use.more}


def _command(item: Mapping[str, Any]) -> ToolUse:
    exit_code = item.get("exit_code")
    return ToolUse(
        name="command_execution",
        input={"command": item.get("command")},
        output=item.get("aggregated_output"),
        is_error=_has_failed(item) or exit_code not in (0, None),
        more={"exit_code": exit_code},
    )


def _file_change(item: Mapping[str, Any]) -> ToolUse:
    return ToolUse(
        name="file_change",
        input={"changes": item.get("changes")},
        output=item.get("status"),
        is_error=_has_failed(item),
        more={},
    )


def _mcp_call(item: Mapping[str, Any]) -> ToolUse:
    error = item.get("error")
    names = (name_field(item.get("server")), name_field(item.get("tool")))
    return ToolUse(
        name=".".join(name for name in names if name) or "mcp_tool_call",
        input=item.get("arguments"),
        output=item.get("result") if error is None else object_field(error).get("message", error),
        is_error=_has_failed(item) or error is not None,
        more={},
    )


def _web_search(item: Mapping[str, Any]) -> ToolUse:
    return ToolUse(
        name="web_search", input={"query": item.get("query")}, output=item.get("action"), is_error=False, more={}
    )


def _collaboration(item: Mapping[str, Any]) -> ToolUse:
    sent = {key: item[key] for key in ("prompt", "receiver_thread_ids") if item.get(key) is not None}
    return ToolUse(
        name=name_field(item.get("tool")) or "collab_tool_call",
        input=sent,
        output=item.get("agents_states"),
        is_error=_has_failed(item),
        more={},
    )


def _has_failed(item: Mapping[str, Any]) -> bool:
    return item.get("status") in ("failed", "declined")


_TOOLS: Final[Mapping[str, Callable[[Mapping[str, Any]], ToolUse]]] = {
    "command_execution": _command,
    "file_change": _file_change,
    "mcp_tool_call": _mcp_call,
    "web_search": _web_search,
    "collab_tool_call": _collaboration,
}
