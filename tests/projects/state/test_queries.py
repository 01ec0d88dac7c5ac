"""How many queries an operation on projects needs, and what they walk."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from django.db import connection

from contract.projects import ProjectQuery
from projects.models import ProjectRecord
from projects.state import project_walk
from runs.state.projects import ACTIVITY
from tests.definitions.state.stores import CountingDB
from tests.fakes.clocks import START_AT
from tests.projects.state.stores import django_store
from tests.runs.state.records import insert_runs
from tests.runs.state.stores import DATABASE
from tests.runs.state.test_plans import analyze, faults_of, plan_of

NAMES = [f"project-{number}" for number in range(20)]


@pytest.fixture
async def counting() -> AsyncIterator[CountingDB]:
    db = CountingDB()
    yield db
    await asyncio.to_thread(db.close)


@DATABASE
async def test_a_list_is_one_query_for_projects_and_one_for_their_runs(counting: CountingDB) -> None:
    store = django_store(counting)
    for number in range(30):
        await store.runs.start(f"r{number}", project=f"p{number % 10}")
    counting.queries.clear()

    page = await store.projects.list_projects(ProjectQuery(), after=None)

    assert [project.run_count for project in page.items] == [3] * 10
    assert len(counting.queries) == 2


@DATABASE
def test_what_runs_amount_to_is_read_from_one_index_alone() -> None:
    insert_runs()
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("ANALYZE")
        else:
            # What PostgreSQL reads from an index alone it decides by what a vacuum has seen; a small table it may read
            # as a whole.
            cursor.execute("VACUUM ANALYZE runs_runrecord")
            for scan in ("seqscan", "bitmapscan"):
                cursor.execute(f"SET enable_{scan} = off")

    try:
        plan = plan_of(ACTIVITY.filter(project__in=NAMES))
    finally:
        connection.close()

    words = {"sqlite": "COVERING INDEX run_project_by_recent", "postgresql": "Index Only Scan using run_project_by_"}
    assert any(words[connection.vendor] in step for step in plan), plan


@pytest.mark.django_db
def test_a_page_walks_the_index_of_names_where_that_has_their_order() -> None:
    ProjectRecord.objects.bulk_create(
        ProjectRecord(name=f"p{number:04}", search_text=f"p{number:04}", created_at=START_AT, updated_at=START_AT)
        for number in range(2_000)
    )
    analyze()

    plan = plan_of(project_walk(ProjectQuery(), "p0500"))

    # PostgreSQL's index has the order of the database's language; there a page sorts the names.
    if connection.vendor == "sqlite":
        assert faults_of(plan) == []
