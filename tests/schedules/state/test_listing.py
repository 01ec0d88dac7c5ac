"""Lists of schedules and of firings, over both stores."""

from dataclasses import replace
from typing import Any

import pytest

from contract.errors import ValidationFailure
from contract.schedules import FiringQuery, ScheduleQuery, ScheduleSummary
from contract.triggers import AtTrigger, GithubPollTrigger, IntervalTrigger
from schedules.schedule import PollState
from tests.fakes.clocks import START_AT
from tests.schedules.state.stores import Store, changed, deferred, schedule, skipped

NAMES = ["B", "Z", "a", "b", "b ", "ba", "zz", "Ä", "é", "ﬁne", "🜁"]


async def test_a_summary_says_what_its_schedule_is(store: Store) -> None:
    state = await store.made(
        trigger=IntervalTrigger(seconds=90), description="d", project="p", max_runs=3, budget_micros=1_500_000,
        budget_tokens=9, run_count=2, spent_micros=250_000, spent_tokens=4, last_fired_at=START_AT - 5,
        last_run_id="r1", last_run_status="completed", disabled_reason="schedule.disabled.budget", paused=True,
    )  # fmt: skip

    (item,) = (await store.page()).items

    same = set(ScheduleSummary.model_fields) - {"health", "action_kind", "budget_usd", "spent_usd"}
    assert {name: getattr(item, name) for name in same} == {name: getattr(state, name) for name in same}
    assert (item.health, item.action_kind, item.budget_usd, item.spent_usd) == ("healthy", "command", 1.5, 0.25)


async def test_a_summary_is_as_good_as_a_validated_one(store: Store) -> None:
    await store.made()

    (item,) = (await store.page()).items

    again = ScheduleSummary.model_validate(item.model_dump())
    assert item == again
    assert item.model_dump_json() == again.model_dump_json()
    assert item.model_copy(update={"name": "x"}).name == "x"


@pytest.mark.parametrize(
    ("fields", "health"),
    [
        ({"enabled": False}, "disabled"),
        ({"poll": PollState(failures=3)}, "poller_failing"),
        ({"next_fire_at": START_AT - 121}, "overdue"),
        ({"last_run_status": "timed_out"}, "failing"),
        ({}, "never_fired"),
        ({"last_fired_at": START_AT}, "healthy"),
    ],
)
async def test_health_is_that_of_the_instant(store: Store, fields: dict[str, Any], health: str) -> None:
    await store.made(**fields)

    (item,) = (await store.page(START_AT)).items

    assert item.health == health


async def test_names_are_in_the_order_of_their_characters_everywhere(store: Store) -> None:
    await store.add(*(schedule(name) for name in reversed(NAMES)))

    assert await store.names() == NAMES
    assert [state.name for state in await store.port.every()] == NAMES


async def test_filters_narrow_a_list(store: Store) -> None:
    await store.add(
        schedule("Nightly look", project="p"),
        schedule("weekly", enabled=False, project="p"),
        schedule("prs", trigger=GithubPollTrigger(repository="o/r", poll_interval_seconds=60), project="P"),
        schedule("once STRASSE", trigger=AtTrigger(at=START_AT)),
    )

    assert await store.names(enabled=False) == ["weekly"]
    assert await store.names(enabled=True, project="p") == ["Nightly look"]
    assert await store.names(trigger="github_poll") == ["prs"]
    assert await store.names(search="LY") == ["Nightly look", "weekly"]
    assert await store.names(search="straße") == ["once STRASSE"]
    assert await store.names(search="%") == []
    assert await store.names(search="y l", trigger="at") == []
    assert await store.names(project="nothing") == []


@pytest.mark.parametrize("limit", [1, 3, 11, 12])
async def test_pages_by_cursor_walk_the_whole_list_once(store: Store, limit: int) -> None:
    await store.add(*(schedule(name) for name in NAMES), schedule("other", enabled=False))

    page = await store.page(limit=limit, enabled=True)
    found = [item.name for item in page.items]
    while page.next_cursor is not None:
        page = await store.page(limit=limit, enabled=True, cursor=page.next_cursor)
        found += [item.name for item in page.items]

    assert found == NAMES
    assert not page.has_next


async def test_a_page_by_offset_says_whether_more_come(store: Store) -> None:
    await store.add(*(schedule(name) for name in NAMES))

    page = await store.page(offset=9, limit=1)
    last = await store.page(offset=10, limit=1)

    assert ([item.name for item in page.items], page.has_next, page.offset, page.limit) == (["ﬁne"], True, 9, 1)
    assert ([item.name for item in last.items], last.has_next, last.next_cursor) == (["🜁"], False, None)
    assert await store.names(offset=100) == []


