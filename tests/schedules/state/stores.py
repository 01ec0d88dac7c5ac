"""The two stores that the suite runs over: the in-memory one, and the Django adapter."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pytest
from django.db import connection

from contract.base import Page
from contract.schedules import Firing, FiringQuery, ScheduleAction, ScheduleQuery, ScheduleSummary
from contract.triggers import CronTrigger
from schedules.models import FiringRecord, ScheduleRecord
from schedules.schedule import ScheduleState
from schedules.services.ports import Commit, FiringDraft, FiringEnd, PreparedRun, SchedulerStateService
from schedules.state.store import DjangoSchedules
from studio_project.statedb import StateDB
from tests.fakes.change_feed import InMemoryChangeFeed
from tests.fakes.clocks import START_AT
from tests.fakes.schedules import InMemorySchedules

# Committed to by anyone, and empty again at the end; only the tables of this app are emptied.
DATABASE = pytest.mark.django_db(transaction=True)
ACTION = ScheduleAction(kind="command", command=("look",))


def schedule(name: str = "nightly", **fields: Any) -> ScheduleState:
    """Return an enabled schedule that is due a minute after the first instant; its id is made of its name."""
    defaults: dict[str, Any] = {
        "schedule_id": f"id-{name}",
        "description": None,
        "enabled": True,
        "paused": False,
        "disabled_reason": None,
        "trigger": CronTrigger(expression="* * * * *"),
        "zone": "UTC",
        "action": ACTION,
        "project": None,
        "missed_fire_policy": "skip",
        "overlap_policy": "skip",
        "max_runs": None,
        "budget_micros": None,
        "budget_tokens": None,
        "anchor_at": START_AT,
        "next_fire_at": START_AT + 60.0,
        "created_at": START_AT,
        "updated_at": START_AT,
    }
    return ScheduleState(name=name, **(defaults | fields))


def skipped(state: ScheduleState, slot: str = "due:1", firing_id: str = "", **fields: Any) -> FiringDraft:
    """Return the decision to skip a slot."""
    defaults: dict[str, Any] = {
        "due_at": START_AT,
        "decided_at": START_AT,
        "outcome": "skipped",
        "reason_code": "schedule.skipped.overlap",
    }
    named = firing_id or f"{state.name}-{slot}"
    return FiringDraft(firing_id=named, schedule_id=state.schedule_id, slot=slot, **(defaults | fields))


def deferred(state: ScheduleState, slot: str = "due:1", firing_id: str = "", **fields: Any) -> FiringDraft:
    return skipped(state, slot, firing_id, outcome="deferred", reason_code="schedule.deferred.capacity", **fields)


@dataclass(kw_only=True)
class Store:
    """The port, what was published, the runs that were queued, and short forms of what tests do all the time."""

    port: SchedulerStateService
    feed: InMemoryChangeFeed
    # Writes a text into a column of a schedule, or of a firing, whatever anybody will make of it.
    spoil: Callable[[str, str, str], Awaitable[object]]
    in_transaction: Callable[[], bool] = field(default=lambda: True)
    queued: list[tuple[str, float]] = field(default_factory=list)
    close: Callable[[], None] = field(default=lambda: None)

    def fired(self, state: ScheduleState, slot: str = "due:1", firing_id: str = "", **fields: Any) -> FiringDraft:
        """Return the decision to fire a slot; its run is named after the firing."""
        draft = skipped(state, slot, firing_id, outcome="fired", reason_code="schedule.fired.due", action=ACTION)
        run_id = f"run-{draft.firing_id}"
        return replace(draft, **{"run": PreparedRun(run_id=run_id, queue=partial(self._queue, run_id)), **fields})

    def _queue(self, run_id: str, at: float) -> Collection[str]:
        assert self.in_transaction()
        self.queued.append((run_id, at))
        return (f"run {run_id}", "launches")

    async def add(self, *states: ScheduleState) -> tuple[ScheduleState, ...]:
        """Insert schedules; return them as they are stored."""
        assert await self.port.commit([Commit(schedules=tuple((None, state) for state in states))]) == (True,)
        stored = {state.schedule_id: state for state in await self.port.every()}
        return tuple(stored[state.schedule_id] for state in states)

    async def made(self, name: str = "nightly", **fields: Any) -> ScheduleState:
        """Insert one schedule; return it as it is stored."""
        (state,) = await self.add(schedule(name, **fields))
        return state

    async def get(self, schedule_id: str) -> ScheduleState:
        found = await self.port.find(schedule_id)
        assert found is not None
        return found

    async def change(self, state: ScheduleState, **fields: Any) -> ScheduleState:
        """Change a schedule that nobody else has changed."""
        assert await self.write(changed(state, **fields))
        return await self.get(state.schedule_id)

    async def write(self, *pairs: tuple[ScheduleState | None, ScheduleState | None], **rest: Any) -> bool:
        """Make one commit; say whether it was made."""
        (made,) = await self.port.commit([Commit(schedules=pairs, **rest)])
        return made

    async def decide(self, state: ScheduleState, *drafts: FiringDraft) -> ScheduleState:
        """Record decisions of a schedule that nobody else has changed."""
        assert await self.write(changed(state), firings=drafts)
        return await self.get(state.schedule_id)

    async def end(self, state: ScheduleState, *firing_ids: str, status: str = "completed") -> bool:
        """Record the ends of runs."""
        ends = tuple(FiringEnd(firing_id=firing_id, run_status=status) for firing_id in firing_ids)
        return await self.write(changed(state), ends=ends)

    async def page(self, now: float = START_AT, **fields: Any) -> Page[ScheduleSummary]:
        return await self.port.page(ScheduleQuery(**fields), now=now)

    async def names(self, **fields: Any) -> list[str]:
        return [item.name for item in (await self.page(**fields)).items]

    async def firings(self, state: ScheduleState, **fields: Any) -> Page[Firing]:
        return await self.port.firings(state.schedule_id, FiringQuery(**fields))

    async def firing_ids(self, state: ScheduleState, **fields: Any) -> list[str]:
        return [firing.firing_id for firing in (await self.firings(state, **fields)).items]

    async def poison(self, schedule_id: str, column: str) -> None:
        """Make the trigger or the action of a schedule one that nobody knows."""
        await self.spoil(schedule_id, column, '{"kind": "tide", "at": "full moon"}')

    async def due(self, now: float = START_AT + 60.0, limit: int = 100) -> list[str]:
        return [state.name for state in await self.port.due(now=now, limit=limit)]

    async def open_ids(self, *schedule_ids: str) -> list[str]:
        return [firing.firing_id for firing in await self.port.open_firings(schedule_ids or None)]


def changed(state: ScheduleState, **fields: Any) -> tuple[ScheduleState, ScheduleState]:
    """Return the pair of a schedule and what it becomes."""
    return state, replace(state, **fields)


def memory_store() -> Store:
    feed = InMemoryChangeFeed()
    schedules = InMemorySchedules(feed=feed)
    return Store(port=schedules, feed=feed, spoil=partial(_spoil_memory, schedules))


def django_store(db: StateDB | None = None) -> Store:
    """Bind the adapter to the default database. To be closed, or its threads keep their connections."""
    db = db or StateDB()
    feed = InMemoryChangeFeed()
    return Store(
        port=DjangoSchedules(db, feed=feed),
        feed=feed,
        spoil=partial(_spoil_database, db),
        in_transaction=lambda: connection.in_atomic_block,
        close=db.close,
    )


async def _spoil_memory(schedules: InMemorySchedules, schedule_id: str, column: str, _: str) -> None:
    schedules.poison(schedule_id, column)


async def _spoil_database(db: StateDB, found_id: str, column: str, text: str) -> None:
    firings = FiringRecord.objects.filter(firing_id=found_id)
    schedules = ScheduleRecord.objects.filter(schedule_id=found_id)
    await db.write(lambda: firings.update(**{column: text}) if firings else schedules.update(**{column: text}))
