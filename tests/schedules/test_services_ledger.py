"""By what commits are judged, without any store."""

from dataclasses import replace
from typing import Any

import pytest

from contract.schedules import ScheduleAction
from contract.triggers import IntervalTrigger
from schedules.schedule import ScheduleState
from schedules.services.ledger import Ledger, next_revision, sooner
from schedules.services.ports import Commit, FiringDraft, FiringEnd


def state(schedule_id: str = "a", **fields: Any) -> ScheduleState:
    defaults: dict[str, Any] = {
        "name": schedule_id, "description": None, "enabled": True, "paused": False, "disabled_reason": None,
        "trigger": IntervalTrigger(seconds=60), "zone": "UTC", "action": ScheduleAction(kind="agent"), "project": None,
        "missed_fire_policy": "skip", "overlap_policy": "skip", "max_runs": None, "budget_micros": None,
        "budget_tokens": None, "anchor_at": 0.0, "next_fire_at": 60.0, "created_at": 0.0, "updated_at": 0.0,
    }  # fmt: skip
    return ScheduleState(schedule_id=schedule_id, **(defaults | fields))


def draft(schedule_id: str = "a", slot: str = "1", outcome: Any = "skipped") -> FiringDraft:
    return FiringDraft(
        firing_id="f", schedule_id=schedule_id, slot=slot, due_at=0.0, decided_at=0.0, outcome=outcome, reason_code="c"
    )


def change(old: ScheduleState | None = None, **fields: Any) -> tuple[ScheduleState, ScheduleState]:
    old = old or state()
    return old, replace(old, **fields)


def ledger(**fields: Any) -> Ledger:
    return Ledger(**({"revisions": {"a": 0, "b": 3}, "outcomes": {}, "unended": set()} | fields))


@pytest.mark.parametrize(
    ("commit", "allowed"),
    [
        (Commit(schedules=()), True),
        (Commit(schedules=((None, None),)), True),
        (Commit(schedules=(change(),)), True),
        (Commit(schedules=(change(state(revision=1)),)), False),
        (Commit(schedules=(change(), change())), False),
        (Commit(schedules=(change(), change(state("b")))), False),
        (Commit(schedules=(change(), change(state("b", revision=3)))), True),
        (Commit(schedules=(change(state("c")),)), False),
        (Commit(schedules=((None, state("c")),)), True),
        (Commit(schedules=((None, state("a")),)), False),
        (Commit(schedules=((state(), None),)), True),
        (Commit(schedules=((state(revision=1), None),)), False),
        (Commit(schedules=((state(), None),), firings=(draft(),)), False),
        (Commit(schedules=((None, state("c")),), firings=(draft("c"),)), True),
        (Commit(schedules=(), firings=(draft("c"),)), False),
        (Commit(schedules=(), firings=(draft(), draft("b"), draft(slot="2"))), True),
        (Commit(schedules=(), firings=(draft(), draft())), False),
        (Commit(schedules=(), firings=(draft(slot="decided"),)), False),
        (Commit(schedules=(), firings=(draft(slot="put off"),)), True),
        (Commit(schedules=(), ends=(FiringEnd(firing_id="f1", run_status="failed"),)), True),
        (Commit(schedules=(), ends=(FiringEnd(firing_id="f2", run_status="failed"),)), False),
        (Commit(schedules=(), ends=(FiringEnd(firing_id="f1", run_status="failed"),) * 2), False),
    ],
)
def test_a_commit_is_allowed_as_a_whole(commit: Commit, allowed: bool) -> None:
    outcomes = {("a", "decided"): "fired", ("a", "put off"): "deferred"}
    there = ledger(outcomes=dict(outcomes), unended={"f1"})

    assert there.take(commit) is allowed
    assert allowed or there == ledger(outcomes=outcomes, unended={"f1"})


def test_later_commits_meet_what_earlier_ones_have_left() -> None:
    there = ledger(unended={"f1"})
    end = FiringEnd(firing_id="f1", run_status="failed")

    assert there.take(Commit(schedules=(change(),), firings=(draft(outcome="deferred"),), ends=(end,)))
    assert not there.take(Commit(schedules=(change(),)))
    assert not there.take(Commit(schedules=(), ends=(end,)))
    assert there.take(Commit(schedules=(change(state(revision=1)),), firings=(draft(),)))
    assert not there.take(Commit(schedules=(), firings=(draft(),)))
    assert there.take(Commit(schedules=((state(revision=2), None), (None, state("c")))))
    assert there.revisions == {"b": 3, "c": 0}


def test_revisions_grow_by_one_from_the_first() -> None:
    assert [next_revision(None), next_revision(state(revision=4))] == [0, 5]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, state(), True),
        (None, state(enabled=False), False),
        (None, state(next_fire_at=None), False),
        (state(), None, False),
        (state(), state(), False),
        (state(), state(next_fire_at=61.0), False),
        (state(), state(next_fire_at=59.0), True),
        (state(next_fire_at=None), state(), True),
        (state(enabled=False), state(), True),
        (state(), state(enabled=False, next_fire_at=1.0), False),
    ],
)
def test_what_may_be_due_sooner_is_told(old: ScheduleState | None, new: ScheduleState | None, expected: bool) -> None:
    assert sooner(Commit(schedules=((old, new),))) is expected
