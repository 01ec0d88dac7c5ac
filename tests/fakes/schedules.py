"""InMemorySchedules: SchedulerStateService in memory. Each call is atomic, as its transaction is."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from contract.base import Page
from contract.folding import fold
from contract.money import to_usd
from contract.schedules import Firing, FiringQuery, ScheduleQuery, ScheduleSummary
from schedules import cursors
from schedules.health import health_of
from schedules.schedule import ScheduleState
from schedules.services.ledger import Ledger, key_of, name_taken, next_revision, sooner
from schedules.services.ports import (
    LATENESS_SAMPLES_MAX,
    SCHEDULES_TOPIC,
    Commit,
    FiringDraft,
    FiringTotals,
    OpenFiring,
)
from tests.fakes.change_feed import InMemoryChangeFeed
from tests.fakes.turns import turns

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFiring:
    """A decision as it is kept. `number` grows with each one."""

    number: int
    draft: FiringDraft
    run_status: str | None = None

    @property
    def is_open(self) -> bool:
        return self.draft.outcome == "fired" and self.run_status is None


@dataclass(slots=True)
class _Draft:
    """The store as a call is about to leave it."""

    schedules: dict[str, ScheduleState]
    kept: list[StoredFiring]

    def make(self, commit: Commit, numbers: Iterable[int]) -> None:
        statuses = {end.firing_id: end.run_status for end in commit.ends}
        decided = {key_of(draft) for draft in commit.firings}
        self.kept = [
            replace(firing, run_status=statuses[firing.draft.firing_id])
            if firing.draft.firing_id in statuses
            else firing
            for firing in self.kept
            if key_of(firing.draft) not in decided
        ]
        for old, new in commit.schedules:
            if old is not None and new is None:
                self._remove(old.schedule_id)
        for inserts in (False, True):
            for old, new in commit.schedules:
                if new is not None and (old is None) is inserts:
                    self._put(replace(new, revision=next_revision(old)))
        for draft, number in zip(commit.firings, numbers, strict=False):
            self._decide(StoredFiring(number=number, draft=draft))

    def _remove(self, schedule_id: str) -> None:
        del self.schedules[schedule_id]
        self.kept = [firing for firing in self.kept if firing.draft.schedule_id != schedule_id]

    def _put(self, state: ScheduleState) -> None:
        if any(other.name == state.name for other in self.schedules.values() if other.schedule_id != state.schedule_id):
            raise name_taken(state.name)
        self.schedules[state.schedule_id] = state

    def _decide(self, firing: StoredFiring) -> None:
        draft = firing.draft
        fired = draft.outcome == "fired"
        assert fired is (draft.run is not None), "a firing has a run if, and only if, it fired"
        assert draft.action is not None or not fired, "what follows on a run is said by its action"
        self.kept.append(firing)


class InMemorySchedules:
    """Schedules and firings, what was published, and the count of the calls. `fault` is what calls raise, if set.

    `poison` makes a row unreadable, as a trigger or an action does that this version does not know.
    """

    def __init__(self, *, feed: InMemoryChangeFeed | None = None) -> None:
        self.feed = feed or InMemoryChangeFeed()
        self.schedules: dict[str, ScheduleState] = {}
        self.kept: list[StoredFiring] = []
        self.calls: Counter[str] = Counter()
        self.fault: Exception | None = None
        # The port call that alone raises `fault`; None: every one.
        self.failing: str | None = None
        self._poisons: dict[str, str] = {}
        self._numbered = 0

    async def reach(self, port_call: str) -> None:
        """Count a call and let others run while it is under way, as a database does. Raises the set `fault`."""
        self.calls[port_call] += 1
        await turns()
        if self.fault is not None and self.failing in (None, port_call):
            raise self.fault

    def put(self, *states: ScheduleState) -> None:
        """Store schedules as they are, revisions included."""
        self.schedules.update({state.schedule_id: state for state in states})

    def poison(self, schedule_id: str, column: str = "trigger") -> None:
        """Make the trigger or the action of a schedule unreadable."""
        self._poisons[schedule_id] = column

    async def find(self, schedule_id: str) -> ScheduleState | None:
        await self.reach("find")
        return None if schedule_id in self._poisons else self.schedules.get(schedule_id)

    async def every(self) -> tuple[ScheduleState, ...]:
        await self.reach("every")
        return tuple(sorted(self._readable(), key=lambda state: state.name))

    async def page(self, query: ScheduleQuery, *, now: float) -> Page[ScheduleSummary]:
        await self.reach("page")
        after = cursors.read_schedules(query)
        found = [state for state in self.schedules.values() if _matches(state, query)]
        found = [state for state in found if after is None or state.name > after]
        rest = sorted(found, key=lambda state: state.name)[query.offset :]
        shown, has_next = rest[: query.limit], len(rest) > query.limit
        return Page[ScheduleSummary](
            items=tuple(_summary(state, now) for state in shown if self._poisons.get(state.schedule_id) != "trigger"),
            offset=query.offset,
            limit=query.limit,
            has_next=has_next,
            next_cursor=cursors.after_schedule(query, shown[-1].name) if has_next else None,
        )

    async def firings(self, schedule_id: str, query: FiringQuery) -> Page[Firing]:
        await self.reach("firings")
        before = cursors.read_firings(query, schedule_id)
        found = [firing for firing in self._of(schedule_id) if query.outcome in (None, firing.draft.outcome)]
        found = [firing for firing in found if before is None or _position(firing) < before]
        rest = sorted(found, key=_position, reverse=True)[query.offset :]
        shown, has_next = rest[: query.limit], len(rest) > query.limit
        return Page[Firing](
            items=tuple(map(_shown, shown)),
            offset=query.offset,
            limit=query.limit,
            has_next=has_next,
            next_cursor=cursors.after_firing(query, schedule_id, *_position(shown[-1])) if has_next else None,
        )

    async def find_firing(self, schedule_id: str, slot: str) -> Firing | None:
        await self.reach("find_firing")
        return next((_shown(firing) for firing in self._of(schedule_id) if firing.draft.slot == slot), None)

    async def open_firings(self, schedule_ids: Collection[str] | None = None) -> tuple[OpenFiring, ...]:
        await self.reach("open_firings")
        found = [firing for firing in self.kept if firing.is_open]
        return tuple(
            _open(firing) for firing in found if schedule_ids is None or firing.draft.schedule_id in schedule_ids
        )

    async def commit(self, commits: Sequence[Commit]) -> tuple[bool, ...]:
        await self.reach("commit")
        ledger = Ledger(
            revisions={schedule_id: state.revision for schedule_id, state in self.schedules.items()},
            outcomes={key_of(firing.draft): firing.draft.outcome for firing in self.kept},
            unended={firing.draft.firing_id for firing in self.kept if firing.is_open},
        )
        made = tuple(map(ledger.take, commits))
        winners = [commit for commit, can_be_made in zip(commits, made, strict=True) if can_be_made]
        self._keep(winners)
        self.feed.publish([SCHEDULES_TOPIC] if any(map(sooner, winners)) else [])
        return made

    def _keep(self, winners: Sequence[Commit]) -> None:
        after = _Draft(dict(self.schedules), list(self.kept))
        for commit in winners:
            after.make(commit, range(self._numbered + 1, self._numbered + 1 + len(commit.firings)))
            self._numbered += len(commit.firings)
        drafts = [draft for commit in winners for draft in commit.firings]
        topics = [topic for draft in drafts if draft.run is not None for topic in draft.run.queue(draft.decided_at)]
        self.schedules, self.kept = after.schedules, after.kept
        self.feed.publish(topics)

    async def due(self, *, now: float, limit: int) -> tuple[ScheduleState, ...]:
        await self.reach("due")
        return tuple(state for at, state in self._scheduled() if at <= now)[:limit]

    async def earliest_due(self, *, excluding: Collection[str] = ()) -> float | None:
        await self.reach("earliest_due")
        return _earliest(state for state in self.schedules.values() if state.schedule_id not in excluding)

    async def enabled_after(self, instant: float) -> tuple[ScheduleState, ...]:
        await self.reach("enabled_after")
        return tuple(state for at, state in self._scheduled() if at > instant)

    async def totals(self, *, since: float) -> FiringTotals:
        await self.reach("totals")
        drafts = [firing.draft for firing in self.kept if firing.draft.decided_at >= since]
        late = [draft for draft in drafts if (draft.outcome, draft.cause) == ("fired", "due")]
        late.sort(key=lambda draft: draft.decided_at, reverse=True)
        enabled = sum(state.enabled for state in self.schedules.values())
        return FiringTotals(
            enabled=enabled,
            disabled=len(self.schedules) - enabled,
            oldest_due_at=_earliest(self.schedules.values()),
            by_outcome=dict(Counter(draft.outcome for draft in drafts)),
            lateness_seconds=tuple(draft.decided_at - draft.due_at for draft in late[:LATENESS_SAMPLES_MAX]),
        )

    async def poisoned(self) -> tuple[str, ...]:
        await self.reach("poisoned")
        return tuple(found for found in self._poisons if found in self.schedules and self.schedules[found].enabled)

    async def disable_poisoned(self, schedule_id: str, *, reason_code: str, at: float) -> None:
        await self.reach("disable_poisoned")
        state = self.schedules.get(schedule_id)
        if state is not None and state.enabled and schedule_id in self._poisons:
            disabled: dict[str, Any] = {"enabled": False, "disabled_reason": reason_code}
            revision, updated_at = state.revision + 1, max(state.updated_at, at)
            self.put(replace(state, **disabled, revision=revision, updated_at=updated_at))
            self.feed.publish([SCHEDULES_TOPIC])

    def _readable(self) -> list[ScheduleState]:
        return [state for state in self.schedules.values() if state.schedule_id not in self._poisons]

    def _scheduled(self) -> list[tuple[float, ScheduleState]]:
        """Return what can fire, in the order in which it will."""
        found = [
            (state.next_fire_at, state)
            for state in self._readable()
            if state.enabled and state.next_fire_at is not None
        ]
        return sorted(found, key=lambda entry: entry[0])

    def _of(self, schedule_id: str) -> list[StoredFiring]:
        return [firing for firing in self.kept if firing.draft.schedule_id == schedule_id]


def _earliest(states: Iterable[ScheduleState]) -> float | None:
    return min(
        (state.next_fire_at for state in states if state.enabled and state.next_fire_at is not None), default=None
    )


def _matches(state: ScheduleState, query: ScheduleQuery) -> bool:
    wanted = {"enabled": query.enabled, "project": query.project}
    return (
        all(value is None or getattr(state, field) == value for field, value in wanted.items())
        and query.trigger in (None, state.trigger.kind)
        and (query.search is None or fold(query.search) in fold(state.name))
    )


def _position(firing: StoredFiring) -> tuple[float, int]:
    return firing.draft.decided_at, firing.number


def _shown(firing: StoredFiring) -> Firing:
    draft = firing.draft
    same = {name: getattr(draft, name) for name in Firing.model_fields if name not in ("run_id", "run_status")}
    return Firing(**same, run_id=None if draft.run is None else draft.run.run_id, run_status=firing.run_status)


def _open(firing: StoredFiring) -> OpenFiring:
    draft = firing.draft
    assert draft.run is not None
    assert draft.action is not None
    return OpenFiring(
        firing_id=draft.firing_id,
        schedule_id=draft.schedule_id,
        run_id=draft.run.run_id,
        depth=draft.depth,
        action=draft.action,
        root_firing_id=draft.root_firing_id or draft.firing_id,
    )


_SUMMARY_ONLY = {"health", "action_kind", "budget_usd", "spent_usd"}


def _summary(state: ScheduleState, now: float) -> ScheduleSummary:
    health = health_of(
        enabled=state.enabled,
        next_fire_at=state.next_fire_at,
        last_fired_at=state.last_fired_at,
        last_run_status=state.last_run_status,
        poll_failures=state.poll.failures,
        now=now,
    )
    same = {name: getattr(state, name) for name in ScheduleSummary.model_fields if name not in _SUMMARY_ONLY}
    return ScheduleSummary(
        **same,
        health=health,
        action_kind=state.action.kind,
        budget_usd=to_usd(state.budget_micros),
        spent_usd=to_usd(state.spent_micros),
    )
