"""A schedule that something is wrong with, and a store that does not answer: neither delays anybody else."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from contract.errors import StateUnavailable
from contract.triggers import CronTrigger
from schedules.schedule import ScheduleState
from tests.fakes.scheduled_runs import RUNS_TOPIC
from tests.fakes.turns import until_idle
from tests.schedules.scheduler.rigs import Rig

AWAY = StateUnavailable(retryable=True, detail="away")
UNSTORABLE = StateUnavailable(retryable=False, detail="the database cannot be used")


def program(name: str, **links: Any) -> dict[str, Any]:
    return {"kind": "command", "command": [name], **links}


def rig_with_two(action: dict[str, Any] | None = None) -> Rig:
    """Return a rig with a healthy schedule and one that is called `bad`."""
    rig = Rig()
    rig.add("good", overlap_policy="allow")
    rig.add("bad", overlap_policy="allow", action=action or program("bad"))
    return rig


def is_closed(state: ScheduleState) -> bool:
    return (state.enabled, state.disabled_reason) == (False, "schedule.disabled.poisoned")


@pytest.mark.parametrize("column", ["trigger", "action"])
async def test_a_row_that_cannot_be_read_is_disabled_and_delays_nobody(column: str) -> None:
    rig = rig_with_two()
    rig.states.poison("bad", column)
    rig.clock.advance(60)

    await rig.round()
    assert await rig.codes("good") == ["fired.due"]
    await rig.settle()

    assert is_closed(rig.state("bad"))
    assert await rig.settle() == 30.0


async def test_a_row_that_cannot_be_read_is_disabled_though_others_wait_for_room() -> None:
    rig = Rig(capacity=1)
    rig.runs.others_open = 1
    rig.add("waiting")
    rig.add("bad")
    rig.states.poison("bad")
    rig.clock.advance(60)

    await rig.settle()

    assert is_closed(rig.state("bad"))
    assert await rig.codes("waiting") == ["deferred.capacity"]


@pytest.mark.parametrize("expression", ["0 0 30 2 *", "0 0 31 4 *", "every full moon"])
async def test_an_instant_that_never_comes_disables_its_schedule_and_delays_nobody(expression: str) -> None:
    rig = rig_with_two()
    rig.states.put(replace(rig.state("bad"), trigger=CronTrigger(expression=expression)))

    await rig.live(180)

    assert await rig.codes("good") == ["fired.due"] * 3
    assert is_closed(rig.state("bad"))
    assert not await rig.firings("bad")


async def test_a_schedule_that_nobody_can_decide_for_is_disabled() -> None:
    rig = rig_with_two()
    rig.runs.faults["bad"] = RuntimeError("unforeseen")

    await rig.live(120)

    assert await rig.codes("good") == ["fired.due"] * 2
    assert is_closed(rig.state("bad"))


@pytest.mark.parametrize("fault", [RuntimeError("unforeseen"), UNSTORABLE])
async def test_a_decision_that_cannot_be_kept_disables_its_schedule(fault: Exception) -> None:
    rig = rig_with_two()
    rig.runs.faults["queue:bad"] = fault

    await rig.live(120)

    assert await rig.codes("good") == ["fired.due"] * 2
    assert is_closed(rig.state("bad"))
    assert rig.state("bad").run_count == 0


@pytest.mark.parametrize("fault", ["after", "queue:after"])
async def test_an_end_is_recorded_though_nobody_can_start_what_follows(fault: str) -> None:
    rig = rig_with_two(program("bad", on_success=program("after")))
    rig.runs.faults[fault] = RuntimeError("unforeseen")

    await rig.live(120)

    assert [firing.run_status for firing in await rig.firings("bad")] == ["completed"]
    assert await rig.codes("good") == ["fired.due"] * 2
    assert is_closed(rig.state("bad"))


@pytest.mark.parametrize("port_call", ["due", "open_firings", "commit", "earliest_due", "enabled_after"])
async def test_a_store_that_is_away_is_asked_again(port_call: str) -> None:
    rig = rig_with_two()
    rig.clock.advance(60)
    rig.states.failing, rig.states.fault = port_call, AWAY

    assert await rig.round() == 1.0
    rig.states.fault = None
    await rig.settle()

    assert len(rig.runs.started) == 2


@pytest.mark.parametrize("fault", [AWAY, UNSTORABLE, RuntimeError("unforeseen")])
async def test_nothing_ends_the_scheduler(fault: Exception) -> None:
    rig = rig_with_two()
    rig.clock.advance(60)
    rig.states.fault = fault

    assert await rig.round() == 1.0


@pytest.mark.parametrize("program_of", ["good", "true"])
async def test_what_is_away_while_one_is_decided_for_disables_nobody(program_of: str) -> None:
    rig = rig_with_two(program("good"))
    rig.runs.faults[program_of] = AWAY
    rig.clock.advance(60)

    assert await rig.round() == 1.0
    rig.runs.faults.clear()
    await rig.settle()

    assert len(rig.runs.started) == 2


async def test_what_is_away_while_an_end_is_followed_up_disables_nobody() -> None:
    rig = rig_with_two(program("bad", on_success=program("after")))
    await rig.live(60, ending=False)
    rig.runs.end_all()
    rig.runs.faults["after"] = AWAY

    assert await rig.round() == 1.0
    rig.runs.faults.clear()
    await rig.settle()

    assert rig.runs.programs[-1] == "after"


async def test_the_running_scheduler_is_woken_by_what_changes() -> None:
    rig = Rig()
    woken = rig.feed.subscribe(RUNS_TOPIC)
    life = asyncio.create_task(rig.scheduler.run())
    await until_idle()
    rig.clock.advance(60)

    made = replace(rig.add(), next_fire_at=rig.clock.now())
    rig.states.put(made)
    rig.feed.publish(["schedules"])
    assert await woken.wait(10)
    rig.runs.end_all()
    while (await rig.firings())[0].run_status is None:
        await until_idle()

    life.cancel()
    await asyncio.wait([life])
    woken.close()
    assert not rig.feed.topics
