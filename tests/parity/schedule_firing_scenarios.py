"""What people decide: fire now, skip the next, and what is said of that after."""

from pathlib import Path

from contract.application import StudioApplication
from contract.errors import Conflict, ValidationFailure
from contract.runs import RunReadQuery
from contract.schedules import FireSchedule, FiringQuery
from tests.parity.catalogue import lonely_scenario, scenario
from tests.parity.run_scenarios import places
from tests.parity.schedule_scenarios import GITHUB, create, enable
from tests.parity.witness import refused


@scenario
async def fired_schedule_launches_its_action(studio: StudioApplication, own: str) -> None:
    made = await create(studio, own, project=own)

    firing = await studio.fire_schedule(made.schedule_id, FireSchedule())
    run = await studio.get_run(str(firing.run_id), RunReadQuery())
    await studio.get_schedule(made.schedule_id)

    assert (firing.outcome, firing.cause, firing.reason_code) == ("fired", "manual", "schedule.fired.manual")
    assert run.execution is not None
    assert (run.name, run.project, run.execution.launch_key) == (own, own, firing.firing_id)
    assert run.invocation_id == firing.firing_id


@scenario
async def same_fire_key_is_the_same_firing(studio: StudioApplication, own: str) -> None:
    made = await create(studio, own, overlap_policy="allow")

    first = await studio.fire_schedule(made.schedule_id, FireSchedule(fire_key=own))
    again = await studio.fire_schedule(made.schedule_id, FireSchedule(fire_key=own))
    other = await studio.fire_schedule(made.schedule_id, FireSchedule())

    assert again == first
    assert other.run_id != first.run_id


@scenario
async def open_run_keeps_another_from_beginning_unless_forced(studio: StudioApplication, own: str) -> None:
    made = await create(studio, own)
    await studio.fire_schedule(made.schedule_id, FireSchedule())

    conflict = await refused(Conflict, studio.fire_schedule(made.schedule_id, FireSchedule(fire_key=own)))
    repeated = await refused(Conflict, studio.fire_schedule(made.schedule_id, FireSchedule(fire_key=own)))
    forced = await studio.fire_schedule(made.schedule_id, FireSchedule(force=True))

    assert conflict.actual == repeated.actual == "schedule.skipped.overlap"
    assert forced.reason_code == "schedule.fired.forced"


@scenario
async def every_decision_is_listed_newest_first(studio: StudioApplication, own: str) -> None:
    made = await create(studio, own, overlap_policy="allow", max_runs=2)
    for _ in range(2):
        await studio.fire_schedule(made.schedule_id, FireSchedule())
    await refused(Conflict, studio.fire_schedule(made.schedule_id, FireSchedule()))

    first = await studio.list_firings(made.schedule_id, FiringQuery(limit=1))
    rest = await studio.list_firings(made.schedule_id, FiringQuery(limit=2, cursor=first.next_cursor))
    fired = await studio.list_firings(made.schedule_id, FiringQuery(outcome="fired"))
    other = FiringQuery(outcome="fired", cursor=first.next_cursor)
    refusal = await refused(ValidationFailure, studio.list_firings(made.schedule_id, other))

    assert [each.reason_code for each in first.items] == ["schedule.skipped.max_runs"]
    assert rest.items == fired.items
    assert [path for path, _ in places(refusal)] == [("cursor",)]
    assert (await studio.get_schedule(made.schedule_id)).disabled_reason == "schedule.disabled.max_runs"


@lonely_scenario  # how many runs of others are open is a part of the explanation
async def skipped_occurrence_leaves_its_row_and_is_explained(studio: StudioApplication, own: str, _: Path) -> None:
    made = await create(studio, own, max_runs=7, budget_usd=1.5, budget_tokens=9)

    skipped = await studio.skip_next(made.schedule_id)
    found = await studio.get_schedule(made.schedule_id)
    explained = await studio.explain_schedule(made.schedule_id)

    assert (skipped.due_at, skipped.reason_code) == (made.next_fire_at, "schedule.skipped.by_operator")
    assert found.next_fire_at is not None
    assert found.next_fire_at > skipped.due_at
    assert "A person skipped it." in explained.decisions[0]
    assert any("0 of 7" in sentence for sentence in explained.next_depends_on)


@scenario
async def nothing_is_skipped_where_nothing_is_known_to_come(studio: StudioApplication, own: str) -> None:
    disabled = await create(studio, own, enabled=False)
    polled = await create(studio, f"{own} 2", trigger=GITHUB, enabled=False)

    for made in (disabled, polled):
        assert (await refused(Conflict, studio.skip_next(made.schedule_id))).resource == "schedule"

    await enable(studio, disabled, enabled=True)
    await studio.skip_next(disabled.schedule_id)
