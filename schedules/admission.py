"""Whether a due schedule fires: a pure decision with a closed result, in a fixed order.

overlap -> budget (disables) -> max_runs (disables) -> global capacity (stays due) -> fire
"""

from dataclasses import dataclass
from typing import Final, Literal

from contract.schedules import FiringOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a schedule allows: its policy and caps. Money is in micro-dollars."""

    overlap_policy: str
    max_runs: int | None
    budget_micros: int | None
    budget_tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How things stand: the schedule's own open runs, starts and spend, and the open runs of everybody.

    Spend is what was reported, by runs in flight as well; null is nothing yet. `capacity` 0 is no bound.
    """

    own_open: int
    run_count: int
    spent_micros: int | None
    spent_tokens: int | None
    all_open: int
    capacity: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The decision. `disables` is the reason for which the schedule is disabled by it, or null."""

    outcome: FiringOutcome
    reason_code: str | None = None
    disables: str | None = None


FIRE: Final = Admission(outcome="fired")
_OVERLAP: Final = Admission(outcome="skipped", reason_code="schedule.skipped.overlap")
_BUDGET: Final = Admission(
    outcome="skipped", reason_code="schedule.skipped.budget", disables="schedule.disabled.budget"
)
_MAX_RUNS: Final = Admission(
    outcome="skipped", reason_code="schedule.skipped.max_runs", disables="schedule.disabled.max_runs"
)
_CAPACITY: Final = Admission(outcome="deferred", reason_code="schedule.deferred.capacity")

Cap = Literal["schedule.disabled.budget", "schedule.disabled.max_runs"]


def admit(terms: Terms, standing: Standing) -> Admission:
    """Decide. Every refusal has a reason code."""
    if terms.overlap_policy == "skip" and standing.own_open:
        return _OVERLAP
    cap = reached_cap(terms, standing)
    if cap is not None:
        return _BUDGET if cap == "schedule.disabled.budget" else _MAX_RUNS
    if standing.capacity and standing.all_open >= standing.capacity:
        return _CAPACITY
    return FIRE


def reached_cap(terms: Terms, standing: Standing) -> Cap | None:
    """Return which cap leaves no further run, or None."""
    spent = ((terms.budget_micros, standing.spent_micros), (terms.budget_tokens, standing.spent_tokens))
    if any(budget is not None and used is not None and used >= budget for budget, used in spent):
        return "schedule.disabled.budget"
    if terms.max_runs is not None and standing.run_count >= terms.max_runs:
        return "schedule.disabled.max_runs"
    return None
