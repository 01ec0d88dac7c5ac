"""What it takes to make the schedules there are those of a declared set."""

from dataclasses import replace

from schedules import revising
from schedules.plans import plan_of, repeated_names, shown
from schedules.views import spec_of
from tests.schedules.making import NOW, spec, state


def test_what_is_exported_applies_as_unchanged() -> None:
    states = [
        replace(state(name="a", trigger={"kind": "cron", "expression": "@daily"}), schedule_id="1"),
        replace(state(name="b", budget_usd=0.1, max_runs=2), schedule_id="2"),
        replace(revising.paused(state(name="c"), now=NOW), schedule_id="3"),
        replace(revising.disabled(state(name="d"), now=NOW), schedule_id="4"),
        replace(revising.disabled(state(name="e"), now=NOW, reason="schedule.disabled.max_runs"), schedule_id="5"),
    ]

    plan = plan_of(states, [spec_of(each) for each in states], zone="Europe/Berlin")

    assert {planned.step for planned in plan} == {"unchanged"}


def test_new_changed_dropped_and_kept_are_told_by_name() -> None:
    states = [state(name="kept"), state(name="changed"), state(name="dropped")]
    specs = [spec(name="new"), spec(name="kept"), spec(name="changed", max_runs=3)]

    plan = plan_of(states, specs, zone="UTC")

    assert [(planned.step, shown(planned).name) for planned in plan] == [
        ("update", "changed"),
        ("disable", "dropped"),
        ("unchanged", "kept"),
        ("create", "new"),
    ]


def test_a_change_is_shown_with_both_values() -> None:
    (planned,) = plan_of([state()], [spec(max_runs=3, description="d")], zone="UTC")

    changes = {change.field: (change.before, change.after) for change in shown(planned).changes}

    assert changes == {"max_runs": (None, 3), "description": (None, "d")}


def test_a_new_schedule_is_shown_with_what_is_said_of_it() -> None:
    (planned,) = plan_of([], [spec(project="p")], zone="UTC")

    changes = {change.field: change.after for change in shown(planned).changes}

    assert changes["project"] == "p"
    assert "description" not in changes
    assert shown(planned).schedule_id is None


def test_a_dropped_schedule_is_shown_as_disabled_and_one_that_rests_is_left_out() -> None:
    dropped, resting = state(name="a"), revising.disabled(state(name="b"), now=NOW)

    (planned,) = plan_of([dropped, resting], [], zone="UTC")

    assert [(c.field, c.before, c.after) for c in shown(planned).changes] == [("enabled", True, False)]


def test_a_zone_that_is_the_default_is_no_change() -> None:
    cron = {"kind": "cron", "expression": "0 5 * * *"}
    there = state(trigger=cron, zone="Asia/Tokyo")

    (same,) = plan_of([there], [spec(trigger=cron)], zone="Asia/Tokyo")
    (other,) = plan_of([there], [spec(trigger=cron)], zone="UTC")

    assert (same.step, other.step) == ("unchanged", "update")


def test_a_name_is_in_a_set_once() -> None:
    failures = repeated_names([spec(name="a"), spec(name="b"), spec(name="a")])

    assert [failure.path for failure in failures] == [("schedules", 2, "name")]
