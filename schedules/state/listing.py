"""The queries behind lists and the scheduler's questions: each walks one index, and nothing is counted."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar

from django.db.models import F, Q, QuerySet, Subquery, Value
from django.db.models.functions import StrIndex

from contract.base import Page
from contract.folding import fold
from contract.schedules import Firing, FiringQuery, ScheduleQuery, ScheduleSummary
from schedules import cursors
from schedules.models import FiringRecord, ScheduleRecord
from schedules.schedule import ScheduleState
from schedules.services.ports import OpenFiring
from schedules.state import rows
from schedules.state.rows import Row

T = TypeVar("T")

# Far below the variables that one statement may have in every SQLite.
_CHUNK: Final = 500

# Built once: naming the columns is half the work of such a query.
StateRows = QuerySet[ScheduleRecord, Row]
STATES: Final[StateRows] = ScheduleRecord.objects.order_by("name").values(*rows.STATE_COLUMNS)
# What can fire, in the order in which it will.
_DUE: Final = STATES.filter(enabled=True, next_fire_at__isnull=False).order_by("next_fire_at", "id")
_SUMMARIES: Final = ScheduleRecord.objects.order_by("name").values_list(*rows.SUMMARY_COLUMNS)
_NAME: Final = rows.SUMMARY_COLUMNS.index("name")
_FIRINGS: Final[QuerySet[FiringRecord, Row]] = FiringRecord.objects.order_by("-decided_at", "-id").values(
    *rows.FIRING_COLUMNS
)
_OPEN: Final[QuerySet[FiringRecord, Row]] = (
    FiringRecord.objects.order_by().filter(outcome="fired", run_status__isnull=True).values(*rows.OPEN_COLUMNS)
)


def schedules_page(query: ScheduleQuery, now: float) -> Page[ScheduleSummary]:
    """Return one page by name. A poisoned row takes its place on a page and is not shown there."""
    found = list(schedule_walk(query, cursors.read_schedules(query)))
    shown, has_next = found[: query.limit], len(found) > query.limit
    return Page[ScheduleSummary](
        items=tuple(item for row in shown if (item := rows.summary(row, now=now)) is not None),
        offset=query.offset,
        limit=query.limit,
        has_next=has_next,
        next_cursor=cursors.after_schedule(query, shown[-1][_NAME]) if has_next else None,
    )


def schedule_walk(query: ScheduleQuery, after: str | None) -> QuerySet[ScheduleRecord, Any]:
    """Return the rows of one page and one more, by name."""
    exact = {"enabled": query.enabled, "trigger_kind": query.trigger, "project": query.project, "name__gt": after}
    found = _SUMMARIES.filter(**{column: value for column, value in exact.items() if value is not None})
    if query.search is not None:
        # StrIndex compares bytes on both databases; LIKE would fold ASCII only on one of them.
        found = found.alias(found=StrIndex(F("search_text"), Value(fold(query.search)))).filter(found__gt=0)
    return found[query.offset : query.offset + query.limit + 1]


def firings_page(schedule_id: str, query: FiringQuery) -> Page[Firing]:
    """Return one page, newest decision first."""
    found = list(firing_walk(schedule_id, query, cursors.read_firings(query, schedule_id)))
    shown, has_next = found[: query.limit], len(found) > query.limit
    # Before the rows are taken over.
    cursor = _after(query, schedule_id, shown[-1]) if has_next else None
    return Page[Firing](
        items=tuple(rows.firing(row, schedule_id) for row in shown),
        offset=query.offset,
        limit=query.limit,
        has_next=has_next,
        next_cursor=cursor,
    )


def firing_walk(schedule_id: str, query: FiringQuery, before: tuple[float, int] | None) -> QuerySet[FiringRecord, Row]:
    """Return the rows of one page and one more, newest decision first."""
    found = _FIRINGS.filter(schedule=_number_of(schedule_id))
    if query.outcome is not None:
        found = found.filter(outcome=query.outcome)
    if before is not None:
        at, number = before
        # The first condition alone bounds the index walk; the second settles ties.
        found = found.filter(Q(decided_at__lte=at) & (Q(decided_at__lt=at) | Q(id__lt=number)))
    return found[query.offset : query.offset + query.limit + 1]


def slot_rows(schedule_id: str, slot: str) -> QuerySet[FiringRecord, Row]:
    """Return the row of what was decided for a slot, if it was."""
    return _FIRINGS.order_by().filter(schedule=_number_of(schedule_id), slot=slot)


def open_firings(schedule_ids: Sequence[str] | None) -> tuple[OpenFiring, ...]:
    """Return firings without a recorded end, of these schedules or of all, oldest first; poisoned ones are left out."""
    walks = [open_walk(None)] if schedule_ids is None else [open_walk(ids) for ids in chunks(schedule_ids)]
    found = sorted((row for walk in walks for row in walk), key=_row_number)
    return tuple(firing for row in found if (firing := rows.open_firing(row)) is not None)


def open_walk(schedule_ids: Sequence[str] | None) -> QuerySet[FiringRecord, Row]:
    """Return the rows of open firings in any order; of at most as many schedules as one statement takes."""
    return _OPEN.all() if schedule_ids is None else _OPEN.filter(schedule__schedule_id__in=schedule_ids)


def due(now: float, limit: int) -> tuple[ScheduleState, ...]:
    """Return the schedules that have been due the longest; poisoned rows keep none of them from being seen."""
    found: list[ScheduleState] = []
    after: Row | None = None
    while len(found) < limit:
        step = list(due_walk(now, after)[:limit])
        found.extend(rows.readable(step))
        if len(step) < limit:
            break
        after = step[-1]
    return tuple(found[:limit])


def due_walk(now: float, after: Row | None) -> QuerySet[ScheduleRecord, Row]:
    """Return the rows of what is due, the longest due first, after a row."""
    found = _DUE.filter(next_fire_at__lte=now)
    if after is None:
        return found
    at, number = after["next_fire_at"], after["id"]
    return found.filter(Q(next_fire_at__gte=at) & (Q(next_fire_at__gt=at) | Q(id__gt=number)))


def earliest_walk() -> QuerySet[ScheduleRecord, Any]:
    """Return the instants of what can fire, the earliest first."""
    return _DUE.values_list("next_fire_at", flat=True)


def later_walk(instant: float) -> QuerySet[ScheduleRecord, Row]:
    """Return the rows of what is due after an instant."""
    return _DUE.filter(next_fire_at__gt=instant)


def chunks(values: Sequence[T], size: int = _CHUNK) -> Iterator[Sequence[T]]:
    """Cut values into what one statement takes, or less."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def _after(query: FiringQuery, schedule_id: str, row: Row) -> str:
    return cursors.after_firing(query, schedule_id, row["decided_at"], row["id"])


def _number_of(schedule_id: str) -> Subquery:
    """Return the row number of a schedule: as one value, not a join, so that its index gives the order."""
    return Subquery(ScheduleRecord.objects.filter(schedule_id=schedule_id).values("id"))


def _row_number(row: Row) -> int:
    return int(row["id"])
