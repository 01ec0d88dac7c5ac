"""The scheduler: one loop that sleeps until the earliest due instant, or until something changes.

Any number of them may share a database: every decision is committed against the revision it was made on, and each slot
is decided once. A scheduler that dies leaves nothing half-done, for a firing and its run are one transaction.
"""

import asyncio
import logging
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from contract.errors import StateUnavailable
from contract.ports import ChangeFeed, Subscription
from contract.triggers import GithubPollTrigger
from schedules.admission import Standing
from schedules.revising import disabled, moved
from schedules.schedule import ScheduleState
from schedules.scheduler.clock_steps import ClockWatch, nearer_instant
from schedules.scheduler.deciding import Decider, Decision, Ended, due_key, ends_of
from schedules.scheduler.poll_rounds import PollRounds
from schedules.services.needs import ScheduleNeeds
from schedules.services.ports import SCHEDULES_TOPIC, Commit, FiringEnd
from schedules.services.standing import standing_with

_log = logging.getLogger(__name__)

# Looked at without being woken: a suspended machine's monotonic clock stands still, and a wake-up may be missed.
_SLEEP_SECONDS: Final = 30.0
# Wakes that come in a storm, such as those of a database that records a thousand events a second, are gathered.
_BREATH_SECONDS: Final = 0.05
# Between two rounds at least.
_PAUSE_SECONDS: Final = 0.01
# Until a store that was away is asked again, and until a deferred schedule is looked at without a wake-up.
_RETRY_SECONDS: Final = 1.0
# Schedules decided in one transaction: it holds the writer for some tens of milliseconds.
_BATCH: Final = 50
# More due at once are looked at in the next round.
_DUE_MAX: Final = 1_000
_POISONED: Final = "schedule.disabled.poisoned"


