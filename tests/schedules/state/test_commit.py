"""Commits: each as a whole or not at all, over both stores."""

from dataclasses import replace
from typing import Any

import pytest

from contract.errors import Conflict
from contract.schedules import ScheduleAction
from contract.triggers import AtTrigger, CronTrigger, GithubPollTrigger, IntervalTrigger, Trigger
from schedules.schedule import PollState
from schedules.services.ports import Commit, FiringEnd
from tests.fakes.clocks import START_AT
from tests.schedules.state.stores import Store, changed, deferred, schedule, skipped

TRIGGERS: list[Trigger] = [
    CronTrigger(expression="0 9 * * 1-5", timezone="Europe/Zurich"),
    IntervalTrigger(seconds=90),
    GithubPollTrigger(repository="team/thing", poll_interval_seconds=60, filters={"draft": False, "base": "main"}),
    AtTrigger(at=START_AT + 3.25),
]
EVERYTHING: dict[str, Any] = {
    "description": "Looks at night.\nTwice.",
    "paused": True,
    "disabled_reason": "schedule.disabled.budget",
    "enabled": False,
    "zone": "Europe/Zurich",
    "project": "team/thing",
    "missed_fire_policy": "run_once",
    "overlap_policy": "allow",
    "max_runs": 3,
    "budget_micros": 2**53,
    "budget_tokens": 10**12,
    "next_fire_at": None,
    "run_count": 2,
    "spent_micros": 7,
    "spent_tokens": 8,
    "last_fired_at": START_AT + 0.125,
    "last_run_id": "r1",
    "last_run_status": "failed",
    "consecutive_failures": 4,
    "poll": PollState(
        etag='W/"' + "e" * 5_000 + '"',
        cursor_at=START_AT - 0.5,
        seen=("1", "é"),
        last_poll_at=START_AT,
        last_ok_at=START_AT - 60,
        not_before=START_AT + 60,
        failures=2,
        fault="no answer " * 500,
    ),
}


@pytest.mark.parametrize("trigger", TRIGGERS)
async def test_what_is_inserted_is_found_as_it_was(store: Store, trigger: Trigger) -> None:
    chained: dict[str, Any] = {
        "kind": "agent",
        "prompt": "Tell.",
        "on_fail": {"kind": "command", "command": ["stop", "ﬁ"]},
    }
    action = ScheduleAction(kind="agent", prompt="Look\u2028.", agent="scout", on_success=chained)
    state = schedule("Größe 🜁", trigger=trigger, action=action, **EVERYTHING)

    assert await store.made("Größe 🜁", trigger=trigger, action=action, **EVERYTHING) == state


async def test_a_change_writes_what_differs_and_gives_the_next_revision(store: Store) -> None:
    state = await store.made(poll=PollState(seen=("1",)))

    after = replace(state, trigger=TRIGGERS[1], action=ScheduleAction(kind="agent"), **EVERYTHING)
    assert await store.write((state, after))
    renamed = replace(after, name="weekly", revision=1)
    assert await store.write((replace(after, revision=1), renamed))

    assert await store.get(state.schedule_id) == replace(renamed, revision=2)
    assert await store.names(search="WEEK") == ["weekly"]
    assert await store.names(trigger="interval") == ["weekly"]


async def test_a_change_of_what_has_changed_since_is_not_made(store: Store) -> None:
    state = await store.made()
    current = await store.change(state, run_count=1)

    assert not await store.write(changed(state, run_count=5), firings=(skipped(state),))

    assert await store.get(state.schedule_id) == current
    assert await store.firing_ids(state) == []


async def test_a_change_of_nothing_takes_a_revision_all_the_same(store: Store) -> None:
    state = await store.made()

    assert await store.write((state, state))

    assert (await store.get(state.schedule_id)).revision == 1


async def test_a_commit_of_several_schedules_is_made_as_a_whole(store: Store) -> None:
    first, second = await store.add(schedule("a"), schedule("b"))
    await store.change(second)

    assert not await store.write(
        changed(first, enabled=False), changed(second, enabled=False), (None, schedule("c")), firings=(skipped(first),)
    )

    assert await store.get(first.schedule_id) == first
    assert await store.names() == ["a", "b"]
    assert await store.firing_ids(first) == []


