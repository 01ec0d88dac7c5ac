"""Schedules made, changed, listed and deleted; nobody fires them. Files beside have what is decided, and sets."""

from typing import Any

from contract.application import StudioApplication
from contract.errors import Conflict, NotFound, ValidationFailure
from contract.limits import MAX_CHAIN_DEPTH
from contract.schedules import (
    CreateSchedule,
    DeleteSchedule,
    FireSchedule,
    FiringQuery,
    PatchSchedule,
    ScheduleAction,
    SchedulePatch,
    ScheduleQuery,
    ScheduleResult,
    SetScheduleEnabled,
)
from contract.triggers import (
    AtTrigger,
    CronTrigger,
    GithubPollTrigger,
    IntervalTrigger,
    PreviewSchedule,
    Trigger,
)
from tests.parity.catalogue import scenario
from tests.parity.launch_scenarios import Places
from tests.parity.run_scenarios import places
from tests.parity.witness import refused

NOBODY = "nobody-has-it"
ACTION = ScheduleAction(kind="command", command=("sh", "-c", "true"))
# Due once a year: the same instant for both applications, whenever they are asked.
YEARLY = CronTrigger(expression="0 0 1 1 *", timezone="Europe/Berlin")
GITHUB = GithubPollTrigger(repository="owner/name", poll_interval_seconds=3_600)
# 2017-10-29T00:30:00Z, half an hour before clocks in Helsinki go back.
BEFORE_A_STEP = 1_509_237_000.0

# Triggers that could never be due, or not when somebody means, and where that is said.
FAULTY: list[tuple[Trigger, Places]] = [
    (CronTrigger(expression="0 0 30 2 *"), [(("expression",), "never")]),
    (CronTrigger(expression="*/30 * * * * *"), [(("expression",), "fields")]),
    (CronTrigger(expression="*/0 * * * *"), [(("expression",), "field")]),
    (CronTrigger(expression="0 0 * * *", timezone="Mars/Base"), [(("timezone",), "timezone")]),
    (AtTrigger(at=1.0), [(("at",), "past")]),
    (GithubPollTrigger(repository="name", poll_interval_seconds=60), [(("repository",), "repository")]),
    (
        GithubPollTrigger(repository="o/n", poll_interval_seconds=60, filters={"colour": 1}),
        [(("filters", "colour"), "unknown_field")],
    ),
]


async def create(studio: StudioApplication, name: str, **fields: Any) -> ScheduleResult:
    """Create a schedule that is due once a year."""
    spec: dict[str, Any] = {"trigger": YEARLY, "action": ACTION} | fields
    return await studio.mutate_schedule(CreateSchedule(name=name, **spec))


async def patch(studio: StudioApplication, made: ScheduleResult, **changes: Any) -> ScheduleResult:
    """Change a schedule that nobody else changed."""
    command = PatchSchedule(
        schedule_id=made.schedule_id, expected_updated_at=made.updated_at, changes=SchedulePatch(**changes)
    )
    return await studio.mutate_schedule(command)


async def enable(studio: StudioApplication, made: ScheduleResult, *, enabled: bool, **more: Any) -> ScheduleResult:
    """Let a schedule fire, or not."""
    command = SetScheduleEnabled(schedule_id=made.schedule_id, enabled=enabled, **more)
    return await studio.mutate_schedule(command)


def chain_of(length: int) -> ScheduleAction:
    """Return an action with so many after it."""
    chained: dict[str, Any] | None = None
    for _ in range(length):
        chained = {"kind": "command", "command": ["sh"], **({} if chained is None else {"on_success": chained})}
    return ACTION.model_copy(update={"on_success": chained})


@scenario
async def schedule_is_as_it_was_said(studio: StudioApplication, own: str) -> None:
    action = ScheduleAction(
        kind="agent", runtime="claude", prompt="p", model="m", cwd="/", on_fail={"kind": "command", "command": ["sh"]}
    )
    policy: dict[str, Any] = {"missed_fire_policy": "run_once", "overlap_policy": "allow", "max_runs": 3}
    caps: dict[str, Any] = {"budget_usd": 1.25, "budget_tokens": 1_000, "project": own, "description": "ñ"}

    made = await create(studio, own, action=action, **policy, **caps)
    found = await studio.get_schedule(made.schedule_id)

    assert made.next_fire_at is not None
    assert (found.action, found.trigger, found.health) == (action, YEARLY, "never_fired")
    assert {name: getattr(found, name) for name in (*policy, *caps)} == policy | caps


