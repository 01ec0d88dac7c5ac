"""What stands in for clock, chance and processes when the contract is recorded: the same always."""

from typing import Final

from contract.events import ProcessIdentity
from studio_project.contract_story import START_AT

_WRITER: Final = ProcessIdentity(host="example-host", pid=4242)


class RecordedClock:
    """Stands still until it is told to go on."""

    def __init__(self) -> None:
        self._now = START_AT

    def now(self) -> float:
        """Return epoch seconds."""
        return self._now

    def monotonic(self) -> float:
        """Return the same clock: it never steps back."""
        return self._now

    def advance(self) -> None:
        """Let one second pass."""
        self._now += 1.0


class CountedIds:
    """1, 2, 3... in the shape of identifiers."""

    def __init__(self) -> None:
        self._last = 0

    def new_id(self) -> str:
        """Return the next one."""
        self._last += 1
        return f"{self._last:016x}"


class FaultyProbe:
    """Says that every process lives, or fails as it is told: the place from which faults enter the recording."""

    def __init__(self) -> None:
        self.fault: Exception | None = None

    def alive(self, process: ProcessIdentity) -> bool | None:  # noqa: ARG002 (the port's signature)
        """Return True, or raise the fault."""
        if self.fault is not None:
            raise self.fault
        return True

    def own(self) -> ProcessIdentity:
        """Return a process that is the same always."""
        return _WRITER

    def elsewhere(self, process: ProcessIdentity) -> bool:  # noqa: ARG002 (the port's signature)
        """Return that no process is on another host."""
        return False
