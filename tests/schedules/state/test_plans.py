"""Every list walks an index in its order and every look-up finds its row by one: nothing is scanned, nothing sorted."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.models import Q, QuerySet

from contract.schedules import FiringQuery, ScheduleQuery
from schedules.models import FiringRecord, ScheduleRecord
from schedules.state import listing
from tests.fakes.clocks import START_AT
from tests.schedules.state.records import insert_firings, insert_schedules

SCHEDULES = 600
VERY_MANY = 10_000
LISTS: dict[str, dict[str, Any]] = {
    "unfiltered": {},
    "enabled": {"enabled": True},
    "disabled": {"enabled": False},
    "trigger": {"trigger": "cron"},
    "project": {"project": "project-3"},
    "unknown project": {"project": "nothing"},
    "project, enabled, trigger": {"project": "project-3", "enabled": True, "trigger": "interval"},
    "search": {"search": "S0012"},
    "search nothing": {"search": "nowhere"},
    "project, search": {"project": "project-3", "search": "12"},
}


def fill(schedules: int) -> None:
    """Insert so many schedules and some firings, and let the planner know."""
    insert_schedules(schedules)
    insert_firings(10, each=200)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


@pytest.fixture
def guided(db: None) -> None:
    """A store of some hundred schedules and some thousand firings, and a planner that takes an index where one serves.

    Tables of this size are read whole faster than by an index. What is asked is whether the index that a large table
    needs is there and gives the order; where none does, PostgreSQL still has to sort.
    """
    fill(SCHEDULES)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for way in ("seqscan", "bitmapscan", "sort", "incremental_sort", "hashjoin", "mergejoin"):
                cursor.execute(f"SET LOCAL enable_{way} = off")


def plan_of(rows: QuerySet[Any, Any]) -> list[str]:
    """Return the plan, one step a line."""
    explain = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
    sql, parameters = rows.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(f"{explain} {sql}", parameters)
        return [str(row[-1]).strip().removeprefix("->").strip() for row in cursor.fetchall()]


def faults_of(rows: QuerySet[Any, Any]) -> list[str]:
    """Return the steps that read a table whole or sort what they found."""
    steps = plan_of(rows)
    if connection.vendor == "sqlite":
        whole = [step for step in steps if step.startswith("SCAN schedules_") and "USING" not in step]
        return whole + [step for step in steps if "TEMP B-TREE" in step or "AUTOMATIC" in step]
    return [step for step in steps if step.startswith(("Seq Scan on", "Sort  (", "Incremental Sort", "Hash", "Unique"))]


def all_faults(walks: Iterator[tuple[str, QuerySet[Any, Any]]]) -> dict[str, list[str]]:
    faults = {name: faults_of(walk) for name, walk in walks}
    return {name: steps for name, steps in faults.items() if steps}


def uses(index: str, rows: QuerySet[Any, Any]) -> bool:
    return any(index in step for step in plan_of(rows))


def test_of_very_many_schedules_what_is_due_and_what_is_open_is_found_by_its_index_unasked(db: None) -> None:
    fill(VERY_MANY)
    now = START_AT + 40
    row = {"next_fire_at": START_AT + 30, "id": ScheduleRecord.objects.get(name="s00030").pk}
    due = {
        "due": listing.due_walk(now, None)[:50],
        "due after a row": listing.due_walk(now, row)[:50],
        "earliest": listing.earliest_walk()[:1],
        "earliest but": listing.earliest_walk().exclude(schedule_id__in=("id-s00001", "id-s00002"))[:1],
    }
    opened = listing.open_walk(["id-s00003", "id-s00004"])

    assert (len(due["due"]), len(opened)) == (24, 10)
    assert all_faults(iter(due.items())) == {}
    assert all(uses("schedule_due", walk) for walk in due.values())
    assert uses("firing_open", opened)
    assert not [step for step in plan_of(opened) if step.startswith(("Seq Scan on schedules_f", "SCAN schedules_f"))]


@pytest.mark.parametrize("after", [None, "s00400"])
@pytest.mark.parametrize("offset", [0, 100])
def test_schedules_are_walked(guided: None, after: str | None, offset: int) -> None:
    def walks() -> Iterator[tuple[str, QuerySet[Any, Any]]]:
        for form, fields in LISTS.items():
            yield form, listing.schedule_walk(ScheduleQuery(offset=offset, limit=20, **fields), after)

    assert all_faults(walks()) == {}


@pytest.mark.parametrize("before", [None, (START_AT + 600.0, 12)])
@pytest.mark.parametrize("outcome", [None, "fired", "deferred"])
def test_firings_are_walked(guided: None, before: tuple[float, int] | None, outcome: Any) -> None:
    walk = listing.firing_walk("id-s00004", FiringQuery(outcome=outcome, limit=5, offset=1), before)

    assert faults_of(walk) == []
    assert uses("firing_of_schedule", walk)


def test_rows_are_found_by_their_indexes(guided: None) -> None:
    schedules = ScheduleRecord.objects.order_by()
    either = Q(*(Q(schedule_id=number, slot=f"due:{number}") for number in range(100)), _connector=Q.OR)
    found: dict[str, QuerySet[Any, Any]] = {
        "one": listing.STATES.order_by().filter(schedule_id="id-s00007"),
        "some": schedules.filter(schedule_id__in=[f"id-s{number:05}" for number in range(50)]),
        "namesakes": schedules.filter(name__in=["s00001", "s00002"]),
        "later": listing.later_walk(START_AT + SCHEDULES - 5),
        "slot": listing.slot_rows("id-s00004", "due:1"),
        "open": FiringRecord.objects.filter(firing_id__in=["f1-2", "f1-4"], outcome="fired", run_status=None),
        "window": FiringRecord.objects.filter(decided_at__gte=START_AT + 11_900).order_by("-decided_at"),
    }

    assert all_faults(iter(found.items())) == {}
    # Many pairs are many seeks, which PostgreSQL joins by a bitmap: that way is closed here.
    if connection.vendor == "sqlite":
        assert faults_of(FiringRecord.objects.filter(either)) == []
        assert uses("slot", FiringRecord.objects.filter(either))


def test_a_scan_and_a_sort_would_be_noticed(guided: None) -> None:
    assert faults_of(ScheduleRecord.objects.filter(zone="x").order_by("zone", "anchor_at"))


def test_names_are_ordered_by_their_characters_whatever_the_servers_language_is(db: None) -> None:
    with connection.cursor() as cursor:
        columns = connection.introspection.get_table_description(cursor, ScheduleRecord._meta.db_table)

    (collation,) = (column.collation for column in columns if column.name == "name")
    assert collation == ("C" if connection.vendor == "postgresql" else None)