class Scheduler:
    """Decides for due schedules and follows up on ended runs, until cancelled."""

    def __init__(
        self,
        *,
        needs: ScheduleNeeds,
        polls: PollRounds,
        feed: ChangeFeed,
        runs_topic: str,
        sleep_seconds: float = _SLEEP_SECONDS,
    ) -> None:
        """Take the ports; `runs_topic` is what the feed calls it when a run has ended."""
        self._states = needs.states
        self._runs = needs.runs
        self._clock = needs.clock
        self._capacity = needs.capacity
        self._decider = Decider(runs=needs.runs, ids=needs.ids)
        self._polls = polls
        self._feed = feed
        self._runs_topic = runs_topic
        self._sleep_seconds = sleep_seconds
        self._changed = asyncio.Event()
        # Schedules with the slots that wait for room; their deferral is recorded already.
        self._deferred: dict[str, str] = {}
        # Those that are due to be polled and wait for their turn.
        self._unpolled: Collection[str] = ()
        self._watch = ClockWatch(needs.clock)

    async def run(self) -> None:
        """Schedule."""
        subscriptions = [self._feed.subscribe(topic) for topic in (SCHEDULES_TOPIC, self._runs_topic)]
        waking = [asyncio.create_task(self._wake_forever(each)) for each in subscriptions]
        try:
            while True:
                self._changed.clear()
                pause = await self.round()
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._changed.wait()
                        await asyncio.sleep(_BREATH_SECONDS)
        finally:
            for task in waking:
                task.cancel()
            for subscription in subscriptions:
                subscription.close()
            await self._polls.stop()

    async def _wake_forever(self, subscription: Subscription) -> None:
        while True:
            await subscription.wait(None)
            self._changed.set()

    async def round(self) -> float:
        """Do what is to be done now; return for how many seconds nothing will be, unless something changes."""
        try:
            await self._notice_step()
            lost = await self._follow_up()
            now = self._clock.now()
            decided = await self._decide(now)
            return _PAUSE_SECONDS if lost else await self._pause(now, decided=decided)
        except StateUnavailable as fault:
            _log.warning("schedules were not looked at: %s", fault)
        except Exception:  # noqa: BLE001 (a round that fails ends no other)
            _log.exception("schedules were not looked at")
        return _RETRY_SECONDS

    async def _pause(self, looked_at: float, *, decided: bool) -> float:
        """Return the seconds until the next instant, those left out that wait for something else."""
        longest = min(_RETRY_SECONDS, self._sleep_seconds) if self._deferred else self._sleep_seconds
        earliest = await self._states.earliest_due(excluding=self._waiting)
        if earliest is None:
            return longest
        if earliest <= looked_at and not decided:
            # What is due and cannot be seen.
            await self._disable_poisoned()
        return min(max(earliest - self._clock.now(), _PAUSE_SECONDS), longest)

    @property
    def _waiting(self) -> set[str]:
        return {*self._deferred, *self._unpolled}

    # -- ended runs

    async def _follow_up(self) -> bool:
        """Record what the runs that have ended spent, and start what follows; say whether others were faster."""
        firings = await self._states.open_firings()
        outcomes = await self._runs.outcomes([firing.run_id for firing in firings])
        ended: dict[str, list[Ended]] = {}
        for firing in firings:
            outcome = outcomes.get(firing.run_id)
            if outcome is None or outcome.is_terminal:
                ended.setdefault(firing.schedule_id, []).append((firing, outcome))
        commits = []
        for schedule_id, found in ended.items():
            state = await self._states.find(schedule_id)
            if state is not None:
                commits.append(await self._ends(state, found))
        return not all(await self._commit(commits))

    async def _ends(self, state: ScheduleState, ended: Sequence[Ended]) -> Commit:
        try:
            return await self._decider.ends(state, ended, now=self._clock.now())
        except StateUnavailable:
            raise
        except Exception:  # noqa: BLE001 (whatever is wrong with one schedule, the runs of others have ended as well)
            _log.exception("what follows on a run of schedule %s is not known; it is disabled", state.schedule_id)
            return self._closing(state, state, ends_of(ended))

    # -- due schedules

    async def _decide(self, now: float) -> bool:
        """Decide for everything due; say whether there was something new."""
        due = await self._states.due(now=now, limit=_DUE_MAX + len(self._waiting))
        polled = [state for state in due if isinstance(state.trigger, GithubPollTrigger)]
        self._unpolled = await self._polls.begin(polled, wake=self._changed.set)
        planned = [state for state in due if not isinstance(state.trigger, GithubPollTrigger)]
        self._deferred = {state.schedule_id: slot for state in planned if (slot := self._deferral(state))}
        decided = len(due) > len(self._waiting)
        for first in range(0, len(planned), _BATCH):
            await self._decide_batch(planned[first : first + _BATCH])
        return decided

    def _deferral(self, state: ScheduleState) -> str | None:
        slot = self._deferred.get(state.schedule_id)
        return slot if state.next_fire_at is not None and slot == due_key(state.next_fire_at) else None

    async def _decide_batch(self, states: Sequence[ScheduleState]) -> None:
        firings = await self._states.open_firings([state.schedule_id for state in states])
        outcomes = await self._runs.outcomes([firing.run_id for firing in firings])
        all_open = await self._runs.open_count()
        decisions: list[tuple[ScheduleState, Commit]] = []
        for state in states:
            own = [each.run_id for each in firings if each.schedule_id == state.schedule_id]
            reported = [outcomes[run_id] for run_id in own if run_id in outcomes]
            standing = standing_with(state, reported, all_open=all_open, capacity=self._capacity)
            decision = await self._decision(state, standing)
            all_open += decision.outcome == "fired"
            if self._is_new(state, decision):
                decisions.append((state, decision.commit))
        made = await self._commit([commit for _, commit in decisions])
        await self._pass_decided([state for (state, _), done in zip(decisions, made, strict=True) if not done])

    def _is_new(self, state: ScheduleState, decision: Decision) -> bool:
        """Remember what waits for room; that is recorded once."""
        if decision.outcome != "deferred":
            self._deferred.pop(state.schedule_id, None)
            return True
        if self._deferral(state) is not None or state.next_fire_at is None:
            return False
        self._deferred[state.schedule_id] = due_key(state.next_fire_at)
        return True

    async def _decision(self, state: ScheduleState, standing: Standing) -> Decision:
        """Decide; a schedule that cannot be decided for is disabled, and delays no other."""
        deferred = self._deferral(state) is not None
        try:
            return await self._decider.due(state, standing, now=self._clock.now(), deferred=deferred)
        except StateUnavailable:
            raise
        except Exception:  # noqa: BLE001 (whatever is wrong with one schedule, the others are due)
            _log.exception("schedule %s cannot be decided for and is disabled", state.schedule_id)
            return Decision(commit=self._closing(state, state), outcome="skipped")

    async def _pass_decided(self, states: Sequence[ScheduleState]) -> None:
        """Go past slots that are decided already: a clock that was stepped back comes upon them again."""
        commits = []
        for state in states:
            if state.next_fire_at is None:
                continue
            decided = await self._states.find_firing(state.schedule_id, due_key(state.next_fire_at))
            if decided is None or decided.outcome == "deferred":
                continue  # another scheduler, or a person, was faster
            after = moved(state, state.next_fire_at, self._clock.now())
            commits.append(Commit(schedules=((state, after),)))
        await self._commit(commits)

    # -- faults of single schedules

    async def _disable_poisoned(self) -> None:
        for schedule_id in await self._states.poisoned():
            _log.warning("schedule %s cannot be read and is disabled", schedule_id)
            await self._states.disable_poisoned(schedule_id, reason_code=_POISONED, at=self._clock.now())

    async def _commit(self, commits: Sequence[Commit]) -> tuple[bool, ...]:
        """Write; one that the store refuses disables its schedule, and the others are made."""
        if not commits:
            return ()
        try:
            return await self._states.commit(commits)
        except Exception as fault:
            if isinstance(fault, StateUnavailable) and fault.retryable:
                raise
            if len(commits) > 1:
                return tuple([made for commit in commits for made in await self._commit([commit])])
            return await self._states.commit([self._refused(commits[0], fault)])

    def _refused(self, commit: Commit, fault: Exception) -> Commit:
        """Return what is written instead of a commit: the ends of runs all the same, and nothing that is started."""
        ((old, new),) = commit.schedules
        if old is None or new is None:
            raise fault
        _log.error("what was decided for schedule %s cannot be kept: it is disabled", old.schedule_id, exc_info=fault)
        return self._closing(old, new if commit.ends else old, commit.ends)

    def _closing(self, old: ScheduleState, new: ScheduleState, ends: Sequence[FiringEnd] = ()) -> Commit:
        return Commit(schedules=((old, disabled(new, now=self._clock.now(), reason=_POISONED)),), ends=ends)

    # -- clocks

    async def _notice_step(self) -> None:
        """After a wall clock was stepped back, let what is due before the planned instants be due again."""
        step = self._watch.look()
        if step == "forth":
            self._deferred = {}  # what waited for room is late now for another reason
        elif step is not None:
            await self._replan(waits=step == "first")

    async def _replan(self, *, waits: bool) -> None:
        now = self._clock.now()
        commits = []
        for number, state in enumerate(await self._states.enabled_after(now)):
            if number % _BATCH == 0:
                await asyncio.sleep(0)  # there are thousands, and others work in this process
            nearer = await nearer_instant(state, now, self._states, waits=waits)
            if nearer is not None:
                commits.append(Commit(schedules=((state, replace(state, next_fire_at=nearer)),)))
        await self._commit(commits)