async def test_of_several_commits_some_lose_and_the_others_are_made(store: Store) -> None:
    states = await store.add(*(schedule(name) for name in "abcde"))
    a, b, c, d, e = states
    await store.change(b)
    await store.decide(d, skipped(d))
    d = await store.get(d.schedule_id)

    made = await store.port.commit(
        [
            Commit(schedules=(changed(a, run_count=1),), firings=(store.fired(a),)),
            Commit(schedules=(changed(b, run_count=1),), firings=(store.fired(b),)),
            Commit(schedules=((c, None),)),
            Commit(schedules=(changed(d, run_count=1),), firings=(store.fired(d),)),
            Commit(schedules=(changed(e, run_count=1),), ends=(FiringEnd(firing_id="unknown", run_status="failed"),)),
            Commit(schedules=((None, schedule("f")),)),
            Commit(schedules=()),
        ]
    )

    assert made == (True, False, True, False, False, True, True)
    assert {state.name: state.run_count for state in await store.port.every()} == {
        "a": 1, "b": 0, "d": 0, "e": 0, "f": 0
    }  # fmt: skip
    assert store.queued == [("run-a-due:1", START_AT)]


async def test_later_commits_meet_what_earlier_ones_of_the_call_have_left(store: Store) -> None:
    state = await store.made()
    after = replace(state, run_count=1)
    following = replace(after, revision=1)

    made = await store.port.commit(
        [
            Commit(schedules=((state, after),), firings=(skipped(state, "due:1"),)),
            Commit(schedules=((state, after),), firings=(skipped(state, "due:2"),)),
            Commit(schedules=(changed(following, run_count=2),), firings=(skipped(state, "due:1", "again"),)),
            Commit(schedules=(changed(following, run_count=3),), firings=(skipped(state, "due:3"),)),
        ]
    )

    assert made == (True, False, False, True)
    found = await store.get(state.schedule_id)
    assert (found.run_count, found.revision) == (3, 2)
    assert sorted(await store.firing_ids(state)) == ["nightly-due:1", "nightly-due:3"]


async def test_a_schedule_that_is_there_is_not_inserted_and_one_that_is_gone_not_changed(store: Store) -> None:
    state = await store.made()

    assert not await store.write((None, replace(state, name="other")))
    assert await store.write((state, None))
    assert not await store.write(changed(state))
    assert not await store.write((state, None))
    assert not await store.write(firings=(skipped(state),))

    assert await store.port.every() == ()


async def test_one_schedule_twice_in_a_commit_is_refused(store: Store) -> None:
    state = await store.made()

    assert not await store.write(changed(state, run_count=1), changed(state, run_count=2))


# ---- names


async def test_a_taken_name_is_a_conflict_and_nothing_of_the_call_is_made(store: Store) -> None:
    first, second = await store.add(schedule("a"), schedule("b"))

    with pytest.raises(Conflict) as refused:
        await store.port.commit(
            [
                Commit(schedules=(changed(first, run_count=1),), firings=(skipped(first),)),
                Commit(schedules=((None, schedule("b", schedule_id="new")),)),
            ]
        )
    with pytest.raises(Conflict):
        await store.write(changed(first, name="b"))

    conflict = refused.value
    assert (conflict.resource, conflict.actual, str(conflict)) == ("schedule", "b", "there is a schedule b already")
    assert await store.port.every() == (first, second)
    assert await store.firing_ids(first) == []


async def test_one_name_twice_in_a_call_is_a_conflict(store: Store) -> None:
    with pytest.raises(Conflict, match="there is a schedule a already"):
        await store.add(schedule("a", schedule_id="1"), schedule("a", schedule_id="2"))

    assert await store.port.every() == ()


async def test_a_commit_that_loses_takes_no_name(store: Store) -> None:
    state = await store.made("a")
    await store.change(state)

    made = await store.port.commit(
        [Commit(schedules=(changed(state, name="b"),)), Commit(schedules=((None, schedule("b")),))]
    )

    assert made == (False, True)


async def test_names_that_differ_by_case_or_blanks_are_two(store: Store) -> None:
    await store.add(schedule("Nightly"), schedule("nightly"), schedule("nightly "))

    assert await store.names() == ["Nightly", "nightly", "nightly "]


