"""A schedule as others see it."""

from dataclasses import replace
from typing import Any

import pytest

from contract.schedules import Firing, ScheduleSpec
from schedules import revising
from schedules.schedule import PollState, ScheduleState
from schedules.views import detail_of, health, poller_of, result_of, spec_of
from tests.schedules.making import NOW, spec, state

GITHUB = {"kind": "github_poll", "repository": "o/n", "poll_interval_seconds": 60}
SAID: dict[str, Any] = {
    "description": "d", "project": "p", "max_runs": 3, "budget_usd": 1.5, "budget_tokens": 9,
    "missed_fire_policy": "run_once", "overlap_policy": "allow",
}  # fmt: skip
FIRING = Firing(
    firing_id="f", schedule_id="s1", due_at=NOW, decided_at=NOW, outcome="skipped", reason_code="c", run_id=None
)


def test_the_result_of_a_change() -> None:
    result = result_of(state())

    assert result.model_dump() == {
        "schedule_id": "s1", "name": "nightly", "enabled": True, "updated_at": NOW, "next_fire_at": NOW + 60,
    }  # fmt: skip


def test_a_specification_is_what_a_person_said() -> None:
    assert spec_of(state(**SAID)) == spec(**SAID)


@pytest.mark.parametrize(
    ("made", "enabled"),
    [(state(enabled=False), False), (revising.paused(state(), now=NOW), True)],
)
def test_a_specification_says_what_is_meant(made: ScheduleState, enabled: bool) -> None:
    found = spec_of(made)

    assert isinstance(found, ScheduleSpec)
    assert found.enabled is enabled


def test_a_detail_has_everything() -> None:
    made = replace(state(**SAID), run_count=2, spent_micros=2_500_000, spent_tokens=4, last_run_status="failed")

    detail = detail_of(made, [FIRING], now=NOW)

    assert (detail.budget_usd, detail.spent_usd, detail.spent_tokens, detail.run_count) == (1.5, 2.5, 4, 2)
    assert (detail.health, detail.action_kind, detail.poller, detail.firings) == ("failing", "command", None, (FIRING,))
    assert detail.action == made.action


def test_a_poller_is_shown_as_it_stands() -> None:
    polled = replace(
        state(trigger=GITHUB), poll=PollState(last_poll_at=NOW, last_ok_at=NOW - 60, failures=3, fault="away")
    )

    view = poller_of(polled)

    assert view is not None
    assert view.model_dump() == {
        "last_poll_at": NOW, "last_ok_at": NOW - 60, "next_poll_at": NOW, "consecutive_failures": 3, "fault": "away",
    }  # fmt: skip
    assert poller_of(state()) is None
    assert health(polled, NOW) == "poller_failing"
