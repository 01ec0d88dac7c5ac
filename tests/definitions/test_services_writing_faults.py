"""The save protocol when the disk, an editor, the caller or the store comes in between."""

import asyncio

import pytest

from contract.errors import Conflict, ReconciliationRequired, StateUnavailable
from definitions.content import sha256_of
from definitions.errors import WRITE_FAULTS, WriteFault
from tests.definitions.desk import PATH, Desk
from tests.fakes.turns import outcome_of, until_idle


@pytest.fixture
def desk() -> Desk:
    return Desk()


# ------------------------------------------------------------------------------------------- writes that fail


@pytest.mark.parametrize("code", sorted(WRITE_FAULTS))
async def test_a_write_that_fails_leaves_the_version_and_a_reconciliation(desk: Desk, code: str) -> None:
    await desk.store("one")

    found = await desk.fail("two", code)

    assert desk.story()[1] == ("two", "save", "failed")
    assert (found.version, found.status, found.error_code) == (2, "pending", code)
    assert (found.error_detail, found.attempts) == (WRITE_FAULTS[code], 1)
    assert (found.expected_sha256, found.observed_sha256) == (sha256_of("two"), sha256_of("one"))
    assert desk.text() == "one"


async def test_a_failed_first_write_has_seen_no_file(desk: Desk) -> None:
    found = await desk.fail("one")

    assert found.observed_sha256 is None
    assert desk.text() is None


async def test_a_write_that_failed_after_the_file_was_new_says_so(desk: Desk) -> None:
    await desk.store("one")

    found = await desk.fail("two", "io", landed=True)

    assert found.observed_sha256 == found.expected_sha256
    assert desk.text() == "two"


async def test_what_cannot_be_read_after_a_failed_write_is_told_with_it(desk: Desk) -> None:
    await desk.store("one")
    desk.files.meanwhile(lambda: desk.files.make_unreadable(PATH))

    found = await desk.fail("two")

    assert (found.observed_sha256, found.error_detail) == (None, f"the disk is full; {PATH} is a symbolic link")


async def test_a_save_after_a_failed_one_overtakes_its_reconciliation(desk: Desk) -> None:
    await desk.store("one")
    await desk.fail("two")

    await desk.store("three", expected=2)

    found = desk.only_reconciliation()
    assert (found.resolution, found.result_version) == ("superseded", 3)
    assert desk.story()[1:] == [("two", "save", "superseded"), ("three", "save", "written")]
    assert desk.is_in_step()


async def test_an_edit_in_the_middle_of_a_failing_write_is_kept_by_the_next_save(desk: Desk) -> None:
    await desk.store("one")
    desk.hand_meanwhile("by hand")
    found = await desk.fail("two")

    await desk.store("three")

    assert found.observed_sha256 == sha256_of("one")
    assert found.error_detail.endswith("; the file was edited by hand meanwhile")
    assert desk.story()[2:] == [("by hand", "external", "written"), ("three", "save", "written")]


# -------------------------------------------------------------------------------- an editor in the middle of a write


async def test_an_edit_in_the_middle_is_kept_and_then_replaced_by_the_last_write(desk: Desk) -> None:
    await desk.store("one")
    desk.hand_meanwhile("by hand")

    version = await desk.store("two")

    assert version.version == 4
    assert desk.story()[1:] == [
        ("two", "save", "superseded"),
        ("by hand", "external", "written"),
        ("two", "save", "written"),
    ]
    assert (desk.text(), desk.is_in_step()) == ("two", True)


async def test_an_edit_in_the_middle_is_a_conflict_for_an_expectation(desk: Desk) -> None:
    await desk.store("one")
    desk.hand_meanwhile("by hand")

    with pytest.raises(Conflict, match="a is at version 3, not 1"):
        await desk.store("two", expected=1)

    assert (desk.text(), desk.is_in_step()) == ("by hand", True)


async def test_a_removal_in_the_middle_is_kept_and_then_the_file_is_made(desk: Desk) -> None:
    await desk.store("one")
    desk.hand_meanwhile(None)

    await desk.store("two")

    assert [content for content, _, _ in desk.story()] == ["one", "two", None, "two"]
    assert (desk.text(), desk.is_in_step()) == ("two", True)


async def test_a_file_that_comes_in_the_middle_of_a_first_save_is_kept(desk: Desk) -> None:
    desk.hand_meanwhile("by hand")

    await desk.store("one")

    assert [content for content, _, _ in desk.story()] == ["one", "by hand", "one"]
    assert desk.text() == "one"


