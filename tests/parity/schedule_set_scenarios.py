"""What is done to all schedules of a store at once: paused, resumed, exported, and made those of a set."""

from pathlib import Path

from contract.application import StudioApplication
from contract.errors import ValidationFailure
from contract.schedule_sets import ApplyResult, ApplySchedules
from contract.schedules import ScheduleQuery, ScheduleSpec
from contract.triggers import CronTrigger, IntervalTrigger
from tests.parity.catalogue import lonely_scenario
from tests.parity.run_scenarios import places
from tests.parity.schedule_scenarios import ACTION, YEARLY, create, enable
from tests.parity.witness import refused


def steps_of(result: ApplyResult, own: str) -> dict[str, str]:
    """Return what is done with each schedule whose name begins so."""
    return {step.name: step.step for step in result.plan if step.name.startswith(own)}


@lonely_scenario
async def pause_of_all_ends_with_what_was_enabled_before(studio: StudioApplication, own: str, _: Path) -> None:
    await create(studio, f"{own} 1")
    await create(studio, f"{own} 2", enabled=False)
    by_hand = await create(studio, f"{own} 3")

    paused = await studio.pause_schedules()
    again = await studio.pause_schedules()
    await studio.list_schedules(ScheduleQuery(search=own))
    await enable(studio, by_hand, enabled=False)
    resumed = await studio.resume_schedules()
    found = await studio.list_schedules(ScheduleQuery(search=own))

    assert (paused.changed, again.changed, again.paused) == (paused.paused, 0, paused.paused)
    assert (resumed.changed, resumed.paused) == (paused.changed - 1, 0)
    assert [item.enabled for item in found.items] == [True, False, False]


@lonely_scenario
async def applied_set_is_what_there_is(studio: StudioApplication, own: str, _: Path) -> None:
    await create(studio, f"{own} changed", description="before")
    await create(studio, f"{own} dropped")
    wanted = (
        ScheduleSpec(name=f"{own} changed", trigger=YEARLY, action=ACTION, description="after", max_runs=3),
        ScheduleSpec(name=f"{own} new", trigger=IntervalTrigger(seconds=86_400), action=ACTION, enabled=False),
    )
    expected = {f"{own} changed": "update", f"{own} dropped": "disable", f"{own} new": "create"}

    planned = await studio.apply_schedules(ApplySchedules(schedules=wanted, dry_run=True))
    applied = await studio.apply_schedules(ApplySchedules(schedules=wanted))
    again = await studio.apply_schedules(ApplySchedules(schedules=wanted))

    assert (planned.applied, applied.applied) == (False, True)
    assert steps_of(planned, own) == steps_of(applied, own) == expected
    assert set(steps_of(again, own).values()) == {"unchanged"}


@lonely_scenario
async def export_applied_again_changes_nothing(studio: StudioApplication, own: str, _: Path) -> None:
    chained = ACTION.model_copy(update={"on_fail": {"kind": "command", "command": ["sh"], "model": None}})
    await create(studio, own, action=chained, budget_usd=0.1, missed_fire_policy="run_once")

    exported = await studio.export_schedules()
    applied = await studio.apply_schedules(ApplySchedules(schedules=exported.schedules))

    assert own in {spec.name for spec in exported.schedules}
    assert {step.step for step in applied.plan} == {"unchanged"}


@lonely_scenario
async def faulty_set_changes_nothing_and_says_where(studio: StudioApplication, own: str, _: Path) -> None:
    sound = ScheduleSpec(name=own, trigger=YEARLY, action=ACTION)
    faulty = ScheduleSpec(
        name=own,
        trigger=CronTrigger(expression="0 0 30 2 *"),
        action=ACTION.model_copy(update={"on_success": {"kind": "command", "command": ["rm"]}}),
    )

    failure = await refused(ValidationFailure, studio.apply_schedules(ApplySchedules(schedules=(sound, faulty))))
    found = await studio.list_schedules(ScheduleQuery(search=own))

    assert {path for path, _ in places(failure)} == {
        ("schedules", 1, "name"),
        ("schedules", 1, "trigger", "expression"),
        ("schedules", 1, "action", "on_success", "command", 0),
    }
    assert not found.items