@scenario
async def schedules_of_every_trigger_are_listed(studio: StudioApplication, own: str) -> None:
    triggers = (YEARLY, IntervalTrigger(seconds=86_400), GITHUB, AtTrigger(at=4_000_000_000.0))
    for number, trigger in enumerate(triggers):
        await create(studio, f"{own} {number}", trigger=trigger, project=own, enabled=number != 1)

    first = await studio.list_schedules(ScheduleQuery(project=own, limit=3))
    rest = await studio.list_schedules(ScheduleQuery(project=own, limit=3, cursor=first.next_cursor))
    disabled = await studio.list_schedules(ScheduleQuery(search=own.upper(), enabled=False))
    polled = await studio.list_schedules(ScheduleQuery(project=own, trigger="github_poll"))
    other = ScheduleQuery(project=NOBODY, cursor=first.next_cursor)
    refusal = await refused(ValidationFailure, studio.list_schedules(other))

    assert [item.name for item in (*first.items, *rest.items)] == [f"{own} {number}" for number in range(4)]
    assert [item.name for item in disabled.items] == [f"{own} 1"]
    assert [item.trigger for item in polled.items] == [GITHUB]
    assert [path for path, _ in places(refusal)] == [("cursor",)]


@scenario
async def patch_changes_what_is_given_and_clears_what_is_null(studio: StudioApplication, own: str) -> None:
    made = await create(studio, own, description="why", max_runs=3, project=own)

    nothing = await patch(studio, made)
    changed = await patch(studio, made, description=None, max_runs=5, trigger=IntervalTrigger(seconds=60))
    named = await patch(studio, changed, name=f"{own} 2")
    found = await studio.get_schedule(made.schedule_id)

    assert nothing == made
    assert named.updated_at > changed.updated_at > made.updated_at
    assert (found.name, found.description, found.max_runs, found.project) == (f"{own} 2", None, 5, own)


@scenario
async def stale_change_is_a_conflict(studio: StudioApplication, own: str) -> None:
    made = await create(studio, own)
    await patch(studio, made, description="another")

    stale = await refused(Conflict, patch(studio, made, description="mine"))
    later = await refused(Conflict, enable(studio, made, enabled=False, expected_updated_at=made.updated_at))

    assert (stale.resource, stale.expected) == (later.resource, later.expected)
    assert (await studio.get_schedule(made.schedule_id)).description == "another"


@scenario
async def name_is_taken_once(studio: StudioApplication, own: str) -> None:
    made = await create(studio, own)
    other = await create(studio, f"{own} 2")

    for operation in (create(studio, own), patch(studio, other, name=own)):
        assert (await refused(Conflict, operation)).actual == own

    assert (await studio.get_schedule(made.schedule_id)).name == own


@scenario
async def disabled_schedule_is_not_due_and_enabled_again_it_is(studio: StudioApplication, own: str) -> None:
    made = await create(studio, own)

    disabled = await enable(studio, made, enabled=False)
    again = await enable(studio, made, enabled=False)
    enabled = await enable(studio, made, enabled=True, expected_updated_at=disabled.updated_at)

    assert (disabled.next_fire_at, again) == (None, disabled)
    assert enabled.next_fire_at == made.next_fire_at


@scenario
async def what_has_passed_cannot_be_enabled(studio: StudioApplication, own: str) -> None:
    made = await create(studio, own, max_runs=1)
    await studio.fire_schedule(made.schedule_id, FireSchedule())
    await refused(Conflict, studio.fire_schedule(made.schedule_id, FireSchedule(force=False)))
    await enable(studio, made, enabled=False)

    conflict = await refused(Conflict, enable(studio, made, enabled=True))
    found = await studio.get_schedule(made.schedule_id)
    raised = PatchSchedule(
        schedule_id=made.schedule_id, expected_updated_at=found.updated_at, changes=SchedulePatch(max_runs=2)
    )
    await studio.mutate_schedule(raised)

    assert "raise max_runs" in str(conflict)
    assert (await enable(studio, made, enabled=True)).enabled


