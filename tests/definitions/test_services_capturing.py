"""Snapshots: what was done to files by hand becomes versions, and one bad file stops no other."""

import asyncio

import pytest

from contract.definitions import SnapshotDefinitions, SnapshotResult
from contract.errors import NotFound, ValidationFailure
from contract.limits import DEFINITION_MAX_BYTES
from definitions.content import sha256_of
from definitions.services.capturing import snapshot_definitions
from tests.definitions.desk import PATH, Desk

NOTHING = SnapshotResult(captured=(), unchanged=0)


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def snapshot(desk: Desk, **fields: object) -> SnapshotResult:
    command = SnapshotDefinitions.model_validate(fields)
    return await snapshot_definitions(command=command, writer=desk.writer)


async def test_an_empty_home_has_nothing_to_capture(desk: Desk) -> None:
    assert await snapshot(desk) == NOTHING


async def test_edits_additions_and_removals_become_versions(desk: Desk) -> None:
    for name in "abc":
        await desk.store("one", name=name)
    desk.hand("by hand", "agents/a.md")
    desk.hand(None, "agents/b.md")
    desk.hand("new", "playbooks/p/p.playbook.yaml")

    result = await snapshot(desk, message="after lunch", actor="ann")

    assert [(file.kind, file.name, file.version, file.deleted, file.sha256) for file in result.captured] == [
        ("agent", "a", 2, False, sha256_of("by hand")),
        ("agent", "b", 2, True, None),
        ("playbook", "p", 1, False, sha256_of("new")),
    ]
    assert (result.unchanged, result.skipped) == (1, ())
    newest = desk.versions("a")[-1]
    assert (newest.origin, newest.message, newest.actor) == ("external", "after lunch", "ann")
    assert desk.versions("p", "playbook")[0].relative_path == "playbooks/p/p.playbook.yaml"


async def test_a_second_snapshot_changes_nothing(desk: Desk) -> None:
    await desk.store("one")
    desk.hand("by hand")
    await snapshot(desk)

    assert await snapshot(desk) == SnapshotResult(captured=(), unchanged=1)
    assert len(desk.versions()) == 2


async def test_an_old_content_put_back_by_hand_is_a_new_version(desk: Desk) -> None:
    await desk.store("one")
    await desk.store("two")
    desk.hand("one")

    result = await snapshot(desk)

    assert [file.version for file in result.captured] == [3]


async def test_what_is_deleted_and_stays_so_is_not_looked_at(desk: Desk) -> None:
    await desk.store("one")
    await desk.store(None)

    assert await snapshot(desk) == NOTHING


async def test_a_file_that_was_made_again_after_its_deletion_is_captured(desk: Desk) -> None:
    await desk.store("one")
    await desk.store(None)
    desk.hand("again")

    result = await snapshot(desk)

    assert [file.version for file in result.captured] == [3]


async def test_files_that_cannot_be_versions_are_skipped_with_their_reasons(desk: Desk) -> None:
    desk.files.make_unreadable("agents/a.md")
    desk.hand(b"\xff", "agents/b.md")
    desk.hand("x", "agents/-c.md")
    desk.hand("good", "agents/d.md")

    result = await snapshot(desk)

    assert [file.name for file in result.captured] == ["d"]
    assert sorted(skipped.relative_path for skipped in result.skipped) == [
        "agents/-c.md",
        "agents/a.md",
        "agents/b.md",
    ]
    assert all(skipped.reason for skipped in result.skipped)


async def test_two_names_that_can_be_taken_for_one_are_not_both_captured(desk: Desk) -> None:
    desk.hand("one", "agents/Writer.md")
    desk.hand("two", "agents/writer.md")

    result = await snapshot(desk)

    assert [file.name for file in result.captured] == ["Writer"]
    assert [skipped.relative_path for skipped in result.skipped] == ["agents/writer.md"]
    assert "differ only in case or form" in result.skipped[0].reason


async def test_the_old_file_of_a_failed_write_is_no_edit_by_hand(desk: Desk) -> None:
    await desk.store("one")
    pending = await desk.fail("two")

    result = await snapshot(desk)

    assert (result.captured, result.unchanged) == ((), 1)
    assert desk.history.reconciliations[pending.id].status == "pending"


