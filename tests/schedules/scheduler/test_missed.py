"""Instants that nobody decided in time: after downtime, sleep, and clocks that were set."""

from dataclasses import replace

import pytest

from contract.triggers import CronTrigger
from schedules.schedule import PollState, ScheduleState
from schedules.scheduler.deciding import due_slot
from tests.schedules.making import NOW, state
from tests.schedules.scheduler.rigs import GITHUB, Rig

EVERY_FIVE_MINUTES = {"kind": "cron", "expression": "*/5 * * * *"}
NIGHT = 12 * 3_600.0
SCHEDULES = 40


def waiting(made: ScheduleState, until: float) -> ScheduleState:
    return replace(made, next_fire_at=until, poll=PollState(cursor_at=NOW, not_before=until))


def never(made: ScheduleState) -> ScheduleState:
    return replace(made, trigger=CronTrigger(expression="0 0 30 2 *"))


def a_night_later(policy: str) -> Rig:
    """Return a rig with many schedules whose scheduler was away from one minute past midnight to two past noon."""
    rig = Rig()
    for number in range(SCHEDULES):
        rig.add(f"s{number:02}", trigger=EVERY_FIVE_MINUTES, missed_fire_policy=policy, overlap_policy="allow")
    rig.clock.advance(NIGHT + 120)
    return rig


async def test_a_night_of_downtime_is_skipped_with_one_row_for_each_schedule() -> None:
    rig = a_night_later("skip")

    pause = await rig.settle()

    assert not rig.runs.started
    assert pause == 30.0
    for name in rig.states.schedules:
        (row,) = await rig.firings(name)
        assert (row.outcome, row.reason_code, row.due_at) == ("skipped", "schedule.skipped.missed", NOW + 300)
        assert row.reason_summary == "144 instants were missed"
        assert rig.state(name).next_fire_at == NOW + NIGHT + 300


async def test_a_night_of_downtime_is_made_up_for_by_exactly_one_run_of_each() -> None:
    rig = a_night_later("run_once")

    await rig.settle()

    assert sorted(run.name for run in rig.runs.started.values()) == sorted(rig.states.schedules)
    for name in rig.states.schedules:
        (row,) = await rig.firings(name)
        assert (row.outcome, row.reason_code) == ("fired", "schedule.fired.missed")
        assert rig.state(name).next_fire_at == NOW + NIGHT + 300


@pytest.mark.parametrize(("policy", "runs"), [("skip", 1), ("run_once", 1)])
async def test_what_is_late_by_less_than_a_minute_is_not_missed(policy: str, runs: int) -> None:
    rig = Rig()
    rig.add(trigger=EVERY_FIVE_MINUTES, missed_fire_policy=policy)
    rig.clock.advance(359.9)

    await rig.settle()

    assert len(rig.runs.started) == runs
    assert await rig.codes() == ["fired.due"]


async def test_running_once_stands_for_what_is_only_just_late_as_well() -> None:
    rig = Rig()
    rig.add(trigger={"kind": "interval", "seconds": 1}, missed_fire_policy="run_once", overlap_policy="allow")
    rig.clock.advance(NIGHT)

    await rig.settle()

    (row,) = await rig.firings()
    assert row.reason_summary == "at least 1000 instants were missed"
    assert rig.state().next_fire_at == NOW + NIGHT + 1


async def test_a_single_instant_that_was_missed_is_over_or_runs_once() -> None:
    rig = Rig()
    rig.add("skipped", trigger={"kind": "at", "at": NOW + 60})
    rig.add("run", trigger={"kind": "at", "at": NOW + 60}, missed_fire_policy="run_once")
    rig.clock.advance(3_600)

    await rig.settle()

    assert await rig.codes("skipped") == ["skipped.missed"]
    assert await rig.codes("run") == ["fired.missed"]
    assert {state.disabled_reason for state in rig.states.schedules.values()} == {"schedule.disabled.exhausted"}


async def test_a_machine_that_was_asleep_is_like_one_that_was_down() -> None:
    rig = Rig(capacity=1)
    rig.runs.others_open = 1
    rig.add(trigger=EVERY_FIVE_MINUTES)
    await rig.live(310)
    assert await rig.codes() == ["deferred.capacity"]

    rig.clock.step(NIGHT + 120)
    rig.runs.others_open = 0
    await rig.settle()

    assert await rig.codes() == ["skipped.missed"]
    assert not rig.runs.started


