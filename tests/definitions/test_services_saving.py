"""Saving, rolling back and deleting: what is checked before anything is stored, and what is answered."""

import pytest

from contract.definitions import DeleteDefinition, RollbackDefinition, SaveDefinition, SaveResult
from contract.errors import Conflict, NotFound, ReconciliationRequired, ValidationFailure
from contract.limits import DEFINITION_MAX_BYTES
from definitions.errors import WriteFault
from definitions.services.saving import delete_definition, rollback_definition, save_file_definition
from tests.definitions.desk import PATH, Desk

PLAYBOOK_PATH = "playbooks/p.playbook.yaml"


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def saved(desk: Desk, **fields: object) -> SaveResult:
    command = SaveDefinition.model_validate({"kind": "agent", "name": "a", "content": "# A\n", **fields})
    return await save_file_definition(command=command, writer=desk.writer)


async def rolled_back(desk: Desk, version: int, *, kind: str = "agent", **fields: object) -> SaveResult:
    command = RollbackDefinition.model_validate({"version": version, **fields})
    return await rollback_definition(kind=kind, name="a", command=command, writer=desk.writer)


async def deleted(desk: Desk, *, kind: str = "agent", name: str = "a", **fields: object) -> SaveResult:
    command = DeleteDefinition.model_validate(fields)
    return await delete_definition(kind=kind, name=name, command=command, writer=desk.writer)


async def test_a_save_answers_with_the_version_and_its_instant(desk: Desk) -> None:
    result = await saved(desk)

    assert result == SaveResult(kind="agent", name="a", version=1, saved_at=desk.clock.now())
    assert desk.text() == "# A\n"


async def test_a_save_keeps_message_and_actor(desk: Desk) -> None:
    await saved(desk, message="first", actor="ann")

    [version] = desk.versions()
    assert (version.message, version.actor, version.origin) == ("first", "ann", "save")


async def test_whoever_is_not_named_is_the_operator(desk: Desk) -> None:
    await saved(desk)

    assert desk.versions()[0].actor == "operator"


async def test_content_is_kept_byte_for_byte(desk: Desk) -> None:
    content = "\ufeff---\r\nname: x\r\n---\r\n\tno end"

    await saved(desk, content=content)

    assert desk.files.contents[PATH] == content.encode()
    assert desk.versions()[0].content == content


async def test_a_playbook_is_saved_in_its_own_root(desk: Desk) -> None:
    content = "name: p\ndescription: what it does\nprompt: do it\n"

    await saved(desk, kind="playbook", name="p", content=content)

    assert desk.text(PLAYBOOK_PATH) == content


@pytest.mark.parametrize("name", ["..", "a/b", "../../etc/passwd", ".a", "a\n", "é", "x" * 121])
async def test_an_impossible_name_is_refused(desk: Desk, name: str) -> None:
    with pytest.raises(ValidationFailure) as failure:
        await saved(desk, name=name)

    assert failure.value.field_errors[0].path == ("name",)
    assert (desk.files.contents, desk.history.records) == ({}, {})


async def test_invalid_content_is_refused_with_its_place_and_nothing_is_stored(desk: Desk) -> None:
    with pytest.raises(ValidationFailure) as failure:
        await saved(desk, kind="playbook", name="p", content="steps:\n  - [1,\n")

    fault = failure.value.field_errors[0]
    assert fault.path[0] == "content"
    assert fault.line is not None
    assert fault.column is not None
    assert (desk.files.contents, desk.history.records) == ({}, {})


async def test_content_over_the_bound_is_refused(desk: Desk) -> None:
    with pytest.raises(ValidationFailure):
        await saved(desk, content="x" * (DEFINITION_MAX_BYTES + 1))

    assert desk.history.records == {}


async def test_a_stale_save_is_a_conflict(desk: Desk) -> None:
    await saved(desk)
    await saved(desk, content="B", expected_version=1)

    with pytest.raises(Conflict, match="a is at version 2, not 1"):
        await saved(desk, content="C", expected_version=1)

    assert desk.text() == "B"


async def test_a_save_that_does_not_reach_the_file_names_its_reconciliation(desk: Desk) -> None:
    desk.files.fail_next_write(WriteFault("no_space"))

    with pytest.raises(ReconciliationRequired) as failure:
        await saved(desk)

    assert failure.value.reconciliation_id == desk.only_reconciliation().id


