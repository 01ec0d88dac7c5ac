"""A scheduler with everything it works with, in memory, on a clock that a test moves."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from contract.schedules import Firing, FiringQuery
from contract.triggers import GithubPollTrigger
from schedules.revising import created
from schedules.schedule import PollState, ScheduleState
from schedules.scheduler.github import PollAnswer
from schedules.scheduler.loop import Scheduler
from schedules.scheduler.poll_rounds import PollRounds, Pulls
from schedules.services.needs import ScheduleNeeds
from tests.fakes.change_feed import InMemoryChangeFeed
from tests.fakes.clocks import FixedClock, SequentialIds
from tests.fakes.scheduled_runs import RUNS_TOPIC, InMemoryScheduledRuns
from tests.fakes.schedules import InMemorySchedules
from tests.fakes.turns import until_idle
from tests.schedules.making import NOW, spec

GITHUB = {"kind": "github_poll", "repository": "o/n", "poll_interval_seconds": 60, "filters": {"event": "pr_opened"}}


class ScriptedPulls:
    """Answers polls as told; without a script, with nothing new."""

    def __init__(self) -> None:
        self.answers: list[PollAnswer] = []
        self.asked: list[PollState] = []
        self.during: Callable[[], Any] = lambda: None
        self.fault: Exception | None = None

    async def poll(self, trigger: GithubPollTrigger, state: PollState) -> PollAnswer:
        assert trigger.repository
        self.asked.append(state)
        await self.during()
        if self.fault is not None:
            raise self.fault
        return self.answers.pop(0) if self.answers else PollAnswer()


async def _nothing() -> None:
    return None


class ContendedSchedules(InMemorySchedules):
    """Schedules of which one is changed by somebody else whenever it is looked at, while that is `contended`."""

    def __init__(self, *, feed: InMemoryChangeFeed) -> None:
        super().__init__(feed=feed)
        self.contended = False

    async def find(self, schedule_id: str) -> ScheduleState | None:
        found = await super().find(schedule_id)
        self._change([] if found is None else [found])
        return found

    async def every(self) -> tuple[ScheduleState, ...]:
        found = await super().every()
        self._change(found)
        return found

    def _change(self, found: Iterable[ScheduleState]) -> None:
        if self.contended:
            self.put(*(replace(state, revision=state.revision + 1) for state in found))


class Rig:
    """The ports of schedules, and schedulers over them."""

    def __init__(self, *, capacity: int = 0, zone: str = "UTC", pulls: Pulls | None = None) -> None:
        self.clock = FixedClock(NOW)
        self.ids = SequentialIds()
        self.feed = InMemoryChangeFeed()
        self.states = ContendedSchedules(feed=self.feed)
        self.runs = InMemoryScheduledRuns(self.feed)
        self.pulls = ScriptedPulls()
        self.pulls.during = _nothing
        self.needs = ScheduleNeeds(
            states=self.states, runs=self.runs, clock=self.clock, ids=self.ids, zone=zone, capacity=capacity
        )
        self.polls = PollRounds(needs=self.needs, pulls=pulls or self.pulls)
        self.scheduler = self.another()

    def another(self) -> Scheduler:
        """Return one more scheduler on the same store: a process that was started."""
        return Scheduler(needs=self.needs, polls=self.polls, feed=self.feed, runs_topic=RUNS_TOPIC)

    def restart(self) -> None:
        """Let the scheduler die and another take its place."""
        self.polls = PollRounds(needs=self.needs, pulls=self.pulls)
        self.scheduler = self.another()

    def add(self, name: str = "nightly", **fields: Any) -> ScheduleState:
        """Store a schedule that is made now; its id is its name."""
        made = created(spec(name=name, **fields), schedule_id=name, zone=self.needs.zone, now=self.clock.now())
        self.states.put(made)
        return made

    def state(self, name: str = "nightly") -> ScheduleState:
        return self.states.schedules[name]

    async def round(self) -> float:
        """Let the scheduler look once, and everything that it began go as far as it can."""
        pause = await self.scheduler.round()
        if any(isinstance(state.trigger, GithubPollTrigger) for state in self.states.schedules.values()):
            await until_idle()
        return pause

    async def settle(self) -> float:
        """Let the scheduler look until there is nothing more to do now; return for how long."""
        while (pause := await self.round()) <= 0.01:
            pass
        return pause

    async def live(self, seconds: float, *, ending: bool = True) -> None:
        """Let time pass as the scheduler sleeps it; runs end at once, unless they are not to."""
        end = self.clock.now() + seconds
        while True:
            pause = await self.settle()
            if ending:
                self.runs.end_all()
                pause = await self.settle()
            if self.clock.now() >= end:
                return
            self.clock.advance(min(pause, end - self.clock.now()))

    async def firings(self, name: str = "nightly") -> tuple[Firing, ...]:
        """Return decisions, the oldest first."""
        page = await self.states.firings(name, FiringQuery(limit=100))
        return page.items[::-1]

    async def codes(self, name: str = "nightly") -> list[str]:
        return [firing.reason_code.removeprefix("schedule.") for firing in await self.firings(name)]
