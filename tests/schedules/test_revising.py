"""How a schedule becomes another."""

from dataclasses import replace
from typing import Any

import pytest

from contract.parsing import parse_model
from contract.schedules import SchedulePatch
from contract.triggers import CronTrigger
from schedules import revising
from schedules.schedule import PollState, ScheduleState
from tests.schedules.making import EVERY_MINUTE, NOW, state

GITHUB = {"kind": "github_poll", "repository": "o/n", "poll_interval_seconds": 60}


def patched(before: ScheduleState, now: float = NOW + 90, **fields: Any) -> ScheduleState:
    return revising.patched(before, parse_model(SchedulePatch, fields), zone="UTC", now=now)


def test_a_new_schedule_is_due_after_its_first_interval() -> None:
    made = state()

    assert (made.anchor_at, made.next_fire_at, made.enabled) == (NOW, NOW + 60, True)


def test_a_new_disabled_schedule_is_never_due() -> None:
    assert state(enabled=False).next_fire_at is None


def test_a_cron_expression_keeps_the_zone_it_was_made_in() -> None:
    made = state(trigger={"kind": "cron", "expression": " 0   18 * * * "}, zone="America/New_York")

    assert made.trigger == CronTrigger(expression="0 18 * * *", timezone="America/New_York")
    assert made.zone == "America/New_York"
    later = patched(made, name="other")
    assert (later.trigger, later.zone) == (made.trigger, made.zone)


def test_a_new_poller_asks_at_once() -> None:
    assert state(trigger=GITHUB).next_fire_at == NOW


@pytest.mark.parametrize("fields", [{}, {"name": "nightly"}, {"trigger": EVERY_MINUTE}, {"description": None}])
def test_a_patch_that_changes_nothing_is_the_same_schedule(fields: dict[str, Any]) -> None:
    before = state()

    assert patched(before, **fields) is before


def test_unrelated_changes_keep_the_rhythm() -> None:
    before = state()

    after = patched(before, name="other", project="p", max_runs=3, budget_usd=0.5, description="d")

    assert (after.next_fire_at, after.anchor_at) == (before.next_fire_at, before.anchor_at)
    assert (after.name, after.project, after.max_runs, after.budget_micros) == ("other", "p", 3, 500_000)
    assert after.updated_at == NOW + 90


def test_another_interval_begins_now() -> None:
    after = patched(state(), trigger={"kind": "interval", "seconds": 10})

    assert (after.anchor_at, after.next_fire_at) == (NOW + 90, NOW + 100)


def test_a_single_instant_that_is_only_just_late_is_due_when_it_is_given() -> None:
    late = {"kind": "at", "at": NOW - 59}

    assert state(trigger=late).next_fire_at == NOW - 59
    assert patched(state(), now=NOW, trigger=late).next_fire_at == NOW - 59
    assert patched(state(), now=NOW + 1, trigger=late).next_fire_at is None


def test_null_clears_what_can_be_without_a_value() -> None:
    before = state(max_runs=1, budget_usd=1.0, budget_tokens=5, description="d", project="p")

    after = patched(before, max_runs=None, budget_usd=None, budget_tokens=None, description=None, project=None)

    assert (after.max_runs, after.budget_micros, after.budget_tokens) == (None, None, None)
    assert (after.description, after.project) == (None, None)


def test_updated_at_grows_even_when_the_clock_does_not() -> None:
    before = state()

    after = patched(before, now=NOW - 500, name="other")

    assert after.updated_at > before.updated_at


def test_a_raised_cap_opens_what_it_closed_and_nothing_else() -> None:
    closed = replace(revising.disabled(state(max_runs=1), now=NOW, reason="schedule.disabled.max_runs"), run_count=1)

    assert not patched(closed, max_runs=1, name="x").enabled
    opened = patched(closed, max_runs=3)
    assert (opened.enabled, opened.disabled_reason) == (True, None)
    assert opened.next_fire_at == NOW + 120
    by_hand = replace(closed, disabled_reason=None)
    assert not patched(by_hand, max_runs=3).enabled


