"""What becomes of a version that somebody is at work on."""

import pytest

from contract.errors import NotFound
from tests.definitions.state.stores import (
    OTHER_WRITER,
    WRITER,
    Store,
    deletion,
    failure_of,
    hash_of,
    settlement,
)
from tests.fakes.clocks import START_AT

LATER = START_AT + 10


async def test_a_written_version_is_what_the_file_is_known_to_hold(store: Store) -> None:
    version = await store.append("one", writer=WRITER, held="by hand")

    settled = await store.history.mark_written(version.id, at=LATER)

    head = await store.head()
    assert settled
    assert (head.writer, head.file_sha256, head.updated_at) == (None, hash_of("one"), LATER)
    assert await store.statuses() == ["written"]


async def test_a_written_deletion_leaves_no_file(store: Store) -> None:
    await store.append("one")
    version = await store.history.append_version(
        deletion(), after=1, at=START_AT, file_sha256=hash_of("one"), writer=WRITER
    )

    await store.history.mark_written(version.id, at=LATER)

    head = await store.head()
    assert (head.sha256, head.file_sha256) == (None, None)


async def test_a_version_is_settled_once(store: Store) -> None:
    version = await store.append("one", writer=WRITER)
    await store.history.mark_written(version.id, at=LATER)

    again = await store.history.mark_written(version.id, at=LATER + 1)
    await store.history.withdraw(version.id, at=LATER + 1)

    assert not again
    assert (await store.head()).updated_at == LATER
    assert await store.statuses() == ["written"]


async def test_a_withdrawn_version_leaves_what_the_file_held_and_frees_the_definition(store: Store) -> None:
    version = await store.append("one", writer=WRITER, held="by hand")

    await store.history.withdraw(version.id, at=LATER)
    await store.history.withdraw(version.id, at=LATER + 1)

    head = await store.head()
    assert (head.writer, head.file_sha256, head.updated_at) == (None, hash_of("by hand"), LATER)
    assert await store.statuses() == ["superseded"]
    assert (await store.append("two", after=1)).version == 2


async def test_a_failed_version_opens_a_reconciliation(store: Store) -> None:
    version = await store.append("one", writer=WRITER, held="old", message="try")
    failure = failure_of(version, observed="old")

    number = await store.history.record_reconciliation(failure, at=LATER, actor="ada")

    assert (await store.found(number)).model_dump() == {
        "id": number,
        "version_id": version.id,
        "kind": "agent",
        "name": "scout",
        "version": 1,
        "deleted": False,
        "relative_path": "agents/scout.md",
        "expected_sha256": hash_of("one"),
        "observed_sha256": hash_of("old"),
        "error_code": "no_space",
        "error_detail": "the disk is full",
        "status": "pending",
        "attempts": 1,
        "resolution": None,
        "reason": None,
        "actor": None,
        "result_version": None,
        "created_at": LATER,
        "updated_at": LATER,
        "resolved_at": None,
    }
    assert await store.log(number) == [(None, "opened", "ada", "the disk is full")]
    head = await store.head()
    assert (head.writer, head.reconciliation_id, head.file_sha256) == (None, number, hash_of("old"))
    assert await store.statuses() == ["failed"]


async def test_a_version_that_fails_again_is_one_more_attempt_and_keeps_what_was_seen_first(store: Store) -> None:
    first = await store.fail()
    version = await store.reconciliations.claim(first.id, writer=OTHER_WRITER, at=LATER)
    assert version is not None

    number = await store.history.record_reconciliation(
        failure_of(version, "changed", error_code="io", detail="a fault"), at=LATER + 1
    )

    found, head = await store.found(number), await store.head()
    assert number == first.id
    assert (found.attempts, found.error_code, found.error_detail, found.observed_sha256) == (2, "io", "a fault", None)
    assert (found.status, found.created_at, found.updated_at) == ("pending", START_AT, LATER + 1)
    assert (head.writer, head.reconciliation_id, head.file_sha256) == (None, first.id, hash_of("changed"))
    assert await store.statuses() == ["failed"]
    assert await store.log(number) == [
        (None, "opened", "operator", "the disk is full"),
        (None, "failed", "operator", "a fault"),
    ]


async def test_a_failure_that_comes_twice_counts_once(store: Store) -> None:
    version = await store.append("one", writer=WRITER)
    first = await store.history.record_reconciliation(failure_of(version), at=START_AT)

    again = await store.history.record_reconciliation(failure_of(version), at=LATER)

    assert again == first
    assert (await store.found(first)).attempts == 1
    assert len(await store.log(first)) == 1


async def test_a_failure_of_what_turned_out_to_be_written_is_recovered(store: Store) -> None:
    version = await store.append("one", writer=WRITER)
    await store.history.settle([settlement(version)], at=START_AT, actor="system")

    number = await store.history.record_reconciliation(failure_of(version), at=LATER, actor="ada")

    found, head = await store.found(number), await store.head()
    assert (found.status, found.resolution, found.result_version) == ("resolved", "recovered", 1)
    assert (found.attempts, found.actor, found.resolved_at) == (1, "ada", LATER)
    assert (head.reconciliation_id, head.file_sha256) == (None, hash_of("one"))
    assert await store.statuses() == ["written"]
    assert [entry[:2] for entry in await store.log(number)] == [(None, "opened"), ("recovered", "resolved")]


