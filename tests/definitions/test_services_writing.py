"""The save protocol: what one writer does to history and file, and when it fails."""

import pytest

from contract.errors import Conflict, NotFound, PermissionDenied
from tests.definitions.desk import PATH, Desk


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def test_a_first_save_makes_version_one_and_the_file(desk: Desk) -> None:
    version = await desk.store("one", actor="ann")

    assert (version.version, version.relative_path, version.actor) == (1, PATH, "ann")
    assert desk.story() == [("one", "save", "written")]
    assert (desk.text(), desk.is_in_step()) == ("one", True)


async def test_the_next_save_replaces_the_file_where_it_stands(desk: Desk) -> None:
    desk.hand("one", "agents/a/a.md")
    await desk.store("two")

    version = await desk.store("three")

    assert version.relative_path == "agents/a/a.md"
    assert desk.files.contents == {"agents/a/a.md": b"three"}


async def test_a_save_of_what_the_file_holds_is_a_version_as_any_other(desk: Desk) -> None:
    await desk.store("one")
    await desk.store("one")

    assert [version.version for version in desk.versions()] == [1, 2]
    assert desk.is_in_step()


@pytest.mark.parametrize("expected", [0, 2, 9])
async def test_a_stale_expectation_stores_nothing(desk: Desk, expected: int) -> None:
    await desk.store("one")

    with pytest.raises(Conflict) as failure:
        await desk.store("two", expected=expected)

    assert failure.value.actual == "1"
    assert (desk.story(), desk.text()) == ([("one", "save", "written")], "one")


async def test_an_expectation_that_holds_stores(desk: Desk) -> None:
    await desk.store("one", expected=0)
    await desk.store("two", expected=1)
    await desk.store(None, expected=2)

    assert desk.story() == [("one", "save", "written"), ("two", "save", "written"), (None, "delete", "written")]
    assert desk.text() is None


async def test_an_edit_by_hand_is_kept_as_a_version_before_a_save_replaces_it(desk: Desk) -> None:
    await desk.store("one")
    desk.hand("by hand")

    await desk.store("two", actor="ann")

    assert desk.story()[1:] == [("by hand", "external", "written"), ("two", "save", "written")]
    assert desk.versions()[1].actor == "ann"


async def test_an_edit_by_hand_that_the_caller_has_not_seen_is_a_conflict(desk: Desk) -> None:
    await desk.store("one")
    desk.hand("by hand")

    with pytest.raises(Conflict, match="a is at version 2, not 1"):
        await desk.store("two", expected=1)

    assert desk.text() == "by hand"
    assert desk.is_in_step()


async def test_a_removal_by_hand_is_kept_as_a_version_before_a_save_makes_the_file_again(desk: Desk) -> None:
    await desk.store("one")
    desk.hand(None)

    await desk.store("two")

    assert desk.story()[1:] == [(None, "external", "written"), ("two", "save", "written")]


async def test_a_file_that_no_history_knows_becomes_version_one(desk: Desk) -> None:
    desk.hand("by hand")

    with pytest.raises(Conflict):
        await desk.store("one", expected=0)
    await desk.store("one", expected=1)

    assert desk.story() == [("by hand", "external", "written"), ("one", "save", "written")]


async def test_a_file_that_went_as_it_came_makes_no_version(desk: Desk) -> None:
    version = await desk.writer.capture("agent", "a", None, actor=None)

    assert (version, desk.head()) == (None, None)


async def test_a_capture_is_left_to_whoever_was_first(desk: Desk) -> None:
    await desk.store("one")
    seen = desk.head()
    desk.hand("by hand")
    await desk.store("two")

    assert await desk.writer.capture("agent", "a", seen, actor=None) is None
    assert len(desk.versions()) == 3


async def test_a_deletion_removes_the_file_and_keeps_its_content(desk: Desk) -> None:
    await desk.store("one")

    version = await desk.store(None)

    assert (version.deleted, version.content) == (True, "")
    assert desk.story() == [("one", "save", "written"), (None, "delete", "written")]
    assert (desk.text(), desk.is_in_step()) == (None, True)


async def test_a_deletion_keeps_an_unseen_edit_first(desk: Desk) -> None:
    await desk.store("one")
    desk.hand("by hand")

    await desk.store(None)

    assert desk.story()[1:] == [("by hand", "external", "written"), (None, "delete", "written")]


async def test_nothing_cannot_be_deleted(desk: Desk) -> None:
    with pytest.raises(NotFound):
        await desk.store(None)

    assert desk.head() is None


async def test_what_is_deleted_cannot_be_deleted_again(desk: Desk) -> None:
    await desk.store("one")
    await desk.store(None)

    with pytest.raises(NotFound):
        await desk.store(None)

    assert len(desk.versions()) == 2


async def test_a_failed_deletion_whose_file_is_gone_meanwhile_is_done(desk: Desk) -> None:
    await desk.store("one")
    await desk.fail(None)
    desk.hand(None)

    with pytest.raises(NotFound):
        await desk.store(None)


async def test_a_failed_deletion_can_be_repeated(desk: Desk) -> None:
    await desk.store("one")
    await desk.fail(None)

    await desk.store(None)

    assert desk.story()[1:] == [(None, "delete", "superseded"), (None, "delete", "written")]
    assert desk.is_in_step()


async def test_what_was_deleted_can_be_saved_again(desk: Desk) -> None:
    await desk.store("one")
    await desk.store(None)

    await desk.store("two", expected=2)

    assert (desk.text(), desk.is_in_step()) == ("two", True)


@pytest.mark.parametrize("other", ["A", "\uff41"])
async def test_a_name_that_can_be_taken_for_another_file_is_refused(desk: Desk, other: str) -> None:
    desk.hand("by hand", f"agents/{other}.md")

    with pytest.raises(Conflict, match="differ only in case or form"):
        await desk.store("one")

    assert (desk.text(), desk.head()) == (None, None)


async def test_a_name_that_can_be_taken_for_another_history_is_refused(desk: Desk) -> None:
    await desk.store("one", name="A")
    await desk.store(None, name="A")

    with pytest.raises(Conflict, match="differ only in case or form"):
        await desk.store("two")

    assert desk.text() is None


async def test_what_is_no_file_is_neither_replaced_nor_versioned(desk: Desk) -> None:
    desk.files.make_unreadable(PATH)

    with pytest.raises(PermissionDenied, match="symbolic link"):
        await desk.store("one")

    assert desk.head() is None
