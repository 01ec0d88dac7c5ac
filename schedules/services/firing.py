"""The operations by which a person decides: fire now, skip the next."""

from dataclasses import replace
from typing import Final

from contract.errors import Conflict, ValidationFailure
from contract.schedules import FireSchedule, Firing
from contract.triggers import GithubPollTrigger
from schedules.admission import FIRE, Admission, admit
from schedules.chains import launched_fields
from schedules.firings import fired_state, refused_state
from schedules.reasons import FIRING_REASONS
from schedules.revising import moved, terms_of
from schedules.schedule import ScheduleState
from schedules.services.needs import ScheduleNeeds, too_busy
from schedules.services.ports import Commit, FiringDraft, PreparedRun
from schedules.services.standing import standing_of

# As many as a schedule that fires every second can come between.
_TRIES: Final = 20


async def fire_schedule(*, schedule_id: str, command: FireSchedule, needs: ScheduleNeeds) -> Firing:
    """Fire now, once for each `fire_key`; what was refused is recorded and a Conflict."""
    state = await needs.get(schedule_id)
    slot = f"manual:{command.fire_key or needs.ids.new_id()}"
    for _ in range(_TRIES):
        decided = await needs.states.find_firing(schedule_id, slot)
        if decided is not None:
            return _allowed(decided, state)
        admission = await _admission(state, command, needs)
        commit = await _manual(state, slot, admission, command, needs)
        (made,) = await needs.states.commit([commit])
        if made:
            firing = await needs.states.find_firing(schedule_id, slot)
            if firing is not None:
                return _allowed(firing, state)
        state = await needs.get(schedule_id)
    raise too_busy()


async def skip_next(*, schedule_id: str, needs: ScheduleNeeds) -> Firing:
    """Drop the next occurrence and leave its row."""
    for _ in range(_TRIES):
        state = await needs.get(schedule_id)
        due_at = _next_known(state)
        now = needs.clock.now()
        draft = FiringDraft(
            firing_id=needs.ids.new_id(),
            schedule_id=schedule_id,
            slot=f"due:{due_at!r}",
            due_at=due_at,
            decided_at=now,
            outcome="skipped",
            reason_code="schedule.skipped.by_operator",
        )
        after = moved(state, max(due_at, now), now)
        (made,) = await needs.states.commit([Commit(schedules=((state, after),), firings=(draft,))])
        if made:
            firing = await needs.states.find_firing(schedule_id, draft.slot)
            if firing is not None:
                return firing
    raise too_busy()


def _next_known(state: ScheduleState) -> float:
    if isinstance(state.trigger, GithubPollTrigger):
        detail = f"what schedule {state.name} finds next is not known before it is there; disable it instead"
        raise Conflict("schedule", "a next instant", "github_poll", detail)
    if state.next_fire_at is None:
        raise Conflict("schedule", "a next instant", None, f"nothing of schedule {state.name} is due: it is disabled")
    return state.next_fire_at


async def _admission(state: ScheduleState, command: FireSchedule, needs: ScheduleNeeds) -> Admission:
    if command.force:
        return FIRE
    standing = await standing_of(state, needs)
    # A person who waits for an answer is not put off: the run is queued, and begins when there is room.
    return admit(terms_of(state), replace(standing, capacity=0))


async def _manual(
    state: ScheduleState, slot: str, admission: Admission, command: FireSchedule, needs: ScheduleNeeds
) -> Commit:
    now = needs.clock.now()
    firing_id = needs.ids.new_id()
    prepared: PreparedRun | None = None
    refusal: str | None = None
    if admission.outcome == "fired":
        try:
            prepared = await needs.runs.prepare(
                launched_fields(state.action, state.project),
                firing_id=firing_id,
                invocation_id=firing_id,
                name=state.name,
            )
        except ValidationFailure as failure:
            admission = Admission(outcome="skipped", reason_code="schedule.skipped.refused")
            refusal = str(failure)
    code = admission.reason_code or ("schedule.fired.forced" if command.force else "schedule.fired.manual")
    draft = FiringDraft(
        firing_id=firing_id,
        schedule_id=state.schedule_id,
        slot=slot,
        due_at=now,
        decided_at=now,
        outcome=admission.outcome,
        reason_code=code,
        reason_summary=refusal,
        cause="manual",
        action=state.action if prepared is not None else None,
        run=prepared,
    )
    if prepared is not None:
        after = fired_state(state, run_id=prepared.run_id, now=now)
    else:
        after = refused_state(state, admission, now=now)
    return Commit(schedules=((state, after),), firings=(draft,))


def _allowed(firing: Firing, state: ScheduleState) -> Firing:
    """Return a firing that fired; what was refused is a Conflict that says why."""
    if firing.outcome == "fired":
        return firing
    reason = firing.reason_summary or FIRING_REASONS[firing.reason_code].sentence
    raise Conflict("schedule", "a firing", firing.reason_code, f"schedule {state.name} was not fired: {reason}")
