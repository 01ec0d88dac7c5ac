"""A start after a process died: every state that it can have left is settled, and no text is lost."""

import pytest

from contract.errors import StateUnavailable
from contract.limits import DEFINITION_MAX_BYTES
from definitions.content import sha256_of
from definitions.errors import FileChanged, HeadMoved, WriteFault
from definitions.heads import WRITER_LEASE_SECONDS
from definitions.services.ports import Leftover
from definitions.services.recovering import recover_definitions
from tests.definitions.desk import LEFTOVER, PATH, Desk
from tests.fakes.definition_files import InMemoryDefinitionFiles

RESCUED = "agents/a.md.rescued-0123456789abcdef"


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def recovered(desk: Desk, told: list[int] | None = None) -> tuple[str, ...]:
    progress = [] if told is None else told
    return await recover_definitions(writer=desk.writer, progress=progress.append)


async def test_a_clean_home_has_nothing_to_recover(desk: Desk) -> None:
    await desk.store("one")
    told: list[int] = []

    assert await recovered(desk, told) == ()
    assert (told, desk.is_in_step()) == ([], True)


# ----------------------------------------------------------------------------------------------- the version


async def test_a_version_whose_file_is_new_was_written(desk: Desk) -> None:
    await desk.store("one")
    await desk.die_writing("two")
    desk.hand("two")
    told: list[int] = []

    assert await recovered(desk, told) == ()
    assert (told, desk.story()[1]) == ([1], ("two", "save", "written"))
    assert desk.is_in_step()


async def test_a_version_whose_file_is_old_was_not_written(desk: Desk) -> None:
    await desk.store("one")
    await desk.die_writing("two")

    await recovered(desk)

    found = desk.only_reconciliation()
    assert (found.status, found.error_code, found.observed_sha256) == ("pending", "interrupted", sha256_of("one"))
    assert (desk.story()[1], desk.text()) == (("two", "save", "failed"), "one")


async def test_a_first_version_without_a_file_was_not_written(desk: Desk) -> None:
    await desk.die_writing("one")

    await recovered(desk)

    found = desk.only_reconciliation()
    assert (found.error_code, found.observed_sha256) == ("interrupted", None)


async def test_a_missing_file_is_what_the_reconciliation_has_seen(desk: Desk) -> None:
    await desk.store("one")
    await desk.die_writing("two")
    desk.hand(None)

    await recovered(desk)

    assert desk.only_reconciliation().observed_sha256 is None
    assert desk.text() is None


async def test_a_file_that_was_edited_since_is_left_and_kept_by_the_next_save(desk: Desk) -> None:
    await desk.store("one")
    await desk.die_writing("two")
    desk.hand("by hand")

    await recovered(desk)
    assert desk.text() == "by hand"
    await desk.store("three")

    assert [version.content for version in desk.versions()] == ["one", "two", "by hand", "three"]


async def test_a_file_that_cannot_be_read_is_told_in_the_reconciliation(desk: Desk) -> None:
    await desk.store("one")
    await desk.die_writing("two")
    desk.files.make_unreadable(PATH)

    await recovered(desk)

    assert desk.only_reconciliation().error_detail.endswith(f"; {PATH} is a symbolic link")


@pytest.mark.parametrize(("held", "status"), [("one", "failed"), (None, "written"), ("by hand", "failed")])
async def test_a_deletion_is_settled_by_whether_the_file_is_gone(desk: Desk, held: str | None, status: str) -> None:
    await desk.store("one")
    await desk.die_writing(None)
    desk.hand(held)

    await recovered(desk)

    assert desk.versions()[1].write_status == status
    assert desk.text() == held


@pytest.mark.parametrize("held", ["one", "two"])
async def test_a_second_try_that_died_is_settled_too(desk: Desk, held: str) -> None:
    await desk.store("one")
    found = await desk.fail("two")
    await desk.history.claim(found.id, writer=desk.processes.start(7), at=desk.clock.now())
    desk.processes.end(7)
    desk.hand(held)

    await recovered(desk)

    now = desk.only_reconciliation()
    assert (now.resolution, now.attempts) == ((None, 2) if held == "one" else ("recovered", 1))


async def test_recovering_again_changes_nothing(desk: Desk) -> None:
    await desk.store("one")
    await desk.die_writing("two")
    desk.hand("edited by hand meanwhile", LEFTOVER)
    await recovered(desk)
    left = (desk.story(), dict(desk.history.reconciliations), dict(desk.files.contents))

    assert await recovered(desk) == ()
    assert (desk.story(), desk.history.reconciliations, desk.files.contents) == left


async def test_the_work_of_a_living_writer_is_left_alone(desk: Desk) -> None:
    await desk.store("one")
    await desk.begin("two")
    desk.hand("tw", LEFTOVER)

    assert await recovered(desk) == ()
    assert desk.story()[1] == ("two", "save", "pending")
    assert desk.text(LEFTOVER) == "tw"


async def test_a_writer_that_hangs_is_settled(desk: Desk) -> None:
    await desk.begin("one")
    desk.clock.advance(WRITER_LEASE_SECONDS + 1)

    await recovered(desk)

    assert desk.only_reconciliation().error_code == "interrupted"


async def test_all_kinds_and_names_are_settled_together(desk: Desk) -> None:
    await desk.die_writing("one")
    await desk.die_writing("one", name="b")
    await desk.die_writing("one", kind="playbook")
    told: list[int] = []

    await recovered(desk, told)

    assert (told, await desk.history.at_work()) == ([3], ())
    assert len(desk.history.reconciliations) == 3


