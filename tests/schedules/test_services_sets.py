"""All schedules at once: paused and resumed, applied and exported."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from contract.errors import Conflict, StateUnavailable, ValidationFailure
from contract.schedule_sets import ApplyResult, ApplySchedules
from contract.schedules import ScheduleSpec
from schedules import revising
from schedules.services import sets
from schedules.services.ports import Commit
from tests.schedules.making import NOW, spec
from tests.schedules.scheduler.rigs import Rig

AT = {"kind": "at", "at": NOW + 60}


async def apply(rig: Rig, *specs: ScheduleSpec, **fields: Any) -> ApplyResult:
    return await sets.apply_schedules(command=ApplySchedules(schedules=specs, **fields), needs=rig.needs)


def steps(result: ApplyResult) -> dict[str, str]:
    return {planned.name: planned.step for planned in result.plan}


async def test_a_pause_ends_in_exactly_what_it_began_with() -> None:
    rig = Rig()
    rig.add("a")
    rig.add("b")
    rig.add("off", enabled=False)

    paused = await sets.pause_schedules(needs=rig.needs)
    again = await sets.pause_schedules(needs=rig.needs)
    await rig.live(600)
    assert not rig.states.kept
    resumed = await sets.resume_schedules(needs=rig.needs)

    assert [(each.changed, each.paused) for each in (paused, again, resumed)] == [(2, 2), (0, 2), (2, 0)]
    assert {name: state.enabled for name, state in rig.states.schedules.items()} == {"a": True, "b": True, "off": False}
    assert rig.state("a").next_fire_at == NOW + 660


async def test_a_firing_beside_a_pause_is_no_obstacle() -> None:
    rig = Rig()
    for number in range(5):
        rig.add(f"s{number}")
    rig.clock.advance(60)

    result, _ = await asyncio.gather(sets.pause_schedules(needs=rig.needs), rig.round())

    assert result.paused == 5
    assert not any(state.enabled for state in rig.states.schedules.values())


async def test_who_is_always_beaten_gives_up() -> None:
    rig = Rig()
    rig.add()
    rig.states.contended = True

    with pytest.raises(StateUnavailable):
        await sets.pause_schedules(needs=rig.needs)
    with pytest.raises(StateUnavailable):
        await apply(rig)


async def test_a_set_is_made_all_there_is() -> None:
    rig = Rig()
    rig.add("kept")
    rig.add("changed")
    rig.add("dropped")

    result = await apply(rig, spec(name="kept"), spec(name="changed", max_runs=3), spec(name="made", enabled=False))

    assert steps(result) == {"changed": "update", "dropped": "disable", "kept": "unchanged", "made": "create"}
    assert result.applied
    assert rig.state("changed").max_runs == 3
    assert rig.state("dropped").disabled_reason == "schedule.disabled.dropped"
    assert rig.state("kept").revision == 0
    assert {state.name: state.enabled for state in rig.states.schedules.values()} == {
        "kept": True, "changed": True, "dropped": False, "made": False,
    }  # fmt: skip


async def test_a_plan_alone_changes_nothing() -> None:
    rig = Rig()
    rig.add("dropped")

    result = await apply(rig, spec(name="made"), dry_run=True)

    assert (steps(result), result.applied) == ({"dropped": "disable", "made": "create"}, False)
    assert list(rig.states.schedules) == ["dropped"]
    assert rig.states.calls["commit"] == 0


async def test_enabling_and_disabling_by_a_set() -> None:
    rig = Rig()
    rig.add("on", enabled=False)
    rig.add("off")

    await apply(rig, spec(name="on"), spec(name="off", enabled=False))

    assert (rig.state("on").enabled, rig.state("on").next_fire_at) == (True, NOW + 60)
    assert (rig.state("off").enabled, rig.state("off").disabled_reason) == (False, None)


async def test_what_has_no_instant_any_more_is_over_though_a_set_enables_it() -> None:
    rig = Rig()
    rig.states.put(revising.disabled(rig.add("once", trigger=AT), now=NOW))
    rig.clock.advance(600)

    await apply(rig, spec(name="once", trigger=AT))

    assert rig.state("once").disabled_reason == "schedule.disabled.exhausted"
    assert steps(await apply(rig, spec(name="once", trigger=AT))) == {"once": "unchanged"}


async def test_what_is_exported_and_applied_changes_nothing_whatever_has_passed_since() -> None:
    rig = Rig()
    rig.add("once", trigger=AT)
    rig.add("gone", action={"kind": "command", "command": ["gone"]})
    rig.add("paused")
    await rig.live(120)
    rig.runs.refused.add("gone")
    await sets.pause_schedules(needs=rig.needs)
    written = rig.states.calls["commit"]

    exported = await sets.export_schedules(needs=rig.needs)
    result = await apply(rig, *exported.schedules)

    assert [each.name for each in exported.schedules] == ["gone", "once", "paused"]
    assert set(steps(result).values()) == {"unchanged"}
    assert rig.states.calls["commit"] == written


async def test_every_fault_of_a_set_is_told_and_nothing_is_stored() -> None:
    rig = Rig()
    rig.runs.refused.add("bad")
    bad = {"kind": "command", "command": ["bad"]}
    never = {"kind": "cron", "expression": "0 0 30 2 *"}

    with pytest.raises(ValidationFailure) as raised:
        await apply(rig, spec(name="a"), spec(name="b", trigger=never, action=bad), spec(name="a"))

    assert {failure.path for failure in raised.value.field_errors} == {
        ("schedules", 1, "trigger", "expression"),
        ("schedules", 1, "action", "command", 0),
        ("schedules", 2, "name"),
    }
    assert not rig.states.schedules


async def test_a_changed_field_is_checked_and_an_unchanged_one_is_not() -> None:
    rig = Rig()
    rig.add("a")
    rig.runs.refused.add("true")

    await apply(rig, spec(name="a", max_runs=3))

    with pytest.raises(ValidationFailure):
        await apply(rig, spec(name="a", action={"kind": "command", "command": ["true", "x"]}))


async def test_a_name_that_somebody_takes_meanwhile_is_looked_at_again() -> None:
    rig = Rig()

    async def taken() -> None:
        other = replace(revising.created(spec(name="made"), schedule_id="theirs", zone="UTC", now=NOW))
        await rig.states.commit([Commit(schedules=((None, other),))])

    result, _ = await asyncio.gather(apply(rig, spec(name="made", max_runs=2)), taken())

    assert [state.name for state in rig.states.schedules.values()] == ["made"]
    assert rig.state("theirs").max_runs == 2
    assert steps(result) == {"made": "update"}


async def test_a_conflict_is_raised_where_it_stays() -> None:
    rig = Rig()
    rig.states.failing, rig.states.fault = "commit", Conflict("schedule", None, "x", "there is one already")

    with pytest.raises(StateUnavailable):
        await apply(rig, spec(name="made"))
