"""How many queries a call needs: pinned, so that none grows with what it reads."""

from collections.abc import Awaitable

import pytest

from contract.definitions import DefinitionWriteFailure, ReconciliationQuery, VersionQuery
from definitions.services.ports import Capture, DefinitionHead, Settlement
from tests.definitions.state.records import insert_definitions
from tests.definitions.state.stores import (
    DATABASE,
    WRITER,
    CountingDB,
    Store,
    django_store,
    draft,
    failure_of,
    hash_of,
)
from tests.fakes.clocks import START_AT

pytestmark = DATABASE


@pytest.fixture
def counted(counting: CountingDB) -> Store:
    """The Django adapters over the counting executor."""
    return django_store(counting)


async def cost(counting: CountingDB, call: Awaitable[object]) -> int:
    counting.queries.clear()
    await call
    return len(counting.queries)


def settled(head: DefinitionHead, *, has_failed: bool) -> Settlement:
    """Return what became of a head's version; a failed one left a file of its own."""
    failure = DefinitionWriteFailure(
        version_id=head.version_id,
        kind=head.kind,
        name=head.name,
        expected_sha256=head.sha256 or hash_of(""),
        error_code="interrupted",
        observed_sha256=hash_of(head.name),
    )
    return Settlement(
        kind=head.kind, name=head.name, version_id=head.version_id, failure=failure if has_failed else None
    )


async def test_reads_are_one_query(counted: Store, counting: CountingDB) -> None:
    history, reconciliations = counted.history, counted.reconciliations
    pending = await counted.fail()

    costs = {
        "latest version": await cost(counting, history.latest_version("agent", "scout")),
        "head": await cost(counting, history.find_head("agent", "scout")),
        "heads": await cost(counting, history.heads("agent", [f"n{number}" for number in range(500)])),
        "names": await cost(counting, history.names("agent", deleted=False)),
        "at work": await cost(counting, history.at_work()),
        "version": await cost(counting, history.find_version("agent", "scout", 1)),
        "whole content": await cost(counting, history.known_contents("agent", [("scout", b"wanted")] * 100, last=1)),
        "versions": await cost(counting, history.list_versions("agent", "scout", VersionQuery(), before=None)),
        "list": await cost(counting, reconciliations.list_reconciliations(ReconciliationQuery(), before=None)),
        "reconciliation": await cost(counting, reconciliations.find_reconciliation(pending.id)),
        "attempts": await cost(counting, reconciliations.attempts(pending.id)),
    }

    assert costs == dict.fromkeys(costs, 1)


async def test_lists_read_no_content(counted: Store, counting: CountingDB) -> None:
    await counted.fail()
    counting.queries.clear()

    await counted.history.list_versions("agent", "scout", VersionQuery(), before=None)
    await counted.reconciliations.list_reconciliations(ReconciliationQuery(), before=None)
    await counted.history.known_contents("agent", [("scout", b"wanted")], last=1)
    await counted.history.heads("agent", ["scout"])

    assert not [sql for sql in counting.queries if '"content"' in sql]


async def test_every_write_is_a_handful_of_queries(counted: Store, counting: CountingDB) -> None:
    history, reconciliations = counted.history, counted.reconciliations
    first = await counted.append("one", writer=WRITER)
    failed = await counted.fail("failed")
    retried = await counted.fail("retried")

    costs = {
        "written": await cost(counting, history.mark_written(first.id, at=START_AT)),
        "written again": await cost(counting, history.mark_written(first.id, at=START_AT)),
        "first": await cost(counting, counted.append("one", "new")),
        "next": await cost(counting, counted.append("two", "new", after=1, writer=WRITER)),
        "supersede": await cost(counting, counted.append("two", "failed", after=1)),
        "claim": await cost(counting, reconciliations.claim(retried.id, writer=WRITER, at=START_AT)),
        "withdraw": await cost(counting, history.withdraw(retried.version_id, at=START_AT)),
        "accept": await cost(
            counting, reconciliations.accept(retried.id, draft("x", "retried"), after=1, reason=None, at=START_AT)
        ),
        "dismiss resolved": await cost(
            counting, reconciliations.dismiss(failed.id, reason="x", actor="ada", at=START_AT)
        ),
    }

    assert costs == {
        "written": 3,
        "written again": 1,
        "first": 4,
        "next": 3,
        "supersede": 6,
        "claim": 3,
        "withdraw": 3,
        "accept": 6,
        "dismiss resolved": 1,
    }


async def test_many_captures_are_few_statements(counted: Store, counting: CountingDB) -> None:
    for number in range(100):
        await counted.append("one", f"n{number}")
    captures = [
        Capture(draft=draft("two", f"n{number}"), after=int(number < 100), at=START_AT, file_sha256=hash_of("two"))
        for number in range(500)
    ]

    statements = await cost(counting, counted.history.append_captured(captures))

    assert statements <= 40
    assert len(await counted.history.names("agent", deleted=False)) == 500


async def test_failures_are_a_handful_of_queries(counted: Store, counting: CountingDB) -> None:
    version = await counted.append("one", writer=WRITER)
    record = counted.history.record_reconciliation

    opened = await cost(counting, record(failure_of(version), at=START_AT))
    again = await cost(counting, record(failure_of(version), at=START_AT))
    number = (await counted.head()).reconciliation_id
    assert number is not None
    await counted.reconciliations.claim(number, writer=WRITER, at=START_AT)
    failed_again = await cost(counting, record(failure_of(version), at=START_AT))

    assert (opened, again, failed_again) == (5, 3, 6)


async def test_many_are_settled_in_few_statements_and_each_by_what_became_of_it(
    counted: Store, counting: CountingDB
) -> None:
    await counting.write(lambda: insert_definitions(1_100, versions=1, writer_every=1))
    at_work = await counted.history.at_work()
    settlements = [settled(head, has_failed=number % 2 == 1) for number, head in enumerate(at_work)]
    counting.queries.clear()

    count = await counted.history.settle(settlements, at=START_AT, actor="system")

    statements = len(counting.queries)
    pending = await counted.reconciliations.list_reconciliations(ReconciliationQuery(limit=1_000), before=None)
    heads = {
        **await counted.history.heads("agent", [head.name for head in at_work]),
        **await counted.history.heads("playbook", [head.name for head in at_work]),
    }
    assert count == 1_100
    assert statements <= 60
    assert len(pending.items) == 550
    assert {entry.id: entry.observed_sha256 for entry in pending.items} == {
        head.reconciliation_id: head.file_sha256 for head in heads.values() if head.reconciliation_id is not None
    }
    assert sum(head.file_sha256 == head.sha256 for head in heads.values() if head.reconciliation_id is None) == 550
    assert await counted.history.at_work() == ()