@scenario
async def triggers_that_are_never_due_are_refused_where_they_are_wrong(studio: StudioApplication, own: str) -> None:
    made = await create(studio, own)

    for trigger, expected in FAULTY:
        failures = [
            await refused(ValidationFailure, create(studio, f"{own} faulty", trigger=trigger)),
            await refused(ValidationFailure, studio.preview_schedule(PreviewSchedule(trigger=trigger))),
            await refused(ValidationFailure, patch(studio, made, trigger=trigger)),
        ]
        found = [[path for path, _ in places(failure)] for failure in failures]
        below = [("trigger", *path) for path, _ in expected]
        assert found == [below, below, [("changes", *path) for path in below]], (trigger, found)

    assert (await studio.get_schedule(made.schedule_id)).updated_at == made.updated_at


@scenario
async def chains_are_checked_to_their_ends(studio: StudioApplication, own: str) -> None:
    faulty = ACTION.model_copy(
        update={"on_success": {"kind": "dance"}, "on_fail": {"kind": "command", "on_fail": {"kind": "play"}}}
    )

    await create(studio, own, action=chain_of(MAX_CHAIN_DEPTH))
    deep = await refused(ValidationFailure, create(studio, f"{own} 2", action=chain_of(MAX_CHAIN_DEPTH + 1)))
    wrong = await refused(ValidationFailure, create(studio, f"{own} 2", action=faulty))

    assert places(deep) == [(("action", *["on_success"] * (MAX_CHAIN_DEPTH + 1)), "chain_depth")]
    assert {path for path, _ in places(wrong)} == {
        ("action", "on_success", "kind"),
        ("action", "on_fail", "command"),
        ("action", "on_fail", "on_fail", "playbook"),
    }


@scenario
async def deleted_schedule_is_gone_and_its_runs_are_not(studio: StudioApplication, own: str) -> None:
    made = await create(studio, own)
    firing = await studio.fire_schedule(made.schedule_id, FireSchedule())

    conflict = await refused(Conflict, studio.delete_schedule(made.schedule_id, DeleteSchedule()))
    deleted = await studio.delete_schedule(made.schedule_id, DeleteSchedule(cancel_runs=True))
    await refused(NotFound, studio.delete_schedule(made.schedule_id, DeleteSchedule()))

    assert str(firing.run_id) in str(conflict)
    assert deleted.cancelled_runs == (firing.run_id,)


@scenario
async def preview_says_what_clocks_do(studio: StudioApplication, own: str) -> None:
    helsinki = CronTrigger(expression="30 3 * * *", timezone="Europe/Helsinki")

    for trigger in (helsinki, YEARLY, GITHUB, IntervalTrigger(seconds=7), AtTrigger(at=4_000_000_000.0)):
        found = await studio.preview_schedule(PreviewSchedule(trigger=trigger, after=BEFORE_A_STEP, count=3))
        assert list(found.instants) == sorted(found.instants, key=lambda each: each.at)
        assert all(each.at > BEFORE_A_STEP for each in found.instants)
        assert found.description

    limits = await studio.get_schedule_limits()
    assert limits.max_chain_depth == MAX_CHAIN_DEPTH


@scenario
async def schedule_that_is_not_there_is_not_found(studio: StudioApplication, own: str) -> None:
    gone = ScheduleResult(schedule_id=NOBODY, name=own, enabled=True, updated_at=1.0, next_fire_at=None)
    operations = (
        studio.get_schedule(NOBODY),
        studio.explain_schedule(NOBODY),
        studio.list_firings(NOBODY, FiringQuery()),
        studio.fire_schedule(NOBODY, FireSchedule()),
        studio.skip_next(NOBODY),
        studio.delete_schedule(NOBODY, DeleteSchedule()),
        patch(studio, gone, name="x"),
        enable(studio, gone, enabled=True),
    )

    for operation in operations:
        error = await refused(NotFound, operation)
        assert (error.resource, error.identifier) == ("schedule", NOBODY)
