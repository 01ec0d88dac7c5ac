"""Decides for one due schedule: what becomes of its slot, what is started, and when it is due next."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

from contract.errors import ValidationFailure
from contract.limits import MAX_CHAIN_DEPTH, MISSED_AFTER_SECONDS
from contract.ports import IdGenerator
from contract.schedules import FiringCause, FiringOutcome, ScheduleAction
from schedules.admission import Admission, Standing, admit, reached_cap
from schedules.cadence import COUNTED_MAX, missed_until
from schedules.chains import following, launched_fields
from schedules.firings import ended_state, fired_state, refused_state
from schedules.revising import moved, own_standing, terms_of
from schedules.schedule import ScheduleState
from schedules.services.ports import (
    Commit,
    FiringDraft,
    FiringEnd,
    OpenFiring,
    PreparedRun,
    RunOutcome,
    ScheduledRuns,
)

# What is recorded of a run whose row is gone.
_GONE: Final = RunOutcome(status="gone", is_terminal=True, cost_micros=None, tokens=None)


# A firing, and how its run has ended; None is one whose row is gone.
Ended = tuple[OpenFiring, RunOutcome | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """What is decided: a key unique within the schedule, its planned instant, and what made it due."""

    key: str
    due_at: float
    cause: FiringCause
    event: str | None = None
    missed: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What is to be committed, and what came of it."""

    commit: Commit
    outcome: FiringOutcome


def due_slot(state: ScheduleState, due_at: float, now: float, *, deferred: bool = False) -> tuple[Slot, float]:
    """Return the slot to be decided at `due_at`, and the instant up to which nothing is due any more by deciding it.

    Instants that are late by a minute and more are missed: one slot stands for all of them. A policy of running once
    takes those along that are only just late, so that one run stands for the whole outage. What was `deferred` was seen
    in time and has waited for room: it is not missed, however late that comes.
    """
    slot = Slot(key=due_key(due_at), due_at=due_at, cause="due")
    if deferred or now - due_at < MISSED_AFTER_SECONDS:
        return slot, due_at
    end = now if state.missed_fire_policy == "run_once" else now - MISSED_AFTER_SECONDS
    newest, count = missed_until(state.trigger, due_at, end, anchor_at=state.anchor_at, zone=state.zone)
    return replace(slot, missed=_missed(count)), newest


def due_key(due_at: float) -> str:
    """Return the slot of a planned instant."""
    return f"due:{due_at!r}"


def ends_of(ended: Collection[Ended]) -> tuple[FiringEnd, ...]:
    """Return what is recorded of runs that have ended."""
    return tuple(FiringEnd(firing_id=firing.firing_id, run_status=(found or _GONE).status) for firing, found in ended)


