"""Reads a child's standard output, line by line, by a reader that the runtime names."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from contract.errors import ValidationFailure
from contract.events import RunEvent
from runs.agent_lines import AgentLines
from runs.claims import Claim
from runs.claude_lines import ClaudeLines
from runs.codex_lines import CodexLines
from runs.event_lines import EventLines


class OutputReader(Protocol):
    """Turns the lines of one stream into events. Keeps what it has to remember, within bounds; raises nothing.

    The same lines, fed to a new reader from the first on, give the same events with the same ids.
    """

    def feed(self, line: str) -> Sequence[RunEvent] | None:
        """Return what the next line means, possibly nothing; None when it is output and has to be kept as such.

        `line` is without its end. Blank lines are lines.
        """
        ...

    def claim(self) -> Claim | None:
        """Return what the lines so far say of the outcome; None when they do not say."""
        ...


# `events`: the run-event protocol. `claude`: `claude -p --output-format stream-json --verbose`. `codex`: `codex exec
# --json`. `agent-json`: whichever of the two it turns out to be.
_READERS: Final[Mapping[str, Callable[[], OutputReader]]] = {
    "agent-json": AgentLines,
    "claude": ClaudeLines,
    "codex": CodexLines,
    "events": EventLines,
}
READER_NAMES: Final = tuple(_READERS)


def reader_named(name: str) -> OutputReader:
    """Return a new reader for one stream. Raises ValidationFailure (path `reader`) for a name there is not."""
    made = _READERS.get(name)
    if made is None:
        raise ValidationFailure.at("reader", code="unknown_reader", message=f"must be one of {', '.join(READER_NAMES)}")
    return made()
