"""The operations that only look."""

import pytest

from contract import limits
from contract.errors import NotFound, ValidationFailure
from contract.parsing import parse_model
from contract.schedules import FiringQuery, ScheduleQuery
from contract.triggers import PreviewSchedule
from schedules.services import reading
from tests.schedules.making import NOW
from tests.schedules.scheduler.rigs import Rig


async def lived_in() -> Rig:
    """Return a rig whose schedule has fired once and skipped eleven times."""
    rig = Rig(capacity=4)
    rig.add(max_runs=50)
    await rig.live(12 * 60, ending=False)
    return rig


async def test_schedules_are_listed() -> None:
    rig = await lived_in()
    rig.add("another")

    page = await reading.list_schedules(query=ScheduleQuery(limit=1), needs=rig.needs)

    assert ([item.name for item in page.items], page.has_next) == (["another"], True)


async def test_a_detail_has_the_last_ten_firings() -> None:
    rig = await lived_in()

    detail = await reading.get_schedule(schedule_id="nightly", needs=rig.needs)

    assert [firing.due_at for firing in detail.firings] == [NOW + 60.0 * number for number in range(12, 2, -1)]
    assert (detail.health, detail.run_count) == ("healthy", 1)


async def test_firings_are_listed_newest_first() -> None:
    rig = await lived_in()

    page = await reading.list_firings(schedule_id="nightly", query=FiringQuery(outcome="fired"), needs=rig.needs)

    assert [firing.due_at for firing in page.items] == [NOW + 60]


async def test_what_is_not_there_is_not_found() -> None:
    needs = Rig().needs
    with pytest.raises(NotFound):
        await reading.get_schedule(schedule_id="nobody", needs=needs)
    with pytest.raises(NotFound):
        await reading.list_firings(schedule_id="nobody", query=FiringQuery(), needs=needs)
    with pytest.raises(NotFound):
        await reading.explain_schedule(schedule_id="nobody", needs=needs)


async def test_a_preview_begins_now_or_where_it_is_asked_to() -> None:
    rig = Rig(zone="Europe/Berlin")
    daily = {"kind": "cron", "expression": "0 18 * * *"}

    now = await reading.preview_schedule(query=parse_model(PreviewSchedule, {"trigger": daily}), needs=rig.needs)
    later = parse_model(PreviewSchedule, {"trigger": {"kind": "interval", "seconds": 60}, "after": 0.0, "count": 2})
    grid = await reading.preview_schedule(query=later, needs=rig.needs)

    assert (now.timezone, now.instants[0].local) == ("Europe/Berlin", "2026-01-01T18:00:00+01:00")
    assert [instant.at for instant in grid.instants] == [60.0, 120.0]


async def test_a_faulty_trigger_has_no_preview() -> None:
    query = parse_model(PreviewSchedule, {"trigger": {"kind": "cron", "expression": "0 0 30 2 *"}})

    with pytest.raises(ValidationFailure) as raised:
        await reading.preview_schedule(query=query, needs=Rig().needs)

    assert raised.value.field_errors[0].path == ("trigger", "expression")


async def test_the_bounds_are_those_of_the_contract_and_the_configuration() -> None:
    found = reading.schedule_limits(needs=Rig(capacity=7, zone="Asia/Tokyo").needs)

    assert (found.max_concurrent, found.timezone) == (7, "Asia/Tokyo")
    assert found.max_chain_depth == limits.MAX_CHAIN_DEPTH


async def test_it_is_said_why() -> None:
    rig = await lived_in()

    why = await reading.explain_schedule(schedule_id="nightly", needs=rig.needs)

    assert why.standing == "It is enabled and is due next at 2026-01-01 00:13:00+00:00."
    assert why.decisions[0] == "2026-01-01 00:12:00+00:00 (due): skipped. A run of the schedule was still open."
    assert [sentence.partition(":")[0] for sentence in why.next_depends_on] == ["Overlap", "Runs", "Capacity"]