async def test_an_edit_in_the_middle_of_a_deletion_is_kept(desk: Desk) -> None:
    await desk.store("one")
    desk.hand_meanwhile("by hand")

    await desk.store(None)

    assert [content for content, _, _ in desk.story()] == ["one", None, "by hand", None]
    assert (desk.text(), desk.is_in_step()) == (None, True)


async def test_a_file_that_changes_at_each_of_five_writes_is_left_to_a_person(desk: Desk) -> None:
    await desk.store("one")
    for number in range(5):
        desk.hand_meanwhile(f"by hand {number}")

    with pytest.raises(ReconciliationRequired) as failure:
        await desk.store("two")

    found = desk.only_reconciliation()
    assert (failure.value.reconciliation_id, found.error_code) == (found.id, "changed_meanwhile")
    assert desk.text() == "by hand 4"


async def test_the_last_of_many_edits_is_kept_by_the_next_save(desk: Desk) -> None:
    await desk.store("one")
    for number in range(5):
        desk.hand_meanwhile(f"by hand {number}")
    await outcome_of(desk.store("two"))

    await desk.store("three")

    external = [content for content, origin, _ in desk.story() if origin == "external"]
    assert external == [f"by hand {number}" for number in range(5)]


# ------------------------------------------------------------------------------------------ callers that go away


@pytest.mark.parametrize("port_call", ["append_version", "mark_written"])
async def test_a_write_that_has_begun_ends_although_its_caller_goes_away(desk: Desk, port_call: str) -> None:
    await desk.store("one")
    saving = asyncio.create_task(desk.store("two"))
    await desk.reached(port_call, times=2)

    saving.cancel()
    outcome = await outcome_of(saving)
    await until_idle()

    assert isinstance(outcome, asyncio.CancelledError)
    assert desk.story()[1] == ("two", "save", "written")
    assert (desk.text(), desk.is_in_step()) == ("two", True)


async def test_a_write_that_fails_after_its_caller_went_away_is_recorded(desk: Desk) -> None:
    desk.files.fail_next_write(WriteFault("no_space"))
    saving = asyncio.create_task(desk.store("one"))
    await desk.reached("append_version")

    saving.cancel()
    await outcome_of(saving)
    await until_idle()

    assert desk.only_reconciliation().status == "pending"


async def test_a_caller_that_goes_away_before_the_version_leaves_nothing(desk: Desk) -> None:
    saving = asyncio.create_task(desk.store("one"))
    await desk.reached("find_head")

    saving.cancel()
    await outcome_of(saving)
    await until_idle()

    assert (desk.head(), desk.text()) == (None, None)


@pytest.mark.parametrize(("port_call", "times"), [("find_head", 1), ("append_version", 1), ("mark_written", 1)])
async def test_a_store_that_cannot_answer_is_told_and_the_next_save_goes_on(
    desk: Desk, port_call: str, times: int
) -> None:
    desk.history.failing, desk.history.fault = port_call, StateUnavailable(retryable=True)
    with pytest.raises(StateUnavailable):
        await desk.store("one")
    desk.history.fault = None
    desk.clock.advance(60)

    await desk.store("two")

    assert desk.history.calls[port_call] > times
    assert (desk.text(), desk.is_in_step()) == ("two", True)


# ------------------------------------------------------------------------------------- a store that goes away


@pytest.mark.parametrize("failing", ["mark_written", "record_reconciliation", "withdraw"])
async def test_a_store_that_goes_away_after_the_version_says_that_it_is_stored(desk: Desk, failing: str) -> None:
    await desk.store("one")
    desk.history.fault = StateUnavailable(retryable=True, detail="the disk is full; nothing was stored")
    desk.history.failing = failing
    if failing == "record_reconciliation":
        desk.files.fail_next_write(WriteFault("no_space"))
    if failing == "withdraw":
        desk.hand_meanwhile("by hand")

    failure = await outcome_of(desk.store("two"))

    assert isinstance(failure, StateUnavailable)
    assert str(failure).startswith("version 2 is in the history;")
    assert not failure.retryable
    assert [version.content for version in desk.versions()] == ["one", "two"]


async def test_nobody_waits_for_a_writer_of_this_process_that_could_not_end(desk: Desk) -> None:
    await desk.store("one")
    desk.history.fault, desk.history.failing = StateUnavailable(retryable=True), "mark_written"
    await outcome_of(desk.store("two"))
    desk.history.fault = None

    await desk.store("three")

    assert desk.story() == [("one", "save", "written"), ("two", "save", "written"), ("three", "save", "written")]
