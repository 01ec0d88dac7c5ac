"""Why a schedule did what it did, in sentences."""

from collections.abc import Iterator
from typing import Final

from contract.limits import MISSED_AFTER_SECONDS
from contract.money import to_usd
from contract.schedules import Firing
from contract.triggers import GithubPollTrigger
from schedules.admission import Standing, Terms
from schedules.reasons import DISABLED_REASONS, FIRING_REASONS
from schedules.schedule import ScheduleState
from schedules.wall_clocks import local_time, zone_named

_CAUSES: Final = {"due": "due", "manual": "by hand", "event": "an event", "chain": "a chain"}


def standing_sentence(state: ScheduleState, *, now: float) -> str:
    """Say whether it fires, and when next."""
    if state.paused:
        return "It is paused with all others, and goes on when they are resumed."
    if not state.enabled:
        reason = DISABLED_REASONS.get(state.disabled_reason or "")
        return f"It is disabled. {reason}" if reason else "It is disabled, by a person's wish."
    if state.next_fire_at is None:
        return "It is enabled, and no further instant will come."
    verb = "asks GitHub" if isinstance(state.trigger, GithubPollTrigger) else "is due"
    when = local(state.next_fire_at, state.zone)
    if state.next_fire_at <= now:
        return f"It is enabled and {verb} since {when} ({now - state.next_fire_at:.0f} seconds)."
    return f"It is enabled and {verb} next at {when}."


def decision_sentence(firing: Firing, *, zone: str) -> str:
    """Say what was decided for one instant, and why."""
    known = FIRING_REASONS.get(firing.reason_code)
    why = firing.reason_summary or (known.sentence if known else firing.reason_code)
    cause = firing.event or _CAUSES[firing.cause]
    late = firing.decided_at - firing.due_at
    lateness = f", {late:.1f} seconds late" if firing.cause == "due" and late >= 1 else ""
    run = f" as run {firing.run_id}{f' ({firing.run_status})' if firing.run_status else ''}" if firing.run_id else ""
    return f"{local(firing.due_at, zone)} ({cause}{lateness}): {firing.outcome}{run}. {why}"


def next_sentences(state: ScheduleState, terms: Terms, standing: Standing, *, now: float) -> Iterator[str]:
    """Say what the next decision depends on, in the order in which it is looked at."""
    if state.next_fire_at is not None and state.next_fire_at <= now - MISSED_AFTER_SECONDS:
        policy = "fires once for all that was missed" if state.missed_fire_policy == "run_once" else "is skipped"
        yield f"Its instant is over {MISSED_AFTER_SECONDS:.0f} seconds late: it {policy} (missed_fire_policy)."
    yield _overlap(terms, standing)
    yield from _budget(terms, standing)
    if terms.max_runs is not None:
        yield f"Runs: {standing.run_count} of {terms.max_runs} were started; at the last it is disabled (max_runs)."
    if standing.capacity:
        room = "there is room" if standing.all_open < standing.capacity else "there is no room, so it stays due"
        yield f"Capacity: {standing.all_open} of {standing.capacity} runs are open at the moment; {room}."
    if isinstance(state.trigger, GithubPollTrigger) and state.poll.fault:
        yield f"The last poll failed, {state.poll.failures} in a row: {state.poll.fault}"


def local(instant: float, zone: str) -> str:
    """Return an instant as people of a zone write it, with its offset."""
    return local_time(instant, zone_named(zone)).isoformat(sep=" ", timespec="seconds")


def _overlap(terms: Terms, standing: Standing) -> str:
    if terms.overlap_policy == "allow":
        return f"Overlap is allowed: {_open(standing.own_open)}."
    if standing.own_open:
        return f"Overlap: {_open(standing.own_open)}, so it is skipped meanwhile (overlap_policy)."
    return "Overlap: no run of it is open, so nothing is in its way."


def _open(count: int) -> str:
    return "1 run of it is open" if count == 1 else f"{count} runs of it are open"


def _budget(terms: Terms, standing: Standing) -> Iterator[str]:
    if terms.budget_micros is not None:
        spent = (
            "nothing was reported" if standing.spent_micros is None else f"{to_usd(standing.spent_micros):.6g} spent"
        )
        yield f"Budget: {spent} of {to_usd(terms.budget_micros):.6g} US dollars; when it is spent it is disabled."
    if terms.budget_tokens is not None:
        tokens = "nothing was reported" if standing.spent_tokens is None else f"{standing.spent_tokens} used"
        yield f"Tokens: {tokens} of {terms.budget_tokens}; when they are used it is disabled."
