"""Races of workers on the real database: each launch to one of them, and of two who write one at most."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from contract.actions import LaunchResult
from contract.errors import Conflict
from runs.services.execution_ports import Lease
from tests.builders import message
from tests.fakes.clocks import START_AT
from tests.fakes.turns import outcome_of
from tests.runs.state.launches import child, draft, ending, worker
from tests.runs.state.stores import DATABASE, Store, django_store

WRITERS = 8
RACES = 10

pytestmark = DATABASE


@pytest.fixture
async def writers() -> AsyncIterator[list[Store]]:
    """Several stores over one empty database: each writes through a lane of its own, as a process does."""
    stores = [django_store() for _ in range(WRITERS)]
    yield stores
    await asyncio.gather(*(asyncio.to_thread(store.close) for store in stores))


async def leases(store: Store, count: int = RACES) -> list[Lease]:
    """Launch and claim so many."""
    for number in range(count):
        await store.queue(f"r{number}")
    return [claimed.lease for claimed in (await store.claim()).values()]


async def test_each_of_many_launches_is_claimed_once_and_never_more_than_the_cap_are_held(writers: list[Store]) -> None:
    cap, count = 5, 200
    for number in range(count):
        await writers[0].queue(f"r{number}")
    claims: Counter[str] = Counter()
    most_held = 0

    async def work(store: Store, pid: int) -> None:
        nonlocal most_held
        while len(claims) < count:
            claimed = await store.claim(owner=worker(pid), limit=2, cap=cap)
            claims.update(claimed.keys())
            most_held = max(most_held, len(await store.leases.held()))
            for launch in claimed.values():
                assert await store.supervised.end(launch.lease, ending(), at=START_AT)

    await asyncio.gather(*(work(store, pid) for pid, store in enumerate(writers, start=1)))

    assert claims == Counter({f"r{number}": 1 for number in range(count)})
    assert 0 < most_held <= cap
    assert len(await writers[0].ids(status=("completed",), limit=count)) == count


async def test_claims_at_once_hold_no_more_than_the_cap_together(writers: list[Store]) -> None:
    for number in range(20):
        await writers[0].queue(f"r{number}")

    claimed = await asyncio.gather(
        *(store.claim(owner=worker(pid), limit=3, cap=7) for pid, store in enumerate(writers, start=1))
    )

    run_ids = [run_id for launches in claimed for run_id in launches]
    assert sorted(run_ids) == sorted(f"r{number}" for number in range(7))
    assert len(await writers[0].leases.held()) == 7


async def test_of_racing_launches_of_one_key_one_makes_the_run(writers: list[Store]) -> None:
    action = draft().action

    outcomes = await asyncio.gather(
        *(
            store.queue(f"r{number}", action=action, launch_key="k", invocation_id="i", tags=("t",))
            for number, store in enumerate(writers)
        )
    )

    first = next(outcome for outcome in outcomes if not outcome.repeated)
    assert [outcome.repeated for outcome in outcomes].count(False) == 1
    assert {outcome.run_id for outcome in outcomes} == {first.run_id}
    assert await writers[0].ids() == [first.run_id]
    assert (await writers[0].invocation("i")).run_count == 1


async def test_of_racing_launches_of_one_key_for_different_actions_one_is_made(writers: list[Store]) -> None:
    outcomes = await asyncio.gather(
        *(outcome_of(store.queue(f"r{number}", launch_key="k")) for number, store in enumerate(writers))
    )

    made = [outcome for outcome in outcomes if isinstance(outcome, LaunchResult)]
    assert len(made) == 1
    assert Counter(type(outcome) for outcome in outcomes)[Conflict] == WRITERS - 1
    assert await writers[0].ids() == [made[0].run_id]


async def test_of_a_takeover_and_an_end_exactly_one_wins(writers: list[Store]) -> None:
    holder, other = writers[:2]
    held = await leases(holder)
    for lease in held:
        await holder.supervised.started(lease, child(), at=START_AT)

    results = await asyncio.gather(
        *(
            asyncio.gather(
                other.leases.take_over(lease, owner=worker(2), at=START_AT),
                holder.supervised.end(lease, ending(), at=START_AT),
            )
            for lease in held
        )
    )

    for lease, (taken, ended) in zip(held, results, strict=True):
        assert (taken is None) is ended
        assert (await holder.detail(lease.run_id)).status == ("completed" if ended else "running")
    still_held = {held.lease for held in await holder.leases.held()}
    assert still_held == {taken for taken, _ in results if taken is not None}


async def test_of_racing_takeovers_one_wins(writers: list[Store]) -> None:
    (lease,) = await leases(writers[0], 1)

    taken = await asyncio.gather(
        *(store.leases.take_over(lease, owner=worker(pid), at=START_AT) for pid, store in enumerate(writers, start=1))
    )

    assert [winner for winner in taken if winner is not None] == [Lease(run_id="r0", fence=2)]


async def test_of_a_start_and_a_cancellation_the_first_decides(writers: list[Store]) -> None:
    held = await leases(writers[0])

    results = await asyncio.gather(
        *(
            asyncio.gather(
                writers[0].supervised.started(lease, child(), at=START_AT),
                writers[1].writes.request_cancel(lease.run_id, reason=None, at=START_AT),
            )
            for lease in held
        )
    )

    for lease, (started, cancel) in zip(held, results, strict=True):
        run = await writers[0].detail(lease.run_id)
        assert cancel is not None
        assert run.status == cancel.status == ("running" if started else "cancelled")
        assert (await writers[0].leases.cancel_requests([lease]) != {}) is started


async def test_of_a_start_and_a_giving_back_exactly_one_wins(writers: list[Store]) -> None:
    held = await leases(writers[0])

    results = await asyncio.gather(
        *(
            asyncio.gather(
                writers[0].supervised.started(lease, child(), at=START_AT),
                writers[1].leases.give_back(lease, at=START_AT),
            )
            for lease in held
        )
    )

    assert all(started is not given for started, given in results)
    assert len(await writers[0].claim()) == sum(given for _, given in results)


async def test_of_claims_and_cancellations_no_cancelled_run_stays_held(writers: list[Store]) -> None:
    count = 70
    for number in range(count):
        await writers[0].queue(f"r{number}")

    async def cancel(store: Store, first: int) -> None:
        for number in range(first, count, WRITERS - 1):
            await store.writes.request_cancel(f"r{number}", reason=None, at=START_AT)

    async def claim_all() -> list[Lease]:
        claims = [await writers[0].claim(limit=10) for _ in range(count // 10)]
        return [launch.lease for claimed in claims for launch in claimed.values()]

    cancelling = asyncio.gather(*(cancel(store, first) for first, store in enumerate(writers[1:])))
    claimed, _ = await asyncio.gather(claim_all(), cancelling)

    assert await writers[0].leases.held() == ()
    assert not any([await writers[0].supervised.started(lease, child(), at=START_AT) for lease in claimed])
    assert len(await writers[0].ids(status=("cancelled",), limit=count)) == count


async def test_evidence_of_who_lost_the_lease_stops_where_the_other_took_over(writers: list[Store]) -> None:
    (lease,) = await leases(writers[0], 1)
    await writers[0].supervised.started(lease, child(), at=START_AT)

    *recorded, taken = await asyncio.gather(
        *(writers[0].supervised.record(lease, (message(),), at=START_AT) for _ in range(20)),
        writers[1].leases.take_over(lease, owner=worker(2), at=START_AT),
    )

    assert taken is not None
    assert (await writers[0].detail("r0")).message_count == recorded.count(True)
    assert not await writers[0].supervised.record(lease, (message(),), at=START_AT)


async def test_renewals_race_with_all_other_writes_and_none_is_lost(writers: list[Store]) -> None:
    held = await leases(writers[0])

    renewed = await asyncio.gather(
        *(store.leases.renew(held[::order], at=START_AT) for store, order in zip(writers, (1, -1) * 4, strict=True)),
        *(writers[0].supervised.started(lease, child(), at=START_AT) for lease in held),
        *(writers[1].supervised.record(lease, (message(),), at=START_AT) for lease in held),
    )

    assert set(renewed) == {frozenset(lease.run_id for lease in held), True}
    assert {launch.renewals for launch in await writers[0].leases.held()} == {WRITERS}
