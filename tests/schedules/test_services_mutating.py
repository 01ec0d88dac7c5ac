"""Creating, changing, enabling and removing one schedule."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from contract.errors import Conflict, NotFound, StateUnavailable, ValidationFailure
from contract.parsing import parse_model
from contract.schedules import (
    CreateSchedule,
    DeleteSchedule,
    PatchSchedule,
    ScheduleDeleted,
    ScheduleResult,
    SetScheduleEnabled,
)
from schedules import revising
from schedules.services import mutating
from tests.fakes.clocks import SequentialIds
from tests.fakes.turns import outcome_of
from tests.schedules.making import NOW, spec
from tests.schedules.scheduler.rigs import Rig


async def create(rig: Rig, **fields: Any) -> ScheduleResult:
    command = parse_model(CreateSchedule, spec(**fields).model_dump())
    return await mutating.mutate_schedule(command=command, needs=rig.needs)


async def patch(rig: Rig, expected: float | None = None, **changes: Any) -> ScheduleResult:
    at = rig.state().updated_at if expected is None else expected
    raw = {"schedule_id": "nightly", "expected_updated_at": at, "changes": changes}
    return await mutating.mutate_schedule(command=parse_model(PatchSchedule, raw), needs=rig.needs)


async def enable(rig: Rig, enabled: bool = True, **fields: Any) -> ScheduleResult:
    command = SetScheduleEnabled(schedule_id="nightly", enabled=enabled, **fields)
    return await mutating.mutate_schedule(command=command, needs=rig.needs)


async def delete(rig: Rig, **fields: Any) -> ScheduleDeleted:
    return await mutating.delete_schedule(schedule_id="nightly", command=DeleteSchedule(**fields), needs=rig.needs)


async def test_a_schedule_is_created_and_fires() -> None:
    rig = Rig()

    result = await create(rig)

    assert (result.name, result.enabled, result.next_fire_at) == ("nightly", True, NOW + 60)
    await rig.live(60)
    assert await rig.codes(result.schedule_id) == ["fired.due"]


async def test_nothing_is_stored_of_what_is_faulty() -> None:
    rig = Rig()
    rig.runs.refused.add("true")

    with pytest.raises(ValidationFailure) as raised:
        await create(rig, trigger={"kind": "cron", "expression": "0 0 31 4 *"})

    assert {failure.path[0] for failure in raised.value.field_errors} == {"trigger", "action"}
    assert not rig.states.schedules


async def test_a_name_is_given_once() -> None:
    rig = Rig()
    await create(rig)

    with pytest.raises(Conflict, match="there is a schedule nightly already"):
        await create(rig)


async def test_an_id_that_is_taken_by_chance_is_tried_again_by_the_caller() -> None:
    rig = Rig()
    rig.states.put(replace(rig.add("other"), schedule_id=SequentialIds().new_id()))

    with pytest.raises(StateUnavailable):
        await create(rig)


async def test_a_patch_changes_what_is_given() -> None:
    rig = Rig()
    rig.add()

    result = await patch(rig, max_runs=5)

    assert (rig.state().max_runs, rig.state().next_fire_at) == (5, NOW + 60)
    assert result.updated_at == rig.state().updated_at > NOW


async def test_an_empty_patch_changes_nothing_at_all() -> None:
    rig = Rig()
    made = rig.add()

    await patch(rig)

    assert rig.state() is made


async def test_a_patch_on_an_older_version_is_a_conflict() -> None:
    rig = Rig()
    rig.add()
    before = rig.state().updated_at
    await patch(rig, max_runs=5)

    with pytest.raises(Conflict):
        await patch(rig, expected=before, max_runs=6)


async def test_faults_of_a_patch_are_below_its_changes() -> None:
    rig = Rig()
    rig.add()

    with pytest.raises(ValidationFailure) as raised:
        await patch(rig, trigger={"kind": "cron", "expression": "61 * * * *"})

    assert raised.value.field_errors[0].path == ("changes", "trigger", "expression")


async def test_a_firing_between_is_no_conflict() -> None:
    rig = Rig()
    expected = rig.add().updated_at
    await rig.live(60)

    await patch(rig, expected=expected, description="d")

    assert (rig.state().description, rig.state().run_count) == ("d", 1)


async def test_disabling_and_enabling_replays_nothing() -> None:
    rig = Rig()
    rig.add()

    assert (await enable(rig, False)).next_fire_at is None
    await rig.live(600)
    assert not rig.states.kept
    assert (await enable(rig)).next_fire_at == NOW + 660
    written = rig.states.calls["commit"]
    await enable(rig)
    assert rig.states.calls["commit"] == written


@pytest.mark.parametrize(
    ("fields", "done", "detail"),
    [
        ({"max_runs": 2}, {"run_count": 2}, "has started all of its 2 runs: raise max_runs"),
        ({"budget_usd": 1.0}, {"spent_micros": 1_000_000}, "the budget of schedule nightly is spent"),
        ({"trigger": {"kind": "at", "at": NOW + 1}}, {}, "will never be due again"),
    ],
)
async def test_what_would_be_closed_at_once_is_not_enabled(
    fields: dict[str, Any], done: dict[str, Any], detail: str
) -> None:
    rig = Rig()
    made = rig.add(**fields)
    rig.states.put(replace(revising.disabled(made, now=NOW), **done))
    rig.clock.advance(120)

    with pytest.raises(Conflict, match=detail):
        await enable(rig)

    assert not rig.state().enabled


async def test_enabling_on_an_older_version_is_a_conflict() -> None:
    rig = Rig()
    rig.add()

    with pytest.raises(Conflict):
        await enable(rig, False, expected_updated_at=NOW - 1)


async def test_what_is_deleted_leaves_no_firings_and_its_runs() -> None:
    rig = Rig()
    rig.add()
    await rig.live(60)

    assert (await delete(rig)).cancelled_runs == ()

    assert not rig.states.schedules
    assert not rig.states.kept
    assert len(rig.runs.started) == 1
    with pytest.raises(NotFound):
        await delete(rig)


async def test_open_runs_keep_a_schedule_unless_they_are_to_be_cancelled() -> None:
    rig = Rig()
    rig.add()
    await rig.live(60, ending=False)

    with pytest.raises(Conflict, match="has open runs: run-"):
        await delete(rig)
    result = await delete(rig, cancel_runs=True)

    assert list(result.cancelled_runs) == list(rig.runs.cancelled) == rig.runs.open_ids
    assert set(rig.runs.cancelled.values()) == {"schedule nightly was deleted"}


async def test_a_schedule_that_fires_while_it_is_deleted_is_looked_at_again() -> None:
    rig = Rig()
    rig.add(overlap_policy="allow")
    rig.clock.advance(60)

    deleted, _ = await asyncio.gather(outcome_of(delete(rig)), rig.round())

    assert isinstance(deleted, ScheduleDeleted | Conflict)
    assert bool(rig.states.schedules) is isinstance(deleted, Conflict)
    assert isinstance(deleted, Conflict) is bool(rig.runs.started)
