"""How a schedule becomes another: created, changed, enabled, disabled. State in, state out.

`updated_at` grows with what a person sees changed, and never with a firing. What came due while a schedule was disabled
is not replayed: its next instant is one after now.
"""

from dataclasses import replace
from typing import Any, Final

from contract.limits import MISSED_AFTER_SECONDS
from contract.money import to_micros
from contract.schedules import SchedulePatch, ScheduleSpec
from contract.triggers import AtTrigger, CronTrigger, GithubPollTrigger, IntervalTrigger, Trigger
from schedules.admission import Standing, Terms, reached_cap
from schedules.cadence import next_due
from schedules.schedule import PollState, ScheduleState

# Two edits within one tick of a clock differ all the same.
_TICK_SECONDS: Final = 1e-6
# What a cap or an end has closed is closed by nobody's wish.
_CLOSED: Final = frozenset({"schedule.disabled.budget", "schedule.disabled.max_runs", "schedule.disabled.exhausted"})


def created(spec: ScheduleSpec, *, schedule_id: str, zone: str, now: float) -> ScheduleState:
    """Return a new schedule; `zone` is that of a cron expression that names none."""
    trigger = settled(spec.trigger, zone)
    state = ScheduleState(
        schedule_id=schedule_id,
        name=spec.name,
        description=spec.description,
        enabled=spec.enabled,
        paused=False,
        disabled_reason=None,
        trigger=trigger,
        zone=zone_of(trigger, zone),
        action=spec.action,
        project=spec.project,
        missed_fire_policy=spec.missed_fire_policy,
        overlap_policy=spec.overlap_policy,
        max_runs=spec.max_runs,
        budget_micros=to_micros(spec.budget_usd),
        budget_tokens=spec.budget_tokens,
        anchor_at=now,
        next_fire_at=None,
        created_at=now,
        updated_at=now,
    )
    return replace(state, next_fire_at=_first_of_trigger(state, now)) if spec.enabled else state


def patched(state: ScheduleState, patch: SchedulePatch, *, zone: str, now: float) -> ScheduleState:
    """Return the schedule with the given fields changed; the very same state when nothing differs.

    Only another trigger touches the rhythm, and only another interval its origin. A raised cap opens what it closed.
    """
    fields = _columns_of(patch, zone)
    changes: dict[str, Any] = {name: value for name, value in fields.items() if getattr(state, name) != value}
    if not changes:
        return state
    after = replace(state, **changes, updated_at=later(state, now))
    if "trigger" in changes:
        after = _retimed(state, after, zone, now)
    return _closed(_reopened(after, now), now)


def _closed(state: ScheduleState, now: float) -> ScheduleState:
    """Disable what a lowered cap leaves no further run."""
    cap = reached_cap(terms_of(state), own_standing(state)) if state.enabled else None
    return state if cap is None else disabled(state, now=now, reason=cap)


def _reopened(state: ScheduleState, now: float) -> ScheduleState:
    if state.enabled or state.disabled_reason not in _CLOSED or reached_cap(terms_of(state), own_standing(state)):
        return state
    opened = enabled(state, now=now)
    return state if opened.next_fire_at is None else opened


def enabled(state: ScheduleState, *, now: float) -> ScheduleState:
    """Let it fire from now on. `next_fire_at` stays null when no instant will come any more."""
    if state.enabled:
        return state
    after = replace(state, enabled=True, paused=False, disabled_reason=None, updated_at=later(state, now))
    if isinstance(after.trigger, GithubPollTrigger):
        # What happened meanwhile is not replayed: the first poll only looks.
        after = replace(after, poll=replace(after.poll, etag=None, cursor_at=None, seen=()))
    return replace(after, next_fire_at=first_due(after, now))


def disabled(state: ScheduleState, *, now: float, reason: str | None = None) -> ScheduleState:
    """Let it fire no more, for a person's wish or a reason. A pause's end will not enable it then."""
    if not state.enabled and not state.paused:
        return state
    return replace(
        state, enabled=False, paused=False, disabled_reason=reason, next_fire_at=None, updated_at=later(state, now)
    )


def paused(state: ScheduleState, *, now: float) -> ScheduleState:
    """Disable an enabled schedule until the end of the pause."""
    return replace(disabled(state, now=now), paused=True) if state.enabled else state


