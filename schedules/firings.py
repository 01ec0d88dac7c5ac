"""What a decision makes of a schedule: its counters, its next instant, and whether it goes on."""

from dataclasses import replace
from typing import Final

from contract.money import add_known
from schedules.admission import Admission
from schedules.revising import disabled
from schedules.schedule import ScheduleState

_FAILED: Final = frozenset({"failed", "timed_out"})


def fired_state(state: ScheduleState, *, run_id: str, now: float) -> ScheduleState:
    """Count a start of the schedule itself; the last that it may make closes it."""
    after = replace(state, run_count=state.run_count + 1, last_fired_at=now, last_run_id=run_id, last_run_status=None)
    if after.max_runs is not None and after.run_count >= after.max_runs:
        return disabled(after, now=now, reason="schedule.disabled.max_runs")
    return after


def refused_state(state: ScheduleState, admission: Admission, *, now: float) -> ScheduleState:
    """Disable the schedule where the refusal says so; else leave it as it is, but for a new revision."""
    return disabled(state, now=now, reason=admission.disables) if admission.disables else replace(state)


def ended_state(
    state: ScheduleState, *, run_id: str, run_status: str, cost_micros: int | None, tokens: int | None
) -> ScheduleState:
    """Add what a run has spent, and remember how the newest one ended."""
    failed = run_status in _FAILED
    return replace(
        state,
        spent_micros=add_known(state.spent_micros, cost_micros),
        spent_tokens=add_known(state.spent_tokens, tokens),
        last_run_status=run_status if state.last_run_id == run_id else state.last_run_status,
        consecutive_failures=state.consecutive_failures + 1 if failed else 0,
    )
