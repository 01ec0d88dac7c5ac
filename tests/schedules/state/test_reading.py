"""What the scheduler and statistics ask, over both stores."""

import pytest

from contract.schedules import ScheduleAction
from schedules.services.ports import FiringTotals
from tests.fakes.clocks import START_AT
from tests.schedules.state.stores import DATABASE, Store, changed, deferred, schedule, skipped


async def test_what_is_due_comes_the_longest_due_first(store: Store) -> None:
    await store.add(
        schedule("late", next_fire_at=START_AT + 60.0),
        schedule("early", next_fire_at=START_AT - 5.5),
        schedule("later", next_fire_at=START_AT + 60.5),
        schedule("off", next_fire_at=START_AT, enabled=False),
        schedule("never", next_fire_at=None),
        schedule("tie", next_fire_at=START_AT + 60.0),
    )

    assert await store.due(START_AT + 60.0) == ["early", "late", "tie"]
    assert await store.due(START_AT + 60.0, limit=2) == ["early", "late"]
    assert await store.due(START_AT - 5.6) == []
    assert [state.name for state in await store.port.enabled_after(START_AT - 5.5)] == ["late", "tie", "later"]


async def test_what_is_due_is_read_whole(store: Store) -> None:
    state = await store.made(action=ScheduleAction(kind="agent", prompt="Look."), next_fire_at=START_AT)

    assert await store.port.due(now=START_AT, limit=1) == (state,)
    assert await store.port.enabled_after(0.0) == (state,)


async def test_the_earliest_instant_is_that_of_an_enabled_schedule(store: Store) -> None:
    assert await store.port.earliest_due() is None

    await store.add(
        schedule("a", next_fire_at=START_AT + 3),
        schedule("b", next_fire_at=START_AT + 2),
        schedule("off", next_fire_at=START_AT, enabled=False),
        schedule("never", next_fire_at=None),
    )

    assert await store.port.earliest_due() == START_AT + 2
    assert await store.port.earliest_due(excluding=("id-b", "id-off")) == START_AT + 3
    assert await store.port.earliest_due(excluding={"id-a", "id-b"}) is None


async def test_open_firings_come_oldest_first(store: Store) -> None:
    a, b, c = await store.add(*(schedule(name) for name in "abc"))
    b = await store.decide(b, store.fired(b, "1", "b1", decided_at=START_AT + 9), skipped(b, "2"), deferred(b, "3"))
    a = await store.decide(a, store.fired(a, "1", "a1", depth=3, root_firing_id="r0"))
    b = await store.decide(b, store.fired(b, "3", "b3"), store.fired(b, "4", "b4"))
    assert await store.end(b, "b4")

    (opened,) = await store.port.open_firings([a.schedule_id])

    assert await store.open_ids() == ["b1", "a1", "b3"]
    assert await store.open_ids(b.schedule_id, c.schedule_id) == ["b1", "b3"]
    assert await store.open_ids(c.schedule_id) == []
    assert await store.port.open_firings([]) == ()
    assert (opened.schedule_id, opened.run_id, opened.depth, opened.root_firing_id, opened.action.command) == (
        a.schedule_id, "run-a1", 3, "r0", ("look",)
    )  # fmt: skip


async def test_open_firings_of_very_many_schedules_are_found(store: Store) -> None:
    state = await store.made()
    await store.decide(state, store.fired(state, "1", "f1"))

    found = await store.port.open_firings([*(f"x{number}" for number in range(1_100)), state.schedule_id])

    assert [firing.firing_id for firing in found] == ["f1"]


async def test_totals_count_schedules_and_what_was_decided_since(store: Store) -> None:
    a, b, _ = await store.add(
        schedule("a", next_fire_at=START_AT + 7), schedule("b", next_fire_at=START_AT + 6), schedule("c", enabled=False)
    )
    a = await store.decide(
        a,
        store.fired(a, "1", "f1", due_at=START_AT - 9),
        store.fired(a, "2", "f2", due_at=START_AT - 0.5, decided_at=START_AT + 1),
        store.fired(a, "3", "f3", due_at=START_AT, decided_at=START_AT + 2.25),
        store.fired(a, "4", "f4", due_at=START_AT, decided_at=START_AT + 3, cause="manual"),
        skipped(a, "5", due_at=START_AT, decided_at=START_AT + 4),
        deferred(a, "6", due_at=START_AT, decided_at=START_AT + 5),
    )
    await store.decide(b, skipped(b, "1", decided_at=START_AT + 6))

    assert await store.port.totals(since=START_AT + 1) == FiringTotals(
        enabled=2,
        disabled=1,
        oldest_due_at=START_AT + 6,
        by_outcome={"fired": 3, "skipped": 2, "deferred": 1},
        lateness_seconds=(2.25, 1.5),
    )


