"""The operations on all schedules at once: pause and resume, apply and export."""

from collections.abc import Callable, Iterable
from typing import Final

from contract.base import FieldFailure
from contract.errors import Conflict, ValidationFailure
from contract.schedule_sets import ApplyResult, ApplySchedules, ScheduleSet
from contract.schedules import PauseResult, SchedulePatch, ScheduleSpec
from schedules import revising
from schedules.plans import Planned, plan_of, repeated_names, shown
from schedules.schedule import ScheduleState
from schedules.services.checking import failures_of
from schedules.services.needs import ScheduleNeeds, too_busy
from schedules.services.ports import Commit
from schedules.views import spec_of

Pair = tuple[ScheduleState | None, ScheduleState | None]

_TRIES: Final = 20


async def pause_schedules(*, needs: ScheduleNeeds) -> PauseResult:
    """Disable every enabled schedule, and remember which they were."""
    now = needs.clock.now()
    return await _each(needs, lambda state: revising.paused(state, now=now))


async def resume_schedules(*, needs: ScheduleNeeds) -> PauseResult:
    """Enable exactly those that a pause disabled."""
    now = needs.clock.now()
    return await _each(needs, lambda state: revising.resumed(state, now=now))


async def apply_schedules(*, command: ApplySchedules, needs: ScheduleNeeds) -> ApplyResult:
    """Make the schedules those of a set, all or nothing. What is as it is said to be is not checked again."""
    for _ in range(_TRIES):
        plan = plan_of(await needs.states.every(), command.schedules, zone=needs.zone)
        await _require_sound(command, plan, needs)
        result = ApplyResult(plan=tuple(map(shown, plan)), applied=not command.dry_run)
        if command.dry_run:
            return result
        pairs = [pair for step in plan if (pair := _carried_out(step, needs)) is not None]
        if not pairs:
            return result
        if await _made(pairs, needs):
            return result
    raise too_busy()


async def export_schedules(*, needs: ScheduleNeeds) -> ScheduleSet:
    """Return every schedule as a specification."""
    return ScheduleSet(schedules=tuple(map(spec_of, await needs.states.every())))


async def _each(needs: ScheduleNeeds, revised: Callable[[ScheduleState], ScheduleState]) -> PauseResult:
    """Write what a function makes of every schedule, all or nothing; made anew when another change came between."""
    for _ in range(_TRIES):
        states = await needs.states.every()
        pairs = [(before, after) for before in states if (after := revised(before)) is not before]
        paused = sum(revised(state).paused for state in states)
        if not pairs:
            return PauseResult(changed=0, paused=paused)
        (made,) = await needs.states.commit([Commit(schedules=tuple(pairs))])
        if made:
            return PauseResult(changed=len(pairs), paused=paused)
    raise too_busy()


async def _made(pairs: list[Pair], needs: ScheduleNeeds) -> bool:
    try:
        (made,) = await needs.states.commit([Commit(schedules=tuple(pairs))])
    except Conflict:  # somebody has made one of the names since they were looked at
        return False
    return made


async def _require_sound(command: ApplySchedules, plan: Iterable[Planned], needs: ScheduleNeeds) -> None:
    failures: list[FieldFailure] = list(repeated_names(command.schedules))
    check = needs.check()
    steps = {step.spec.name: step for step in plan if step.spec is not None}
    for index, spec in enumerate(command.schedules):
        step = steps[spec.name]
        failures += await failures_of(
            trigger=spec.trigger if _is_new("trigger", step) else None,
            action=spec.action if _is_new("action", step) else None,
            needs=check,
            at=("schedules", index),
        )
    if failures:
        raise ValidationFailure(tuple(failures))


def _is_new(field: str, step: Planned) -> bool:
    return step.step == "create" or field in step.changed


def _carried_out(step: Planned, needs: ScheduleNeeds) -> Pair | None:
    now = needs.clock.now()
    if step.step == "create" and step.spec is not None:
        return None, revising.created(step.spec, schedule_id=needs.ids.new_id(), zone=needs.zone, now=now)
    if step.before is None or step.step == "unchanged":
        return None
    if step.spec is None:
        return step.before, revising.disabled(step.before, now=now, reason="schedule.disabled.dropped")
    return step.before, _updated(step.before, step.spec, step.changed, needs.zone, now)


def _updated(
    before: ScheduleState, spec: ScheduleSpec, changed: tuple[str, ...], zone: str, now: float
) -> ScheduleState:
    fields = {name: getattr(spec, name) for name in changed if name != "enabled"}
    after = revising.patched(before, SchedulePatch(**fields), zone=zone, now=now)
    if "enabled" not in changed:
        return after
    return revising.enabled_or_over(after, now=now) if spec.enabled else revising.disabled(after, now=now)
