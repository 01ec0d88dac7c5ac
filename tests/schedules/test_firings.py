"""What decisions and ends make of a schedule."""

from dataclasses import replace

from schedules.admission import Admission
from schedules.firings import ended_state, fired_state, refused_state
from schedules.revising import disabled
from schedules.schedule import ScheduleState
from tests.schedules.making import NOW, state

CAP = Admission(outcome="skipped", reason_code="schedule.skipped.max_runs", disables="schedule.disabled.max_runs")


def ended(before: ScheduleState, run_id: str = "r1", status: str = "completed", **spent: int | None) -> ScheduleState:
    return ended_state(before, run_id=run_id, run_status=status, **{"cost_micros": None, "tokens": None, **spent})


def test_a_start_is_counted() -> None:
    after = fired_state(replace(state(), last_run_status="failed"), run_id="r1", now=NOW + 60)

    assert (after.run_count, after.last_fired_at, after.last_run_id, after.last_run_status) == (1, NOW + 60, "r1", None)
    assert (after.enabled, after.next_fire_at, after.updated_at) == (True, NOW + 60, NOW)


def test_the_last_start_closes() -> None:
    after = fired_state(state(max_runs=1), run_id="r1", now=NOW + 60)

    assert (after.enabled, after.disabled_reason, after.run_count) == (False, "schedule.disabled.max_runs", 1)
    assert fired_state(state(max_runs=2), run_id="r1", now=NOW + 60).enabled


def test_a_start_of_a_disabled_schedule_keeps_what_disabled_it() -> None:
    by_hand = disabled(state(max_runs=1), now=NOW)

    assert fired_state(by_hand, run_id="r1", now=NOW).disabled_reason is None


def test_a_refusal_disables_where_it_says_so() -> None:
    before = state()

    assert refused_state(before, CAP, now=NOW).disabled_reason == "schedule.disabled.max_runs"
    assert refused_state(before, replace(CAP, disables=None), now=NOW) == before


def test_spend_adds_up_and_what_nobody_reported_is_unknown() -> None:
    first = ended(state())
    assert (first.spent_micros, first.spent_tokens) == (None, None)

    second = ended(ended(first, cost_micros=5), tokens=7)

    assert (second.spent_micros, second.spent_tokens) == (5, 7)


def test_the_newest_run_says_how_the_last_one_ended() -> None:
    before = replace(state(), last_run_id="r2", last_run_status=None)

    assert ended(before, "r1", "failed").last_run_status is None
    assert ended(before, "r2", "failed").last_run_status == "failed"


def test_failures_in_a_row_are_counted() -> None:
    twice = ended(ended(state(), status="failed"), status="timed_out")

    assert twice.consecutive_failures == 2
    assert ended(twice, status="cancelled").consecutive_failures == 0
