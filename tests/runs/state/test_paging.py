"""Walking lists page by page: a total order, and cursors that neither repeat nor skip."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from contract.base import Page
from contract.runs import InvocationQuery, RunQuery, RunSort, RunSummary
from tests.builders import message, status, usage
from tests.runs.state.stores import Store

# As reported: 119 runs of one instant, read in pages of 13.
COUNT = 119
PAGE = 13
FORMS: dict[str, dict[str, Any]] = {
    "all": {},
    "one filter": {"project": "x"},
    "statuses": {"status": ("running", "completed")},
    "one tag": {"tags": ("even",)},
    "any tag": {"tags": ("even", "odd"), "tags_match": "any"},
    "all tags": {"tags": ("even", "every")},
    "search": {"search": "RUN"},
}
EACH_SORT = pytest.mark.parametrize("sort", ["recent", "started", "cost"])


async def filled(store: Store, count: int = COUNT) -> list[str]:
    """Register runs at one instant and return their ids, newest first."""
    for number in range(count):
        await store.start(f"r{number}", project="x", name="a run", tags=("every", ("even", "odd")[number % 2]))
    return [f"r{number}" for number in reversed(range(count))]


async def pages(store: Store, **query: Any) -> AsyncIterator[Page[RunSummary]]:
    """Walk a list by its cursors."""
    cursor: str | None = None
    while True:
        page = await store.page(cursor=cursor, limit=PAGE, **query)
        yield page
        cursor = page.next_cursor
        assert page.has_next == (cursor is not None)
        if cursor is None:
            return


async def walked(store: Store, **query: Any) -> list[str]:
    return [run.run_id async for page in pages(store, **query) for run in page.items]


@EACH_SORT
async def test_a_cursor_walk_shows_each_run_of_one_instant_once(store: Store, sort: RunSort) -> None:
    expected = await filled(store)
    even = [run_id for run_id in expected if int(run_id[1:]) % 2 == 0]

    walks = {form: await walked(store, sort=sort, **query) for form, query in FORMS.items()}

    assert walks == {form: even if form in ("one tag", "all tags") else expected for form in FORMS}


async def test_an_offset_walk_shows_each_run_of_one_instant_once(store: Store) -> None:
    await filled(store)

    for query in FORMS.values():
        found: list[str] = []
        for offset in range(0, COUNT + PAGE, PAGE):
            found += await store.ids(offset=offset, limit=PAGE, **query)

        assert found == await walked(store, **query)


async def test_walking_back_by_offset_shows_the_same_pages(store: Store) -> None:
    expected = await filled(store)

    found = [await store.ids(offset=offset, limit=PAGE) for offset in reversed(range(0, COUNT, PAGE))]

    assert [run_id for page in reversed(found) for run_id in page] == expected


async def test_runs_inserted_between_pages_make_others_neither_repeat_nor_vanish(store: Store) -> None:
    await filled(store, 40)

    for form, query in FORMS.items():
        expected = await walked(store, **query)
        found: list[str] = []
        async for page in pages(store, **query):
            new = f"{form.replace(' ', '-')}.{len(found)}"
            found += [run.run_id for run in page.items]
            await store.start(new, project="x", name="a run", tags=("every", "even"))

        assert found == expected


async def test_a_run_that_changes_while_others_walk_moves_to_the_front_and_is_not_shown_twice(store: Store) -> None:
    expected = await filled(store, 30)
    first = await store.page(limit=10)
    store.clock.advance(1)
    await store.record("r29", message())

    second = await store.page(limit=100, cursor=first.next_cursor)

    assert [run.run_id for run in (*first.items, *second.items)] == expected
    assert (await store.ids(limit=1)) == ["r29"]


async def test_a_cursor_serves_when_its_run_is_not_in_the_list_any_more(store: Store) -> None:
    expected = await filled(store, 20)
    page = await store.page(limit=10, status=("running",))
    await store.record(expected[9], status("completed"))

    rest = await store.ids(limit=20, status=("running",), cursor=page.next_cursor)

    assert rest == expected[10:]


async def test_cost_cursors_go_on_through_known_free_and_unknown(store: Store) -> None:
    for number in range(40):
        await store.start(f"r{number}")
        cost_usd = {0: None, 1: 0.0, 2: 0.25, 3: 1e-6}[number % 4]
        await store.record(f"r{number}", usage(cost_usd))

    found = await walked(store, sort="cost")

    assert found == await store.ids(sort="cost", limit=40)
    assert len(set(found)) == 40


async def test_instants_of_full_precision_survive_the_cursor(store: Store) -> None:
    for number in range(30):
        await store.start(f"r{number}")
        store.clock.advance(0.1 + number * 1e-7)

    assert len(await walked(store)) == 30


async def test_an_offset_beyond_the_end_is_an_empty_page(store: Store) -> None:
    await filled(store, 3)

    page = await store.page(offset=10_000_000, limit=PAGE)

    assert (page.items, page.has_next, page.offset) == ((), False, 10_000_000)


async def test_a_page_that_ends_with_the_list_has_no_next(store: Store) -> None:
    await filled(store, 2 * PAGE)

    last = await store.page(offset=PAGE, limit=PAGE)

    assert len(last.items) == PAGE
    assert not last.has_next


async def test_offset_and_limit_are_said_back(store: Store) -> None:
    await filled(store, 30)

    page = await store.reads.list_runs(RunQuery(offset=4, limit=5))

    assert (page.offset, page.limit, len(page.items), page.has_next) == (4, 5, 5, True)


@pytest.mark.parametrize("kind", [None, "flow"])
async def test_invocations_of_one_instant_are_walked_once_each(store: Store, kind: str | None) -> None:
    for number in range(30):
        await store.start(f"r{number}", invocation_id=f"i{number}", kind=("agent", "flow")[number % 2])

    found: list[str] = []
    cursor: str | None = None
    while True:
        query = InvocationQuery(kind=kind, limit=4, cursor=cursor)
        page = await store.invocations.list_invocations(query)
        found += [item.invocation_id for item in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break

    assert found == [f"i{number}" for number in reversed(range(30)) if kind is None or number % 2]
