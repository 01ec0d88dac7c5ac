"""The queue: oldest first, under a cap, each run to one worker at a time."""

from collections.abc import Awaitable

import pytest

from contract.actions import ActionFields
from runs.services.execution_ports import LAUNCHES_TOPIC, ClaimedLaunch, HeldLaunch, Lease
from runs.services.following import run_topic
from tests.builders import status
from tests.fakes.clocks import START_AT
from tests.runs.state.launches import child, ending, worker
from tests.runs.state.stores import Store


async def attempts(store: Store, run_id: str = "r") -> tuple[int, float | None]:
    """Return how often a run was claimed, and since when it is."""
    execution = (await store.detail(run_id)).execution
    assert execution is not None
    return execution.attempts, execution.claimed_at


async def test_the_oldest_are_claimed_first(store: Store) -> None:
    for run_id in ("c", "a", "b"):
        await store.queue(run_id)
        store.clock.advance(1)

    first = await store.claim(limit=2)
    rest = await store.claim(limit=2)

    assert (list(first), list(rest), await store.claim()) == (["c", "a"], ["b"], {})


async def test_one_that_is_named_is_claimed_before_older_ones_and_alone(store: Store) -> None:
    for run_id in ("c", "a", "b"):
        await store.queue(run_id)
        store.clock.advance(1)

    named = await store.claim(only="a")
    again = await store.claim(only="a")

    assert (list(named), again, list(await store.claim())) == (["a"], {}, ["c", "b"])


async def test_who_waits_is_told_in_the_order_of_claims(store: Store) -> None:
    for run_id in ("c", "a", "cancelled", "held", "b"):
        await store.queue(run_id)
        store.clock.advance(1)
    await store.claim(only="held")
    await store.writes.request_cancel("cancelled", reason=None, at=START_AT)

    assert await store.leases.waiting() == ("c", "a", "b")
    assert [await store.leases.waiting(only=run_id) for run_id in ("a", "held", "unknown")] == [("a",), (), ()]


async def test_those_of_one_instant_are_claimed_in_the_order_of_their_launch(store: Store) -> None:
    for run_id in ("c", "a", "b"):
        await store.queue(run_id)

    assert list(await store.claim()) == ["c", "a", "b"]


async def test_a_claim_says_all_that_is_needed_to_execute(store: Store) -> None:
    action = ActionFields(kind="agent", prompt="größe 🎈", extra_args=("--verbose",))
    await store.queue("r", action=action, runtime="plain", cwd="/srv", deadline_seconds=3.5)

    claimed = await store.claim()

    assert claimed["r"] == ClaimedLaunch(
        lease=Lease(run_id="r", fence=1),
        action=action,
        runtime="plain",
        cwd="/srv",
        deadline_seconds=3.5,
        attempts=1,
    )


async def test_a_claimed_run_is_queued_until_its_process_starts(store: Store) -> None:
    await store.queue("r")
    before = await store.detail("r")
    store.clock.advance(5)

    await store.claim()

    run = await store.detail("r")
    assert run == before.model_copy(update={"execution": run.execution})
    assert await attempts(store) == (1, START_AT + 5)


@pytest.mark.parametrize(("cap", "expected"), [(0, 5), (1, 0), (2, 0), (3, 1), (4, 2), (100, 5)])
async def test_no_more_are_held_than_the_cap_whoever_holds_them(store: Store, cap: int, expected: int) -> None:
    for number in range(7):
        await store.queue(f"r{number}")
    await store.claim(limit=2, owner=worker(1))

    claimed = await store.claim(cap=cap, owner=worker(2))

    assert len(claimed) == expected


async def test_what_ended_makes_room(store: Store) -> None:
    for run_id in ("a", "b"):
        await store.queue(run_id)
    lease = (await store.claim(cap=1))["a"].lease
    before = await store.claim(cap=1)

    await store.supervised.end(lease, ending(), at=START_AT)

    assert (before, list(await store.claim(cap=1))) == ({}, ["b"])


async def test_a_cancelled_run_is_never_claimed(store: Store) -> None:
    for run_id in ("r", "other"):
        await store.queue(run_id)

    await store.writes.request_cancel("r", reason=None, at=START_AT)

    assert list(await store.claim()) == ["other"]


async def test_cancelling_a_claimed_run_that_has_not_started_lets_go_of_it(store: Store) -> None:
    lease = await store.lease("r")

    await store.writes.request_cancel("r", reason="no", at=START_AT)

    assert (await store.detail("r")).status == "cancelled"
    assert await store.leases.held() == ()
    assert await store.leases.renew([lease], at=START_AT) == frozenset()
    assert await store.leases.cancel_requests([lease]) == {}
    assert not await store.leases.give_back(lease, at=START_AT)
    assert await store.claim() == {}


@pytest.mark.parametrize("moved_to", ["running", "failed"])
async def test_a_run_that_a_producer_took_out_of_the_queue_belongs_to_no_worker(store: Store, moved_to: str) -> None:
    held = await store.lease("held")
    await store.queue("waiting")

    for run_id in ("held", "waiting"):
        await store.record(run_id, status(moved_to))

    assert await store.claim() == {}
    assert await store.leases.held() == ()
    assert not await store.supervised.started(held, child(), at=START_AT)


