"""Removal against those who write at the same time, on the real database: no live run is lost, none is half there."""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from django.db import connection
from django.db.models import Count

from contract.base import Page
from contract.errors import StateUnavailable
from contract.runs import InvocationQuery, InvocationSummary
from runs.models import InvocationRecord, RunRecord
from runs.retention import PruneRule
from runs.state.removing import BELONGINGS
from tests.builders import artifact, graph, messages, status, usage
from tests.builders import signal as node_signal
from tests.fakes.clocks import START_AT
from tests.fakes.turns import outcome_of
from tests.runs.state.dying import dying_removals
from tests.runs.state.records import ask
from tests.runs.state.stores import DATABASE, Store, django_store

WRITERS = 6
ROUNDS = 15
ALL = PruneRule(ended_by=START_AT + 1_000)

pytestmark = DATABASE


@pytest.fixture
async def writers() -> AsyncIterator[list[Store]]:
    """Several stores over one empty database: each writes through a lane of its own, as a process does."""
    stores = [django_store() for _ in range(WRITERS)]
    yield stores
    await asyncio.gather(*(asyncio.to_thread(store.close) for store in stores))


async def ended(store: Store, run_id: str, **fields: str) -> None:
    await store.start(run_id, **fields)
    await store.record(run_id, status("completed"))


async def removed(store: Store) -> frozenset[str]:
    found = await store.removal.candidates(ALL, after=None, limit=100)
    return (await store.removal.remove(ALL, [run.number for run in found])).run_ids


async def invocations(store: Store) -> Page[InvocationSummary]:
    return await store.invocations.list_invocations(InvocationQuery(limit=100))


async def test_a_run_that_is_started_in_an_invocation_is_never_without_it(writers: list[Store]) -> None:
    first, *others = writers
    for number in range(ROUNDS):
        await ended(first, f"old-{number}", invocation_id=f"i{number}")

    for number in range(ROUNDS):
        outcomes = await asyncio.gather(
            removed(first),
            *(
                outcome_of(store.start(f"new-{number}-{at}", invocation_id=f"i{number}"))
                for at, store in enumerate(others)
            ),
        )
        assert not [outcome for outcome in outcomes if isinstance(outcome, BaseException)]

    page = await invocations(first)
    assert {found.invocation_id: found.open_run_count for found in page.items} == {
        f"i{number}": len(others) for number in range(ROUNDS)
    }


async def test_who_records_into_a_run_that_goes_is_told_that_it_is_gone_or_was_in_time(writers: list[Store]) -> None:
    first, second, *_ = writers
    for number in range(ROUNDS):
        await ended(first, f"r{number}")

    for number in range(ROUNDS):
        found = await first.removal.candidates(ALL, after=None, limit=1)
        _, recorded = await asyncio.gather(
            first.removal.remove(ALL, [run.number for run in found]),
            outcome_of(second.writes.record_events(f"r{number}", messages(2), at=START_AT)),
        )
        assert not isinstance(recorded, BaseException)

    assert await ask(_orphans) == 0


async def test_what_several_remove_at_once_goes_once(writers: list[Store]) -> None:
    for number in range(60):
        await ended(writers[0], f"r{number}", invocation_id=f"i{number % 7}")

    outcomes = await asyncio.gather(*(outcome_of(removed(store)) for store in writers))

    gone = [run_ids for run_ids in outcomes if isinstance(run_ids, frozenset)]
    assert not [fault for fault in outcomes if isinstance(fault, BaseException)]
    assert sum(map(len, gone)) == len(frozenset[str]().union(*gone)) == 60
    assert await ask(lambda: (RunRecord.objects.count(), InvocationRecord.objects.count())) == (0, 0)


async def test_a_process_that_is_killed_in_the_middle_leaves_whole_runs_only(database: Store, tmp_path: Path) -> None:
    whole = {}
    for number in range(12):
        run_id = f"r{number}"
        await database.start(run_id, tags=("a",), invocation_id=f"i{number // 2}")
        await database.record(run_id, *messages(5), node_signal(), usage(1.0), graph(), artifact(), status("failed"))
        whole[run_id] = await database.detail(run_id)

    deaths = 0
    async with dying_removals(connection.settings_dict, tmp_path) as die:
        while await die(deaths + 1) == -signal.SIGKILL:
            deaths += 1
            left = await database.ids(limit=100)
            assert {run_id: await database.detail(run_id) for run_id in left} == {
                run_id: whole[run_id] for run_id in left
            }
            assert await ask(_orphans) == 0

    assert await database.ids() == []
    assert deaths > len(BELONGINGS)


async def test_a_removal_that_the_store_refuses_removes_nothing(database: Store) -> None:
    await ended(database, "r")

    database.kept.fault = StateUnavailable(retryable=True)
    with pytest.raises(StateUnavailable):
        await removed(database)

    assert await database.ids() == ["r"]


def _orphans() -> int:
    """Count rows that belong to no run, and invocations without any."""
    runs = RunRecord.objects.all()
    rows = [model._default_manager.exclude(run__in=runs.values("id")).count() for model in BELONGINGS]
    empty = InvocationRecord.objects.annotate(runs=Count("runrecord")).filter(runs=0)
    return sum(rows) + empty.count()
