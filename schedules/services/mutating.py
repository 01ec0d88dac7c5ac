"""The operations that change one schedule."""

from contract.errors import Conflict
from contract.schedules import (
    CreateSchedule,
    DeleteSchedule,
    PatchSchedule,
    ScheduleCommand,
    ScheduleDeleted,
    ScheduleResult,
    SetScheduleEnabled,
)
from schedules import revising
from schedules.admission import reached_cap
from schedules.schedule import ScheduleState
from schedules.services.checking import require_sound
from schedules.services.needs import ScheduleNeeds, too_busy
from schedules.services.ports import Commit
from schedules.views import result_of


async def mutate_schedule(*, command: ScheduleCommand, needs: ScheduleNeeds) -> ScheduleResult:
    """Create, change, enable or disable a schedule."""
    if isinstance(command, CreateSchedule):
        return await _create(command, needs)
    if isinstance(command, PatchSchedule):
        return await _patch(command, needs)
    return await _set_enabled(command, needs)


async def delete_schedule(*, schedule_id: str, command: DeleteSchedule, needs: ScheduleNeeds) -> ScheduleDeleted:
    """Remove a schedule with its firings. Its runs stay; open ones keep it, unless they are to be cancelled."""
    state = await needs.get(schedule_id)
    cancelled: list[str] = []
    while True:
        open_runs = await _open_runs(state, needs)
        if open_runs and not command.cancel_runs:
            detail = f"schedule {state.name} has open runs: {', '.join(open_runs[:5])}; cancel them with it, or wait"
            raise Conflict("schedule", "no open run", str(len(open_runs)), detail)
        for run_id in open_runs:
            if run_id not in cancelled:
                await needs.runs.cancel(run_id, reason=f"schedule {state.name} was deleted")
                cancelled.append(run_id)
        # Whatever fires between the look and the removal makes the removal fail, and is looked at again.
        (made,) = await needs.states.commit([Commit(schedules=((state, None),))])
        if made:
            return ScheduleDeleted(schedule_id=schedule_id, name=state.name, cancelled_runs=tuple(cancelled))
        state = await needs.get(schedule_id)


async def _open_runs(state: ScheduleState, needs: ScheduleNeeds) -> list[str]:
    firings = await needs.states.open_firings((state.schedule_id,))
    outcomes = await needs.runs.outcomes([firing.run_id for firing in firings])
    return [run_id for run_id, outcome in outcomes.items() if not outcome.is_terminal]


async def _create(command: CreateSchedule, needs: ScheduleNeeds) -> ScheduleResult:
    check = needs.check()
    await require_sound(trigger=command.trigger, action=command.action, needs=check)
    state = revising.created(command, schedule_id=needs.ids.new_id(), zone=needs.zone, now=check.now)
    (made,) = await needs.states.commit([Commit(schedules=((None, state),))])
    if not made:  # an id that was taken by chance
        raise too_busy()
    return result_of(state)


async def _patch(command: PatchSchedule, needs: ScheduleNeeds) -> ScheduleResult:
    changes = command.changes
    check = needs.check()
    await require_sound(trigger=changes.trigger, action=changes.action, needs=check, at=("changes",))
    state = await needs.revise(
        command.schedule_id,
        lambda before: revising.patched(before, changes, zone=needs.zone, now=check.now),
        expected_updated_at=command.expected_updated_at,
    )
    return result_of(state)


async def _set_enabled(command: SetScheduleEnabled, needs: ScheduleNeeds) -> ScheduleResult:
    now = needs.clock.now()

    def changed(before: ScheduleState) -> ScheduleState:
        if not command.enabled:
            return revising.disabled(before, now=now)
        _require_room(before)
        after = revising.enabled(before, now=now)
        if after.next_fire_at is None:
            raise Conflict("schedule", "a further instant", None, f"schedule {before.name} will never be due again")
        return after

    state = await needs.revise(command.schedule_id, changed, expected_updated_at=command.expected_updated_at)
    return result_of(state)


def _require_room(state: ScheduleState) -> None:
    """Raise Conflict when a cap would close the schedule at its first firing."""
    cap = reached_cap(revising.terms_of(state), revising.own_standing(state))
    if cap == "schedule.disabled.max_runs":
        detail = f"schedule {state.name} has started all of its {state.max_runs} runs: raise max_runs to go on"
        raise Conflict("schedule", f"fewer than {state.max_runs} runs", str(state.run_count), detail)
    if cap == "schedule.disabled.budget":
        detail = f"the budget of schedule {state.name} is spent: raise it to go on"
        raise Conflict("schedule", "an unspent budget", None, detail)
