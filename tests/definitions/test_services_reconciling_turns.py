"""Reconciliations resolved twice, by several at once, and in spite of failures on the way."""

import asyncio

import pytest

from contract.definitions import ReconcileAction
from contract.errors import Conflict, ReconciliationRequired, StateUnavailable
from definitions.content import sha256_of
from definitions.errors import WriteFault
from definitions.heads import WRITER_LEASE_SECONDS
from tests.definitions.desk import Desk, HurriedClock
from tests.definitions.resolving import ACTIONS, detail, failed, resolved
from tests.fakes.turns import outcome_of, until_idle


@pytest.fixture
def desk() -> Desk:
    return Desk()


# ------------------------------------------------------------------------------------------------ twice, at once


@pytest.mark.parametrize("action", ACTIONS)
async def test_the_same_action_again_changes_nothing(desk: Desk, action: ReconcileAction) -> None:
    found = await failed(desk)
    first = await resolved(desk, found, action)
    story = desk.story()
    desk.clock.advance(10)

    assert await resolved(desk, found, action) == first
    assert desk.story() == story


@pytest.mark.parametrize("first", ACTIONS)
@pytest.mark.parametrize("second", ACTIONS)
async def test_another_action_afterwards_is_a_conflict(
    desk: Desk, first: ReconcileAction, second: ReconcileAction
) -> None:
    found = await failed(desk)
    await resolved(desk, found, first)

    if first != second:
        with pytest.raises(Conflict, match=f"resolved already: {first}"):
            await resolved(desk, found, second)


@pytest.mark.parametrize("action", ACTIONS)
async def test_the_same_action_at_once_is_done_once(desk: Desk, action: ReconcileAction) -> None:
    found = await failed(desk)

    results = await asyncio.gather(*(resolved(desk, found, action) for _ in range(4)))

    assert {result.resolution for result in results} == {action}
    assert len(desk.versions()) == (3 if action == "accept_file" else 2)
    log = (await detail(desk, found)).log
    assert [entry.outcome for entry in log] == ["opened", "resolved"]


async def test_of_different_actions_at_once_one_wins_and_the_others_meet_a_conflict(desk: Desk) -> None:
    found = await failed(desk)

    outcomes = await asyncio.gather(*(outcome_of(resolved(desk, found, action)) for action in ACTIONS))

    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 2
    assert desk.only_reconciliation().status == "resolved"


async def test_a_resolution_and_a_save_at_once_lose_nothing(desk: Desk) -> None:
    found = await failed(desk)

    await asyncio.gather(*map(outcome_of, [resolved(desk, found, "retry_write"), desk.store("three")]))

    assert [version.content for version in desk.versions()] == ["one", "two", "three"]
    assert (desk.text(), desk.is_in_step()) == ("three", True)


# ----------------------------------------------------------------------------------------------- failing again


async def test_a_second_try_that_fails_is_one_attempt_more(desk: Desk) -> None:
    found = await failed(desk)
    desk.files.fail_next_write(WriteFault("read_only"))

    with pytest.raises(ReconciliationRequired) as failure:
        await resolved(desk, found, "retry_write", actor="ann")

    again = await detail(desk, found)
    assert failure.value.reconciliation_id == found.id
    assert (again.status, again.attempts, again.error_code) == ("pending", 2, "read_only")
    assert [(entry.outcome, entry.actor) for entry in again.log] == [("opened", "operator"), ("failed", "ann")]
    assert desk.story()[1] == ("two", "save", "failed")


async def test_a_third_try_may_succeed(desk: Desk) -> None:
    found = await failed(desk)
    desk.files.fail_next_write(WriteFault("read_only"))
    await outcome_of(resolved(desk, found, "retry_write"))

    result = await resolved(desk, found, "retry_write")

    assert (result.resolution, desk.text()) == ("retry_write", "two")


async def test_an_edit_in_the_middle_of_a_second_try_is_left_alone(desk: Desk) -> None:
    found = await failed(desk)
    desk.hand_meanwhile("by hand")

    with pytest.raises(ReconciliationRequired):
        await resolved(desk, found, "retry_write")

    again = await detail(desk, found)
    assert (again.error_code, again.observed_sha256) == ("changed_meanwhile", sha256_of("one"))
    assert (again.actions, desk.text()) == (("accept_file", "dismiss"), "by hand")


async def test_an_edit_in_the_middle_of_a_second_try_is_kept_by_the_next_save(desk: Desk) -> None:
    found = await failed(desk)
    desk.hand_meanwhile("by hand")
    await outcome_of(resolved(desk, found, "retry_write"))

    await desk.store("three")

    assert [version.content for version in desk.versions()] == ["one", "two", "by hand", "three"]


async def test_a_resolution_ends_although_its_caller_goes_away(desk: Desk) -> None:
    found = await failed(desk)
    resolving = asyncio.create_task(resolved(desk, found, "retry_write"))
    await desk.reached("claim")

    resolving.cancel()
    await outcome_of(resolving)
    await until_idle()

    assert desk.only_reconciliation().resolution == "retry_write"
    assert (desk.text(), desk.is_in_step()) == ("two", True)


# ------------------------------------------------------------------------------------------ writers at work on it


async def test_a_second_try_takes_over_from_one_that_is_gone(desk: Desk) -> None:
    found = await failed(desk)
    await desk.history.claim(found.id, writer=desk.processes.start(7), at=desk.clock.now())
    desk.processes.end(7)

    result = await resolved(desk, found, "retry_write")

    assert (result.resolution, result.attempts, desk.text()) == ("retry_write", 2, "two")


async def test_a_second_try_waits_for_one_that_is_at_work(desk: Desk) -> None:
    found = await failed(desk)
    await desk.history.claim(found.id, writer=desk.processes.start(7), at=desk.clock.now())
    resolving = asyncio.create_task(resolved(desk, found, "accept_file"))
    await until_idle()
    assert not resolving.done()

    desk.clock.advance(WRITER_LEASE_SECONDS + 1)

    assert (await resolving).resolution == "accept_file"


async def test_patience_with_one_that_goes_on_for_ever_ends() -> None:
    desk = Desk(HurriedClock())
    found = await failed(desk)
    await desk.history.claim(found.id, writer=desk.processes.start(7), at=desk.clock.now())

    with pytest.raises(StateUnavailable):
        await resolved(desk, found, "retry_write")
