"""The frames of a run's streams as lines for people. Values in, text out; `zone` is where the reader lives."""

import json
from collections.abc import Iterator
from datetime import tzinfo
from typing import Final

from pydantic import JsonValue

from contract.events import DoneFrame, FramePayload, HeartbeatFrame, MessageView, SignalView
from studio_project.terminal import Line, Styled, printable_block
from studio_project.wording import clock_time

_STATUS_STYLES: Final = {
    "running": "cyan",
    "queued": "cyan",
    "completed": "green",
    "completed_empty": "green",
    "failed": "bold red",
    "timed_out": "bold red",
    "aborted": "red",
    "cancelled": "yellow",
}
_ROLE_STYLES: Final = {
    "system": "magenta",
    "user": "bold green",
    "assistant": "bold blue",
    "tool": "yellow",
    "output": "dim",
}


def frame_lines(payload: FramePayload, run_id: str, zone: tzinfo) -> Iterator[Line]:
    """Yield what `run tail` says of a frame; heartbeats are silent."""
    match payload:
        case MessageView():
            yield from message_lines(payload, zone, with_branch=True)
        case SignalView():
            yield _signal_line(payload, zone)
        case DoneFrame():
            reason = f" ({payload.reason_code})" if payload.reason_code else ""
            yield (
                Styled(f"run {run_id} ended: "),
                Styled(payload.status, _STATUS_STYLES.get(payload.status, "")),
                Styled(reason),
            )
        case HeartbeatFrame():
            pass
        case _:
            yield (Styled(f"the stream ended with {payload.type}", "yellow"),)


def message_lines(message: MessageView, zone: tzinfo, *, with_branch: bool) -> Iterator[Line]:
    """Yield a message: when, where, who, then its text, later lines set in."""
    time = f"{clock_time(message.recorded_at, zone)} "
    branch = f"{message.branch} " if with_branch else ""
    who = message.role if message.sender is None else f"{message.role} {message.sender}"
    body = "" if message.content is None else body_text(message.content).removesuffix("\n")
    first, *others = printable_block(body)
    mark = f" [{message.size_bytes} bytes, not all shown]" if message.withheld else ""
    yield (
        Styled(time, "dim"),
        Styled(branch, "dim"),
        Styled(f"{who}: ", _ROLE_STYLES.get(message.role, "")),
        Styled(first),
        Styled(mark, "dim"),
    )
    for line in others:
        yield (Styled(f"    {line}"),)


def body_text(body: JsonValue) -> str:
    """Return text as it is, anything else as JSON."""
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)


def _signal_line(signal: SignalView, zone: tzinfo) -> Line:
    payload = "" if signal.payload is None else f" {body_text(signal.payload)}"
    return (
        Styled(f"{clock_time(signal.recorded_at, zone)} {signal.branch} ", "dim"),
        Styled(signal.kind, "bold"),
        Styled(f" {signal.op_id}" if signal.op_id else ""),
        Styled(payload),
    )