async def test_renewals_of_what_is_held_are_counted(store: Store) -> None:
    leases = [await store.lease(run_id) for run_id in ("a", "b")]
    strangers = [Lease(run_id="a", fence=2), Lease(run_id="unknown", fence=1)]

    both = await store.leases.renew([*leases, *strangers], at=START_AT)
    one = await store.leases.renew(leases[:1], at=START_AT)

    assert (both, one) == (frozenset({"a", "b"}), frozenset({"a"}))
    assert {held.lease.run_id: held.renewals for held in await store.leases.held()} == {"a": 2, "b": 1}
    assert await store.leases.renew([], at=START_AT) == frozenset()


async def test_a_lost_lease_is_not_renewed(store: Store) -> None:
    lease = await store.lease("r")
    taken = await store.leases.take_over(lease, owner=worker(2), at=START_AT)
    assert taken is not None

    renewed = [await store.leases.renew([one], at=START_AT) for one in (lease, taken)]

    assert renewed == [frozenset(), {"r"}]
    assert [held.renewals for held in await store.leases.held()] == [1]


async def test_holders_learn_who_is_to_stop_and_why(store: Store) -> None:
    leases = [await store.child(run_id) for run_id in ("a", "b", "c")]
    await store.writes.request_cancel("a", reason="too dear", at=START_AT)
    await store.writes.request_cancel("b", reason=None, at=START_AT)

    asked = await store.leases.cancel_requests(leases)
    others = await store.leases.cancel_requests([Lease(run_id="a", fence=7)])

    assert (asked, others) == ({"a": "too dear", "b": None}, {})


async def test_what_is_held_is_told_with_owner_and_process(store: Store) -> None:
    started = await store.child("started")
    ended = await store.child("ended")
    claimed = await store.lease("claimed")
    await store.supervised.end(ended, ending(), at=START_AT)
    await store.queue("waiting")

    assert await store.leases.held() == (
        HeldLaunch(lease=started, owner=worker(), renewals=0, process=child()),
        HeldLaunch(lease=claimed, owner=worker(), renewals=0, process=None),
    )


async def test_what_was_given_back_is_claimed_again_at_its_place_under_a_new_fence(store: Store) -> None:
    lease = await store.lease("r")
    store.clock.advance(1)
    await store.queue("newer")

    given = await store.leases.give_back(lease, at=START_AT)
    waiting = await attempts(store)

    again = await store.claim()
    assert (given, waiting) == (True, (1, None))
    assert list(again) == ["r", "newer"]
    assert (again["r"].lease, again["r"].attempts) == (Lease(run_id="r", fence=2), 2)
    assert not await store.leases.give_back(lease, at=START_AT)


async def test_a_run_whose_process_was_started_is_not_given_back(store: Store) -> None:
    lease = await store.child("r")
    before = await store.detail("r")

    assert not await store.leases.give_back(lease, at=START_AT)

    assert await store.detail("r") == before
    assert [held.lease for held in await store.leases.held()] == [lease]


async def test_what_is_taken_over_has_a_new_owner_and_a_new_fence(store: Store) -> None:
    lease = await store.child("r")
    await store.leases.renew([lease], at=START_AT)

    taken = await store.leases.take_over(lease, owner=worker(2), at=START_AT + 9)

    assert taken == Lease(run_id="r", fence=2)
    assert await store.leases.held() == (HeldLaunch(lease=taken, owner=worker(2), renewals=0, process=child()),)
    assert await attempts(store) == (1, START_AT + 9)


@pytest.mark.parametrize("lost", ["taken over", "ended", "given back", "never held"])
async def test_what_is_not_held_under_this_lease_is_not_taken_over(store: Store, lost: str) -> None:
    lease = await store.lease("r")
    match lost:
        case "taken over":
            await store.leases.take_over(lease, owner=worker(2), at=START_AT)
        case "ended":
            await store.supervised.end(lease, ending(), at=START_AT)
        case "given back":
            await store.leases.give_back(lease, at=START_AT)
        case _:
            lease = Lease(run_id="unknown", fence=0)
    before = await store.leases.held()

    assert await store.leases.take_over(lease, owner=worker(3), at=START_AT) is None

    assert await store.leases.held() == before


async def test_settling_leaves_what_is_held_to_who_takes_it_over(store: Store) -> None:
    process = store.probe.start(1)
    await store.start("own", process=process)
    await store.child("held")
    ended = await store.child("ended")
    await store.supervised.end(ended, ending(), at=START_AT)

    found = await store.settlement.running_processes(after=0, limit=10)
    count = await store.settlement.settle_gone(["own", "held", "ended"], at=START_AT)

    assert [run.run_id for run in found] == ["own"]
    assert (count, (await store.detail("held")).status) == (1, "running")


async def test_each_change_wakes_who_follows_the_run_and_a_renewal_nobody(store: Store) -> None:
    async def told(change: Awaitable[object]) -> list[str]:
        store.feed.published.clear()
        await change
        return store.feed.published

    await store.queue("r")
    lease, taken = Lease(run_id="r", fence=1), Lease(run_id="r", fence=2)

    assert await told(store.claim()) == [run_topic("r")]
    assert await told(store.leases.renew([lease], at=START_AT)) == []
    assert await told(store.leases.take_over(lease, owner=worker(), at=START_AT)) == [run_topic("r")]
    assert await told(store.leases.give_back(lease, at=START_AT)) == []
    assert await told(store.leases.give_back(taken, at=START_AT)) == [run_topic("r"), LAUNCHES_TOPIC]