def test_enabling_replays_nothing() -> None:
    stopped = revising.disabled(state(), now=NOW + 10)

    after = revising.enabled(stopped, now=NOW + 3_601)

    assert stopped.next_fire_at is None
    assert after.next_fire_at == NOW + 3_660
    assert revising.enabled(after, now=NOW + 9_999) is after


def test_a_poller_that_is_enabled_again_only_looks_first() -> None:
    polled = replace(state(trigger=GITHUB), poll=PollState(etag="e", cursor_at=NOW, seen=("k",), failures=2))

    after = revising.enabled(revising.disabled(polled, now=NOW), now=NOW + 50)

    assert (after.poll.cursor_at, after.poll.seen, after.poll.etag) == (None, (), None)
    assert after.next_fire_at == NOW + 50


def test_a_server_that_wants_no_question_yet_gets_none() -> None:
    polled = replace(state(trigger=GITHUB, enabled=False), poll=PollState(not_before=NOW + 600))

    assert revising.enabled(polled, now=NOW).next_fire_at == NOW + 600


def test_another_repository_begins_anew_and_another_rhythm_does_not() -> None:
    polled = replace(state(trigger=GITHUB), poll=PollState(etag="e", cursor_at=NOW, seen=("k",)))

    assert patched(polled, trigger={**GITHUB, "repository": "o/other"}).poll == PollState()
    assert patched(polled, trigger={**GITHUB, "poll_interval_seconds": 90}).poll == polled.poll


def test_a_pause_ends_in_exactly_what_it_began_with() -> None:
    running, stopped = state(), revising.disabled(state(), now=NOW)

    paused = revising.paused(running, now=NOW + 1)

    assert (paused.enabled, paused.paused, paused.next_fire_at) == (False, True, None)
    assert revising.paused(stopped, now=NOW + 1) is stopped
    assert revising.resumed(stopped, now=NOW + 2) is stopped
    resumed = revising.resumed(paused, now=NOW + 200)
    assert (resumed.enabled, resumed.paused, resumed.next_fire_at) == (True, False, NOW + 240)


def test_what_a_person_decides_during_a_pause_stays_decided() -> None:
    paused = revising.paused(state(), now=NOW)

    stopped = revising.disabled(paused, now=NOW + 1)

    assert not stopped.paused
    assert revising.resumed(stopped, now=NOW + 2) is stopped


def test_what_has_no_further_instant_is_over() -> None:
    once = state(trigger={"kind": "at", "at": NOW + 5})

    assert revising.moved(once, NOW + 5, NOW + 6).disabled_reason == "schedule.disabled.exhausted"
    resumed = revising.resumed(revising.paused(once, now=NOW), now=NOW + 60)
    assert (resumed.enabled, resumed.disabled_reason) == (False, "schedule.disabled.exhausted")


def test_what_is_disabled_does_not_move() -> None:
    stopped = revising.disabled(state(), now=NOW)

    assert revising.moved(stopped, NOW, NOW) is stopped
    assert revising.disabled(stopped, now=NOW) is stopped


@pytest.mark.parametrize(
    ("made", "meant"),
    [
        (state(), True),
        (revising.paused(state(), now=NOW), True),
        (revising.disabled(state(), now=NOW), False),
        (revising.disabled(state(), now=NOW, reason="schedule.disabled.budget"), True),
        (revising.disabled(state(), now=NOW, reason="schedule.disabled.dropped"), False),
    ],
)
def test_what_is_meant_to_fire_is_what_a_person_said(made: ScheduleState, meant: bool) -> None:
    assert revising.is_meant_enabled(made) is meant


def test_a_cap_that_is_lowered_to_what_was_reached_closes_the_schedule() -> None:
    started = replace(state(max_runs=5), run_count=2)

    closed = patched(started, max_runs=2)

    assert (closed.enabled, closed.disabled_reason) == (False, "schedule.disabled.max_runs")
    assert closed.next_fire_at is None
    assert patched(started, max_runs=3).enabled
    spent = replace(state(), spent_micros=2_000_000)
    assert patched(spent, budget_usd=1.0).disabled_reason == "schedule.disabled.budget"
