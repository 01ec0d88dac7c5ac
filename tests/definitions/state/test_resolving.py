"""Reconciliations end once, by an action or by themselves, and every end is in their log."""

from collections.abc import Awaitable, Callable

import pytest

from contract.definitions import ReconcileAction
from definitions.errors import HeadMoved
from definitions.services.ports import Writer
from tests.definitions.state.stores import OTHER_WRITER, WRITER, Store, deletion, draft, failure_of, hash_of
from tests.fakes.clocks import START_AT

LATER = START_AT + 10

Resolve = Callable[[Store, str], Awaitable[object]]


def claim(store: Store, number: str) -> Awaitable[object]:
    return store.reconciliations.claim(number, writer=WRITER, at=LATER)


def close(store: Store, number: str) -> Awaitable[object]:
    return store.reconciliations.close_written(number, action="retry_write", reason=None, actor="ada", at=LATER)


def accept(store: Store, number: str) -> Awaitable[object]:
    return store.reconciliations.accept(number, draft("theirs"), after=1, reason=None, at=LATER)


def dismiss(store: Store, number: str) -> Awaitable[object]:
    return store.reconciliations.dismiss(number, reason="so be it", actor="ada", at=LATER)


async def test_what_is_unknown_is_none(store: Store) -> None:
    assert await store.reconciliations.find_reconciliation("none") is None
    assert await store.reconciliations.attempts("none") == ()
    assert [await each(store, "none") for each in (claim, close, accept, dismiss)] == [None, False, None, False]


async def test_who_claims_is_at_work_and_has_the_version(store: Store) -> None:
    pending = await store.fail()

    version = await store.reconciliations.claim(pending.id, writer=OTHER_WRITER, at=LATER)

    head = await store.head()
    assert version is not None
    assert version == await store.history.find_version("agent", "scout", 1)
    assert (version.id, version.content, version.write_status) == (pending.version_id, "wanted", "pending")
    assert head.writer == Writer(process=OTHER_WRITER, version_id=version.id, claimed_at=LATER)
    assert (head.reconciliation_id, head.updated_at) == (pending.id, LATER)
    assert await store.found(pending.id) == pending


async def test_one_writer_claims_at_a_time(store: Store) -> None:
    pending = await store.fail()
    await claim(store, pending.id)

    again = await store.reconciliations.claim(pending.id, writer=OTHER_WRITER, at=LATER + 1)

    head = await store.head()
    assert again is None
    assert head.writer is not None
    assert head.writer.process == WRITER


@pytest.mark.parametrize("action", ["retry_write", "accept_file"])
async def test_closing_says_that_the_file_holds_the_version(store: Store, action: ReconcileAction) -> None:
    pending = await store.fail()
    await claim(store, pending.id)

    closed = await store.reconciliations.close_written(
        pending.id, action=action, reason="there is room again", actor="ada", at=LATER + 1
    )

    found, head = await store.found(pending.id), await store.head()
    assert closed
    assert (found.status, found.resolution, found.result_version) == ("resolved", action, 1)
    assert (found.reason, found.actor, found.attempts) == ("there is room again", "ada", 1)
    assert (found.updated_at, found.resolved_at) == (LATER + 1, LATER + 1)
    assert (head.writer, head.reconciliation_id, head.file_sha256) == (None, None, hash_of("wanted"))
    assert await store.statuses() == ["written"]
    assert (await store.log(pending.id))[1:] == [(action, "resolved", "ada", "there is room again")]


async def test_accepting_appends_what_the_file_holds(store: Store) -> None:
    pending = await store.fail()
    theirs = draft("theirs", origin="external", actor="ada", message="kept")

    version = await store.reconciliations.accept(pending.id, theirs, after=1, reason="theirs is right", at=LATER)

    found, head = await store.found(pending.id), await store.head()
    assert version is not None
    assert version == await store.history.find_version("agent", "scout", 2)
    assert (version.version, version.content, version.write_status) == (2, "theirs", "written")
    assert (found.resolution, found.result_version, found.reason, found.actor) == (
        "accept_file", 2, "theirs is right", "ada"
    )  # fmt: skip
    assert (head.version, head.sha256, head.file_sha256) == (2, hash_of("theirs"), hash_of("theirs"))
    assert head.reconciliation_id is None
    assert await store.statuses() == ["superseded", "written"]
    assert (await store.log(pending.id))[1:] == [("accept_file", "resolved", "ada", "theirs is right")]


