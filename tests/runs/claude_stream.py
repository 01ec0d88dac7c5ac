"""Lines as Claude Code prints them, of which a test names only what it is about."""

import json
from itertools import count
from typing import Any

SESSION = "5e551014-0000-4000-8000-000000000001"
MODEL = "claude-large"


class ClaudeStream:
    """Makes lines with ids of their own, the same for the same calls in the same order."""

    def __init__(self, session: str = SESSION) -> None:
        self._session = session
        self._numbers = count(1)

    def line(self, kind: str, **fields: Any) -> str:
        uuid = f"00000000-0000-4000-8000-{next(self._numbers):012}"
        return json.dumps({"type": kind, "session_id": self._session, "uuid": uuid, **fields})

    def init(self, **fields: Any) -> str:
        described = {"cwd": "/srv/app", "model": MODEL, "permissionMode": "default", "tools": ["Bash"], **fields}
        return self.line("system", subtype="init", **described)

    def assistant(
        self, *blocks: Any, message_id: str | None = "msg_1", model: str | None = MODEL, **fields: Any
    ) -> str:
        message = {"id": message_id, "role": "assistant", "model": model, "content": list(blocks)}
        return self.line("assistant", message=message, **{"parent_tool_use_id": None, **fields})

    def user(self, *blocks: Any, **fields: Any) -> str:
        message = {"role": "user", "content": list(blocks)}
        return self.line("user", message=message, **{"parent_tool_use_id": None, **fields})

    def result(self, text: str | None = "Done.", **fields: Any) -> str:
        said = {"subtype": "success", "is_error": False, "api_error_status": None, "result": text}
        return self.line("result", **{**said, **fields})


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def tool_use(name: str = "Bash", call_id: str = "toolu_1", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def tool_result(content: Any, call_id: str = "toolu_1", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}


def model_usage(fresh: int, output: int, cost_usd: float, *, written: int = 0, read: int = 0) -> dict[str, Any]:
    return {
        "inputTokens": fresh,
        "cacheCreationInputTokens": written,
        "cacheReadInputTokens": read,
        "outputTokens": output,
        "costUSD": cost_usd,
    }
