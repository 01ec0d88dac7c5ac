"""Every list of runs walks an index in the order of its sort: nothing is scanned whole, nothing is sorted."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.models import QuerySet

from contract.runs import RunQuery, RunSort
from runs.cursors import ListPosition, encode_list
from runs.models import RunRecord
from runs.retention import PruneRule
from runs.state.listing import fetch, position_of, walk_of
from runs.state.queueing import HELD, WAITING
from runs.state.removing import line, with_open_runs
from runs.state.statistics import COUNTS, spends_of
from tests.fakes.clocks import START_AT
from tests.runs.state.records import insert_launches, insert_runs

SORTS: tuple[RunSort, ...] = ("recent", "started", "cost")
FORMS: dict[str, dict[str, Any]] = {
    "unfiltered": {},
    "status": {"status": ("completed",)},
    "rare status": {"status": ("running",)},
    "statuses": {"status": ("running", "queued", "completed", "failed")},
    "project": {"project": "project-3"},
    "unknown project": {"project": "nothing"},
    "no project": {"project_is_null": True},
    "playbook": {"playbook": "playbook-4"},
    "agent": {"agent": "agent-5"},
    "kind": {"kind": "flow"},
    "invocation": {"invocation_id": "i3"},
    "search": {"search": "AGENT 17"},
    "search nothing": {"search": "nowhere"},
    "started after": {"started_after": START_AT + 100},
    "started before": {"started_before": START_AT + 2_000},
    "started between": {"started_after": START_AT + 100, "started_before": START_AT + 200},
    "tag": {"tags": ("tag-3",)},
    "all tags": {"tags": ("tag-3", "group-1")},
    "any tag": {"tags": ("tag-3", "tag-4", "group-1"), "tags_match": "any"},
    "any tag, statuses": {"tags": ("tag-3", "tag-4"), "tags_match": "any", "status": ("running", "completed")},
    "tag, project": {"tags": ("tag-3",), "project": "project-3"},
    "status, project": {"status": ("completed",), "project": "project-3"},
    "statuses, kind": {"status": ("running", "failed"), "kind": "flow"},
    "project, search": {"project": "project-3", "search": "agent"},
    "tag, search": {"tags": ("tag-3",), "search": "agent"},
    "agent, started after": {"agent": "agent-5", "started_after": START_AT + 100},
}


@pytest.fixture
def planned(db: None) -> None:
    """A store of some thousand runs, whose statistics the planner knows."""
    insert_runs()
    analyze()
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # A table of this size is read whole, and its matches sorted, faster than any index is walked. What is
            # asked here is whether the index that a large table needs is there and gives the order, so the planner
            # is kept from the other ways; where no index gives the order, it still has to sort.
            for way in ("seqscan", "bitmapscan", "sort"):
                cursor.execute(f"SET LOCAL enable_{way} = off")


def analyze() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def queries(**paging: Any) -> Iterator[tuple[str, RunQuery]]:
    for form, fields in FORMS.items():
        for sort in SORTS:
            yield f"{form} by {sort}", RunQuery(sort=sort, **fields, **paging)


def plan_of(rows: QuerySet[Any, Any]) -> list[str]:
    """Return the plan, one step a line, indentation kept."""
    explain = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
    sql, parameters = rows.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(f"{explain} {sql}", parameters)
        return [str(row[-1]) for row in cursor.fetchall()]


def faults_of(plan: list[str]) -> list[str]:
    """Return the steps that read a table whole or sort what they found."""
    steps = [step.strip().removeprefix("->").strip() for step in plan]
    if connection.vendor == "sqlite":
        whole = [step for step in steps if step.startswith("SCAN runs_") and "USING" not in step]
        return whole + [step for step in steps if "TEMP B-TREE" in step or "AUTOMATIC" in step]
    return [step for step in steps if step.startswith(("Seq Scan on", "Sort  (", "Incremental Sort", "Hash", "Unique"))]


def all_faults(found: Iterator[tuple[str, RunQuery]]) -> dict[str, list[str]]:
    faults = {name: faults_of(plan_of(walk_of(query))) for name, query in found}
    return {name: steps for name, steps in faults.items() if steps}


def test_first_pages_neither_scan_nor_sort(planned: None) -> None:
    assert all_faults(queries()) == {}


def test_pages_by_offset_neither_scan_nor_sort(planned: None) -> None:
    assert all_faults(queries(offset=100)) == {}


def test_pages_by_cursor_neither_scan_nor_sort(planned: None) -> None:
    def later_pages() -> Iterator[tuple[str, RunQuery]]:
        for name, query in queries(limit=3):
            found = fetch(query)
            if found:
                cursor = encode_list(query, position_of(query, found[-1]))
                yield name, query.model_copy(update={"cursor": cursor})

    assert all_faults(later_pages()) == {}


def test_the_queue_is_walked_from_its_oldest_and_what_is_held_is_found_by_its_own_index(planned: None) -> None:
    insert_launches()
    analyze()

    waiting, held = plan_of(WAITING[:4]), plan_of(HELD.all())

    assert (faults_of(waiting), faults_of(held)) == ([], [])
    assert any("run_status_by_started" in step for step in waiting)
    assert any("launch_held" in step for step in held)


def test_a_scan_and_a_sort_would_be_noticed(planned: None) -> None:
    unindexed = RunRecord.objects.filter(provider="x").order_by("provider", "model")

    assert faults_of(plan_of(unindexed))


RULES: dict[str, PruneRule] = {
    "all": PruneRule(ended_by=START_AT + 2_000),
    "status": PruneRule(ended_by=START_AT + 2_000, status=("failed",)),
    "project": PruneRule(ended_by=START_AT + 2_000, project="project-3"),
    "statuses, project": PruneRule(ended_by=START_AT + 2_000, status=("failed", "aborted"), project="project-3"),
}


@pytest.mark.parametrize("rule", RULES)
def test_runs_that_may_go_are_walked_from_the_oldest_end(planned: None, rule: str) -> None:
    first = plan_of(line(RULES[rule])[:100])
    later = plan_of(line(RULES[rule], ListPosition(START_AT + 500, 100))[:100])

    assert (faults_of(first), faults_of(later)) == ([], [])


def test_open_runs_of_invocations_are_found_among_open_runs(planned: None) -> None:
    plan = plan_of(with_open_runs([f"i{number}" for number in range(50)]))

    assert faults_of(plan) == []
    assert any("run_status_by" in step for step in plan)


@pytest.mark.parametrize("project", [None, "project-3"])
def test_spend_is_read_from_its_index_alone(planned: None, project: str | None) -> None:
    plan = plan_of(spends_of(START_AT + 100, START_AT + 200, project))

    assert any("run_spend" in step for step in plan)
    assert connection.vendor == "postgresql" or any("COVERING INDEX run_spend" in step for step in plan)


def test_runs_are_counted_in_an_index(planned: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"{'EXPLAIN QUERY PLAN' if connection.vendor == 'sqlite' else 'EXPLAIN'} {COUNTS}")
        plan = [str(row[-1]) for row in cursor.fetchall()]

    reads = [step for step in plan if "runs_runrecord" in step]
    assert reads
    assert all("INDEX" in step.upper() for step in reads)
