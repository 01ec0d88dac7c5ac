"""Polls of schedules: claimed, each in a task of its own, each event decided by itself and once."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from contract.errors import StateUnavailable
from contract.limits import PROMPT_MAX_CHARS
from contract.parsing import parse_model
from contract.schedules import DeleteSchedule, SchedulePatch
from schedules import revising
from schedules.pull_events import PullEvent
from schedules.scheduler.github import PollAnswer
from schedules.services import mutating
from tests.fakes.turns import turns, until_idle
from tests.schedules.making import NOW
from tests.schedules.scheduler.rigs import GITHUB, Rig

AWAY = StateUnavailable(retryable=True, detail="away")
ACTION = {"kind": "command", "command": ["look", "{{event.number}}", "{{event.title}}"]}


def event(number: int, at: float = NOW + 1) -> PullEvent:
    return PullEvent(
        key=f"pr_opened:{number}:{at:.0f}", at=at, number=number, title=f"change {number}", url="", repository="o/n",
        kind="pr_opened",
    )  # fmt: skip


def listing(*numbers: int, at: float = NOW + 1, **fields: Any) -> PollAnswer:
    return PollAnswer(events=tuple(event(number, at) for number in numbers), **fields)


async def seeded_rig(*answers: PollAnswer, capacity: int = 0, **fields: Any) -> Rig:
    """Return a rig whose poller has looked once; the next polls are answered as given."""
    rig = Rig(capacity=capacity)
    rig.add(**{"trigger": GITHUB, "action": ACTION, "overlap_policy": "allow", **fields})
    rig.pulls.answers.append(listing(1, at=NOW - 5, etag="first"))
    await rig.settle()
    rig.pulls.answers.extend(answers)
    return rig


def numbers(rig: Rig) -> list[str]:
    return [run.action.command[1] for run in rig.runs.started.values()]


async def test_the_first_poll_looks_and_fires_nothing() -> None:
    rig = await seeded_rig()

    after = rig.state()
    assert not rig.states.kept
    assert (after.poll.cursor_at, after.poll.seen, after.poll.etag) == (
        NOW - 5,
        ("pr_opened:1:" + f"{NOW - 5:.0f}",),
        "first",
    )
    assert (after.poll.last_ok_at, after.next_fire_at) == (NOW, NOW + 60)


async def test_each_event_fires_once_with_its_fields_filled_in() -> None:
    rig = await seeded_rig(listing(7, 8, etag="second"), listing(7, 8, 9, etag="third"))

    await rig.live(130)

    assert [run.action.command for run in rig.runs.started.values()] == [
        ("look", "7", "change 7"),
        ("look", "8", "change 8"),
        ("look", "9", "change 9"),
    ]
    assert {firing.event for firing in await rig.firings()} == {f"pull request {n} opened" for n in (7, 8, 9)}
    assert {firing.due_at for firing in await rig.firings()} == {NOW + 1}
    assert [state.etag for state in rig.pulls.asked] == [None, "first", "second"]


@pytest.mark.parametrize("commits", [1, 2, 3])
async def test_who_dies_between_two_events_leaves_the_rest_to_the_next_poll(commits: int) -> None:
    rig = await seeded_rig(listing(7, 8, 9), listing(7, 8, 9), listing(7, 8, 9))
    rig.clock.advance(60)
    before = rig.states.calls["commit"]

    await rig.scheduler.round()
    for _ in range(200):
        if rig.states.calls["commit"] - before > commits:
            break
        await turns()
    await rig.polls.stop()
    rig.restart()
    await rig.live(120)

    assert sorted(numbers(rig)) == ["7", "8", "9"]
    assert len({kept.draft.slot for kept in rig.states.kept}) == 3


async def test_several_schedulers_ask_once() -> None:
    rig = await seeded_rig(listing(7), listing(7))
    others = [Rig.another(rig) for _ in range(2)]
    rig.clock.advance(60)

    await asyncio.gather(rig.round(), *(other.round() for other in others))
    await rig.settle()

    assert len(rig.pulls.asked) == 2
    assert numbers(rig) == ["7"]


async def test_a_slow_server_delays_nobody_and_is_not_asked_twice_at_once() -> None:
    rig = Rig()
    gate = asyncio.Event()
    rig.pulls.during = gate.wait
    for number in range(20):
        rig.add(f"poll{number:02}", trigger=GITHUB)
    rig.add("planned", overlap_policy="allow")

    assert await rig.settle() == 30.0, "those that wait for their turn are no reason to look again"
    assert len(rig.pulls.asked) == 8
    await rig.live(180, ending=False)
    assert await rig.codes("planned") == ["fired.due"] * 3
    assert len(rig.pulls.asked) == 8

    gate.set()
    for _ in range(3):
        await until_idle()
        await rig.settle()
    assert len(rig.pulls.asked) == 20
    assert {state.poll.last_ok_at for state in rig.states.schedules.values() if state.name != "planned"} == {NOW + 180}


async def test_an_event_without_room_waits_and_fires_once_when_there_is_room() -> None:
    rig = await seeded_rig(listing(7, etag="second"), listing(7, etag="second"), listing(7), capacity=1)
    rig.runs.others_open = 1
    await rig.live(60, ending=False)
    assert await rig.codes() == ["deferred.capacity"]
    assert (rig.state().poll.etag, rig.state().next_fire_at) == (None, NOW + 120)

    rig.runs.others_open = 0
    await rig.live(60, ending=False)

    assert await rig.codes() == ["fired.event"]
    assert rig.state().poll.etag == "second"


async def test_an_event_that_waits_for_room_is_asked_for_no_sooner_than_the_server_wants() -> None:
    rig = await seeded_rig(listing(7, wait=300.0), capacity=1)
    rig.runs.others_open = 1

    await rig.live(60, ending=False)

    assert rig.state().next_fire_at == NOW + 360


async def test_overlap_and_caps_hold_for_events() -> None:
    rig = await seeded_rig(listing(7, 8, 9), overlap_policy="skip")
    await rig.live(60, ending=False)
    assert await rig.codes() == ["fired.event", "skipped.overlap", "skipped.overlap"]

    capped = await seeded_rig(listing(7, 8, 9), max_runs=2)
    await capped.live(60, ending=False)
    assert await capped.codes() == ["fired.event", "fired.event"]
    assert capped.state().disabled_reason == "schedule.disabled.max_runs"


async def test_an_action_that_an_event_makes_too_long_is_skipped() -> None:
    prompt = "{{event.title}}" * (PROMPT_MAX_CHARS // 15)
    long = {"kind": "agent", "prompt": prompt}
    rig = await seeded_rig(PollAnswer(events=(replace(event(7), title="t" * 256),)), action=long)

    await rig.live(60)

    assert await rig.codes() == ["skipped.refused"]
    assert "prompt" in ((await rig.firings())[0].reason_summary or "")


async def test_a_fault_is_visible_and_backs_off() -> None:
    rig = await seeded_rig(*[PollAnswer(fault="GitHub refuses the token (401)")] * 4)

    await rig.live(59.9)
    waits = []
    for _ in range(4):
        rig.clock.step((rig.state().next_fire_at or 0) - rig.clock.now())
        await rig.settle()
        waits.append((rig.state().next_fire_at or 0) - rig.clock.now())

    assert waits == [60.0, 120.0, 240.0, 480.0]
    after = rig.state()
    assert (after.poll.failures, after.poll.fault) == (4, "GitHub refuses the token (401)")
    assert (after.poll.last_ok_at, after.enabled) == (NOW, True)


async def test_a_limit_is_obeyed_and_an_answer_makes_good() -> None:
    rig = await seeded_rig(PollAnswer(fault="GitHub limits the rate of requests (429)", wait=600.0), PollAnswer())
    await rig.live(60)
    assert rig.state().next_fire_at == NOW + 660

    await rig.live(600)

    after = rig.state()
    assert (after.poll.failures, after.poll.fault, after.next_fire_at) == (0, None, NOW + 720)


async def test_a_fault_is_recorded_though_the_schedule_changes_meanwhile() -> None:
    rig = await seeded_rig(PollAnswer(fault="GitHub limits the rate of requests (429)", wait=600.0))

    async def edited() -> None:
        rig.states.put(replace(rig.state(), description="x", revision=rig.state().revision + 1))

    rig.pulls.during = edited
    await rig.live(60)

    assert (rig.state().description, rig.state().next_fire_at) == ("x", NOW + 660)


async def test_events_are_decided_though_the_schedule_changes_meanwhile() -> None:
    rig = await seeded_rig(listing(7, 8))

    async def edited() -> None:
        rig.states.put(replace(rig.state(), description="x", revision=rig.state().revision + 1))

    rig.pulls.during = edited
    await rig.live(60)

    assert numbers(rig) == ["7", "8"]


@pytest.mark.parametrize(
    "patch", [{"trigger": {**GITHUB, "repository": "o/other"}}, {"trigger": {"kind": "interval", "seconds": 900}}]
)
@pytest.mark.parametrize("answer", [listing(7), PollAnswer(fault="away")])
async def test_what_was_found_for_another_trigger_counts_for_nothing(patch: dict[str, Any], answer: PollAnswer) -> None:
    rig = await seeded_rig(answer)

    async def edited() -> None:
        rig.pulls.during = _nothing
        changed = revising.patched(rig.state(), parse_model(SchedulePatch, patch), zone="UTC", now=rig.clock.now())
        rig.states.put(replace(changed, revision=rig.state().revision + 1))

    rig.pulls.during = edited
    rig.clock.advance(60)
    await rig.round()

    assert not rig.states.kept
    assert rig.state().poll.fault is None


async def test_a_schedule_that_is_deleted_while_it_is_polled_is_gone() -> None:
    rig = await seeded_rig(PollAnswer(fault="away"))

    async def deleted() -> None:
        await mutating.delete_schedule(schedule_id="nightly", command=DeleteSchedule(), needs=rig.needs)

    rig.pulls.during = deleted
    await rig.live(60)

    assert not rig.states.schedules


async def test_an_unforeseen_fault_is_a_fault_of_that_poller() -> None:
    rig = await seeded_rig()
    rig.pulls.fault = RuntimeError("secret")

    await rig.live(60)

    assert rig.state().poll.fault == "the poll met an unforeseen fault; see the log"
    assert await rig.settle() == 30.0


async def test_a_store_that_is_away_leaves_the_poll_to_the_next_instant() -> None:
    rig = await seeded_rig(listing(7), listing(7))

    async def away() -> None:
        rig.states.failing, rig.states.fault = "find", AWAY

    rig.pulls.during = away
    rig.clock.advance(60)
    await rig.round()
    rig.pulls.during = _nothing
    rig.states.fault = None
    await rig.live(60)

    assert numbers(rig) == ["7"]


async def test_a_decision_that_others_are_always_faster_than_is_left_to_the_next_poll() -> None:
    rig = await seeded_rig(listing(7), listing(7))
    rig.states.contended = True
    rig.clock.advance(60)
    await rig.round()
    for _ in range(5):
        await until_idle()
    assert rig.states.calls["commit"] > 20

    rig.states.contended = False
    await rig.live(60)

    assert numbers(rig) == ["7"]


async def _nothing() -> None:
    return None
