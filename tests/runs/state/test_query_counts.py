"""How many queries an operation needs: pinned, so that none grows with what it reads."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

import pytest
from django.db import connection, connections

from contract.runs import EvidenceRequest, InvocationQuery, Pane
from runs.services.execution_ports import Lease
from studio_project.statedb import StateDB
from tests.builders import artifact, message, messages, signal, status, usage
from tests.fakes.clocks import START_AT
from tests.runs.state.launches import child, ending, worker
from tests.runs.state.stores import DATABASE, Store, django_store

T = TypeVar("T")

pytestmark = DATABASE

# A write that tells other processes does so with a query of its own on PostgreSQL; SQLite's commit tells by itself.
NOTIFY = 1 if connection.vendor == "postgresql" else 0


class CountingDB(StateDB):
    """A StateDB that keeps the SQL of its queries; what begins and ends transactions is not counted."""

    def __init__(self) -> None:
        super().__init__()
        self.queries: list[str] = []

    async def read(self, work: Callable[[], T], *, snapshot: bool = False) -> T:
        return await super().read(partial(self._kept, work), snapshot=snapshot)

    async def write(self, work: Callable[[], T], *, durable: bool = True) -> T:
        return await super().write(partial(self._kept, work), durable=durable)

    def _kept(self, work: Callable[[], T]) -> T:
        with connections["default"].execute_wrapper(self._keep):
            return work()

    def _keep(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        self.queries.append(sql)
        return execute(sql, params, many, context)


@pytest.fixture
async def counting() -> AsyncIterator[CountingDB]:
    db = CountingDB()
    yield db
    await asyncio.to_thread(db.close)


@pytest.fixture
async def counted(counting: CountingDB) -> Store:
    """The Django adapters over the counting executor, with one run that has some of everything."""
    store = django_store(counting)
    await store.start("r", tags=("a", "b"), invocation_id="i")
    await store.record("r", *messages(20), *messages(5, branch="side"), message(role="output"))
    await store.record("r", signal(), artifact(), usage(1.0))
    counting.queries.clear()
    return store


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"status": ("running", "queued", "failed")},
        {"tags": ("a", "b")},
        {"tags": ("a", "b"), "tags_match": "any"},
        {"search": "run"},
        {"limit": 5_000},
    ],
)
async def test_a_list_is_one_query(counted: Store, counting: CountingDB, query: dict[str, Any]) -> None:
    for number in range(30):
        await counted.start(f"r{number}", tags=("a",))
    counting.queries.clear()

    await counted.page(**query)

    assert len(counting.queries) == 1


async def test_a_detail_is_four_queries_and_one_for_each_branch(counted: Store, counting: CountingDB) -> None:
    await counted.detail("r")

    assert len(counting.queries) == 4 + 2


async def test_an_older_window_is_one_more_query_for_each_branch(counted: Store, counting: CountingDB) -> None:
    cursor = (await counted.detail("r", message_limit=2)).next_cursor
    counting.queries.clear()

    await counted.detail("r", message_limit=2, cursor=cursor)

    assert len(counting.queries) == 4 + 2


@pytest.mark.parametrize("pane", ["messages", "signals", "artifacts", "transitions", "output"])
async def test_a_pane_is_two_queries(counted: Store, counting: CountingDB, pane: Pane) -> None:
    await counted.evidence.read_evidence(EvidenceRequest(run_id="r", pane=pane))

    assert len(counting.queries) == 2


async def test_heads_and_entries_are_one_query_each(counted: Store, counting: CountingDB) -> None:
    await counted.tail.heads(["r", *(f"r{number}" for number in range(100))])
    await counted.tail.entries("r", "messages", after=0, up_to=26)

    assert len(counting.queries) == 2


async def test_a_page_of_invocations_is_two_queries(counted: Store, counting: CountingDB) -> None:
    for number in range(10):
        await counted.start(f"r{number}", invocation_id=f"i{number}")
    counting.queries.clear()

    await counted.invocations.list_invocations(InvocationQuery())

    assert len(counting.queries) == 2


async def test_a_batch_costs_as_many_queries_whatever_its_size(counted: Store, counting: CountingDB) -> None:
    counts = []
    for size in (1, 50):
        counting.queries.clear()
        await counted.record("r", *(message(event_id=f"{size}.{number}") for number in range(size)))
        counts.append(len(counting.queries))

    assert counts[0] == counts[1]


async def test_what_holders_ask_is_one_query_each(counted: Store, counting: CountingDB) -> None:
    held = [await counted.child(f"h{number}") for number in range(5)]
    counting.queries.clear()

    await counted.leases.held()
    await counted.leases.cancel_requests(held)

    assert len(counting.queries) == 2


async def test_claims_and_renewals_cost_as_many_queries_whatever_they_hold(
    counted: Store, counting: CountingDB
) -> None:
    costs = []
    for size in (1, 20):
        for number in range(size):
            await counted.queue(f"{size}.{number}")
        counting.queries.clear()
        claimed = await counted.claim(cap=100)
        await counted.leases.renew([launch.lease for launch in claimed.values()], at=START_AT)
        costs.append(len(counting.queries) - NOTIFY * size)

    # Counting, finding and holding; finding and counting up; and on PostgreSQL the turn.
    assert costs == [5 + NOTIFY] * 2


async def test_every_write_of_a_worker_is_a_handful_of_queries(counted: Store, counting: CountingDB) -> None:
    async def cost(write: Awaitable[object], *, topics: int = 1) -> int:
        counting.queries.clear()
        await write
        return len(counting.queries) - NOTIFY * topics

    lease, taken = Lease(run_id="new", fence=2), Lease(run_id="new", fence=3)
    launched = await cost(counted.queue("new"), topics=2)
    given = await cost(counted.leases.give_back(await counted.lease("other"), at=START_AT), topics=2)
    await counted.leases.give_back(Lease(run_id="new", fence=1), at=START_AT)
    await counted.claim()

    costs = {
        "launch": launched,
        "give back": given,
        "start": await cost(counted.supervised.started(lease, child(), at=START_AT)),
        "take over": await cost(counted.leases.take_over(lease, owner=worker(2), at=START_AT)),
        "lost": await cost(counted.supervised.record(lease, (message(),), at=START_AT), topics=0),
        "message": await cost(counted.supervised.record(taken, (message(),), at=START_AT)),
        "end": await cost(counted.supervised.end(taken, ending(), at=START_AT), topics=2),
    }

    assert costs == {"launch": 3, "give back": 2, "start": 3, "take over": 2, "lost": 1, "message": 5, "end": 4}


async def test_every_write_is_a_handful_of_queries(counted: Store, counting: CountingDB) -> None:
    async def cost(write: Any) -> int:
        counting.queries.clear()
        await write
        return len(counting.queries) - NOTIFY

    costs = {
        "start": await cost(counted.start("new")),
        "signal": await cost(counted.record("r", signal())),
        "message": await cost(counted.record("r", message())),
        "known": await cost(counted.record("r", *[message(event_id="e")] * 2)),
        "end": await cost(counted.record("new", status("completed"))),
        "cancel": await cost(counted.writes.request_cancel("r", reason=None, at=START_AT)),
        "cancel again": await cost(counted.writes.request_cancel("r", reason=None, at=START_AT)),
        "tags": await cost(counted.writes.change_tags("r", add=frozenset("c"), remove=frozenset("a"), at=START_AT)),
    }

    assert costs == {
        "start": 3,
        "signal": 4,
        "message": 6,
        "known": 8,
        "end": 3,
        "cancel": 3,
        "cancel again": 1,
        "tags": 5,
    }
