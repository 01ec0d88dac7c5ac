"""Races on the real database: several writers side by side, each with connections of its own."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence

from contract.definitions import DefinitionVersion
from contract.errors import Conflict
from definitions.errors import HeadMoved
from tests.definitions.state.conftest import WRITERS
from tests.definitions.state.stores import DATABASE, WRITER, Store, draft, failure_of, settlement
from tests.fakes.clocks import START_AT
from tests.fakes.turns import outcome_of

pytestmark = DATABASE


async def kinds_of(outcomes: Sequence[Awaitable[object]]) -> Counter[type]:
    """Await all at once and count what came out, by type."""
    return Counter(type(outcome) for outcome in await asyncio.gather(*map(outcome_of, outcomes)))


async def test_of_many_first_versions_one_begins_the_history(writers: list[Store]) -> None:
    outcomes = await kinds_of([writers[number % WRITERS].append(f"by {number}") for number in range(16)])

    assert outcomes == {DefinitionVersion: 1, HeadMoved: 15}
    assert (await writers[0].head()).version == 1
    assert await writers[0].statuses() == ["written"]


async def test_of_many_versions_after_the_same_one_wins(writers: list[Store]) -> None:
    await writers[0].append("one")

    outcomes = await kinds_of([writers[number % WRITERS].append(f"by {number}", after=1) for number in range(16)])

    head = await writers[0].head()
    newest = await writers[0].history.find_version("agent", "scout", 2)
    assert outcomes == {DefinitionVersion: 1, HeadMoved: 15}
    assert newest is not None
    assert (head.version, head.version_id, head.sha256) == (2, newest.id, newest.content_sha256)
    assert await writers[0].statuses() == ["written", "written"]


async def test_of_names_that_can_be_taken_for_each_other_one_wins(writers: list[Store]) -> None:
    names = ["scout", "Scout", "SCOUT", "scouT"] * 2

    outcomes = await asyncio.gather(
        *(outcome_of(writers[number % WRITERS].append("one", name)) for number, name in enumerate(names))
    )

    [winner] = [outcome for outcome in outcomes if isinstance(outcome, DefinitionVersion)]
    refused = [outcome.actual for outcome in outcomes if isinstance(outcome, Conflict)]
    assert refused == [winner.name] * 6
    assert sum(isinstance(outcome, HeadMoved) for outcome in outcomes) == 1
    assert await writers[0].history.names("agent", deleted=True) == (winner.name,)


async def test_writers_that_look_again_all_get_their_version_in(writers: list[Store]) -> None:
    async def save(store: Store, text: str) -> int:
        while True:
            after = await store.history.latest_version("agent", "scout")
            outcome = await outcome_of(store.append(text, after=after))
            if isinstance(outcome, DefinitionVersion):
                return outcome.version
            assert isinstance(outcome, HeadMoved)

    versions = await asyncio.gather(*(save(writers[number % WRITERS], f"by {number}") for number in range(20)))

    assert sorted(versions) == list(range(1, 21))
    assert (await writers[0].head()).version == 20
    assert await writers[0].statuses() == ["written"] * 20


async def test_of_many_claims_one_is_at_work(writers: list[Store]) -> None:
    pending = await writers[0].fail()

    outcomes = await kinds_of(
        [store.reconciliations.claim(pending.id, writer=WRITER, at=START_AT) for store in writers * 3]
    )

    assert outcomes == {DefinitionVersion: 1, type(None): 11}
    assert await writers[0].statuses() == ["pending"]


async def test_a_reconciliation_ends_once_whatever_races_for_it(writers: list[Store]) -> None:
    for round_number in range(6):
        name = f"n{round_number}"
        pending = await writers[0].fail(name)

        closed, accepted, dismissed, appended = await asyncio.gather(
            writers[0].reconciliations.close_written(
                pending.id, action="retry_write", reason=None, actor="ada", at=START_AT
            ),
            outcome_of(
                writers[1].reconciliations.accept(pending.id, draft("theirs", name), after=1, reason=None, at=START_AT)
            ),
            writers[2].reconciliations.dismiss(pending.id, reason="so be it", actor="bob", at=START_AT),
            outcome_of(writers[3].append("two", name, after=1)),
        )

        found, head = await writers[0].found(pending.id), await writers[0].head(name)
        log = await writers[0].log(pending.id)
        ends = {
            "retry_write": closed,
            "accept_file": isinstance(accepted, DefinitionVersion),
            "dismiss": dismissed,
        }
        won = [action for action, has_won in ends.items() if has_won]
        assert [entry[:2] for entry in log] == [(None, "opened"), (found.resolution, "resolved")]
        assert won == ([] if found.resolution == "superseded" else [found.resolution])
        assert (head.version == 2) == (isinstance(appended, DefinitionVersion) or "accept_file" in won)
        assert head.reconciliation_id is None


async def test_of_a_claim_and_a_dismissal_one_comes_too_late(writers: list[Store]) -> None:
    for round_number in range(6):
        pending = await writers[0].fail(f"n{round_number}")

        claimed, dismissed = await asyncio.gather(
            writers[0].reconciliations.claim(pending.id, writer=WRITER, at=START_AT),
            writers[1].reconciliations.dismiss(pending.id, reason="so be it", actor="ada", at=START_AT),
        )

        assert (claimed is None) == dismissed
        expected = "dismissed" if dismissed else "pending"
        assert await writers[0].statuses(f"n{round_number}") == [expected]


async def test_a_version_is_settled_once_whoever_settles_it(writers: list[Store]) -> None:
    versions = [await writers[0].append("one", f"n{number}", writer=WRITER) for number in range(20)]
    failed = [settlement(version, failure_of(version)) for version in versions]

    counts = await asyncio.gather(
        *(store.history.settle(failed, at=START_AT, actor="system") for store in writers[::2]),
        *(store.history.settle(failed[::-1], at=START_AT, actor="system") for store in writers[1::2]),
        *(writers[0].history.mark_written(version.id, at=START_AT) for version in versions),
    )

    statuses = Counter([status for version in versions for status in await writers[0].statuses(version.name)])
    assert sum(counts) == 20
    assert statuses["written"] + statuses["failed"] == 20
    assert len(await writers[0].ids(limit=100)) == statuses["failed"]


async def test_of_failures_that_come_at_once_each_is_told_the_same_reconciliation(writers: list[Store]) -> None:
    version = await writers[0].append("one", writer=WRITER)

    numbers = await asyncio.gather(
        *(store.history.record_reconciliation(failure_of(version), at=START_AT) for store in writers * 2)
    )

    assert len(set(numbers)) == 1
    assert (await writers[0].found(numbers[0])).attempts == 1
    assert await writers[0].ids() == [numbers[0]]


async def test_late_failures_that_come_at_once_are_told_the_same_resolved_one(writers: list[Store]) -> None:
    version = await writers[0].append("one", writer=WRITER)
    await writers[0].history.mark_written(version.id, at=START_AT)

    numbers = await asyncio.gather(
        *(store.history.record_reconciliation(failure_of(version), at=START_AT) for store in writers * 2)
    )

    assert len(set(numbers)) == 1
    assert (await writers[0].found(numbers[0])).resolution == "recovered"