def resumed(state: ScheduleState, *, now: float) -> ScheduleState:
    """Enable what a pause has disabled; one whose last instant passed meanwhile is over."""
    if not state.paused:
        return state
    return enabled_or_over(state, now=now)


def enabled_or_over(state: ScheduleState, *, now: float) -> ScheduleState:
    """Let it fire from now on, if an instant will come."""
    after = enabled(state, now=now)
    return after if after.next_fire_at is not None else exhausted(after, now=now)


def exhausted(state: ScheduleState, *, now: float) -> ScheduleState:
    """Disable a schedule that will never be due again."""
    return disabled(state, now=now, reason="schedule.disabled.exhausted")


def is_meant_enabled(state: ScheduleState) -> bool:
    """Say whether a person wants it to fire, whatever a pause, a cap or its end has made of that."""
    return state.enabled or state.paused or state.disabled_reason in _CLOSED


def settled(trigger: Trigger, zone: str) -> Trigger:
    """Return the trigger as it is stored: with the zone it is evaluated in, which no configuration changes later."""
    if not isinstance(trigger, CronTrigger):
        return trigger
    expression = " ".join(trigger.expression.split())
    return trigger.model_copy(update={"expression": expression, "timezone": trigger.timezone or zone})


def zone_of(trigger: Trigger, zone: str) -> str:
    """Return the zone in which a trigger is evaluated and shown."""
    return (trigger.timezone if isinstance(trigger, CronTrigger) else None) or zone


def first_due(state: ScheduleState, now: float) -> float | None:
    """Return the first instant of a schedule that begins to fire now. A poller asks at once."""
    if isinstance(state.trigger, GithubPollTrigger):
        return max(now, state.poll.not_before or now)
    return due_after(state, now)


def _first_of_trigger(state: ScheduleState, now: float) -> float | None:
    """Return the first instant of a trigger that was given now: a single one that is only just late is not missed."""
    is_single = isinstance(state.trigger, AtTrigger)
    return due_after(state, now - MISSED_AFTER_SECONDS) if is_single else first_due(state, now)


def due_after(state: ScheduleState, instant: float) -> float | None:
    """Return the first due instant after another."""
    return next_due(state.trigger, instant, anchor_at=state.anchor_at, zone=state.zone)


def moved(state: ScheduleState, through: float, now: float) -> ScheduleState:
    """Make the first instant after `through` the next one; a schedule without any is over."""
    if not state.enabled:
        return state
    following = due_after(state, through)
    return exhausted(state, now=now) if following is None else replace(state, next_fire_at=following)


def terms_of(state: ScheduleState) -> Terms:
    """Return policy and caps."""
    return Terms(
        overlap_policy=state.overlap_policy,
        max_runs=state.max_runs,
        budget_micros=state.budget_micros,
        budget_tokens=state.budget_tokens,
    )


def own_standing(state: ScheduleState) -> Standing:
    """Return what the schedule alone says of its starts and spend."""
    return Standing(
        own_open=0,
        run_count=state.run_count,
        spent_micros=state.spent_micros,
        spent_tokens=state.spent_tokens,
        all_open=0,
        capacity=0,
    )


def later(state: ScheduleState, now: float) -> float:
    """Return an instant for `updated_at`: now, unless the clock has not gone on since."""
    return max(now, state.updated_at + _TICK_SECONDS)


def _columns_of(patch: SchedulePatch, zone: str) -> dict[str, Any]:
    fields = {name: getattr(patch, name) for name in patch.model_fields_set}
    if "budget_usd" in fields:
        fields["budget_micros"] = to_micros(fields.pop("budget_usd"))
    if "trigger" in fields:
        fields["trigger"] = settled(fields["trigger"], zone)
    return fields


def _retimed(before: ScheduleState, after: ScheduleState, zone: str, now: float) -> ScheduleState:
    after = replace(after, zone=zone_of(after.trigger, zone))
    if isinstance(after.trigger, IntervalTrigger):
        after = replace(after, anchor_at=now)
    if _polls_elsewhere(before.trigger, after.trigger):
        after = replace(after, poll=PollState())
    return replace(after, next_fire_at=_first_of_trigger(after, now)) if after.enabled else after


def _polls_elsewhere(before: Trigger, after: Trigger) -> bool:
    if not isinstance(before, GithubPollTrigger) or not isinstance(after, GithubPollTrigger):
        return True
    return (before.repository, before.filters) != (after.repository, after.filters)