class Decider:
    """Makes decisions; writes nothing itself."""

    def __init__(self, *, runs: ScheduledRuns, ids: IdGenerator) -> None:
        """Take what prepares runs, and what names firings."""
        self._runs = runs
        self._ids = ids

    async def due(self, state: ScheduleState, standing: Standing, *, now: float, deferred: bool = False) -> Decision:
        """Decide for the slot that a schedule is due for; `deferred`: it is known to have waited for room."""
        due_at = now if state.next_fire_at is None else state.next_fire_at
        slot, through = due_slot(state, due_at, now, deferred=deferred)
        if slot.missed and state.missed_fire_policy == "skip":
            admission = Admission(outcome="skipped", reason_code="schedule.skipped.missed")
        else:
            admission = admit(terms_of(state), standing)
        decided = await self._decided(state, slot, admission, state.action, now=now)
        if decided.outcome == "deferred":
            return decided
        ((before, after),) = decided.commit.schedules
        onward = None if after is None else moved(after, through, now)
        return replace(decided, commit=replace(decided.commit, schedules=((before, onward),)))

    async def event(
        self, state: ScheduleState, slot: Slot, action: ScheduleAction, standing: Standing, *, now: float
    ) -> Decision:
        """Decide for an event that a poll has found; `action` is the schedule's with the event filled in."""
        return await self._decided(state, slot, admit(terms_of(state), standing), action, now=now)

    async def ends(self, state: ScheduleState, ended: Collection[Ended], *, now: float) -> Commit:
        """Record the ends of runs of one schedule, and start what follows on them."""
        after = state
        drafts: list[FiringDraft] = []
        for firing, found in ended:
            outcome = found or _GONE
            after = ended_state(
                after,
                run_id=firing.run_id,
                run_status=outcome.status,
                cost_micros=outcome.cost_micros,
                tokens=outcome.tokens,
            )
            draft = await self._chained(after, firing, outcome, now=now)
            drafts += [] if draft is None else [draft]
        return Commit(schedules=((state, after),), firings=drafts, ends=ends_of(ended))

    async def _decided(
        self, state: ScheduleState, slot: Slot, admission: Admission, action: ScheduleAction, *, now: float
    ) -> Decision:
        firing_id = self._ids.new_id()
        run: PreparedRun | None = None
        refusal: str | None = None
        if admission.outcome == "fired":
            try:
                run = await self._prepared(state, action, firing_id, firing_id)
            except ValidationFailure as failure:
                admission = Admission(outcome="skipped", reason_code="schedule.skipped.refused")
                refusal = str(failure)
        draft = FiringDraft(
            firing_id=firing_id,
            schedule_id=state.schedule_id,
            slot=slot.key,
            due_at=slot.due_at,
            decided_at=now,
            outcome=admission.outcome,
            reason_code=admission.reason_code or _fired_code(slot),
            reason_summary=refusal or slot.missed,
            cause=slot.cause,
            event=slot.event,
            action=action if run is not None else None,
            run=run,
        )
        fired = None if run is None else fired_state(state, run_id=run.run_id, now=now)
        after = fired or refused_state(state, admission, now=now)
        return Decision(commit=Commit(schedules=((state, after),), firings=(draft,)), outcome=admission.outcome)

    async def _chained(
        self, state: ScheduleState, firing: OpenFiring, outcome: RunOutcome, *, now: float
    ) -> FiringDraft | None:
        draft = FiringDraft(
            firing_id=self._ids.new_id(),
            schedule_id=state.schedule_id,
            slot=f"chain:{firing.firing_id}",
            due_at=now,
            decided_at=now,
            outcome="skipped",
            reason_code="schedule.skipped.refused",
            cause="chain",
            depth=firing.depth + 1,
            parent_run_id=firing.run_id,
            root_firing_id=firing.root_firing_id,
        )
        try:
            action = following(firing.action, outcome.status)
            if action is None:
                return None
            if draft.depth > MAX_CHAIN_DEPTH:
                return replace(draft, reason_code="schedule.skipped.chain_depth")
            if reached_cap(terms_of(state), own_standing(state)) == "schedule.disabled.budget":
                return replace(draft, reason_code="schedule.skipped.budget")
            run = await self._prepared(state, action, draft.firing_id, firing.root_firing_id)
        except ValidationFailure as failure:
            return replace(draft, reason_summary=str(failure))
        return replace(draft, outcome="fired", reason_code="schedule.fired.chain", action=action, run=run)

    async def _prepared(
        self, state: ScheduleState, action: ScheduleAction, firing_id: str, invocation_id: str
    ) -> PreparedRun:
        return await self._runs.prepare(
            launched_fields(action, state.project),
            firing_id=firing_id,
            invocation_id=invocation_id,
            name=state.name,
        )


def _fired_code(slot: Slot) -> str:
    if slot.cause == "event":
        return "schedule.fired.event"
    return "schedule.fired.missed" if slot.missed else "schedule.fired.due"


def _missed(count: int) -> str:
    if count >= COUNTED_MAX:
        return f"at least {COUNTED_MAX} instants were missed"
    return "1 instant was missed" if count == 1 else f"{count} instants were missed"