async def test_a_name_that_a_commit_frees_can_be_taken_by_it(store: Store) -> None:
    first, second = await store.add(schedule("a"), schedule("b"))

    assert await store.write(
        (None, schedule("a", schedule_id="new a")),
        changed(second, name="c"),
        (None, schedule("b", schedule_id="new b")),
        (first, None),
    )

    assert [(state.name, state.schedule_id) for state in await store.port.every()] == [
        ("a", "new a"), ("b", "new b"), ("c", "id-b")
    ]  # fmt: skip


# ---- slots


@pytest.mark.parametrize("cause", ["due", "manual", "event", "chain"])
async def test_a_decision_is_found_by_its_slot(store: Store, cause: Any) -> None:
    state = await store.made()
    said: dict[str, Any] = {
        "reason_summary": "why " * 1_000, "cause": cause, "event": "pr 7", "depth": 2, "parent_run_id": "r0"
    }  # fmt: skip
    await store.decide(state, store.fired(state, "s", "f1", due_at=START_AT - 1.5, **said))

    found = await store.port.find_firing(state.schedule_id, "s")

    assert found is not None
    assert found.model_dump() == said | {
        "firing_id": "f1",
        "schedule_id": state.schedule_id,
        "due_at": START_AT - 1.5,
        "decided_at": START_AT,
        "outcome": "fired",
        "reason_code": "schedule.fired.due",
        "run_id": "run-f1",
        "run_status": None,
    }
    assert await store.port.find_firing(state.schedule_id, "other") is None
    assert await store.port.find_firing("unknown", "s") is None


@pytest.mark.parametrize("before", ["fired", "skipped"])
async def test_a_slot_that_is_decided_makes_a_commit_fail_as_a_whole(store: Store, before: str) -> None:
    state = await store.made()
    state = await store.decide(state, store.fired(state) if before == "fired" else skipped(state))
    store.queued.clear()

    assert not await store.write(
        changed(state, run_count=9), firings=(store.fired(state, "due:2", "new"), store.fired(state, "due:1", "again"))
    )

    assert await store.get(state.schedule_id) == state
    assert await store.firing_ids(state) == ["nightly-due:1"]
    assert store.queued == []


async def test_the_same_slot_of_two_schedules_is_two(store: Store) -> None:
    first, second = await store.add(schedule("a"), schedule("b"))

    assert await store.write(changed(first), changed(second), firings=(skipped(first), skipped(second)))


async def test_one_slot_twice_in_a_commit_is_refused(store: Store) -> None:
    state = await store.made()

    assert not await store.write(changed(state), firings=(deferred(state), skipped(state, "due:1", "other")))


async def test_a_deferred_slot_is_decided_again_until_it_is_not_deferred(store: Store) -> None:
    state = await store.made()
    state = await store.decide(state, deferred(state, "due:1", "f1"), skipped(state, "due:0", "f0"))
    state = await store.decide(state, deferred(state, "due:1", "f2", decided_at=START_AT + 1))
    state = await store.decide(state, store.fired(state, "due:1", "f3", decided_at=START_AT + 2))

    assert not await store.write(changed(state), firings=(deferred(state, "due:1", "f4"),))

    assert await store.firing_ids(state) == ["f3", "f0"]
    assert store.queued == [("run-f3", START_AT + 2)]


async def test_a_deferred_slot_is_decided_again_within_one_call(store: Store) -> None:
    state = await store.made()
    again = replace(state, revision=1)

    made = await store.port.commit(
        [
            Commit(schedules=(changed(state),), firings=(deferred(state, "due:1", "f1"),)),
            Commit(schedules=(changed(again),), firings=(store.fired(state, "due:1", "f2"),)),
        ]
    )

    assert made == (True, True)
    assert await store.firing_ids(state) == ["f2"]


async def test_many_schedules_are_changed_in_one_commit(store: Store) -> None:
    states = await store.add(*(schedule(f"{number:04}", run_count=number % 3) for number in range(1_200)))

    assert await store.write(*(changed(state, enabled=False, paused=True) for state in states))

    assert await store.port.every() == tuple(replace(state, enabled=False, paused=True, revision=1) for state in states)
