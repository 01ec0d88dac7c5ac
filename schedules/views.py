"""A schedule as others see it: the result of a change, its detail, and its specification."""

from collections.abc import Sequence
from typing import Any, Final

from contract.money import to_usd
from contract.schedules import Firing, PollerView, ScheduleDetail, ScheduleResult, ScheduleSpec
from contract.triggers import GithubPollTrigger
from schedules.health import health_of
from schedules.revising import is_meant_enabled
from schedules.schedule import ScheduleState

# What a person says of a schedule and what is stored under the same name.
_SAID: Final = (
    "name", "description", "trigger", "action", "project",
    "missed_fire_policy", "overlap_policy", "max_runs", "budget_tokens",
)  # fmt: skip


def result_of(state: ScheduleState) -> ScheduleResult:
    """Return what a change answers."""
    return ScheduleResult(
        schedule_id=state.schedule_id,
        name=state.name,
        enabled=state.enabled,
        updated_at=state.updated_at,
        next_fire_at=state.next_fire_at,
    )


def spec_of(state: ScheduleState) -> ScheduleSpec:
    """Return everything that a person said of the schedule."""
    said: dict[str, Any] = {name: getattr(state, name) for name in _SAID}
    return ScheduleSpec(**said, enabled=is_meant_enabled(state), budget_usd=to_usd(state.budget_micros))


def detail_of(state: ScheduleState, firings: Sequence[Firing], *, now: float) -> ScheduleDetail:
    """Return the schedule with its last firings."""
    same = {name: getattr(state, name) for name in _SAME}
    return ScheduleDetail(
        **same,
        health=health(state, now),
        action_kind=state.action.kind,
        budget_usd=to_usd(state.budget_micros),
        spent_usd=to_usd(state.spent_micros),
        poller=poller_of(state),
        firings=tuple(firings),
    )


_SAME: Final = (
    *_SAID, "schedule_id", "enabled", "paused", "disabled_reason", "next_fire_at", "run_count", "spent_tokens",
    "last_fired_at", "last_run_id", "last_run_status", "created_at", "updated_at",
)  # fmt: skip


def health(state: ScheduleState, now: float) -> Any:
    """Return how the schedule stands at an instant."""
    return health_of(
        enabled=state.enabled,
        next_fire_at=state.next_fire_at,
        last_fired_at=state.last_fired_at,
        last_run_status=state.last_run_status,
        poll_failures=state.poll.failures,
        now=now,
    )


def poller_of(state: ScheduleState) -> PollerView | None:
    """Return how its poller stands; null for a schedule that polls nothing."""
    if not isinstance(state.trigger, GithubPollTrigger):
        return None
    return PollerView(
        last_poll_at=state.poll.last_poll_at,
        last_ok_at=state.poll.last_ok_at,
        next_poll_at=state.next_fire_at,
        consecutive_failures=state.poll.failures,
        fault=state.poll.fault,
    )