async def test_a_rollback_appends_an_earlier_content(desk: Desk) -> None:
    await desk.store("one")
    await desk.store("two")

    result = await rolled_back(desk, 1, expected_version=2, actor="ann")

    version = desk.versions()[-1]
    assert result.version == 3
    assert (version.content, version.origin, version.actor) == ("one", "rollback", "ann")
    assert version.message == "rollback to version 1"
    assert (desk.text(), desk.is_in_step()) == ("one", True)


async def test_a_rollback_has_a_message_of_its_own_if_it_gets_one(desk: Desk) -> None:
    await desk.store("one")

    await rolled_back(desk, 1, message="back to what worked")

    assert desk.versions()[-1].message == "back to what worked"


async def test_a_rollback_does_not_judge_what_was_the_file_once(desk: Desk) -> None:
    desk.hand("---\n[\n---\n")
    await desk.store("two")

    await rolled_back(desk, 1)

    assert desk.text() == "---\n[\n---\n"


async def test_a_rollback_restores_what_was_deleted(desk: Desk) -> None:
    await desk.store("one")
    await desk.store(None)

    await rolled_back(desk, 1)

    assert (desk.text(), desk.is_in_step()) == ("one", True)


async def test_a_rollback_keeps_an_unseen_edit_first(desk: Desk) -> None:
    await desk.store("one")
    desk.hand("by hand")

    await rolled_back(desk, 1)

    assert [version.content for version in desk.versions()] == ["one", "by hand", "one"]


async def test_a_stale_rollback_is_a_conflict(desk: Desk) -> None:
    await desk.store("one")
    await desk.store("two")

    with pytest.raises(Conflict):
        await rolled_back(desk, 1, expected_version=1)

    assert desk.text() == "two"


@pytest.mark.parametrize(("kind", "version"), [("agent", 2), ("playbook", 1), ("nothing", 1)])
async def test_a_rollback_to_what_never_was_is_not_found(desk: Desk, kind: str, version: int) -> None:
    await desk.store("one")

    with pytest.raises(NotFound):
        await rolled_back(desk, version, kind=kind)

    assert len(desk.versions()) == 1


async def test_a_rollback_to_a_deletion_is_told_to_delete(desk: Desk) -> None:
    await desk.store("one")
    await desk.store(None)
    await desk.store("three")

    with pytest.raises(Conflict, match="delete the definition"):
        await rolled_back(desk, 2)

    assert desk.text() == "three"


async def test_a_deletion_is_a_version(desk: Desk) -> None:
    await desk.store("one")

    result = await deleted(desk, expected_version=1, message="not used", actor="ann")

    version = desk.versions()[-1]
    assert (result.version, version.deleted, version.origin) == (2, True, "delete")
    assert (version.message, version.actor) == ("not used", "ann")
    assert desk.text() is None


@pytest.mark.parametrize(("kind", "name"), [("agent", "b"), ("playbook", "a"), ("nothing", "a"), ("agent", "..")])
async def test_a_deletion_of_what_is_not_there_is_not_found(desk: Desk, kind: str, name: str) -> None:
    await desk.store("one")

    with pytest.raises(NotFound):
        await deleted(desk, kind=kind, name=name)

    assert desk.text() == "one"


async def test_a_stale_deletion_is_a_conflict(desk: Desk) -> None:
    await desk.store("one")
    await desk.store("two")

    with pytest.raises(Conflict):
        await deleted(desk, expected_version=1)

    assert desk.text() == "two"


async def test_a_deletion_of_a_file_that_was_removed_by_hand_is_recorded(desk: Desk) -> None:
    await saved(desk)
    desk.hand(None)

    result = await deleted(desk, expected_version=1)

    assert result.version == 2
    assert [(version.deleted, version.origin) for version in desk.versions()] == [(False, "save"), (True, "delete")]


async def test_a_deletion_that_would_bring_another_file_up_is_refused(desk: Desk) -> None:
    await saved(desk)
    desk.hand("second", "agents/a/a.md")

    with pytest.raises(Conflict, match=r"agents/a/a\.md"):
        await deleted(desk)

    assert (desk.text(), desk.text("agents/a/a.md")) == ("# A\n", "second")