@pytest.mark.parametrize("step", [-NIGHT, -1_200.0, -90.0, -61.0, -5.0])
async def test_a_clock_that_is_set_back_fires_nothing_twice_and_sleeps_no_longer(step: float) -> None:
    rig = Rig()
    rig.add(overlap_policy="allow")
    await rig.live(1_230)
    assert len(rig.runs.started) == 20

    rig.clock.step(step)
    await rig.live(-step + 600)

    assert len({kept.draft.slot for kept in rig.states.kept}) == len(rig.states.kept)
    due = [kept.draft.due_at for kept in rig.states.kept if kept.draft.outcome == "fired"]
    assert sorted(due)[-30:] == [NOW + 60.0 * number for number in range(1, 31)]
    assert len(due) == len(set(due))


async def test_a_clock_that_was_wrong_for_a_while_leaves_no_long_silence() -> None:
    rig = Rig()
    rig.add(overlap_policy="allow")
    await rig.live(90)
    rig.clock.step(NIGHT)
    await rig.live(60)
    assert (rig.state().next_fire_at or 0) > NOW + NIGHT

    rig.clock.step(-NIGHT)
    await rig.live(180)

    fired = [kept.draft.due_at - NOW for kept in rig.states.kept if kept.draft.decided_at < NOW + NIGHT]
    assert fired == [60.0, 180.0, 240.0, 300.0], "the instant at 120 is the one that stands for those that were missed"


async def test_a_scheduler_that_starts_under_a_clock_that_was_set_back_plans_anew() -> None:
    rig = Rig()
    rig.add(overlap_policy="allow")
    rig.clock.step(NIGHT)
    await rig.settle()

    rig.clock.step(-NIGHT)
    rig.restart()
    await rig.settle()

    assert rig.state().next_fire_at == NOW + 120


async def test_so_many_decided_instants_are_passed_one_by_one() -> None:
    rig = Rig()
    rig.add(trigger={"kind": "interval", "seconds": 1}, overlap_policy="allow")
    await rig.live(150)

    rig.clock.step(-145)
    await rig.settle()
    assert rig.state().next_fire_at == NOW + 106
    await rig.live(150)

    due = [kept.draft.due_at - NOW for kept in rig.states.kept]
    assert due == [float(number) for number in range(1, 156)]


async def test_a_clock_that_creeps_back_is_not_looked_at_as_set() -> None:
    rig = Rig()
    await rig.settle()

    rig.clock.step(-0.4)
    await rig.settle()
    assert rig.states.calls["enabled_after"] == 1
    rig.clock.step(-0.7)
    await rig.settle()

    assert rig.states.calls["enabled_after"] == 2


async def test_a_start_asks_no_server_sooner_than_it_wants() -> None:
    rig = Rig()
    made = rig.add(trigger=GITHUB)
    rig.states.put(waiting(made, NOW + 600))

    await rig.settle()
    assert rig.state().next_fire_at == NOW + 600
    rig.clock.step(-300)
    await rig.settle()

    assert rig.state().next_fire_at == NOW + 60, "how long is left nobody knows any more"
    assert not rig.pulls.asked


async def test_what_cannot_be_planned_anew_waits_until_it_is_due() -> None:
    rig = Rig()
    rig.states.put(never(state()))

    await rig.settle()

    assert rig.state("s1").enabled


def test_a_slot_that_waited_for_room_is_not_missed() -> None:
    made = state()

    slot, through = due_slot(made, NOW + 60, NOW + 4_000, deferred=True)

    assert (slot.missed, through) == (None, NOW + 60)


@pytest.mark.parametrize(
    ("late", "told"),
    [
        (59.9, None),
        (60.0, "1 instant was missed"),
        (120.0, "2 instants were missed"),
        (60.0 * 999, "999 instants were missed"),
        (60.0 * 1_000, "at least 1000 instants were missed"),
        (60.0 * 10_000, "at least 1000 instants were missed"),
    ],
)
def test_it_is_told_how_many_instants_were_missed(late: float, told: str | None) -> None:
    assert due_slot(state(), NOW + 60, NOW + 60 + late)[0].missed == told
