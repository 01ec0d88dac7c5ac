"""What a person decides: fire now, skip the next."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from contract.errors import Conflict, NotFound, StateUnavailable
from contract.schedules import FireSchedule, Firing
from schedules import revising
from schedules.services import firing
from tests.schedules.making import NOW
from tests.schedules.scheduler.rigs import GITHUB, Rig


async def fire(rig: Rig, **fields: Any) -> Firing:
    return await firing.fire_schedule(schedule_id="nightly", command=FireSchedule(**fields), needs=rig.needs)


async def skip(rig: Rig) -> Firing:
    return await firing.skip_next(schedule_id="nightly", needs=rig.needs)


async def test_a_person_fires_at_once_and_the_rhythm_stays() -> None:
    rig = Rig()
    rig.add()
    rig.clock.advance(10)

    fired = await fire(rig)

    assert (fired.outcome, fired.reason_code, fired.cause) == ("fired", "schedule.fired.manual", "manual")
    assert (fired.due_at, fired.decided_at) == (NOW + 10, NOW + 10)
    assert (rig.state().run_count, rig.state().next_fire_at) == (1, NOW + 60)
    assert list(rig.runs.started) == [fired.run_id]


async def test_a_disabled_schedule_can_be_fired_and_stays_disabled() -> None:
    rig = Rig()
    rig.add(enabled=False)

    assert (await fire(rig)).outcome == "fired"
    assert not rig.state().enabled


async def test_without_a_key_each_call_fires() -> None:
    rig = Rig()
    rig.add(overlap_policy="allow")

    assert (await fire(rig)).firing_id != (await fire(rig)).firing_id


async def test_the_same_key_is_the_same_firing() -> None:
    rig = Rig()
    rig.add(overlap_policy="allow")

    found = await asyncio.gather(*(fire(rig, fire_key="k") for _ in range(5)))
    again = await fire(rig, fire_key="k")

    assert {each.firing_id for each in (*found, again)} == {again.firing_id}
    assert len(rig.runs.started) == 1
    assert (await fire(rig, fire_key="other")).firing_id != again.firing_id


@pytest.mark.parametrize(
    ("fields", "done", "reason"),
    [
        ({"max_runs": 1}, {"run_count": 1}, "schedule.skipped.max_runs"),
        ({"budget_usd": 1.0}, {"spent_micros": 1_000_000}, "schedule.skipped.budget"),
        ({"budget_tokens": 5}, {"spent_tokens": 9}, "schedule.skipped.budget"),
    ],
)
async def test_caps_hold_for_a_person_as_well_unless_forced(
    fields: dict[str, Any], done: dict[str, Any], reason: str
) -> None:
    rig = Rig()
    rig.states.put(replace(rig.add(**fields), **done))

    with pytest.raises(Conflict, match="was not fired"):
        await fire(rig, fire_key="k")
    with pytest.raises(Conflict, match="was not fired"):
        await fire(rig, fire_key="k")

    (row,) = await rig.firings()
    assert (row.outcome, row.reason_code, row.run_id) == ("skipped", reason, None)
    assert not rig.state().enabled
    forced = await fire(rig, force=True)
    assert (forced.outcome, forced.reason_code) == ("fired", "schedule.fired.forced")


async def test_an_open_run_is_in_the_way_unless_forced() -> None:
    rig = Rig()
    rig.add()
    await fire(rig)

    with pytest.raises(Conflict, match="A run of the schedule was still open"):
        await fire(rig)
    await fire(rig, force=True)

    assert sorted(await rig.codes()) == ["fired.forced", "fired.manual", "skipped.overlap"]


async def test_a_person_is_not_put_off_for_room() -> None:
    rig = Rig(capacity=1)
    rig.runs.others_open = 5
    rig.add()

    assert (await fire(rig)).outcome == "fired"


async def test_the_last_run_by_hand_closes_the_schedule() -> None:
    rig = Rig()
    rig.add(max_runs=1)

    await fire(rig)

    assert (rig.state().enabled, rig.state().disabled_reason) == (False, "schedule.disabled.max_runs")


async def test_what_may_not_be_executed_is_refused_with_its_fault() -> None:
    rig = Rig()
    rig.add()
    rig.runs.refused.add("true")

    with pytest.raises(Conflict, match="is not allowed"):
        await fire(rig)

    assert await rig.codes() == ["skipped.refused"]


async def test_who_is_always_beaten_gives_up() -> None:
    rig = Rig()
    rig.add()
    rig.states.contended = True

    with pytest.raises(StateUnavailable):
        await fire(rig)
    with pytest.raises(StateUnavailable):
        await skip(rig)
    assert not rig.runs.started


async def test_what_is_not_there_is_not_found() -> None:
    with pytest.raises(NotFound):
        await fire(Rig())
    with pytest.raises(NotFound):
        await skip(Rig())


async def test_the_next_occurrence_is_dropped_and_leaves_its_row() -> None:
    rig = Rig()
    rig.add()

    dropped = await skip(rig)

    assert (dropped.outcome, dropped.reason_code, dropped.due_at) == (
        "skipped",
        "schedule.skipped.by_operator",
        NOW + 60,
    )
    assert rig.state().next_fire_at == NOW + 120
    rig.restart()
    await rig.live(120)
    assert await rig.codes() == ["skipped.by_operator", "fired.due"]


async def test_skipping_what_is_overdue_drops_everything_that_is() -> None:
    rig = Rig()
    rig.add()
    rig.clock.advance(600)

    assert (await skip(rig)).due_at == NOW + 60
    assert rig.state().next_fire_at == NOW + 660


async def test_skipping_the_only_instant_ends_the_schedule() -> None:
    rig = Rig()
    rig.add(trigger={"kind": "at", "at": NOW + 60})

    await skip(rig)

    assert rig.state().disabled_reason == "schedule.disabled.exhausted"


async def test_what_waits_for_room_can_be_skipped() -> None:
    rig = Rig(capacity=1)
    rig.runs.others_open = 1
    rig.add()
    await rig.live(60)

    await skip(rig)

    assert await rig.codes() == ["skipped.by_operator"]


async def test_where_nothing_is_next_nothing_can_be_skipped() -> None:
    rig = Rig()
    rig.states.put(revising.disabled(rig.add(), now=NOW))
    with pytest.raises(Conflict, match="it is disabled"):
        await skip(rig)

    poller = Rig()
    poller.add(trigger=GITHUB)
    with pytest.raises(Conflict, match="disable it instead"):
        await skip(poller)
