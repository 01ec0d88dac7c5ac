"""Items of Codex as uses of tools."""

from typing import Any

import pytest

from runs.codex_items import ToolUse, call_content, result_content, tool_use_of


def use_of(**item: Any) -> ToolUse:
    use = tool_use_of(item)
    assert use is not None
    return use


def test_a_command_is_called_and_answers_with_its_output_and_exit_code() -> None:
    use = use_of(type="command_execution", command="ls", aggregated_output="a\n", exit_code=0, status="completed")

    assert call_content("item_1", use) == {
        "type": "tool_call",
        "id": "item_1",
        "name": "command_execution",
        "input": {"command": "ls"},
    }
    assert result_content("item_1", use) == {
        "type": "tool_result",
        "id": "item_1",
        "content": "a\n",
        "is_error": False,
        "exit_code": 0,
    }


@pytest.mark.parametrize(
    ("ending", "is_error"),
    [
        ({"exit_code": 0, "status": "completed"}, False),
        ({"exit_code": None, "status": "in_progress"}, False),
        ({"exit_code": 3, "status": "completed"}, True),
        ({"exit_code": None, "status": "failed"}, True),
        ({"exit_code": None, "status": "declined"}, True),
    ],
)
def test_a_command_fails_by_its_exit_code_or_its_status(ending: dict[str, Any], is_error: bool) -> None:
    assert use_of(type="command_execution", **ending).is_error is is_error


@pytest.mark.parametrize(("status", "is_error"), [("completed", False), ("failed", True)])
def test_a_change_of_files_names_them(status: str, is_error: bool) -> None:
    changes = [{"path": "a.txt", "kind": "add"}]

    use = use_of(type="file_change", changes=changes, status=status)

    assert (use.name, use.input, use.output, use.is_error) == ("file_change", {"changes": changes}, status, is_error)


def test_a_call_of_a_server_is_named_by_server_and_tool() -> None:
    use = use_of(
        type="mcp_tool_call", server="docs", tool="find", arguments={"q": 1}, result={"content": []}, error=None
    )

    assert (use.name, use.input, use.output, use.is_error) == ("docs.find", {"q": 1}, {"content": []}, False)


@pytest.mark.parametrize(("error", "said"), [({"message": "no such tool"}, "no such tool"), ("gone", "gone")])
def test_a_call_of_a_server_that_fails_answers_with_the_error(error: Any, said: str) -> None:
    use = use_of(type="mcp_tool_call", server="docs", tool="find", result=None, error=error)

    assert (use.output, use.is_error) == (said, True)


def test_a_call_of_a_server_without_names_has_one_all_the_same() -> None:
    assert use_of(type="mcp_tool_call", server=5).name == "mcp_tool_call"


def test_a_search_of_the_web_tells_its_query() -> None:
    use = use_of(type="web_search", query="weather", action={"type": "search"})

    assert (use.name, use.input, use.output) == ("web_search", {"query": "weather"}, {"type": "search"})


def test_a_call_of_another_agent_is_named_by_what_it_does() -> None:
    states = {"t-2": {"status": "running"}}

    use = use_of(type="collab_tool_call", tool="spawn_agent", prompt="Look.", agents_states=states, status="completed")

    assert (use.name, use.input, use.output, use.is_error) == ("spawn_agent", {"prompt": "Look."}, states, False)


@pytest.mark.parametrize("item", [{}, {"type": "agent_message"}, {"type": "poem"}, {"type": ["file_change"]}])
def test_anything_else_is_no_use_of_a_tool(item: dict[str, Any]) -> None:
    assert tool_use_of(item) is None
