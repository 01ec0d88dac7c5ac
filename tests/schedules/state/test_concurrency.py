"""Races on the real database: several writers side by side, each with connections of its own, as processes have."""

import asyncio
from collections import Counter
from dataclasses import replace

from contract.errors import Conflict
from schedules.schedule import ScheduleState
from schedules.services.ports import Commit, FiringEnd
from tests.fakes.clocks import START_AT
from tests.fakes.turns import outcome_of
from tests.schedules.state.conftest import WRITERS
from tests.schedules.state.stores import DATABASE, Store, changed, deferred, schedule

SCHEDULES = 20

pytestmark = DATABASE


async def many(store: Store, count: int = SCHEDULES) -> tuple[ScheduleState, ...]:
    return await store.add(*(schedule(f"{number:02}") for number in range(count)))


def firing(store: Store, writer: int, states: tuple[ScheduleState, ...]) -> list[Commit]:
    """Fire all of these, each in a commit of its own; half of the writers go through them from the end."""
    commits = [
        Commit(
            schedules=(changed(state, run_count=state.run_count + 1),),
            firings=(store.fired(state, "due:1", f"{state.name} by {writer}"),),
        )
        for state in states
    ]
    return commits if writer % 2 else commits[::-1]


async def test_of_schedulers_that_fire_the_same_slots_exactly_one_wins_each(writers: list[Store]) -> None:
    states = await many(writers[0])

    results = await asyncio.gather(
        *(store.port.commit(firing(store, writer, states)) for writer, store in enumerate(writers))
    )

    queued = [run_id for store in writers for run_id, _ in store.queued]
    fired = [found for state in states for found in (await writers[0].firings(state)).items]
    assert sum(map(sum, results)) == SCHEDULES
    assert sorted(queued) == sorted(found.run_id or "" for found in fired)
    assert Counter(found.schedule_id for found in fired) == Counter(state.schedule_id for state in states)
    assert {state.run_count for state in await writers[0].port.every()} == {1}


async def test_a_slot_is_decided_once_even_by_those_who_look_again(writers: list[Store]) -> None:
    await many(writers[0], 3)

    async def insist(store: Store, writer: int) -> int:
        won = 0
        for schedule_id in ("id-00", "id-01", "id-02"):
            made = False
            while not made and await store.port.find_firing(schedule_id, "due:1") is None:
                state = await store.get(schedule_id)
                made = await store.write(
                    changed(state), firings=(store.fired(state, "due:1", f"{state.name} by {writer}"),)
                )
            won += made
        return won

    wins = await asyncio.gather(*(insist(store, writer) for writer, store in enumerate(writers)))

    assert sum(wins) == 3
    assert len(await writers[0].port.open_firings()) == 3


async def test_of_a_manual_fire_an_edit_and_a_removal_none_is_lost_and_none_is_made_on_what_has_changed(
    writers: list[Store],
) -> None:
    states = await many(writers[0])

    fired, edited, removed = await asyncio.gather(
        writers[0].port.commit(firing(writers[0], 0, states)[::-1]),
        writers[1].port.commit([Commit(schedules=(changed(state, description="new"),)) for state in states]),
        writers[2].port.commit([Commit(schedules=((state, None),)) for state in states[::-1]]),
    )

    left = {state.schedule_id: state for state in await writers[0].port.every()}
    for state, was_fired, was_edited, was_removed in zip(states, fired, edited, removed[::-1], strict=True):
        assert was_fired + was_edited + was_removed == 1
        assert (state.schedule_id in left) is not was_removed
        assert len(await writers[0].firing_ids(state)) == was_fired
    assert sum(state.description == "new" for state in left.values()) == sum(edited)


async def test_commits_of_several_schedules_in_any_order_do_not_block_each_other(writers: list[Store]) -> None:
    await many(writers[0])

    async def turn_all(store: Store, order: int) -> int:
        made = 0
        while made < 3:
            states = (await store.port.every())[::order]
            made += await store.write(*(changed(state, run_count=state.run_count + 1) for state in states))
        return made

    await asyncio.gather(*(turn_all(store, order) for store, order in zip(writers, (1, -1, 1, -1), strict=True)))

    assert {(state.run_count, state.revision) for state in await writers[0].port.every()} == {(12, 12)}


async def test_of_racing_names_one_is_given(writers: list[Store]) -> None:
    outcomes = await asyncio.gather(
        *(
            outcome_of(writers[number % WRITERS].add(schedule("a", schedule_id=f"id-{number}")))
            for number in range(WRITERS * 3)
        )
    )

    refused = [outcome for outcome in outcomes if isinstance(outcome, Conflict)]
    assert len(refused) == WRITERS * 3 - 1
    assert {outcome.actual for outcome in refused} == {"a"}
    assert len(await writers[0].port.every()) == 1


async def test_an_end_is_recorded_once_whoever_saw_it(writers: list[Store]) -> None:
    states = await many(writers[0])
    for state in states:
        await writers[0].decide(state, writers[0].fired(state, "1", f"f-{state.name}"))
    states = await writers[0].port.every()

    results = await asyncio.gather(
        *(
            store.port.commit(
                [
                    Commit(
                        schedules=(changed(state, spent_micros=5),),
                        ends=(FiringEnd(firing_id=f"f-{state.name}", run_status="completed"),),
                    )
                    for state in states[::order]
                ]
            )
            for store, order in zip(writers, (1, -1, 1, -1), strict=True)
        )
    )

    assert sum(map(sum, results)) == SCHEDULES
    assert await writers[0].port.open_firings() == ()


async def test_ends_without_their_schedules_are_recorded_once_as_well(writers: list[Store]) -> None:
    state = await writers[0].made()
    await writers[0].decide(state, *(writers[0].fired(state, str(number), f"f{number:02}") for number in range(30)))
    ends = [FiringEnd(firing_id=f"f{number:02}", run_status="failed") for number in range(30)]

    results = await asyncio.gather(
        *(
            store.port.commit([Commit(schedules=(), ends=(end,)) for end in ends[::order]])
            for store, order in zip(writers, (1, -1, 1, -1), strict=True)
        )
    )

    assert sum(map(sum, results)) == 30


async def test_of_those_who_decide_what_was_deferred_one_does(writers: list[Store]) -> None:
    states = await many(writers[0])
    for state in states:
        await writers[0].decide(state, deferred(state))
    states = await writers[0].port.every()

    results = await asyncio.gather(
        *(store.port.commit(firing(store, writer, states)) for writer, store in enumerate(writers))
    )

    assert sum(map(sum, results)) == SCHEDULES
    assert [len(await writers[0].firing_ids(state)) for state in states] == [1] * SCHEDULES
    assert len(await writers[0].port.open_firings()) == SCHEDULES


async def test_a_poisoned_row_that_is_mended_meanwhile_is_not_disabled(writers: list[Store]) -> None:
    state = await writers[0].made()
    await writers[0].poison(state.schedule_id, "trigger")
    (found,) = await writers[1].port.poisoned()
    await writers[0].spoil(state.schedule_id, "trigger", state.trigger.model_dump_json())

    await writers[1].port.disable_poisoned(found, reason_code="schedule.disabled.poisoned", at=START_AT)

    assert await writers[0].get(state.schedule_id) == replace(state, enabled=True)
