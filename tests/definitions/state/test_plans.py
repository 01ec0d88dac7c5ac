"""Every list walks an index in its order and every look-up finds its row by one: nothing is scanned, nothing sorted."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.models import QuerySet

from contract.definitions import ReconciliationQuery, VersionQuery
from definitions.models import DefinitionRecord, ReconciliationAttemptRecord, ReconciliationRecord
from definitions.state import contents, listing
from tests.definitions.state.records import insert_definitions
from tests.fakes.clocks import START_AT

RECONCILIATIONS: dict[str, dict[str, Any]] = {
    "unfiltered": {},
    "pending": {"status": "pending"},
    "resolved": {"status": "resolved"},
    "definition": {"kind": "agent", "name": "n4"},
    "definition, pending": {"kind": "agent", "name": "n4", "status": "pending"},
    "unknown definition": {"kind": "agent", "name": "nothing"},
    "kind": {"kind": "playbook"},
    "kind, resolved": {"kind": "playbook", "status": "resolved"},
    "name": {"name": "n4"},
    "name, pending": {"name": "n4", "status": "pending"},
}


@pytest.fixture
def planned(db: None) -> None:
    """A store of some thousand versions, whose statistics the planner knows."""
    insert_definitions(150, versions=12, writer_every=50)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
        if connection.vendor == "postgresql":
            # Tables of this size are read whole faster than by an index. What is asked here is whether the index that
            # a large table needs is there and gives the order, so the planner is kept from the other ways.
            for way in ("seqscan", "bitmapscan", "sort", "hashjoin", "mergejoin"):
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
        whole = [step for step in steps if step.startswith("SCAN definitions_") and "USING" not in step]
        return whole + [step for step in steps if "TEMP B-TREE" in step or "AUTOMATIC" in step]
    return [step for step in steps if step.startswith(("Seq Scan on", "Sort  (", "Incremental Sort", "Hash", "Unique"))]


def all_faults(walks: Iterator[tuple[str, QuerySet[Any, Any]]]) -> dict[str, list[str]]:
    faults = {name: faults_of(walk) for name, walk in walks}
    return {name: steps for name, steps in faults.items() if steps}


@pytest.mark.parametrize("before", [None, (START_AT + 8, "rv4.8")])
@pytest.mark.parametrize("offset", [0, 100])
def test_reconciliations_are_walked(planned: None, before: tuple[float, str] | None, offset: int) -> None:
    def walks() -> Iterator[tuple[str, QuerySet[Any, Any]]]:
        for form, fields in RECONCILIATIONS.items():
            yield form, listing.reconciliation_walk(ReconciliationQuery(offset=offset, **fields), before)

    assert all_faults(walks()) == {}


@pytest.mark.parametrize("before", [None, 9])
def test_histories_are_walked(planned: None, before: int | None) -> None:
    walk = listing.version_walk("agent", "n4", VersionQuery(offset=2, limit=5), before)

    assert len(walk) == 6
    assert faults_of(walk) == []


def test_rows_are_found_by_their_indexes(planned: None) -> None:
    definitions = DefinitionRecord.objects.order_by()
    found: dict[str, QuerySet[Any, Any]] = {
        "head": definitions.filter(kind="agent", name="n4"),
        "namesake": definitions.filter(kind="agent", name_key="n4"),
        "heads": definitions.filter(kind="agent", name__in=[f"n{number}" for number in range(0, 100, 2)]),
        "names": definitions.filter(kind="agent"),
        "at work": definitions.filter(writer_version_id__isnull=False).order_by("writer_version_id"),
        "writer": definitions.filter(writer_version_id__in=["v0.12", "v50.12"]).order_by("writer_version_id"),
        "pending": definitions.filter(pending_reconciliation_id="rv4.12"),
        "version": listing.version_rows("agent", "n4", 7),
        "content": contents.whole("agent", ["n4", "n6"], ["0" * 64, "1" * 64]),
        "newest contents": contents.newest("agent", ["n4", "n6"], 20),
        "of a version": ReconciliationRecord.objects.filter(version__version_id="v4.12"),
        "one": listing.RECONCILIATIONS.order_by().filter(reconciliation_id="rv4.12"),
        "log": ReconciliationAttemptRecord.objects.filter(reconciliation__reconciliation_id="rv4.12"),
    }

    assert all_faults(iter(found.items())) == {}


def test_a_scan_and_a_sort_would_be_noticed(planned: None) -> None:
    assert faults_of(DefinitionRecord.objects.filter(relative_path="x").order_by("relative_path", "latest_version"))
