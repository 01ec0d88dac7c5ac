"""DjangoSchedules: SchedulerStateService over the ORM."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Final

from django.db import IntegrityError
from django.db.models import Count, F, Q

from contract.base import Page
from contract.ports import ChangeFeed
from contract.schedules import Firing, FiringQuery, ScheduleQuery, ScheduleSummary
from schedules.models import FiringRecord, ScheduleRecord
from schedules.schedule import ScheduleState
from schedules.services.ports import LATENESS_SAMPLES_MAX, Commit, FiringTotals, OpenFiring
from schedules.state import listing, rows, writing
from studio_project import publishing
from studio_project.statedb import StateDB

_POISON: Final = ScheduleRecord.objects.order_by("id").values("schedule_id", *rows.JSON_COLUMNS)


class DjangoSchedules:
    """Reads schedules and firings, and writes them; publishes each change after its commit."""

    def __init__(self, db: StateDB, *, feed: ChangeFeed) -> None:
        """Take the executor and who is told."""
        self._db = db
        self._feed = feed

    async def find(self, schedule_id: str) -> ScheduleState | None:
        """Return a schedule; None, too, for a poisoned row."""
        found = await self._states(lambda: listing.STATES.order_by().filter(schedule_id=schedule_id))
        return found[0] if found else None

    async def every(self) -> tuple[ScheduleState, ...]:
        """Return all schedules: one query."""
        return await self._states(listing.STATES.all)

    async def page(self, query: ScheduleQuery, *, now: float) -> Page[ScheduleSummary]:
        """Return one page: one query, nothing counted."""
        return await self._db.read(partial(listing.schedules_page, query, now))

    async def firings(self, schedule_id: str, query: FiringQuery) -> Page[Firing]:
        """Return one page: one query, nothing counted."""
        return await self._db.read(partial(listing.firings_page, schedule_id, query))

    async def find_firing(self, schedule_id: str, slot: str) -> Firing | None:
        """Return a decision."""
        row = await self._db.read(listing.slot_rows(schedule_id, slot).first)
        return None if row is None else rows.firing(row, schedule_id)

    async def open_firings(self, schedule_ids: Collection[str] | None = None) -> tuple[OpenFiring, ...]:
        """Return open firings; poisoned ones are left out."""
        ids = None if schedule_ids is None else sorted(set(schedule_ids))
        return await self._db.read(partial(listing.open_firings, ids))

    async def commit(self, commits: Sequence[Commit]) -> tuple[bool, ...]:
        """Make commits; the unique constraint settles races for a name."""
        try:
            return await publishing.write(self._db, self._feed, partial(writing.make, commits))
        except IntegrityError:
            conflict = await self._db.read(partial(writing.conflict_of, commits))
            if conflict is None:
                raise
            raise conflict from None

    async def due(self, *, now: float, limit: int) -> tuple[ScheduleState, ...]:
        """Return what is due."""
        return await self._db.read(partial(listing.due, now, limit))

    async def earliest_due(self, *, excluding: Collection[str] = ()) -> float | None:
        """Return an instant: the first of an index."""
        walk = listing.earliest_walk()
        return await self._db.read((walk.exclude(schedule_id__in=tuple(excluding)) if excluding else walk).first)

    async def enabled_after(self, instant: float) -> tuple[ScheduleState, ...]:
        """Return what is due later."""
        return await self._states(lambda: listing.later_walk(instant))

    async def totals(self, *, since: float) -> FiringTotals:
        """Return totals, from one snapshot."""
        return await self._db.read(partial(_totals, since), snapshot=True)

    async def poisoned(self) -> tuple[str, ...]:
        """Return ids; looks at every enabled row."""
        return await self._db.read(_poisoned)

    async def disable_poisoned(self, schedule_id: str, *, reason_code: str, at: float) -> None:
        """Disable a row, if it still cannot be read."""
        await publishing.write(self._db, self._feed, partial(writing.disable_poisoned, schedule_id, reason_code, at))

    async def _states(self, walk: Callable[[], listing.StateRows]) -> tuple[ScheduleState, ...]:
        return await self._db.read(lambda: rows.readable(walk()))


def _totals(since: float) -> FiringTotals:
    enabled = Q(enabled=True)
    standing = ScheduleRecord.objects.aggregate(on=Count("id", filter=enabled), off=Count("id", filter=~enabled))
    decided = FiringRecord.objects.filter(decided_at__gte=since).order_by()
    late = decided.filter(outcome="fired", cause="due").order_by("-decided_at")
    return FiringTotals(
        enabled=standing["on"],
        disabled=standing["off"],
        oldest_due_at=listing.earliest_walk().first(),
        by_outcome=dict(decided.values_list("outcome").annotate(Count("id"))),
        lateness_seconds=tuple(late.values_list(F("decided_at") - F("due_at"), flat=True)[:LATENESS_SAMPLES_MAX]),
    )


def _poisoned() -> tuple[str, ...]:
    return tuple(row["schedule_id"] for row in _POISON.filter(enabled=True) if rows.is_poisoned(row))
