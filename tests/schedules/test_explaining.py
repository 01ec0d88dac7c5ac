"""Why a schedule did what it did, in words."""

from dataclasses import replace
from typing import Any

import pytest

from contract.limits import INSTANT_MAX
from contract.schedules import Firing
from schedules import revising
from schedules.admission import Standing
from schedules.explaining import decision_sentence, local, next_sentences, standing_sentence
from schedules.revising import terms_of
from schedules.schedule import PollState, ScheduleState
from tests.schedules.making import NOW, state

GITHUB = {"kind": "github_poll", "repository": "o/n", "poll_interval_seconds": 60}
IDLE = Standing(own_open=0, run_count=0, spent_micros=None, spent_tokens=None, all_open=0, capacity=0)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (state(), "It is enabled and is due next at 2026-01-01 00:01:00+00:00."),
        (state(zone="Asia/Tokyo"), "It is enabled and is due next at 2026-01-01 09:01:00+09:00."),
        (
            replace(state(), next_fire_at=NOW - 7),
            "It is enabled and is due since 2025-12-31 23:59:53+00:00 (7 seconds).",
        ),
        (replace(state(), next_fire_at=None), "It is enabled, and no further instant will come."),
        (state(trigger=GITHUB), "It is enabled and asks GitHub since 2026-01-01 00:00:00+00:00 (0 seconds)."),
        (state(enabled=False), "It is disabled, by a person's wish."),
        (revising.paused(state(), now=NOW), "It is paused with all others, and goes on when they are resumed."),
        (
            revising.disabled(state(), now=NOW, reason="schedule.disabled.max_runs"),
            "It is disabled. All runs were started: raise max_runs to go on.",
        ),
    ],
)  # fmt: skip
def test_it_is_said_whether_it_fires_and_when(made: ScheduleState, expected: str) -> None:
    assert standing_sentence(made, now=NOW) == expected


def firing(**fields: Any) -> Firing:
    defaults = {
        "firing_id": "f", "schedule_id": "s1", "due_at": NOW, "decided_at": NOW, "outcome": "fired",
        "reason_code": "schedule.fired.due", "run_id": None,
    }  # fmt: skip
    return Firing(**{**defaults, **fields})


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"run_id": "r1"}, "2026-01-01 00:00:00+00:00 (due): fired as run r1. Its instant had come."),
        (
            {"run_id": "r1", "run_status": "failed", "decided_at": NOW + 2.5},
            "2026-01-01 00:00:00+00:00 (due, 2.5 seconds late): fired as run r1 (failed). Its instant had come.",
        ),
        (
            {"cause": "manual", "decided_at": NOW + 9, "reason_code": "schedule.fired.manual"},
            "2026-01-01 00:00:00+00:00 (by hand): fired. A person fired it.",
        ),
        (
            {"cause": "event", "event": "pull request 7 opened", "reason_code": "schedule.fired.event"},
            "2026-01-01 00:00:00+00:00 (pull request 7 opened): fired. A poll found a new event.",
        ),
        (
            {"outcome": "skipped", "reason_code": "schedule.skipped.missed", "reason_summary": "3 were missed"},
            "2026-01-01 00:00:00+00:00 (due): skipped. 3 were missed",
        ),
        (
            {"outcome": "skipped", "reason_code": "of.a.later.version"},
            "2026-01-01 00:00:00+00:00 (due): skipped. of.a.later.version",
        ),
    ],
)
def test_a_decision_is_told_with_its_reason(fields: dict[str, Any], expected: str) -> None:
    assert decision_sentence(firing(**fields), zone="UTC") == expected


def told(made: ScheduleState, **standing: Any) -> list[str]:
    return list(next_sentences(made, terms_of(made), replace(IDLE, **standing), now=NOW))


@pytest.mark.parametrize(
    ("made", "standing", "expected"),
    [
        (state(), {}, ["Overlap: no run of it is open, so nothing is in its way."]),
        (
            state(),
            {"own_open": 1},
            ["Overlap: 1 run of it is open, so it is skipped meanwhile (overlap_policy)."],
        ),
        (state(overlap_policy="allow"), {"own_open": 2}, ["Overlap is allowed: 2 runs of it are open."]),
        (
            state(overlap_policy="allow", budget_usd=1.5, budget_tokens=10, max_runs=3),
            {"run_count": 2},
            [
                "Overlap is allowed: 0 runs of it are open.",
                "Budget: nothing was reported of 1.5 US dollars; when it is spent it is disabled.",
                "Tokens: nothing was reported of 10; when they are used it is disabled.",
                "Runs: 2 of 3 were started; at the last it is disabled (max_runs).",
            ],
        ),
        (
            state(overlap_policy="allow", budget_usd=1.5, budget_tokens=10),
            {"spent_micros": 250_000, "spent_tokens": 4, "capacity": 4, "all_open": 3},
            [
                "Overlap is allowed: 0 runs of it are open.",
                "Budget: 0.25 spent of 1.5 US dollars; when it is spent it is disabled.",
                "Tokens: 4 used of 10; when they are used it is disabled.",
                "Capacity: 3 of 4 runs are open at the moment; there is room.",
            ],
        ),
        (
            replace(state(overlap_policy="allow"), next_fire_at=NOW - 60),
            {"capacity": 4, "all_open": 4},
            [
                "Its instant is over 60 seconds late: it is skipped (missed_fire_policy).",
                "Overlap is allowed: 0 runs of it are open.",
                "Capacity: 4 of 4 runs are open at the moment; there is no room, so it stays due.",
            ],
        ),
        (
            replace(state(overlap_policy="allow", missed_fire_policy="run_once"), next_fire_at=NOW - 61),
            {},
            [
                "Its instant is over 60 seconds late: it fires once for all that was missed (missed_fire_policy).",
                "Overlap is allowed: 0 runs of it are open.",
            ],
        ),
        (
            replace(state(trigger=GITHUB, overlap_policy="allow"), poll=PollState(failures=2, fault="no token")),
            {},
            ["Overlap is allowed: 0 runs of it are open.", "The last poll failed, 2 in a row: no token"],
        ),
    ],
)
def test_it_is_said_what_the_next_decision_depends_on(
    made: ScheduleState, standing: dict[str, Any], expected: list[str]
) -> None:
    assert told(made, **standing) == expected


def test_the_last_instant_of_the_calendar_can_be_told() -> None:
    assert local(INSTANT_MAX, "Pacific/Kiritimati").startswith("9999-12-31 ")