async def test_a_cursor_neither_repeats_nor_skips_while_the_list_changes(store: Store) -> None:
    states = await store.add(*(schedule(name) for name in "bcd"))
    page = await store.page(limit=2)

    await store.made("a")
    await store.made("cc")
    assert await store.write((states[1], None))

    assert await store.names(cursor=page.next_cursor) == ["cc", "d"]


async def test_the_cursor_of_the_longest_name_can_be_given_back(store: Store) -> None:
    first, second = "\x01" * 200, "🜁" * 200
    await store.add(schedule(first, schedule_id="1"), schedule(second, schedule_id="2"), schedule("🜂"))

    page = await store.page(limit=1)
    following = await store.page(limit=1, cursor=page.next_cursor)
    last = await store.page(limit=1, cursor=following.next_cursor)

    assert [page.items[0].name, following.items[0].name, last.items[0].name] == [first, second, "🜂"]


async def test_a_cursor_of_another_list_is_refused(store: Store) -> None:
    state = await store.made("a")
    await store.made("b")
    await store.decide(state, skipped(state, "1"), skipped(state, "2"))
    schedules, firings = (await store.page(limit=1)).next_cursor, (await store.firings(state, limit=1)).next_cursor

    for query in (
        ScheduleQuery(cursor=schedules, enabled=True),
        ScheduleQuery(cursor=schedules, search="a"),
        ScheduleQuery(cursor=firings),
        ScheduleQuery(cursor="x"),
        ScheduleQuery(cursor=schedules, offset=1),
    ):
        with pytest.raises(ValidationFailure):
            await store.port.page(query, now=START_AT)
    for schedule_id, wanted in (
        ("other", FiringQuery(cursor=firings)),
        (state.schedule_id, FiringQuery(cursor=firings, outcome="fired")),
        (state.schedule_id, FiringQuery(cursor=schedules)),
        (state.schedule_id, FiringQuery(cursor=firings, offset=1)),
    ):
        with pytest.raises(ValidationFailure):
            await store.port.firings(schedule_id, wanted)


# ---- firings


async def test_firings_are_newest_decision_first(store: Store) -> None:
    state = await store.made()
    instants = {"early": 5.0, "late": 30.5, "middle": 20.0}
    for name, at in instants.items():
        state = await store.decide(state, skipped(state, name, name, decided_at=START_AT + at))

    assert await store.firing_ids(state) == ["late", "middle", "early"]


@pytest.mark.parametrize("limit", [1, 2, 3])
async def test_firings_of_one_instant_are_walked_once(store: Store, limit: int) -> None:
    state = await store.made()
    drafts = [skipped(state, str(number), f"f{number}") for number in range(7)]
    state = await store.decide(state, *drafts[:4])
    await store.decide(state, *drafts[4:])

    page = await store.firings(state, limit=limit)
    found = [firing.firing_id for firing in page.items]
    while page.next_cursor is not None:
        page = await store.firings(state, limit=limit, cursor=page.next_cursor)
        found += [firing.firing_id for firing in page.items]

    assert found == [f"f{number}" for number in reversed(range(7))]


async def test_a_cursor_of_firings_is_not_moved_by_newer_ones(store: Store) -> None:
    state = await store.made()
    state = await store.decide(state, *(skipped(state, str(number), f"f{number}") for number in range(3)))
    page = await store.firings(state, limit=1)

    await store.decide(state, skipped(state, "new", decided_at=START_AT + 1), skipped(state, "now"))

    assert await store.firing_ids(state, cursor=page.next_cursor) == ["f1", "f0"]


async def test_firings_are_filtered_and_paged_by_offset(store: Store) -> None:
    state = await store.made()
    state = await store.decide(
        state, skipped(state, "1", "f1"), store.fired(state, "2", "f2"), deferred(state, "3", "f3"),
        store.fired(state, "4", "f4"),
    )  # fmt: skip

    assert await store.firing_ids(state, outcome="fired") == ["f4", "f2"]
    assert await store.firing_ids(state, outcome="deferred") == ["f3"]
    assert await store.firing_ids(state, offset=1, limit=2) == ["f3", "f2"]
    assert (await store.firings(replace(state, schedule_id="unknown"))).items == ()


async def test_a_change_of_another_schedule_leaves_firings_alone(store: Store) -> None:
    first, second = await store.add(schedule("a"), schedule("b"))
    await store.decide(first, skipped(first))

    assert await store.write(changed(second, enabled=False))

    assert await store.firing_ids(first) == ["a-due:1"]
    assert await store.firing_ids(second) == []
