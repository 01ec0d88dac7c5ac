"""Figures of a store: the same over both stores."""

from typing import Any

import pytest
from django.db import connection

from runs.services.statistics import Figures
from runs.spending import Spend
from tests.builders import status, usage
from tests.fakes.clocks import START_AT
from tests.runs.state.launches import worker
from tests.runs.state.stores import DATABASE, Store

DAY = 86_400.0


async def figures(store: Store, **window: Any) -> Figures:
    whole = {"since": 0.0, "until": START_AT + DAY, "project": None}
    return await store.stats.figures(**whole | window)


def spends(found: Figures) -> dict[str | None, Spend]:
    return {spend.project: spend for spend in found.spends}


async def test_an_empty_store_counts_nothing(store: Store) -> None:
    found = await figures(store)

    assert (sum(found.runs_by_status.values()), found.spends) == (0, ())
    assert (found.queue.queued, found.queue.held, found.queue.oldest_queued_at) == (0, 0, None)


async def test_every_run_is_counted_once(store: Store) -> None:
    for end in ("completed", "completed", "completed_empty", "failed", "timed_out", "aborted", "cancelled"):
        run_id = f"{end}-{len(await store.ids())}"
        await store.start(run_id)
        await store.record(run_id, status(end))
    await store.start("running")
    await store.queue("queued")

    counts = (await figures(store)).runs_by_status

    assert {name: count for name, count in counts.items() if count} == {
        "completed": 2, "completed_empty": 1, "failed": 1, "timed_out": 1, "aborted": 1, "cancelled": 1,
        "running": 1, "queued": 1,
    }  # fmt: skip


async def test_spend_is_summed_up_by_project_and_the_unknown_is_counted_apart(store: Store) -> None:
    await store.start("a", project="p")
    await store.record("a", usage(0.1, input_tokens=1), usage(0.2, output_tokens=5))
    await store.start("b", project="p")
    await store.record("b", usage(None, input_tokens=2))
    await store.start("c", project="p")
    await store.start("d")

    found = spends(await figures(store))

    assert found == {
        "p": Spend(
            project="p",
            runs=3,
            cost_micros=300_000,
            input_tokens=3,
            output_tokens=5,
            runs_without_cost=2,
            runs_without_tokens=1,
        ),
        None: Spend(project=None, runs=1, runs_without_cost=1, runs_without_tokens=1),
    }


@pytest.mark.parametrize(
    ("window", "runs"),
    [
        ({}, 3),
        ({"since": START_AT + 1}, 2),
        ({"until": START_AT + 2}, 2),
        ({"since": START_AT + 1, "until": START_AT + 2}, 1),
        ({"since": START_AT + 3}, 0),
        ({"project": "p1"}, 1),
        ({"project": "nothing"}, 0),
    ],
)
async def test_a_window_is_of_starts(store: Store, window: dict[str, Any], runs: int) -> None:
    for number in range(3):
        await store.start(f"r{number}", project=f"p{number}", started_at=START_AT + number)

    assert sum(spend.runs for spend in (await figures(store, **window)).spends) == runs


async def test_what_has_not_started_spent_nothing(store: Store) -> None:
    await store.queue("r")

    assert (await figures(store)).spends == ()


async def test_the_queue_is_what_waits_and_what_is_held(store: Store) -> None:
    await store.queue("a")
    store.clock.advance(5)
    await store.queue("b")
    await store.queue("c")
    await store.claim(limit=1, owner=worker())

    queue = (await figures(store)).queue

    assert (queue.queued, queue.held, queue.oldest_queued_at) == (2, 1, START_AT + 5)


async def test_a_run_that_nobody_launched_waits_for_no_worker(store: Store) -> None:
    await store.start("r")

    assert (await figures(store)).queue.queued == 0


@DATABASE
async def test_the_store_has_a_size(database: Store) -> None:
    await database.start("r")

    found = (await figures(database)).store

    assert found.vendor == connection.vendor
    assert found.database_bytes > 0
    assert (found.wal_bytes is not None, found.free_bytes is not None) == (connection.vendor == "sqlite",) * 2
