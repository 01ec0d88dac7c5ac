"""The runs of schedules: what the schedules app asks of the runs app, bound."""

from collections.abc import Callable, Collection, Mapping
from typing import Protocol

from contract.actions import ActionFields, LaunchRun
from contract.base import FieldFailure
from contract.errors import Conflict, NotFound
from contract.ports import Clock, IdGenerator
from contract.runs import CancelRun
from contract.stats import ScheduleStats
from runs.services import control, launching
from runs.services.execution_ports import LaunchDraft
from runs.services.ports import RunWritePort
from schedules.services import totals
from schedules.services.ports import PreparedRun, RunOutcome, SchedulerStateService
from studio_project.run_operations import LaunchNeeds


class Outcome(Protocol):
    """How a run stands."""

    @property
    def status(self) -> str:
        """Its status."""
        ...

    @property
    def is_terminal(self) -> bool:
        """Whether it has ended."""
        ...

    @property
    def cost_micros(self) -> int | None:
        """What it has reported to have spent, in micro-dollars."""
        ...

    @property
    def tokens(self) -> int | None:
        """What it has reported to have used."""
        ...


class RunRows(Protocol):
    """How runs stand, as their store tells it."""

    async def outcomes(self, run_ids: Collection[str]) -> Mapping[str, Outcome]:
        """Return how these runs stand; one that is gone is missing."""
        ...

    async def open_count(self) -> int:
        """Return how many launched runs are queued or held by a worker."""
        ...


class LaunchedRuns:
    """ScheduledRuns over the operations of runs."""

    def __init__(
        self,
        *,
        needs: LaunchNeeds,
        rows: RunRows,
        queue: Callable[[LaunchDraft, float], Collection[str]],
        writes: RunWritePort,
        clock: Clock,
        ids: IdGenerator,
    ) -> None:
        """Take what a launch is checked by, and what queues it inside the caller's transaction and tells the topics."""
        self._needs = needs
        self._rows = rows
        self._queue = queue
        self._writes = writes
        self._clock = clock
        self._ids = ids

    async def action_failures(self, action: ActionFields) -> tuple[FieldFailure, ...]:
        """Say why an action could not be executed as it is now."""
        return await launching.check_launch(
            action=action,
            policy=self._needs.policy,
            sources=self._needs.sources,
            projects=self._needs.projects,
            machine=self._needs.machine,
        )

    async def prepare(self, action: ActionFields, *, firing_id: str, invocation_id: str, name: str) -> PreparedRun:
        """Check an action as a launch is checked; the launch key is the firing's id."""
        fields = {field: getattr(action, field) for field in action.model_fields_set}
        command = LaunchRun(**fields, launch_key=firing_id, name=name, invocation_id=invocation_id)
        draft = await launching.draft_launch(
            command=command,
            launch_key=firing_id,
            run_id=self._ids.new_id(),
            policy=self._needs.policy,
            sources=self._needs.sources,
            projects=self._needs.projects,
            machine=self._needs.machine,
        )
        return PreparedRun(run_id=draft.run_id, queue=lambda at: self._queue(draft, at))

    async def outcomes(self, run_ids: Collection[str]) -> dict[str, RunOutcome]:
        """Return how these runs stand."""
        return {
            run_id: RunOutcome(
                status=found.status,
                is_terminal=found.is_terminal,
                cost_micros=found.cost_micros,
                tokens=found.tokens,
            )
            for run_id, found in (await self._rows.outcomes(run_ids)).items()
        }

    async def open_count(self) -> int:
        """Return how many launched runs are queued or held by a worker."""
        return await self._rows.open_count()

    async def cancel(self, run_id: str, *, reason: str) -> None:
        """Ask a run to stop; one that has ended or is gone is left alone."""
        try:
            await control.cancel_run(
                run_id=run_id, command=CancelRun(reason=reason[:2_000]), runs=self._writes, clock=self._clock
            )
        except (Conflict, NotFound):
            return


class ScheduleTotals:
    """ScheduleStatsPort over the operations of schedules."""

    def __init__(self, *, states: SchedulerStateService, clock: Clock) -> None:
        """Take the store of schedules."""
        self._states = states
        self._clock = clock

    async def schedule_stats(self) -> ScheduleStats:
        """Return the schedules' part of the statistics."""
        return await totals.schedule_stats(states=self._states, clock=self._clock)