async def test_a_failure_of_what_was_overtaken_is_superseded_even_while_a_newer_one_is_pending(store: Store) -> None:
    version = await store.append("one", writer=WRITER)
    await store.history.withdraw(version.id, at=START_AT)
    newer = await store.append("two", after=1, writer=OTHER_WRITER)
    pending = await store.history.record_reconciliation(failure_of(newer), at=START_AT)

    number = await store.history.record_reconciliation(failure_of(version), at=LATER)

    found, head = await store.found(number), await store.head()
    assert (found.version, found.status, found.resolution, found.result_version) == (1, "resolved", "superseded", 2)
    assert await store.history.record_reconciliation(failure_of(version), at=LATER) == number
    assert head.reconciliation_id == pending
    assert await store.statuses() == ["superseded", "failed"]


async def test_a_failure_of_no_version_at_all_is_not_found(store: Store) -> None:
    version = await store.append("one")

    with pytest.raises(NotFound):
        await store.history.record_reconciliation(failure_of(version, version_id="none"), at=LATER)


async def test_a_withdrawn_retry_is_failed_as_before(store: Store) -> None:
    pending = await store.fail()
    await store.reconciliations.claim(pending.id, writer=WRITER, at=START_AT)

    await store.history.withdraw(pending.version_id, at=LATER)

    head = await store.head()
    assert (head.writer, head.reconciliation_id) == (None, pending.id)
    assert await store.statuses() == ["failed"]
    assert await store.found(pending.id) == pending


async def test_a_retry_that_is_marked_as_written_resolves_its_reconciliation(store: Store) -> None:
    pending = await store.fail()
    await store.reconciliations.claim(pending.id, writer=WRITER, at=START_AT)

    settled = await store.history.mark_written(pending.version_id, at=LATER)

    found = await store.found(pending.id)
    assert settled
    assert (found.status, found.resolution, found.result_version) == ("resolved", "recovered", 1)
    assert await store.statuses() == ["written"]


async def test_a_new_version_supersedes_the_one_that_failed(store: Store) -> None:
    pending = await store.fail()

    await store.append("two", after=1, at=LATER, actor="ada", writer=OTHER_WRITER)

    found, head = await store.found(pending.id), await store.head()
    assert (found.status, found.resolution, found.result_version) == ("resolved", "superseded", 2)
    assert (found.actor, found.reason, found.updated_at, found.resolved_at) == ("ada", None, LATER, LATER)
    assert (await store.log(pending.id))[1:] == [("superseded", "resolved", "ada", "")]
    assert (head.reconciliation_id, head.version) == (None, 2)
    assert await store.statuses() == ["superseded", "pending"]


async def test_many_are_settled_at_once_each_by_what_became_of_it(store: Store) -> None:
    names = ("fine", "broken", "retried", "retried-well", "idle")
    fine = await store.append("one", "fine", writer=WRITER)
    broken = await store.append("one", "broken", writer=WRITER)
    retried, retried_well = await store.fail("retried"), await store.fail("retried-well")
    again = await store.reconciliations.claim(retried.id, writer=WRITER, at=START_AT)
    well = await store.reconciliations.claim(retried_well.id, writer=WRITER, at=START_AT)
    idle = await store.append("one", "idle")
    assert again is not None
    assert well is not None

    count = await store.history.settle(
        [
            settlement(fine),
            settlement(broken, failure_of(broken, "left", error_code="interrupted")),
            settlement(again, failure_of(again, "half", error_code="interrupted")),
            settlement(well),
            settlement(idle, failure_of(idle)),
        ],
        at=LATER,
        actor="system",
    )

    assert count == 4
    assert await store.history.at_work() == ()
    heads = await store.history.heads("agent", names)
    assert {name: head.file_sha256 for name, head in heads.items()} == {
        "fine": hash_of("one"),
        "broken": hash_of("left"),
        "retried": hash_of("half"),
        "retried-well": hash_of("wanted"),
        "idle": hash_of("one"),
    }
    assert [heads[name].updated_at for name in ("fine", "broken", "retried", "idle")] == [LATER, LATER, LATER, START_AT]
    assert heads["retried"].reconciliation_id == retried.id
    assert [await store.statuses(name) for name in names] == [
        ["written"], ["failed"], ["failed"], ["written"], ["written"]
    ]  # fmt: skip
    assert (await store.found(heads["broken"].reconciliation_id or "")).error_code == "interrupted"
    assert ((await store.found(retried.id)).attempts, (await store.found(retried.id)).observed_sha256) == (2, None)
    assert (await store.found(retried_well.id)).resolution == "recovered"
    assert (await store.log(retried_well.id))[1:] == [("recovered", "resolved", "system", "")]
    assert (await store.log(retried.id))[1:] == [(None, "failed", "system", "the disk is full")]


async def test_settling_again_or_nothing_changes_nothing(store: Store) -> None:
    version = await store.append("one", writer=WRITER)
    failed = settlement(version, failure_of(version))

    counts = [
        await store.history.settle(given, at=LATER, actor="system")
        for given in ([failed, settlement(version)], [failed], [])
    ]

    assert counts == [1, 0, 0]
    assert await store.statuses() == ["failed"]
    assert len(await store.ids()) == 1
