"""What follows on the runs of schedules."""

import asyncio
from typing import Any

import pytest

from contract.errors import StateUnavailable
from contract.limits import MAX_CHAIN_DEPTH
from schedules import revising
from tests.schedules.making import NOW
from tests.schedules.scheduler.rigs import Rig


def command(program: str, **links: Any) -> dict[str, Any]:
    return {"kind": "command", "command": [program], **links}


def chain_of(length: int) -> dict[str, Any]:
    """Return an action that is followed by so many."""
    action = command(f"p{length}")
    for number in reversed(range(length)):
        action = command(f"p{number}", on_success=action)
    return action


async def rig_with(action: dict[str, Any], **fields: Any) -> Rig:
    """Return a rig whose schedule has fired; its run is open."""
    rig = Rig()
    rig.add(action=action, **fields)
    await rig.live(60, ending=False)
    return rig


FORKED = command("a", on_success=command("well"), on_fail=command("badly"))


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("completed", ["a", "well"]),
        ("failed", ["a", "badly"]),
        ("timed_out", ["a", "badly"]),
        ("cancelled", ["a"]),
        ("aborted", ["a"]),
        ("completed_empty", ["a"]),
    ],
)
async def test_what_follows_depends_on_how_the_run_has_ended(status: str, expected: list[str]) -> None:
    rig = await rig_with(FORKED)

    rig.runs.end(rig.runs.open_ids[0], status)
    await rig.settle()
    await rig.settle()

    assert rig.runs.programs == expected


async def test_a_chained_run_knows_where_it_comes_from() -> None:
    rig = await rig_with(chain_of(2), project="p")
    await rig.live(0)
    await rig.live(0)

    first, second, third = await rig.firings()
    assert [firing.depth for firing in (first, second, third)] == [0, 1, 2]
    assert (second.cause, second.parent_run_id, second.reason_code) == ("chain", first.run_id, "schedule.fired.chain")
    assert third.parent_run_id == second.run_id
    assert {run.invocation_id for run in rig.runs.started.values()} == {first.firing_id}
    assert {run.action.project for run in rig.runs.started.values()} == {"p"}


async def test_chained_runs_count_for_spend_and_failures_and_not_for_max_runs() -> None:
    rig = await rig_with(chain_of(1), max_runs=2)
    rig.runs.end(rig.runs.open_ids[0], cost_micros=5, tokens=1)
    await rig.settle()
    rig.runs.end(rig.runs.open_ids[0], "failed", cost_micros=7, tokens=2)
    await rig.settle()

    after = rig.state()
    assert (after.run_count, after.spent_micros, after.spent_tokens, after.enabled) == (1, 12, 3, True)
    assert (after.last_run_status, after.consecutive_failures) == ("completed", 1)


async def test_the_chain_of_a_schedule_that_its_last_run_has_closed_goes_on() -> None:
    rig = await rig_with(chain_of(1), max_runs=1)

    await rig.live(0)

    assert rig.runs.programs == ["p0", "p1"]
    assert not rig.state().enabled


async def test_a_chain_ends_at_the_bound() -> None:
    rig = await rig_with(chain_of(MAX_CHAIN_DEPTH))

    for _ in range(MAX_CHAIN_DEPTH + 3):
        await rig.live(0)

    assert len(rig.runs.started) == MAX_CHAIN_DEPTH + 1
    assert (await rig.firings())[-1].depth == MAX_CHAIN_DEPTH


async def test_what_was_stored_too_deep_is_stopped_visibly() -> None:
    rig = await rig_with(chain_of(MAX_CHAIN_DEPTH + 1))

    for _ in range(MAX_CHAIN_DEPTH + 3):
        await rig.live(0)

    assert len(rig.runs.started) == MAX_CHAIN_DEPTH + 1
    assert (await rig.codes())[-1] == "skipped.chain_depth"


async def test_a_spent_budget_ends_a_chain_and_leaves_a_row() -> None:
    rig = await rig_with(chain_of(1), budget_usd=1.0)

    rig.runs.end(rig.runs.open_ids[0], cost_micros=2_000_000)
    await rig.settle()

    assert await rig.codes() == ["fired.due", "skipped.budget"]


async def test_a_chained_action_that_may_not_be_executed_leaves_a_row() -> None:
    rig = await rig_with(chain_of(1))
    rig.runs.refused.add("p1")

    await rig.live(0)

    assert await rig.codes() == ["fired.due", "skipped.refused"]


async def test_a_chained_action_that_nobody_knows_leaves_a_row() -> None:
    rig = await rig_with(command("a", on_success={"kind": "tide"}))

    await rig.live(0)

    assert await rig.codes() == ["fired.due", "skipped.refused"]
    assert not await rig.states.open_firings()


async def test_several_schedulers_start_what_follows_once() -> None:
    rig = await rig_with(chain_of(1), overlap_policy="allow")
    await rig.live(240, ending=False)
    assert len(rig.runs.started) == 5

    rig.runs.end_all()
    await asyncio.gather(rig.scheduler.round(), rig.another().round(), rig.another().round())
    await rig.settle()

    assert rig.runs.programs.count("p1") == 5


@pytest.mark.parametrize("port_call", ["open_firings", "find", "commit", "earliest_due"])
async def test_a_scheduler_that_dies_on_the_way_leaves_what_follows_to_the_next(port_call: str) -> None:
    rig = await rig_with(chain_of(1))
    rig.runs.end_all()
    rig.states.failing, rig.states.fault = port_call, StateUnavailable(retryable=True, detail="killed")
    assert await rig.round() == 1.0

    rig.states.fault = None
    rig.restart()
    await rig.settle()

    assert rig.runs.programs == ["p0", "p1"]
    assert len(await rig.states.open_firings()) == 1


async def test_a_run_that_is_gone_is_recorded_and_followed_by_nothing() -> None:
    rig = await rig_with(FORKED)
    rig.runs.standing.clear()

    await rig.settle()

    (firing,) = await rig.firings()
    assert firing.run_status == "gone"
    assert rig.runs.programs == ["a"]


async def test_two_runs_that_end_at_once_are_each_followed() -> None:
    rig = await rig_with(FORKED, overlap_policy="allow")
    await rig.live(60, ending=False)
    first, second = rig.runs.open_ids

    rig.runs.end(first, "completed")
    rig.runs.end(second, "failed")
    await rig.settle()

    assert rig.runs.programs == ["a", "a", "well", "badly"]
    assert rig.state().last_run_status == "failed"


async def test_a_person_who_disables_a_schedule_lets_its_chain_end() -> None:
    rig = await rig_with(chain_of(1))
    rig.states.put(revising.disabled(rig.state(), now=NOW + 60))

    await rig.live(0)

    assert rig.runs.programs == ["p0", "p1"]
