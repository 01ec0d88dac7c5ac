"""What becomes of due schedules: fired once, on the grid, under policies and caps."""

import asyncio
from dataclasses import replace

import pytest

from contract.schedules import DeleteSchedule, FireSchedule
from schedules.services import firing, mutating
from tests.fakes.turns import outcome_of
from tests.schedules.making import NOW
from tests.schedules.scheduler.rigs import Rig

AT = {"kind": "at", "at": NOW + 60}
EVERY_TWO_SECONDS = {"kind": "interval", "seconds": 2}


def once(second: int = 60) -> dict[str, object]:
    return {"kind": "at", "at": NOW + second}


async def test_a_due_schedule_fires_once_and_is_due_again_on_its_grid() -> None:
    rig = Rig()
    rig.add()

    await rig.live(59.9)
    assert not rig.runs.started
    await rig.live(0.2)

    (fired,) = await rig.firings()
    assert (fired.due_at, fired.outcome, fired.reason_code) == (NOW + 60, "fired", "schedule.fired.due")
    (run,) = rig.runs.started.values()
    assert (run.firing_id, run.invocation_id, run.name) == (fired.firing_id, fired.firing_id, "nightly")
    after = rig.state()
    assert (after.next_fire_at, after.run_count, after.last_run_id) == (NOW + 120, 1, fired.run_id)
    assert after.last_run_status == "completed"


async def test_the_scheduler_sleeps_until_the_earliest_instant_and_never_long() -> None:
    rig = Rig()
    assert await rig.settle() == 30.0
    rig.add("later", trigger=once(3_600))
    assert await rig.settle() == 30.0
    rig.add("soon", trigger=once(7))

    assert await rig.settle() == 7.0


async def test_instants_keep_their_grid_whatever_runs_take() -> None:
    rig = Rig()
    rig.add(overlap_policy="allow")

    for _ in range(100):
        rig.clock.advance(7)
        await rig.round()

    assert [kept.draft.due_at - NOW for kept in rig.states.kept] == [60.0 * number for number in range(1, 12)]
    assert all(kept.draft.decided_at - kept.draft.due_at < 7 for kept in rig.states.kept)


async def test_what_is_due_at_the_same_instant_fires_in_one_look() -> None:
    rig = Rig()
    for number in range(120):
        rig.add(f"s{number:03}")
    rig.clock.advance(60)

    await rig.round()

    assert len(rig.runs.started) == 120
    assert rig.states.calls["commit"] == 3, "they are decided in batches"


async def test_while_a_run_is_open_the_next_is_skipped() -> None:
    rig = Rig()
    rig.add()

    await rig.live(180, ending=False)
    rig.runs.end_all()
    await rig.live(60)

    assert await rig.codes() == ["fired.due", "skipped.overlap", "skipped.overlap", "fired.due"]


async def test_where_overlap_is_allowed_nothing_is_skipped() -> None:
    rig = Rig()
    rig.add(overlap_policy="allow")

    await rig.live(180, ending=False)

    assert await rig.codes() == ["fired.due"] * 3


async def test_the_last_run_that_is_allowed_closes_the_schedule() -> None:
    rig = Rig()
    rig.add(max_runs=2)

    await rig.live(600)

    assert len(rig.runs.started) == 2
    after = rig.state()
    assert (after.enabled, after.disabled_reason, after.next_fire_at) == (False, "schedule.disabled.max_runs", None)


@pytest.mark.parametrize("order", [0, 1])
async def test_fired_by_hand_and_due_at_the_same_instant_max_runs_holds(order: int) -> None:
    rig = Rig()
    rig.add(max_runs=1, overlap_policy="allow")
    rig.clock.advance(60)

    both = (
        rig.round(),
        outcome_of(firing.fire_schedule(schedule_id="nightly", command=FireSchedule(), needs=rig.needs)),
    )
    await asyncio.gather(*both[:: -1 if order else 1])
    await rig.settle()

    assert len(rig.runs.started) == 1
    assert not rig.state().enabled


async def test_a_spent_budget_disables_with_a_reason() -> None:
    rig = Rig()
    rig.add(budget_usd=1.0, overlap_policy="allow")
    await rig.live(60, ending=False)
    (run_id,) = rig.runs.open_ids

    rig.runs.report(run_id, cost_micros=1_000_000)
    await rig.live(60, ending=False)

    assert await rig.codes() == ["fired.due", "skipped.budget"]
    assert rig.state().disabled_reason == "schedule.disabled.budget"
    assert rig.state().spent_micros is None, "what an open run has reported is recorded when it ends"
    rig.runs.end(run_id, cost_micros=1_200_000, tokens=10)
    await rig.settle()
    assert (rig.state().spent_micros, rig.state().spent_tokens) == (1_200_000, 10)


