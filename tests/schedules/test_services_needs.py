"""The look-up, and the write that holds against other writers."""

from dataclasses import replace

import pytest

from contract.errors import Conflict, NotFound, StateUnavailable
from schedules.schedule import ScheduleState
from tests.schedules.scheduler.rigs import Rig


def renamed(state: ScheduleState) -> ScheduleState:
    return replace(state, description="new")


@pytest.mark.parametrize("schedule_id", ["nobody", "../x", ""])
async def test_what_is_not_there_is_not_found(schedule_id: str) -> None:
    with pytest.raises(NotFound):
        await Rig().needs.get(schedule_id)


async def test_a_check_is_made_at_an_instant() -> None:
    rig = Rig(zone="Europe/Berlin")

    assert (rig.needs.check().now, rig.needs.check().zone) == (rig.clock.now(), "Europe/Berlin")


async def test_a_revision_is_written_and_returned() -> None:
    rig = Rig()
    rig.add()

    assert (await rig.needs.revise("nightly", renamed)).description == "new"
    assert rig.state().description == "new"


async def test_the_same_schedule_is_not_written() -> None:
    rig = Rig()
    made = rig.add()

    assert await rig.needs.revise("nightly", lambda state: state) is made
    assert rig.states.calls["commit"] == 0


async def test_a_change_that_comes_between_is_kept() -> None:
    rig = Rig()
    rig.add()
    changed = [lambda: rig.states.put(replace(rig.state(), project="p", revision=1))]

    def revised(state: ScheduleState) -> ScheduleState:
        while changed:
            changed.pop()()
        return renamed(state)

    await rig.needs.revise("nightly", revised)

    assert (rig.state().project, rig.state().description) == ("p", "new")


async def test_an_older_version_is_a_conflict() -> None:
    rig = Rig()
    made = rig.add()

    with pytest.raises(Conflict, match="was changed since"):
        await rig.needs.revise("nightly", renamed, expected_updated_at=made.updated_at - 1)
    await rig.needs.revise("nightly", renamed, expected_updated_at=made.updated_at)


async def test_who_is_always_beaten_gives_up() -> None:
    rig = Rig()
    rig.add()
    rig.states.contended = True

    with pytest.raises(StateUnavailable, match="changes faster"):
        await rig.needs.revise("nightly", renamed)
