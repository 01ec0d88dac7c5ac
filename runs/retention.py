"""Rules of retention: which runs are asked for, and how many of them go at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from contract.base import FieldFailure
from contract.errors import ValidationFailure
from contract.retention import PruneRuns
from runs.cursors import ListPosition
from runs.transitions import TERMINAL

# What one transaction removes. Each run stands in two dozen indexes; so many keep others from writing for some tens of
# milliseconds.
BATCH_RUNS: Final = 50
BATCH_ROWS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneRule:
    """Runs that ended by `ended_by` (epoch seconds), with one of these statuses, of this project, where given."""

    ended_by: float
    status: tuple[str, ...] = ()
    project: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A run that is old enough. `ended_at` and `number` are its place in line, `rows` about what it takes with it."""

    number: int
    run_id: str
    ended_at: float
    rows: int

    @property
    def position(self) -> ListPosition:
        """Its place in line."""
        return ListPosition(self.ended_at, self.number)


def rule_of(command: PruneRuns, *, at: float) -> PruneRule:
    """Return what a command asks for at this instant. ValidationFailure for a status in which no run has ended."""
    message = f"is not the status of a run that has ended; those are: {', '.join(TERMINAL)}"
    failures = tuple(
        FieldFailure(path=("status", index), code="unknown_status", message=message)
        for index, status in enumerate(command.status)
        if status not in TERMINAL
    )
    if failures:
        raise ValidationFailure(failures)
    return PruneRule(ended_by=at - command.older_than_seconds, status=command.status, project=command.project)


def batches(candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, ...]]:
    """Cut a line of candidates into what goes in one transaction each. A run is never cut, however large it is."""
    batch: list[Candidate] = []
    rows = 0
    for candidate in candidates:
        if batch and (len(batch) == BATCH_RUNS or rows + candidate.rows > BATCH_ROWS):
            yield tuple(batch)
            batch, rows = [], 0
        batch.append(candidate)
        rows += candidate.rows
    if batch:
        yield tuple(batch)
