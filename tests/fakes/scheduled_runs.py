"""InMemoryScheduledRuns: the runs of schedules, which start at once and end when a test says so."""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from contract.actions import ActionFields
from contract.base import FieldFailure
from contract.errors import ValidationFailure
from schedules.services.ports import PreparedRun, RunOutcome
from tests.fakes.change_feed import InMemoryChangeFeed
from tests.fakes.turns import turns

RUNS_TOPIC = "runs"
_OPEN = RunOutcome(status="running", is_terminal=False, cost_micros=None, tokens=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedRun:
    """What was started: the action, and what it was started with."""

    action: ActionFields
    firing_id: str
    invocation_id: str
    name: str
    at: float


class InMemoryScheduledRuns:
    """Runs by id, those that were asked to stop, and programs that may not be executed.

    `faults` are what preparing (or, behind `queue:`, queueing) a run of a program raises.
    """

    def __init__(self, feed: InMemoryChangeFeed | None = None) -> None:
        self.feed = feed or InMemoryChangeFeed()
        self.started: dict[str, StartedRun] = {}
        self.standing: dict[str, RunOutcome] = {}
        self.cancelled: dict[str, str] = {}
        self.refused: set[str] = set()
        self.faults: dict[str, Exception] = {}
        self.others_open = 0

    @property
    def programs(self) -> list[str]:
        """What was started, in the order of the starts."""
        return [_program(run.action) for run in self.started.values()]

    def report(self, run_id: str, *, cost_micros: int | None = None, tokens: int | None = None) -> None:
        """Let an open run tell what it has spent."""
        self.standing[run_id] = RunOutcome(status="running", is_terminal=False, cost_micros=cost_micros, tokens=tokens)

    def end(
        self, run_id: str, status: str = "completed", *, cost_micros: int | None = None, tokens: int | None = None
    ) -> None:
        """End a run."""
        self.standing[run_id] = RunOutcome(status=status, is_terminal=True, cost_micros=cost_micros, tokens=tokens)
        self.feed.publish([RUNS_TOPIC])

    def end_all(self, status: str = "completed") -> None:
        """End every open run."""
        for run_id in self.open_ids:
            self.end(run_id, status)

    @property
    def open_ids(self) -> list[str]:
        return [run_id for run_id, outcome in self.standing.items() if not outcome.is_terminal]

    async def action_failures(self, action: ActionFields) -> tuple[FieldFailure, ...]:
        await turns()
        if _program(action) not in self.refused:
            return ()
        return (FieldFailure(path=("command", 0), code="executable", message="is not allowed"),)

    async def prepare(self, action: ActionFields, *, firing_id: str, invocation_id: str, name: str) -> PreparedRun:
        failures = await self.action_failures(action)
        if failures:
            raise ValidationFailure(failures)
        if _program(action) in self.faults:
            raise self.faults[_program(action)]
        run_id = f"run-{firing_id}"
        start = partial(self._start, run_id, action, firing_id, invocation_id, name)
        return PreparedRun(run_id=run_id, queue=start)

    def _start(
        self, run_id: str, action: ActionFields, firing_id: str, invocation_id: str, name: str, at: float
    ) -> Collection[str]:
        if f"queue:{_program(action)}" in self.faults:
            raise self.faults[f"queue:{_program(action)}"]
        self.started[run_id] = StartedRun(
            action=action, firing_id=firing_id, invocation_id=invocation_id, name=name, at=at
        )
        self.standing[run_id] = _OPEN
        return (RUNS_TOPIC,)

    async def outcomes(self, run_ids: Collection[str]) -> dict[str, RunOutcome]:
        await turns()
        return {run_id: self.standing[run_id] for run_id in run_ids if run_id in self.standing}

    async def open_count(self) -> int:
        await turns()
        return len(self.open_ids) + self.others_open

    async def cancel(self, run_id: str, *, reason: str) -> None:
        with suppress(KeyError):
            if not self.standing[run_id].is_terminal:
                self.cancelled[run_id] = reason


def _program(action: ActionFields) -> str:
    return action.command[0] if action.command else ""
