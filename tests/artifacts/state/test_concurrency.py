"""Many who record the same artifact at once, and what the hot path costs."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from django.db import connection
from django.test.utils import CaptureQueriesContext

from artifacts.models import ArtifactRecord
from artifacts.state import _get, walk_of
from contract.artifacts import ArtifactListQuery
from tests.artifacts.state.stores import DATABASE, INVOCATION, RUN, Shop
from tests.builders import artifact
from tests.runs.state.test_plans import analyze, faults_of, plan_of

pytestmark = DATABASE
T = TypeVar("T")


async def read(shop: Shop, work: Callable[[], T]) -> T:
    """Run a function in a thread whose connection is closed with the shop."""
    assert shop.db is not None
    return await shop.db.read(work)


async def test_the_same_artifact_recorded_fifty_times_at_once_is_one_row(database: Shop) -> None:
    saves = (database.save("n", content=number, at=float(number)) for number in range(25))
    events = (database.runs.record("r", artifact("n", kind="k", content=number)) for number in range(25))

    saved, _ = await asyncio.gather(asyncio.gather(*saves), asyncio.gather(*events))

    found = await database.artifacts.list_artifacts(RUN, ArtifactListQuery(), after=0)
    assert [item.name for item in found.items] == ["n"]
    assert {each.id for each in saved} == {found.items[0].artifact_id}


async def test_the_same_artifact_of_an_invocation_is_one_row(database: Shop) -> None:
    saves = [database.save("n", owner=INVOCATION, content=number) for number in range(20)]

    assert len({saved.id for saved in await asyncio.gather(*saves)}) == 1


async def test_metadata_is_one_query_by_an_index(database: Shop) -> None:
    for number in range(50):
        await database.save(f"n{number}")
    saved = await database.save("wanted")

    def looked_up() -> tuple[int, list[str]]:
        with CaptureQueriesContext(connection) as queries:
            assert _get(saved.id) is not None
        return len(queries), plan_of(ArtifactRecord.objects.filter(artifact_id=saved.id).values("name"))

    count, plan = await read(database, looked_up)
    assert count == 1
    assert connection.vendor != "sqlite" or any("USING INDEX" in step for step in plan)


async def test_lists_walk_an_index_in_their_order(database: Shop) -> None:
    for number in range(50):
        await database.save(f"n{number}")
        await database.save(f"n{number}", owner=INVOCATION)

    def planned() -> list[str]:
        analyze()
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                for way in ("seqscan", "bitmapscan", "sort"):
                    cursor.execute(f"SET enable_{way} = off")
        walks = [walk_of(owner, ArtifactListQuery(kind=kind), 3) for owner in (RUN, INVOCATION) for kind in (None, "k")]
        return [fault for walk in walks for fault in faults_of(plan_of(walk))]

    assert await read(database, planned) == []
