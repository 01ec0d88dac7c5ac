"""Reads the output of an agent CLI that nobody named: the first line that only one of them prints decides."""

from collections.abc import Sequence

from contract.events import RunEvent
from runs.claims import Claim
from runs.claude_lines import ClaudeLines, is_claude_line
from runs.codex_lines import CodexLines, is_codex_line
from runs.line_fields import json_object


class AgentLines:
    """One stream of Claude Code or Codex. Until it is recognised every line is output, such as a wrapper's greeting."""

    def __init__(self) -> None:
        self._recognised: ClaudeLines | CodexLines | None = None

    def feed(self, line: str) -> Sequence[RunEvent] | None:
        """Return what the recognised reader makes of a line; None for output."""
        if self._recognised is None:
            self._recognised = _reader_for(line)
        return None if self._recognised is None else self._recognised.feed(line)

    def claim(self) -> Claim | None:
        """Return what the recognised reader says of the outcome."""
        return None if self._recognised is None else self._recognised.claim()


def _reader_for(line: str) -> ClaudeLines | CodexLines | None:
    data = json_object(line)
    if data is None:
        return None
    if is_claude_line(data):
        return ClaudeLines()
    return CodexLines() if is_codex_line(data) else None