async def test_spent_tokens_disable_as_well() -> None:
    rig = Rig()
    rig.add(budget_tokens=100)
    await rig.live(60, ending=False)

    rig.runs.end(rig.runs.open_ids[0], tokens=100)
    await rig.live(60)

    assert await rig.codes() == ["fired.due", "skipped.budget"]


async def test_without_room_a_slot_waits_and_fires_when_there_is_room() -> None:
    rig = Rig(capacity=2)
    for name in ("a", "b", "c"):
        rig.add(name, trigger=once())
    await rig.live(61, ending=False)
    assert await rig.codes("c") == ["deferred.capacity"]
    written = rig.states.calls["commit"]

    pause = await rig.settle()
    await rig.live(300, ending=False)
    assert rig.states.calls["commit"] == written, "a deferral is recorded once"
    assert pause == 1.0
    assert rig.state("c").next_fire_at == NOW + 60
    rig.runs.end(rig.runs.open_ids[0])
    await rig.settle()

    (fired,) = await rig.firings("c")
    assert (fired.reason_code, fired.due_at, fired.decided_at) == ("schedule.fired.due", NOW + 60, NOW + 361)


async def test_what_waits_for_room_keeps_nobody_else_from_its_decision() -> None:
    rig = Rig(capacity=1)
    rig.runs.others_open = 1
    rig.add("waiting", trigger=once())
    await rig.live(60)
    rig.add("over", trigger=once(120), max_runs=1)
    rig.states.put(replace(rig.state("over"), run_count=1))

    await rig.live(60)

    assert await rig.codes("waiting") == ["deferred.capacity"]
    assert await rig.codes("over") == ["skipped.max_runs"]


async def test_instants_that_pass_while_a_slot_waits_for_room_are_missed() -> None:
    rig = Rig(capacity=1)
    rig.runs.others_open = 1
    rig.add(overlap_policy="allow")
    await rig.live(600)

    rig.runs.others_open = 0
    await rig.live(30)

    assert await rig.codes() == ["fired.due", "skipped.missed", "fired.due"]
    told = [firing.reason_summary for firing in await rig.firings()]
    assert told == [None, "8 instants were missed", None]


async def test_an_action_that_may_not_be_executed_any_more_is_skipped_with_its_fault() -> None:
    rig = Rig()
    rig.add()
    rig.runs.refused.add("true")

    await rig.live(120)

    assert await rig.codes() == ["skipped.refused", "skipped.refused"]
    assert "is not allowed" in ((await rig.firings())[0].reason_summary or "")
    assert rig.state().enabled


async def test_a_single_instant_is_over_when_it_has_fired() -> None:
    rig = Rig()
    rig.add(trigger=AT)

    await rig.live(120)

    assert await rig.codes() == ["fired.due"]
    assert rig.state().disabled_reason == "schedule.disabled.exhausted"


async def test_what_is_disabled_never_fires() -> None:
    rig = Rig()
    rig.add(enabled=False)

    await rig.live(600)

    assert not rig.states.kept


async def test_a_fast_schedule_leaves_a_row_for_each_instant_and_nothing_else() -> None:
    rig = Rig()
    rig.add(trigger=EVERY_TWO_SECONDS)

    await rig.live(1_200)

    assert len(rig.runs.started) == 600
    slots = [kept.draft.slot for kept in rig.states.kept]
    assert slots == [f"due:{NOW + 2.0 * number!r}" for number in range(1, 601)]
    assert rig.state().run_count == 600
    assert not await rig.states.open_firings()
    assert not rig.scheduler._deferred


async def test_two_schedulers_fire_each_instant_once() -> None:
    rig = Rig()
    other = rig.another()
    for number in range(60):
        rig.add(f"s{number:03}", trigger=EVERY_TWO_SECONDS)

    for _ in range(10):
        rig.clock.advance(2)
        await asyncio.gather(rig.scheduler.round(), other.round())
        rig.runs.end_all()
        await asyncio.gather(rig.scheduler.round(), other.round())

    assert len(rig.runs.started) == 600
    assert {state.run_count for state in rig.states.schedules.values()} == {10}


async def test_an_edit_between_look_and_decision_is_not_overwritten() -> None:
    rig = Rig()
    rig.add()
    rig.clock.advance(60)

    await asyncio.gather(
        rig.round(),
        mutating.delete_schedule(schedule_id="nightly", command=DeleteSchedule(cancel_runs=True), needs=rig.needs),
    )
    await rig.settle()

    assert not rig.states.schedules
    assert not rig.states.kept
    assert set(rig.runs.cancelled) == set(rig.runs.open_ids)
