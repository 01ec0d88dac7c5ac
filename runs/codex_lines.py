"""Reads what `codex exec --json` prints: one JSON object a line.

Items are numbered anew by each process, and a script may call the CLI more than once: so ids of events are made of the
item's id and of the number of threads that began before it.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from pydantic import ValidationError

from contract.events import MessageEvent, Role, RunEvent, SignalEvent, UsageEvent
from contract.evidence import text_of
from runs.claims import Claim, claim_of
from runs.codex_items import call_content, result_content, tool_use_of
from runs.line_fields import (
    count_field,
    digest,
    event_key,
    instant_field,
    json_object,
    name_field,
    object_field,
    said_field,
    text_field,
)
from runs.recent import Recent

_STARTED: Final = "item.started"
_UPDATED: Final = "item.updated"
_COMPLETED: Final = "item.completed"
_PREFIXES: Final = ("thread.", "turn.", "item.")


def is_codex_line(data: dict[str, Any]) -> bool:
    """Whether only Codex prints such a line. A line of type `error` could be anybody's."""
    return (text_field(data.get("type")) or "").startswith(_PREFIXES)


class CodexLines:
    """The events of one stream."""

    def __init__(self) -> None:
        self._readers: dict[str, Callable[[dict[str, Any]], Sequence[RunEvent] | None]] = {
            "thread.started": self._begin,
            "turn.completed": self._turn_completed,
            "turn.failed": self._turn_failed,
            "error": self._error,
            _STARTED: self._item,
            _UPDATED: self._item,
            _COMPLETED: self._item,
        }
        self._number = 0
        self._threads = 0
        self._thread = ""
        self._turns = 0
        self._spent: Recent[tuple[int, int]] = Recent()
        self._called: Recent[None] = Recent()
        self._lists: Recent[str] = Recent()
        self._has_spoken = False
        self._has_error = False
        self._claim: Claim | None = None

    def feed(self, line: str) -> Sequence[RunEvent] | None:
        """Return what a line means; nothing for a beginning, None for what is no line of Codex."""
        self._number += 1
        data = json_object(line)
        if data is None:
            return None
        kind = text_field(data.get("type")) or ""
        if kind == "turn.started":
            self._start_turn()
            return ()
        reader = self._readers.get(kind)
        try:
            return None if reader is None else reader(data)
        except ValidationError:  # nested deeper than anything can be stored
            return None

    def claim(self) -> Claim | None:
        """Return how the last turn ended; None while it has not."""
        return self._claim

    def _begin(self, data: dict[str, Any]) -> Sequence[RunEvent] | None:
        thread = name_field(data.get("thread_id"))
        if thread is None:
            return None
        self._threads += 1
        self._thread = thread
        started = self._signal(data, "SessionStarted", {"session_id": thread}, self._key("thread"))
        return (started,)

    def _start_turn(self) -> None:
        self._turns += 1
        self._claim = None
        self._has_spoken = self._has_error = False

    def _turn_completed(self, data: dict[str, Any]) -> Sequence[RunEvent]:
        self._claim = claim_of("completed" if self._has_spoken else "completed_empty")
        self._has_spoken = self._has_error = False
        return self._usage(data)

    def _turn_failed(self, data: dict[str, Any]) -> Sequence[RunEvent]:
        message = _message_of(data.get("error")) or "the turn failed"
        self._claim = claim_of("failed", message)
        self._has_error = False
        failed = self._signal(data, "TurnFailed", {"message": message}, self._key("turn", self._turns, "failed"))
        return (failed, *self._usage(data))

    def _error(self, data: dict[str, Any]) -> Sequence[RunEvent] | None:
        message = _message_of(data)
        if message is None:
            return None
        # It may be followed by another try; an item or the end of the turn then says better.
        self._claim = claim_of("failed", message)
        self._has_error = True
        return (self._signal(data, "Error", {"message": message}, self._key("line", self._number)),)

    def _usage(self, data: dict[str, Any]) -> Sequence[RunEvent]:
        """Return what the turn spent. Codex tells the sum of its thread so far, resumed turns included.

        Input tokens include cached ones, output tokens reasoning. What it cost is not told.
        """
        usage = object_field(data.get("usage"))
        total = (count_field(usage.get("input_tokens")), count_field(usage.get("output_tokens")))
        if total[0] is None or total[1] is None:
            return ()
        before = self._spent.find(self._thread) or (0, 0)
        # A sum that did not grow is none, but the count of something new.
        grown = total[0] > before[0] and total[1] >= before[1]
        self._spent.keep(self._thread, (total[0], total[1]))
        return (
            UsageEvent(
                input_tokens=total[0] - before[0] if grown else total[0],
                output_tokens=total[1] - before[1] if grown else total[1],
                at=_at(data),
                event_id=self._key("turn", self._turns, "usage"),
            ),
        )

    def _item(self, data: dict[str, Any]) -> Sequence[RunEvent] | None:
        item = object_field(data.get("item"))
        kind, is_completed = text_field(item.get("type")), data["type"] == _COMPLETED
        if kind == "error":
            return self._warning(data, item)
        if self._has_error:
            self._claim, self._has_error = None, False
        if kind in ("agent_message", "plan", "reasoning"):
            return self._said(data, item) if is_completed else ()
        if kind == "todo_list":
            return self._list(data, item)
        return self._tool(data, item)

    def _warning(self, data: dict[str, Any], item: dict[str, Any]) -> Sequence[RunEvent] | None:
        message = _message_of(item)
        if message is None:
            return None
        return (self._signal(data, "Warning", {"message": message}, self._item_key(item, "warning")),)

    def _said(self, data: dict[str, Any], item: dict[str, Any]) -> Sequence[RunEvent] | None:
        text = text_field(item.get("text"))
        if text is None:
            return None
        if item["type"] == "reasoning":
            return (self._message(data, item, "assistant", {"type": "thinking", "text": text}, "thinking"),)
        self._has_spoken = self._has_spoken or said_field(text) is not None
        return (self._message(data, item, "assistant", text, "message"),)

    def _list(self, data: dict[str, Any], item: dict[str, Any]) -> Sequence[RunEvent]:
        """Return the list as it is now, where it changed."""
        content = {"type": "todo_list", "id": item.get("id"), "items": item.get("items")}
        listed = self._message(data, item, "tool", content, "list", sender="todo_list")
        now = digest(text_of(listed.content))
        key = self._item_key(item, "list")
        if self._lists.find(key) == now:
            return ()
        self._lists.keep(key, now)
        return (listed.model_copy(update={"event_id": event_key(key, self._number)}),)

    def _tool(self, data: dict[str, Any], item: dict[str, Any]) -> Sequence[RunEvent] | None:
        use = tool_use_of(item)
        if use is None:
            return None
        call = self._message(data, item, "assistant", call_content(item.get("id"), use), "call")
        # Some tools are told of only when they have ended: the call is told then, so that each result has one.
        calls = (call,) if data["type"] != _UPDATED and self._called.keep(call.event_id or "", None) else ()
        if data["type"] != _COMPLETED:
            return calls
        return (
            *calls,
            self._message(data, item, "tool", result_content(item.get("id"), use), "result", sender=use.name),
        )

    def _message(
        self, data: dict[str, Any], item: dict[str, Any], role: Role, content: Any, what: str, sender: str | None = None
    ) -> MessageEvent:
        return MessageEvent(
            role=role,
            content=content,
            sender=sender,
            message_id=name_field(item.get("id")),
            at=_at(data),
            event_id=self._item_key(item, what),
        )

    def _signal(self, data: dict[str, Any], kind: str, payload: dict[str, Any], event_id: str) -> SignalEvent:
        return SignalEvent(kind=kind, payload=payload, at=_at(data), event_id=event_id)

    def _item_key(self, item: dict[str, Any], what: str) -> str:
        return self._key(name_field(item.get("id")) or f"line {self._number}", what)

    def _key(self, *parts: object) -> str:
        return event_key("codex", self._threads, *parts)


def _at(data: dict[str, Any]) -> float | None:
    return instant_field(data.get("timestamp"))


def _message_of(value: object) -> str | None:
    """Return the message of an error; of one that is an API's error as JSON, the message in there."""
    message = said_field(object_field(value).get("message"))
    told = None if message is None else object_field(object_field(json_object(message)).get("error")).get("message")
    return said_field(told) or message
