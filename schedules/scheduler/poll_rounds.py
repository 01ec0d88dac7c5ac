"""Polls that are due, each in a task of its own, so that a slow server delays no other schedule."""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final, Protocol

from contract.errors import NotFound, StateUnavailable
from contract.triggers import GithubPollTrigger
from schedules import poll_answers
from schedules.pull_events import PullEvent, filled_in, handled, new_events, seeded
from schedules.revising import due_after
from schedules.schedule import PollState, ScheduleState
from schedules.scheduler.deciding import Decider, Slot
from schedules.scheduler.github import PollAnswer
from schedules.services.needs import ScheduleNeeds, too_busy
from schedules.services.ports import Commit
from schedules.services.standing import standing_of

_log = logging.getLogger(__name__)

# Polls under way at a time: what one daemon asks of one server at once.
_AT_ONCE: Final = 8
# An event without room waits so long; then the listing is asked for again. A server allows for sixty such in an hour.
_DEFERRED_SECONDS: Final = 60.0
# As often a schedule may be changed by others while one event is decided.
_TRIES: Final = 20


class Pulls(Protocol):
    """Lists pull requests; whatever goes wrong is told by the answer."""

    async def poll(self, trigger: GithubPollTrigger, state: PollState) -> PollAnswer:
        """Ask once."""
        ...


class PollRounds:
    """Polls, and decides for each new event by itself: who dies in between goes on after the last one decided."""

    def __init__(self, *, needs: ScheduleNeeds, pulls: Pulls) -> None:
        """Take the ports and who is asked."""
        self._needs = needs
        self._states = needs.states
        self._pulls = pulls
        self._decider = Decider(runs=needs.runs, ids=needs.ids)
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def begin(self, states: Sequence[ScheduleState], *, wake: Callable[[], object]) -> Collection[str]:
        """Begin as many polls as there is room for; `wake` is called when one has ended. Return the ids of the others.

        A poll is claimed by planning the next one. So of several schedulers one asks the server, and what a dead one
        has not finished is found by that next poll.
        """
        idle = [state for state in states if state.schedule_id not in self._tasks]
        now = self._needs.clock.now()
        claims = [(state, _next(state, now)) for state in idle[: _AT_ONCE - len(self._tasks)]]
        made = await self._states.commit([Commit(schedules=(claim,)) for claim in claims]) if claims else ()
        for (_, claimed), is_made in zip(claims, made, strict=True):
            if is_made:
                self._start(claimed, wake)
        return {state.schedule_id for state in states} - {state.schedule_id for state, _ in claims}

    def _start(self, state: ScheduleState, wake: Callable[[], object]) -> None:
        task = asyncio.create_task(self._poll(state))
        self._tasks[state.schedule_id] = task
        task.add_done_callback(lambda _: (self._tasks.pop(state.schedule_id, None), wake()))

    async def stop(self) -> None:
        """End every poll; what it had not decided is found again by the next."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _poll(self, state: ScheduleState) -> None:
        try:
            await self._polled(state)
        except StateUnavailable as fault:
            _log.warning("a poll was not recorded: %s", fault)
        except Exception:  # noqa: BLE001 (one poll that fails ends no other)
            _log.exception("schedule %s could not be polled", state.schedule_id)
            with suppress(StateUnavailable):
                await self._fail(state, "the poll met an unforeseen fault; see the log", wait=0.0)

    async def _polled(self, state: ScheduleState) -> None:
        trigger = state.trigger
        if not isinstance(trigger, GithubPollTrigger):
            return
        answer = await self._pulls.poll(trigger, state.poll)
        if answer.fault is not None:
            await self._fail(state, answer.fault, wait=answer.wait)
            return
        poll: PollState | None = state.poll
        if state.poll.cursor_at is not None:
            poll = await self._decide(state, new_events(answer.events, state.poll), wait=answer.wait)
        if poll is None:
            return

        def succeeded(found: ScheduleState, now: float) -> PollState:
            seeds = seeded(found.poll, answer.events, now=now) if found.poll.cursor_at is None else found.poll
            return poll_answers.succeeded(seeds, etag=answer.etag, wait=answer.wait, now=now)

        await self._revise(replace(state, poll=poll), succeeded)

    async def _decide(self, polled: ScheduleState, events: Iterable[PullEvent], *, wait: float) -> PollState | None:
        """Decide for events one by one; return the state after the last, or None when no further one can be decided."""
        poll = polled.poll
        for event in events:
            for _ in range(_TRIES):
                state = await self._states.find(polled.schedule_id)
                if state is None or not _goes_on(state, polled, poll):
                    return None
                commit, is_deferred = await self._decided(state, event, wait=wait)
                (made,) = await self._states.commit([commit])
                if made and is_deferred:
                    return None
                if made:
                    poll = handled(poll, event)
                    break
            else:
                raise too_busy()
        return poll

    async def _decided(self, state: ScheduleState, event: PullEvent, *, wait: float) -> tuple[Commit, bool]:
        """Return what is to be written for an event, and whether it waits for room."""
        now = self._needs.clock.now()
        slot = Slot(key=f"event:{event.key}", due_at=event.at, cause="event", event=event.told())
        poll = handled(state.poll, event)
        known = await self._states.find_firing(state.schedule_id, slot.key)
        if known is not None and known.outcome != "deferred":
            return Commit(schedules=((state, replace(state, poll=poll)),)), False
        standing = await standing_of(state, self._needs)
        decision = await self._decider.event(state, slot, filled_in(state.action, event), standing, now=now)
        if decision.outcome == "deferred":
            return replace(decision.commit, schedules=((state, _asking_again(state, now, wait)),)), True
        ((_, after),) = decision.commit.schedules
        return replace(decision.commit, schedules=((state, after and replace(after, poll=poll)),)), False

    async def _fail(self, polled: ScheduleState, fault: str, *, wait: float) -> None:
        trigger = polled.trigger
        interval = trigger.poll_interval_seconds if isinstance(trigger, GithubPollTrigger) else 0

        def failed(found: ScheduleState, now: float) -> PollState:
            return poll_answers.failed(found.poll, fault, interval_seconds=interval, wait=wait, now=now)

        await self._revise(polled, failed)

    async def _revise(self, polled: ScheduleState, poll_of: Callable[[ScheduleState, float], PollState]) -> None:
        """Write how the poller stands, and plan the next poll; nothing, where a person began it anew meanwhile."""
        now = self._needs.clock.now()

        def revised(found: ScheduleState) -> ScheduleState:
            if not _goes_on(found, polled, polled.poll):
                return found
            return _next(replace(found, poll=poll_of(found, now)), now)

        with suppress(NotFound):
            await self._needs.revise(polled.schedule_id, revised)


def _goes_on(state: ScheduleState, polled: ScheduleState, poll: PollState) -> bool:
    """Say whether what a poll has found is still what the schedule is about."""
    return state.enabled and state.trigger == polled.trigger and state.poll == poll


def _next(state: ScheduleState, now: float) -> ScheduleState:
    """Plan the next poll: on the schedule's grid, and not before the server wants it."""
    planned = due_after(state, now)
    wanted = state.poll.not_before
    return replace(state, next_fire_at=planned if wanted is None or planned is None else max(planned, wanted))


def _asking_again(state: ScheduleState, now: float, wait: float) -> ScheduleState:
    """Ask again soon: without a tag, for the listing will be the same."""
    poll = replace(state.poll, etag=None, not_before=now + wait if wait else None)
    following = _next(replace(state, poll=poll), now)
    soon = now + max(_DEFERRED_SECONDS, wait)
    return replace(following, next_fire_at=min(soon, following.next_fire_at or soon))