async def test_a_store_that_cannot_answer_is_told(desk: Desk) -> None:
    desk.history.fault = StateUnavailable(retryable=True)

    with pytest.raises(StateUnavailable):
        await recovered(desk)


# ------------------------------------------------------------------------------------------- temporary files


@pytest.mark.parametrize("written", ["", "tw", "two"])
async def test_what_was_written_so_far_of_the_newest_version_is_removed(desk: Desk, written: str) -> None:
    await desk.store("one")
    await desk.die_writing("two")
    desk.hand(written, LEFTOVER)

    assert await recovered(desk) == ()
    assert desk.files.contents == {PATH: b"one"}
    assert len(desk.versions()) == 2


async def test_half_a_character_of_the_newest_version_is_removed(desk: Desk) -> None:
    await desk.die_writing("\u00e9")
    desk.hand("\u00e9".encode()[:1], LEFTOVER)

    assert await recovered(desk) == ()
    assert desk.files.contents == {}


async def test_an_earlier_version_that_was_displaced_is_removed(desk: Desk) -> None:
    await desk.store("one")
    await desk.die_writing("two")
    desk.hand("two")
    desk.hand("one", LEFTOVER)

    assert await recovered(desk) == ()
    assert (desk.files.contents, desk.is_in_step()) == ({PATH: b"two"}, True)


async def test_a_displaced_edit_becomes_a_version_and_the_file_stays_the_newest(desk: Desk) -> None:
    await desk.store("one")
    await desk.die_writing("two")
    desk.hand("two")
    desk.hand("by hand", LEFTOVER)

    notes = await recovered(desk)

    assert notes == ("a: what was edited by hand during an interrupted save is version 3",)
    assert desk.story()[1:] == [
        ("two", "save", "written"),
        ("by hand", "external", "written"),
        ("two", "external", "written"),
    ]
    assert (desk.files.contents, desk.is_in_step()) == ({PATH: b"two"}, True)


async def test_an_edit_displaced_by_a_deletion_becomes_a_version(desk: Desk) -> None:
    await desk.store("one")
    await desk.die_writing(None)
    desk.hand(None)
    desk.hand("by hand", LEFTOVER)

    await recovered(desk)

    assert [content for content, _, _ in desk.story()] == ["one", None, "by hand", None]
    assert (desk.files.contents, desk.is_in_step()) == ({}, True)


async def test_a_displaced_edit_beside_a_file_that_is_no_text_becomes_a_version(desk: Desk) -> None:
    await desk.store("one")
    await desk.die_writing("two")
    desk.hand("by hand", LEFTOVER)
    desk.files.make_unreadable(PATH)

    notes = await recovered(desk)

    assert notes == ("a: what was edited by hand during an interrupted save is version 3",)
    assert desk.versions()[-1].content == "by hand"
    assert LEFTOVER not in desk.files.contents


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a\x00b", b"x" * (DEFINITION_MAX_BYTES + 1)])
async def test_what_no_version_can_hold_is_kept_beside_the_file(desk: Desk, content: bytes) -> None:
    await desk.store("one")
    await desk.die_writing("two")
    desk.hand(content, LEFTOVER)

    notes = await recovered(desk)

    assert notes == (f"{LEFTOVER} of an interrupted save was kept as {RESCUED}",)
    assert desk.files.contents == {PATH: b"one", RESCUED: content}


async def test_what_belongs_to_no_history_is_kept_beside_the_file(desk: Desk) -> None:
    desk.hand("one", LEFTOVER)

    notes = await recovered(desk)

    assert notes == (f"{LEFTOVER} of an interrupted save was kept as {RESCUED}",)
    assert desk.text(RESCUED) == "one"


async def test_a_writer_that_begins_meanwhile_is_left_its_temporary_file(desk: Desk) -> None:
    await desk.store("one")
    desk.hand("by hand", LEFTOVER)
    desk.history.failing, desk.history.fault = "append_version", HeadMoved("a")

    assert await recovered(desk) == ()
    assert desk.text(LEFTOVER) == "by hand"


class StubbornFiles(InMemoryDefinitionFiles):
    """Files of which nothing can be renamed or removed."""

    def __init__(self, fault: Exception) -> None:
        super().__init__()
        self._fault = fault

    async def discard(self, leftover: Leftover) -> None:
        raise self._fault

    async def rescue(self, leftover: Leftover) -> str:
        raise self._fault


@pytest.mark.parametrize("content", ["one", b"\xff", "by hand"])
async def test_a_temporary_file_that_cannot_be_touched_keeps_nobody_from_starting(
    desk: Desk, content: str | bytes
) -> None:
    await desk.store("one")
    desk.hand(content, LEFTOVER)
    use_stubborn_files(desk, WriteFault("read_only"))

    notes = await recovered(desk)

    assert notes == (f"{LEFTOVER} of an interrupted save was left there: the file system is read-only",)


async def test_a_temporary_file_that_somebody_takes_away_is_no_concern(desk: Desk) -> None:
    desk.hand("one", LEFTOVER)
    use_stubborn_files(desk, FileChanged("gone"))

    assert await recovered(desk) == ()


def use_stubborn_files(desk: Desk, fault: Exception) -> None:
    stubborn = StubbornFiles(fault)
    stubborn.contents = desk.files.contents
    desk.files = desk.writer.files = stubborn
