"""Races on the real database: several writers side by side, each with connections of its own."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from contract.errors import Conflict
from contract.projects import ProjectDeleted, ProjectSummary
from tests.fakes.turns import outcome_of
from tests.projects.state.stores import Store, django_store
from tests.runs.state.stores import DATABASE

WRITERS = 4
ROUNDS = 6

pytestmark = DATABASE


@pytest.fixture
async def writers() -> AsyncIterator[list[Store]]:
    """Several stores over one empty database: each writes through a lane of its own, as a process does."""
    stores = [django_store() for _ in range(WRITERS)]
    yield stores
    await asyncio.gather(*(store.close() for store in stores))


async def test_of_racing_creations_one_wins(writers: list[Store]) -> None:
    outcomes = await asyncio.gather(
        *(outcome_of(writers[number % WRITERS].create("shop", path=f"/{number}")) for number in range(8))
    )

    made = [outcome for outcome in outcomes if isinstance(outcome, ProjectSummary)]
    assert Counter(type(outcome) for outcome in outcomes) == {ProjectSummary: 1, Conflict: 7}
    assert await writers[0].found("shop") == made[0]


async def test_first_runs_that_come_together_make_one_project(writers: list[Store]) -> None:
    starts = (writers[number % WRITERS].runs.start(f"r{number}", project="shop") for number in range(8))
    queues = (writers[number % WRITERS].queue(f"q{number}", "shop") for number in range(4))

    await asyncio.gather(*starts, *queues)

    assert await writers[0].names() == ["shop"]
    assert (await writers[0].found("shop")).run_count == 12


@pytest.mark.parametrize("launched", [False, True], ids=["recorded", "launched"])
async def test_a_run_that_comes_while_its_project_is_renamed_is_in_a_project(
    writers: list[Store], launched: bool
) -> None:
    for number in range(ROUNDS):
        old, new = f"old-{number}", f"new-{number}"
        await writers[0].create(old)
        runs = [f"r{number}-{part}" for part in range(3)]
        begin = writers[1].queue if launched else writers[1].start

        await asyncio.gather(writers[0].patch(old, name=new), *(begin(run_id, old) for run_id in runs))

        labels = await writers[0].labels(*runs)
        # Each went along with the rename, or came after it and made the old name anew: none has a label without a row.
        assert set(labels) <= {old, new}
        for label in {*labels, new}:
            assert label is not None
            assert (await writers[0].found(label)).run_count == labels.count(label)


async def test_a_run_is_never_assigned_to_a_project_that_goes(writers: list[Store]) -> None:
    for number in range(ROUNDS):
        name, run_id = f"p{number}", f"r{number}"
        await writers[0].create(name)
        await writers[0].runs.start(run_id)

        assigned, deleted = await asyncio.gather(
            outcome_of(writers[1].assign(name, run_id)),
            outcome_of(writers[2].projects.delete_project(name, detach=False)),
        )

        (label,) = await writers[0].labels(run_id)
        if isinstance(deleted, ProjectDeleted):
            assert (assigned, label) == (None, None)
        else:
            assert isinstance(deleted, Conflict)
            assert (assigned, label) == (1, name)


async def test_a_detached_project_leaves_no_run_that_came_meanwhile(writers: list[Store]) -> None:
    for number in range(ROUNDS):
        name = f"p{number}"
        await writers[0].runs.start(f"r{number}", project=name)

        await asyncio.gather(
            writers[1].projects.delete_project(name, detach=True),
            writers[2].runs.start(f"s{number}", project=name),
        )

        first, second = await writers[0].labels(f"r{number}", f"s{number}")
        # The later one was detached as well, or it made the project anew for itself.
        assert (first, second) == (None, second)
        assert (await writers[0].names(search=name) == [name]) is (second == name)


async def test_of_racing_changes_with_one_expectation_one_wins(writers: list[Store]) -> None:
    made = await writers[0].create("shop")

    outcomes = await asyncio.gather(
        *(
            outcome_of(writers[number].patch("shop", path=f"/{number}", expected_updated_at=made.updated_at))
            for number in range(WRITERS)
        )
    )

    assert Counter(type(outcome) for outcome in outcomes) == {ProjectSummary: 1, Conflict: WRITERS - 1}


async def test_projects_that_swap_runs_end_in_one_of_both(writers: list[Store]) -> None:
    runs = [f"r{number}" for number in range(10)]
    for name in ("a", "b"):
        await writers[0].create(name)
    for run_id in runs:
        await writers[0].runs.start(run_id)

    await asyncio.gather(writers[1].assign("a", *runs), writers[2].assign("b", *reversed(runs)))

    labels = await writers[0].labels(*runs)
    assert len(set(labels)) == 1