async def test_an_edit_after_a_failed_write_is_captured_and_overtakes_it(desk: Desk) -> None:
    await desk.store("one")
    pending = await desk.fail("two")
    desk.hand("by hand")

    result = await snapshot(desk)

    assert [file.version for file in result.captured] == [3]
    assert desk.history.reconciliations[pending.id].resolution == "superseded"


async def test_what_somebody_is_writing_is_left_to_that_writer(desk: Desk) -> None:
    await desk.store("one")
    await desk.begin("two")
    desk.hand("by hand")

    result = await snapshot(desk)

    assert (result.captured, result.unchanged) == ((), 1)
    assert desk.story()[1] == ("two", "save", "pending")


async def test_what_a_writer_left_that_is_gone_is_settled_before_its_file_is_judged(desk: Desk) -> None:
    await desk.store("one")
    await desk.die_writing("two")
    desk.hand("by hand")

    result = await snapshot(desk)

    assert [file.version for file in result.captured] == [3]
    assert desk.only_reconciliation().error_code == "interrupted"
    assert desk.is_in_step()


async def test_of_two_snapshots_at_once_one_captures(desk: Desk) -> None:
    await desk.store("one")
    desk.hand("by hand")

    results = await asyncio.gather(snapshot(desk), snapshot(desk))

    assert sorted((len(result.captured), result.unchanged) for result in results) == [(0, 1), (1, 0)]
    assert len(desk.versions()) == 2


async def test_one_kind_is_captured_alone(desk: Desk) -> None:
    desk.hand("x", PATH)
    desk.hand("x", "playbooks/p.playbook.yaml")

    result = await snapshot(desk, kind="playbook")

    assert [(file.kind, file.name) for file in result.captured] == [("playbook", "p")]


async def test_one_definition_is_captured_alone(desk: Desk) -> None:
    desk.hand("x", PATH)
    desk.hand("x", "agents/b.md")

    result = await snapshot(desk, kind="agent", name="b")

    assert [file.name for file in result.captured] == ["b"]


async def test_one_unreadable_definition_is_skipped(desk: Desk) -> None:
    desk.files.make_unreadable(PATH)

    result = await snapshot(desk, kind="agent", name="a")

    assert [skipped.reason for skipped in result.skipped] == [f"{PATH} is a symbolic link"]


async def test_one_definition_whose_file_was_removed_is_captured(desk: Desk) -> None:
    await desk.store("one")
    desk.hand(None)

    result = await snapshot(desk, kind="agent", name="a")

    assert [file.deleted for file in result.captured] == [True]


@pytest.mark.parametrize("name", ["nothing", "..", "a/b"])
async def test_what_is_nowhere_is_not_found(desk: Desk, name: str) -> None:
    with pytest.raises(NotFound):
        await snapshot(desk, kind="agent", name=name)


async def test_a_name_needs_its_kind(desk: Desk) -> None:
    with pytest.raises(ValidationFailure) as failure:
        await snapshot(desk, name="a")

    assert failure.value.field_errors[0].path == ("kind",)


async def test_more_files_than_are_looked_at_once_are_all_captured(desk: Desk) -> None:
    for number in range(501):
        desk.hand("x", f"agents/n{number}.md")

    result = await snapshot(desk)

    assert len(result.captured) == 501
    assert desk.history.calls["append_captured"] == 3


async def test_large_files_are_not_all_held_at_once(desk: Desk) -> None:
    for number in range(17):
        desk.hand("x" * DEFINITION_MAX_BYTES, f"agents/n{number:02}.md")

    result = await snapshot(desk)

    assert [file.name for file in result.captured] == [f"n{number:02}" for number in range(17)]
    assert desk.history.calls["append_captured"] == 3


async def test_a_root_that_is_not_there_now_has_lost_nothing_and_stops_no_other(desk: Desk) -> None:
    await desk.store("one", name="a")
    desk.hand("new", "playbooks/p.playbook.yaml")
    desk.files.unplug("agent")
    desk.hand(None, "agents/a.md")

    result = await snapshot(desk)

    assert [(file.kind, file.name, file.deleted) for file in result.captured] == [("playbook", "p", False)]
    assert [(file.kind, file.relative_path) for file in result.skipped] == [("agent", "agents")]
