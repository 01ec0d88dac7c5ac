"""Reads what `claude -p --output-format stream-json --verbose` prints: one JSON object a line.

The session's own messages are the branch `main`. A message with a `parent_tool_use_id` is one of a sub-agent, whose
branch has that id as its name. Ids of events are made of the ids in the line, so that a message that is printed twice
is stored once.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from contract.events import DEFAULT_BRANCH, BranchEvent, MessageEvent, Role, RunEvent, SignalEvent, TerminalStatus
from contract.evidence import text_of
from runs.claims import Claim, claim_of
from runs.claude_blocks import Entry, blocks_of, entry_of, says_something
from runs.claude_usage import ClaudeSpending
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

_PROVIDER: Final = "anthropic"
# The CLI's own words, such as an API error, come as a message of this model.
_NO_MODEL: Final = "<synthetic>"
# Pieces of what comes whole, and progress for a person who waits.
_PIECES: Final = frozenset({"stream_event", "tool_progress", "keep_alive"})
_PROGRESS: Final = frozenset({"thinking_tokens", "task_progress", "hook_progress", "status"})
_ENVELOPE: Final = frozenset({"type", "subtype", "uuid", "session_id"})
# What of the session's description tells something about the run.
_SESSION: Final = ("session_id", "model", "cwd", "permissionMode", "claude_code_version", "tools", "mcp_servers")
# A run holds a thousand branches; sub-agents beyond these share one, and others have room.
_BRANCHES_MAX: Final = 900
_SHARED_BRANCH: Final = "sub-agents"


_SUBTYPE: Final = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_SUBTYPE_MAX_CHARS: Final = 64


@dataclass(frozen=True, slots=True)
class _Line:
    """One line: its object, its number from 1, and its text."""

    data: dict[str, Any]
    number: int
    text: str

    @property
    def id(self) -> str:
        """The id the CLI gave it, or one made of its place and content."""
        return name_field(self.data.get("uuid")) or event_key("line", self.number, digest(self.text))

    @property
    def at(self) -> float | None:
        return instant_field(self.data.get("timestamp"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """A tool call: which tool, from which branch, and for a sub-agent of which type."""

    tool: str | None
    branch: str
    agent: str | None


def is_claude_line(data: dict[str, Any]) -> bool:
    """Whether only Claude Code prints such a line."""
    known = data.get("type") in ("system", "assistant", "user", "result", "stream_event", "rate_limit_event")
    return known and said_field(data.get("session_id")) is not None


class ClaudeLines:
    """The events of one stream."""

    def __init__(self) -> None:
        self._readers: dict[str, Callable[[_Line], Sequence[RunEvent] | None]] = {
            "system": self._system,
            "assistant": self._assistant,
            "user": self._user,
            "rate_limit_event": self._rate_limit,
            "result": self._result,
        }
        self._number = 0
        self._session: str | None = None
        self._spending = ClaudeSpending()
        self._models: dict[str, str | None] = {DEFAULT_BRANCH: None}
        self._calls: Recent[_Call] = Recent()
        self._told: Recent[None] = Recent()
        self._has_spoken = False
        self._claim: Claim | None = None

    def feed(self, line: str) -> Sequence[RunEvent] | None:
        """Return what a line means; nothing for pieces and progress, None for what is no line of Claude Code."""
        self._number += 1
        data = json_object(line)
        kind = None if data is None else text_field(data.get("type"))
        if data is None or kind is None:
            return None
        if kind in _PIECES:
            return ()
        reader = self._readers.get(kind)
        try:
            return None if reader is None else reader(_Line(data, self._number, line))
        except ValidationError:  # nested deeper than anything can be stored
            return None

    def claim(self) -> Claim | None:
        """Return what the last result says; None while a turn has none."""
        return self._claim

    def _system(self, line: _Line) -> Sequence[RunEvent] | None:
        subtype = text_field(line.data.get("subtype"))
        if subtype == "init":
            return self._begin(line)
        if subtype in _PROGRESS:
            return ()
        kind = _signal_kind(subtype or "")
        if kind is None:
            return None
        payload = {key: value for key, value in line.data.items() if key not in _ENVELOPE}
        return (SignalEvent(kind=kind, payload=payload, at=line.at, event_id=line.id),)

    def _begin(self, line: _Line) -> Sequence[RunEvent]:
        """Begin a session, or another turn of the same one."""
        self._claim = None
        session = name_field(line.data.get("session_id"))
        if session is not None and session == self._session:
            return ()
        self._session = session
        self._spending = ClaudeSpending()
        payload = {key: line.data[key] for key in _SESSION if line.data.get(key) is not None}
        started = SignalEvent(kind="SessionStarted", payload=payload, at=line.at, event_id=line.id)
        self._models[DEFAULT_BRANCH] = model = name_field(line.data.get("model"))
        described = BranchEvent(
            name=DEFAULT_BRANCH, model=model, provider=_PROVIDER, at=line.at, event_id=event_key(line.id, "branch")
        )
        return (started, described)

    def _assistant(self, line: _Line) -> Sequence[RunEvent] | None:
        message = object_field(line.data.get("message"))
        blocks = blocks_of(message)
        if blocks is None:
            return None
        branch, events = self._branch(line, name_field(message.get("model")))
        message_id = name_field(message.get("id"))
        for index, entry in _entries(blocks, "assistant"):
            said = self._message(line, entry, branch, message_id=message_id, index=index)
            # A message is printed again when it has grown; a block of it that was told is not told twice.
            if message_id is None or self._told.keep(said.event_id or "", None):
                events.append(said)
            self._notice(entry, branch)
        return events

    def _user(self, line: _Line) -> Sequence[RunEvent] | None:
        blocks = blocks_of(line.data.get("message"))
        if blocks is None:
            return None
        branch, events = self._branch(line, None)
        for index, entry in _entries(blocks, "user"):
            events.append(self._message(line, entry, branch, message_id=None, index=index))
        return events

    def _message(self, line: _Line, entry: Entry, branch: str, *, message_id: str | None, index: int) -> MessageEvent:
        call = self._calls.find(entry.answers)
        said = MessageEvent(
            role=entry.role,
            content=entry.content,
            branch=branch,
            sender=None if call is None else call.tool,
            message_id=message_id,
            at=line.at,
            event_id=event_key(line.id, index),
        )
        if message_id is None:
            return said
        block = digest(f"{said.size_bytes} {text_of(said.content)}")
        return said.model_copy(update={"event_id": event_key(self._session, message_id, block)})

    def _notice(self, entry: Entry, branch: str) -> None:
        if entry.calls is not None:
            agent = object_field(entry.content["input"]).get("subagent_type")
            tool = name_field(entry.content["name"])
            self._calls.keep(entry.calls, _Call(tool=tool, branch=branch, agent=name_field(agent)))
        if branch == DEFAULT_BRANCH:
            self._claim = None
            self._has_spoken = self._has_spoken or says_something(entry)

    def _branch(self, line: _Line, model: str | None) -> tuple[str, list[RunEvent]]:
        """Return the branch of a message, with the event that describes it where there is something new to say."""
        branch = self._branch_name(line)
        known = None if model == _NO_MODEL else model
        if branch in self._models and (known is None or self._models[branch] is not None):
            return branch, []
        self._models[branch] = known
        parent, agent = self._origin(line, branch)
        described = BranchEvent(
            name=branch,
            model=known,
            provider=_PROVIDER,
            parent=parent,
            agent_name=agent,
            at=line.at,
            event_id=event_key(line.id, "branch"),
        )
        return branch, [described]

    def _branch_name(self, line: _Line) -> str:
        name = name_field(line.data.get("parent_tool_use_id"))
        if name is None:
            return DEFAULT_BRANCH
        return name if name in self._models or len(self._models) < _BRANCHES_MAX else _SHARED_BRANCH

    def _origin(self, line: _Line, branch: str) -> tuple[str | None, str | None]:
        """Return the branch that a branch comes from, and the type of its agent."""
        if branch == DEFAULT_BRANCH:
            return None, None
        call = self._calls.find(branch)
        agent = name_field(line.data.get("subagent_type")) or (call.agent if call is not None else None)
        return (call.branch if call is not None else DEFAULT_BRANCH), agent

    def _rate_limit(self, line: _Line) -> Sequence[RunEvent]:
        payload = line.data.get("rate_limit_info")
        return (SignalEvent(kind="RateLimit", payload=payload, at=line.at, event_id=line.id),)

    def _result(self, line: _Line) -> Sequence[RunEvent] | None:
        is_error, subtype = line.data.get("is_error", False), text_field(line.data.get("subtype"))
        if type(is_error) is not bool or subtype is None:
            return None
        spent = self._spending.report(line.data, model=self._models[DEFAULT_BRANCH], event_id=line.id, at=line.at)
        # The subtype may be `success` although the last answer was an API error.
        if is_error or subtype.startswith("error"):
            self._claim = claim_of("failed", _failure(line.data, subtype))
        else:
            self._claim = claim_of(*_success(line.data, has_spoken=self._has_spoken))
        return spent


def _entries(blocks: Sequence[dict[str, Any]], speaker: Role) -> Iterator[tuple[int, Entry]]:
    for index, block in enumerate(blocks):
        entry = entry_of(block, speaker)
        if entry is not None:
            yield index, entry


def _signal_kind(subtype: str) -> str | None:
    """Return `CompactBoundary` for `compact_boundary`, None for what makes no kind."""
    if len(subtype) > _SUBTYPE_MAX_CHARS or not _SUBTYPE.fullmatch(subtype):
        return None
    return "".join(word.capitalize() for word in subtype.split("_"))


def _failure(result: dict[str, Any], subtype: str) -> str:
    errors = result.get("errors")
    told = [text for text in map(said_field, errors) if text] if isinstance(errors, list) else []
    text = said_field(result.get("result")) or "; ".join(told) or subtype.replace("_", " ")
    status = count_field(result.get("api_error_status"))
    return text if status is None else f"API error status {status}: {text}"


def _success(result: dict[str, Any], *, has_spoken: bool) -> tuple[TerminalStatus, str | None]:
    has_result = said_field(result.get("result")) is not None or result.get("structured_output") is not None
    denials = result.get("permission_denials")
    denied = (
        f"tool calls denied for want of permission: {len(denials)}" if isinstance(denials, list) and denials else None
    )
    return "completed" if has_result or has_spoken else "completed_empty", denied
