"""What only the fake can: be told beforehand what goes wrong."""

import hashlib

import pytest

from contract.errors import PermissionDenied, StateUnavailable
from definitions.errors import FileChanged, WriteFault
from tests.fakes.definition_files import InMemoryDefinitionFiles

OLD = "old\n"
SHA = hashlib.sha256(OLD.encode()).hexdigest()
PLACE = "agents/a.md"


@pytest.fixture
def files() -> InMemoryDefinitionFiles:
    files = InMemoryDefinitionFiles()
    files.edit(PLACE, OLD)
    return files


async def test_the_next_write_fails_as_told_and_the_one_after_does_not(files: InMemoryDefinitionFiles) -> None:
    files.fail_next_write(WriteFault("no_space"))

    with pytest.raises(WriteFault, match="the disk is full"):
        await files.write_current("agent", "a", "new\n", replacing=SHA)

    assert files.contents == {PLACE: OLD.encode()}
    await files.write_current("agent", "a", "new\n", replacing=SHA)
    assert files.contents == {PLACE: b"new\n"}


async def test_a_change_can_fail_after_it_was_done(files: InMemoryDefinitionFiles) -> None:
    files.fail_next_write(WriteFault("io"), landed=True)

    with pytest.raises(WriteFault):
        await files.remove_current("agent", "a", replacing=SHA)

    assert files.contents == {}


async def test_a_hand_can_come_in_the_middle_of_a_write(files: InMemoryDefinitionFiles) -> None:
    files.meanwhile(lambda: files.edit(PLACE, "by hand\n"))

    with pytest.raises(FileChanged):
        await files.write_current("agent", "a", "new\n", replacing=SHA)

    assert files.contents == {PLACE: b"by hand\n"}


async def test_a_place_can_be_made_unreadable_and_readable_again(files: InMemoryDefinitionFiles) -> None:
    files.make_unreadable(PLACE)
    files.make_unreadable("agents/b.md", StateUnavailable(retryable=False, detail="the disk reported a fault"))

    with pytest.raises(PermissionDenied):
        await files.read_current("agent", "a")
    with pytest.raises(StateUnavailable):
        await files.current_hash("agent", "b")
    with pytest.raises(WriteFault):
        await files.write_current("agent", "a", "new\n", replacing=SHA)
    seen = await files.observe("agent", ["a", "b"])

    assert [one.problem for one in seen] == [f"{PLACE} is a symbolic link", "the disk reported a fault"]
    files.edit(PLACE, OLD)
    assert await files.current_hash("agent", "a") == SHA
