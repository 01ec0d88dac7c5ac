"""Commits that start runs or record their ends, and what is published, over both stores."""

from dataclasses import replace

import pytest

from schedules.services.ports import SCHEDULES_TOPIC, Commit, FiringEnd
from tests.fakes.clocks import START_AT
from tests.schedules.state.stores import Store, changed, schedule, skipped


async def test_what_queues_a_run_and_fails_undoes_the_call(store: Store) -> None:
    def refuse(_: float) -> tuple[str, ...]:
        raise LookupError("there is no queue")

    first, second = await store.add(schedule("a"), schedule("b"))
    draft = store.fired(second)
    assert draft.run is not None
    failing = replace(draft, run=replace(draft.run, queue=refuse))

    with pytest.raises(LookupError):
        await store.port.commit(
            [
                Commit(schedules=(changed(first, run_count=1),), firings=(skipped(first),)),
                Commit(schedules=(changed(second, run_count=1),), firings=(failing,)),
            ]
        )

    assert await store.port.every() == (first, second)
    assert await store.firing_ids(first) == []


async def test_an_end_is_recorded_once(store: Store) -> None:
    state = await store.made()
    state = await store.decide(state, store.fired(state, "1", "f1"), store.fired(state, "2", "f2"), skipped(state, "3"))

    assert await store.end(state, "f1")
    state = await store.get(state.schedule_id)
    assert not await store.end(state, "f1", "f2", status="failed")
    assert not await store.end(state, "nightly-3", status="failed")
    assert not await store.end(state, "f2", "f2", status="failed")

    assert [(firing.firing_id, firing.run_status) for firing in (await store.firings(state)).items] == [
        ("nightly-3", None), ("f2", None), ("f1", "completed")
    ]  # fmt: skip
    assert await store.get(state.schedule_id) == state
    assert await store.open_ids() == ["f2"]


async def test_ends_and_what_follows_on_them_are_one_commit(store: Store) -> None:
    state = await store.made()
    state = await store.decide(state, store.fired(state, "1", "f1"), store.fired(state, "2", "f2"))
    chained = store.fired(state, "chain:f1", "f3", cause="chain", depth=1, parent_run_id="run-f1", root_firing_id="f1")

    assert await store.write(
        changed(state, spent_micros=5),
        firings=(chained,),
        ends=(FiringEnd(firing_id="f1", run_status="completed"), FiringEnd(firing_id="f2", run_status="failed")),
    )

    (left,) = await store.port.open_firings()
    assert (left.firing_id, left.depth, left.root_firing_id, left.run_id) == ("f3", 1, "f1", "run-f3")
    assert (await store.get(state.schedule_id)).spent_micros == 5


async def test_a_removed_schedule_takes_its_firings_along_and_no_others(store: Store) -> None:
    gone, stays = await store.add(schedule("a"), schedule("b"))
    gone, stays = await store.decide(gone, store.fired(gone)), await store.decide(stays, store.fired(stays))

    assert await store.write((gone, None))

    assert await store.port.find(gone.schedule_id) is None
    assert (await store.firings(gone)).items == ()
    assert await store.open_ids() == ["b-due:1"]
    again = await store.made("a")
    assert again.revision == 0
    assert await store.firing_ids(again) == []


# ---- what is published


async def test_a_schedule_that_may_be_due_sooner_is_published(store: Store) -> None:
    state = await store.made()
    assert store.feed.published == [SCHEDULES_TOPIC]
    later = await store.change(state, next_fire_at=START_AT + 90, run_count=1)
    off = await store.change(later, enabled=False)
    assert store.feed.published == [SCHEDULES_TOPIC]

    on = await store.change(off, enabled=True)
    assert store.feed.published == [SCHEDULES_TOPIC] * 2
    sooner = await store.change(on, next_fire_at=START_AT + 89)
    assert store.feed.published == [SCHEDULES_TOPIC] * 3

    assert await store.write((sooner, None))
    assert not await store.write((sooner, None))
    assert store.feed.published == [SCHEDULES_TOPIC] * 3


async def test_what_a_queued_run_changes_is_published(store: Store) -> None:
    state = await store.made()
    store.feed.published.clear()

    await store.decide(state, store.fired(state, "1", "f1"), store.fired(state, "2", "f2"))

    assert set(store.feed.published) == {"run run-f1", "run run-f2", "launches"}