async def test_totals_of_nothing_are_nothing(store: Store) -> None:
    assert await store.port.totals(since=0.0) == FiringTotals(
        enabled=0, disabled=0, oldest_due_at=None, by_outcome={}, lateness_seconds=()
    )


# ---- poisoned rows


async def test_a_poisoned_row_delays_nobody(store: Store) -> None:
    a, b, *_ = await store.add(*(schedule(name, next_fire_at=START_AT) for name in "abcd"))
    await store.poison(a.schedule_id, "trigger")
    await store.poison(b.schedule_id, "action")

    assert await store.due(limit=1) == ["c"]
    assert await store.due(limit=2) == ["c", "d"]
    assert await store.due() == ["c", "d"]
    assert [state.name for state in await store.port.every()] == ["c", "d"]
    assert [state.name for state in await store.port.enabled_after(0.0)] == ["c", "d"]
    assert await store.port.find(a.schedule_id) is None
    assert await store.port.poisoned() == (a.schedule_id, b.schedule_id)


async def test_a_list_leaves_out_what_has_no_readable_trigger_and_goes_on(store: Store) -> None:
    states = await store.add(*(schedule(name) for name in "abcd"))
    await store.poison(states[0].schedule_id, "action")
    await store.poison(states[1].schedule_id, "trigger")

    page = await store.page(limit=2)

    assert [item.name for item in page.items] == ["a"]
    assert await store.names(limit=2, cursor=page.next_cursor) == ["c", "d"]


async def test_a_poisoned_row_is_disabled_once_with_a_reason(store: Store) -> None:
    bad, good = await store.add(schedule("bad", next_fire_at=START_AT), schedule("good"))
    await store.poison(bad.schedule_id, "action")

    for state in (bad, good):
        await store.port.disable_poisoned(state.schedule_id, reason_code="schedule.disabled.poisoned", at=START_AT + 1)
    await store.port.disable_poisoned("unknown", reason_code="schedule.disabled.poisoned", at=START_AT)

    shown = {item.name: (item.enabled, item.disabled_reason, item.updated_at) for item in (await store.page()).items}
    assert shown == {"bad": (False, "schedule.disabled.poisoned", START_AT + 1), "good": (True, None, START_AT)}
    assert await store.port.poisoned() == ()
    assert await store.port.earliest_due() == good.next_fire_at
    assert not await store.write(changed(bad))


async def test_firings_of_a_poisoned_schedule_are_read_all_the_same(store: Store) -> None:
    state = await store.made()
    await store.decide(state, store.fired(state, "1", "f1"))
    await store.poison(state.schedule_id, "trigger")

    assert await store.firing_ids(state) == ["f1"]
    assert await store.open_ids() == ["f1"]


@DATABASE
async def test_an_open_firing_that_cannot_be_read_is_left_out(database: Store) -> None:
    state = await database.made()
    await database.decide(state, database.fired(state, "1", "f1"), database.fired(state, "2", "f2"))

    await database.spoil("f1", "action", "nothing")

    assert await database.open_ids() == ["f2"]


@DATABASE
@pytest.mark.parametrize("text", ["", "null", "[]", "{", '{"kind": "cron"}', "[" * 100_000, '"\\ud800"', "1e999"])
@pytest.mark.parametrize("column", ["trigger", "action", "poll_seen"])
async def test_no_text_breaks_what_is_read(database: Store, column: str, text: str) -> None:
    bad, good = await database.add(schedule("bad"), schedule("good"))
    await database.spoil(bad.schedule_id, column, text)
    harmless = (column, text) == ("poll_seen", "[]")

    assert await database.port.poisoned() == (() if harmless else (bad.schedule_id,))
    assert await database.due() == (["bad", "good"] if harmless else ["good"])
    assert good in await database.port.every()
    assert "good" in await database.names()
