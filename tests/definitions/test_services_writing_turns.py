"""Several writers of one definition: who waits for whom, and who ends the work of those that are gone."""

import asyncio

import pytest

from contract.errors import Conflict, StateUnavailable
from contract.events import ProcessIdentity
from definitions.content import sha256_of
from definitions.errors import WRITE_FAULTS
from definitions.heads import WRITER_LEASE_SECONDS
from tests.definitions.desk import PATH, Desk, HurriedClock
from tests.fakes.turns import outcome_of, until_idle


@pytest.fixture
def desk() -> Desk:
    return Desk()


def elsewhere(desk: Desk) -> ProcessIdentity:
    """A process on another host: nobody here can look at it."""
    return desk.processes.start(7).model_copy(update={"host": "another-host"})


async def test_a_save_waits_for_a_writer_at_work_and_then_replaces_what_it_wrote(desk: Desk) -> None:
    await desk.store("one")
    other = await desk.begin("two")
    saving = asyncio.create_task(desk.store("three"))
    await until_idle()
    assert not saving.done()

    desk.hand("two")
    await desk.history.mark_written(other.id, at=desk.clock.now())
    await saving

    assert desk.story()[1:] == [("two", "save", "written"), ("three", "save", "written")]
    assert (desk.text(), desk.is_in_step()) == ("three", True)


async def test_an_expectation_is_compared_with_what_a_writer_at_work_has_appended(desk: Desk) -> None:
    await desk.store("one")
    await desk.begin("two")

    with pytest.raises(Conflict, match="a is at version 2, not 1"):
        await desk.store("three", expected=1)


async def test_patience_with_a_writer_that_goes_on_for_ever_ends() -> None:
    desk = Desk(HurriedClock())
    await desk.store("one")
    await desk.begin("two")

    with pytest.raises(StateUnavailable, match="a is being written by others") as failure:
        await desk.store("three")

    assert failure.value.retryable
    assert len(desk.versions()) == 2


@pytest.mark.parametrize(
    ("held", "status"), [("one", "failed"), ("two", "written"), (None, "failed"), ("by hand", "failed")]
)
async def test_the_work_of_a_writer_that_is_gone_is_settled_by_what_the_file_holds(
    desk: Desk, held: str | None, status: str
) -> None:
    await desk.store("one")
    await desk.die_writing("two")
    desk.hand(held)
    head = desk.head()
    assert head is not None

    await desk.writer.settle([head])

    assert desk.story()[1] == ("two", "save", status)
    assert all(found.error_code == "interrupted" for found in desk.history.reconciliations.values())


async def test_a_save_takes_over_from_a_writer_that_is_gone(desk: Desk) -> None:
    await desk.store("one")
    await desk.die_writing("two")

    await desk.store("three", expected=2)

    assert desk.story()[1:] == [("two", "save", "superseded"), ("three", "save", "written")]
    assert desk.only_reconciliation().resolution == "superseded"
    assert desk.is_in_step()


async def test_a_save_keeps_an_edit_by_hand_made_after_a_writer_died(desk: Desk) -> None:
    await desk.store("one")
    await desk.die_writing("two")
    desk.hand("by hand")

    await desk.store("three")

    found = desk.only_reconciliation()
    assert (found.error_code, found.observed_sha256) == ("interrupted", sha256_of("one"))
    assert found.error_detail == f"{WRITE_FAULTS['interrupted']}; the file was edited by hand meanwhile"
    assert desk.story()[2:] == [("by hand", "external", "written"), ("three", "save", "written")]


async def test_a_deletion_by_a_writer_that_is_gone_is_settled_too(desk: Desk) -> None:
    await desk.store("one")
    await desk.die_writing(None)

    await desk.store("two")

    assert desk.story()[1:] == [(None, "save", "superseded"), ("two", "save", "written")]
    assert desk.only_reconciliation().expected_sha256 == sha256_of("")


async def test_a_writer_on_another_host_has_the_lease_and_no_more(desk: Desk) -> None:
    await desk.store("one")
    await desk.begin("two", writer=elsewhere(desk))
    saving = asyncio.create_task(desk.store("three"))
    await until_idle()
    assert not saving.done()

    desk.clock.advance(WRITER_LEASE_SECONDS + 1)
    await saving

    assert desk.story()[1:] == [("two", "save", "superseded"), ("three", "save", "written")]


async def test_a_living_writer_that_hangs_is_taken_over_from(desk: Desk) -> None:
    await desk.store("one")
    await desk.begin("two")
    desk.clock.advance(WRITER_LEASE_SECONDS + 1)

    await desk.store("three")

    assert (desk.text(), desk.is_in_step()) == ("three", True)


async def test_a_clock_that_was_set_back_makes_nobody_wait_for_ever(desk: Desk) -> None:
    await desk.store("one")
    await desk.begin("two", writer=elsewhere(desk))
    desk.clock.step(-3_600)

    await desk.store("three")

    assert desk.is_in_step()


async def test_a_slow_writer_that_was_taken_over_says_so_and_loses_nothing(desk: Desk) -> None:
    await desk.store("one")
    taken_over: list[int] = []

    def another_takes_over() -> None:
        head = desk.head()
        assert head is not None
        desk.history.change_head(head, at=desk.clock.now(), writer=None)
        taken_over.append(head.version)

    desk.files.meanwhile(another_takes_over)

    with pytest.raises(StateUnavailable, match="version 2 is in the history") as failure:
        await desk.store("two")

    assert (failure.value.retryable, taken_over) == (False, [2])
    assert [version.content for version in desk.versions()] == ["one", "two"]


async def test_who_has_no_writer_has_not_abandoned_anything(desk: Desk) -> None:
    await desk.store("one")
    head = desk.head()
    assert head is not None

    assert not desk.writer.is_abandoned(head)


async def test_of_many_saves_with_one_expectation_exactly_one_wins(desk: Desk) -> None:
    await desk.store("one")
    saves = [desk.store(f"of {number}", expected=1) for number in range(20)]

    outcomes = await asyncio.gather(*map(outcome_of, saves))

    refused = [outcome for outcome in outcomes if isinstance(outcome, Conflict)]
    assert len(refused) == 19
    assert [version.version for version in desk.versions()] == [1, 2]
    assert (desk.text(), desk.is_in_step()) == (desk.versions()[1].content, True)


async def test_of_many_first_saves_without_one_all_are_in_the_history(desk: Desk) -> None:
    saves = [desk.store(f"of {number}") for number in range(4)]

    stored = await asyncio.gather(*saves)

    assert sorted(version.version for version in stored) == [1, 2, 3, 4]
    assert sorted(version.content for version in desk.versions()) == [f"of {number}" for number in range(4)]
    assert (desk.text(), desk.is_in_step()) == (desk.versions()[-1].content, True)


async def test_writers_of_different_definitions_do_not_wait_for_each_other(desk: Desk) -> None:
    await desk.begin("one")

    await desk.store("two", name="b")

    assert [version.write_status for version in desk.versions("b")] == ["written"]
    assert (desk.text("agents/b.md"), desk.text(PATH)) == ("two", None)


async def test_an_editor_and_a_second_writer_at_once_lose_nothing(desk: Desk) -> None:
    await desk.store("one")
    desk.hand_meanwhile("by hand")

    await asyncio.gather(desk.store("two"), desk.store("three"))

    contents = [version.content for version in desk.versions()]
    assert {"one", "two", "three", "by hand"} == set(contents)
    assert (desk.text(), desk.is_in_step()) == (contents[-1], True)