async def test_accepting_that_there_is_no_file_records_a_deletion(store: Store) -> None:
    pending = await store.fail()

    await store.reconciliations.accept(pending.id, deletion(), after=1, reason=None, at=LATER)

    head = await store.head()
    assert (head.version, head.sha256, head.file_sha256) == (2, None, None)
    assert await store.history.names("agent", deleted=False) == ()


async def test_a_file_is_not_accepted_after_another_version_or_while_somebody_writes(store: Store) -> None:
    pending = await store.fail()
    with pytest.raises(HeadMoved):
        await store.reconciliations.accept(pending.id, draft("theirs"), after=2, reason=None, at=LATER)
    await claim(store, pending.id)

    with pytest.raises(HeadMoved):
        await accept(store, pending.id)

    assert (await store.head()).version == 1
    assert (await store.found(pending.id)).status == "pending"


async def test_dismissing_leaves_history_and_file_as_they_are(store: Store) -> None:
    await store.append("one")
    version = await store.append("two", after=1, writer=WRITER, held="one")
    number = await store.history.record_reconciliation(failure_of(version, "theirs"), at=START_AT)

    dismissed = await store.reconciliations.dismiss(number, reason="both are fine", actor="ada", at=LATER)

    found, head = await store.found(number), await store.head()
    assert dismissed
    assert (found.resolution, found.result_version, found.reason) == ("dismiss", 2, "both are fine")
    assert (head.version, head.sha256, head.file_sha256) == (2, hash_of("two"), hash_of("theirs"))
    assert (head.reconciliation_id, head.updated_at) == (None, LATER)
    assert await store.statuses() == ["written", "dismissed"]
    assert (await store.log(number))[1:] == [("dismiss", "resolved", "ada", "both are fine")]


async def test_what_a_writer_is_at_work_on_is_not_dismissed(store: Store) -> None:
    pending = await store.fail()
    await claim(store, pending.id)

    dismissed = await dismiss(store, pending.id)
    closed = await close(store, pending.id)

    assert not dismissed
    assert closed
    assert (await store.found(pending.id)).resolution != "dismiss"
    assert await store.statuses() == ["written"]


@pytest.mark.parametrize("first", [close, accept, dismiss])
@pytest.mark.parametrize("second", [claim, close, accept, dismiss])
async def test_what_is_resolved_is_never_resolved_again(store: Store, first: Resolve, second: Resolve) -> None:
    pending = await store.fail()
    await first(store, pending.id)
    before = (await store.found(pending.id), await store.head(), await store.log(pending.id))

    answer = await second(store, pending.id)

    assert not answer
    assert (await store.found(pending.id), await store.head(), await store.log(pending.id)) == before


async def test_a_version_that_was_dismissed_may_fail_no_more(store: Store) -> None:
    pending = await store.fail()
    await dismiss(store, pending.id)
    version = await store.history.find_version("agent", "scout", 1)
    assert version is not None

    number = await store.history.record_reconciliation(failure_of(version), at=LATER)

    assert number == pending.id
    assert (await store.found(number)).resolution == "dismiss"
    assert await store.statuses() == ["dismissed"]


async def test_a_log_has_its_instants_in_order(store: Store) -> None:
    pending = await store.fail()
    await dismiss(store, pending.id)

    log = await store.reconciliations.attempts(pending.id)

    assert [(entry.outcome, entry.at) for entry in log] == [("opened", START_AT), ("resolved", LATER)]


async def test_a_clock_that_steps_back_ends_nothing_before_it_began(store: Store) -> None:
    pending = await store.fail(at=LATER)

    await store.reconciliations.dismiss(pending.id, reason="early", actor="ada", at=START_AT)

    found = await store.found(pending.id)
    assert (found.created_at, found.updated_at, found.resolved_at) == (LATER, LATER, LATER)
