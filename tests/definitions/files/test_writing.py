"""The port's rules for writing, removing and leftovers, over the fake and the disk."""

import hashlib

import pytest

from contract.limits import DEFINITION_MAX_BYTES
from definitions.errors import FileChanged
from definitions.services.ports import Leftover
from tests.definitions.files.hands import Home

OTHER = hashlib.sha256(b"other").hexdigest()
TEMPORARY = "agents/.a.md.0123456789abcdef.studio-tmp"


def hash_of(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


@pytest.mark.parametrize("content", ["", "new\n", "\ufeffż\r\n", "x" * DEFINITION_MAX_BYTES])
async def test_a_new_file_is_put_in_the_first_place(home: Home, content: str) -> None:
    result = await home.files.write_current("playbook", "nightly", content)

    assert home.all() == {"playbooks/nightly.playbook.yaml": content.encode()}
    assert result.relative_path == "playbooks/nightly.playbook.yaml"
    assert (result.sha256, result.bytes_written) == (hash_of(content), len(content.encode()))


@pytest.mark.parametrize("path", ["agents/a.md", "agents/a/a.md"])
async def test_a_file_is_replaced_where_it_is(home: Home, path: str) -> None:
    home.edit(path, "old\n")

    result = await home.files.write_current("agent", "a", "new\n", replacing=hash_of("old\n"))

    assert home.all() == {path: b"new\n"}
    assert result.relative_path == path


@pytest.mark.parametrize("path", ["agents/a.md", "agents/a/a.md"])
async def test_nothing_is_written_over_a_file_that_was_not_expected(home: Home, path: str) -> None:
    home.edit(path, "by hand\n")

    for replacing in (None, OTHER):
        with pytest.raises(FileChanged):
            await home.files.write_current("agent", "a", "new\n", replacing=replacing)

    assert home.all() == {path: b"by hand\n"}


async def test_nothing_is_written_where_the_expected_file_is_gone(home: Home) -> None:
    with pytest.raises(FileChanged):
        await home.files.write_current("agent", "a", "new\n", replacing=OTHER)
    home.edit("agents/b.md", "b")
    with pytest.raises(FileChanged):
        await home.files.write_current("agent", "a", "new\n", replacing=OTHER)

    assert home.all() == {"agents/b.md": b"b"}


async def test_the_same_content_again_is_written_as_any(home: Home) -> None:
    home.edit("agents/a.md", "same\n")

    await home.files.write_current("agent", "a", "same\n", replacing=hash_of("same\n"))

    assert home.all() == {"agents/a.md": b"same\n"}


async def test_only_the_used_one_of_two_files_is_replaced_or_removed(home: Home) -> None:
    home.edit("agents/a.md", "first\n")
    home.edit("agents/a/a.md", "second\n")

    await home.files.write_current("agent", "a", "third\n", replacing=hash_of("first\n"))
    await home.files.remove_current("agent", "a", replacing=hash_of("third\n"))

    assert home.all() == {"agents/a/a.md": b"second\n"}


@pytest.mark.parametrize("path", ["agents/a.md", "agents/a/a.md"])
async def test_the_expected_file_is_removed(home: Home, path: str) -> None:
    home.edit(path, "old\n")

    await home.files.remove_current("agent", "a", replacing=hash_of("old\n"))

    assert home.all() == {}
    assert await home.files.names("agent") == ()


async def test_a_file_that_was_not_expected_is_not_removed(home: Home) -> None:
    home.edit("agents/a.md", "by hand\n")

    with pytest.raises(FileChanged):
        await home.files.remove_current("agent", "a", replacing=OTHER)

    assert home.all() == {"agents/a.md": b"by hand\n"}


async def test_what_is_gone_already_is_removed(home: Home) -> None:
    await home.files.remove_current("agent", "a", replacing=OTHER)
    home.edit("agents/b.md", "b")

    await home.files.remove_current("agent", "a", replacing=OTHER)

    assert home.all() == {"agents/b.md": b"b"}


async def test_temporary_files_are_leftovers_and_nothing_else_is(home: Home) -> None:
    inner = "playbooks/n/.n.playbook.yaml.0123456789abcdef.studio-tmp"
    home.edit(TEMPORARY, "half a te")
    home.edit(inner, b"\xff\x00")
    home.edit("agents/.large.md.0123456789abcdef.studio-tmp", b"x" * (DEFINITION_MAX_BYTES + 1))
    for path in (
        "agents/a.md",
        "agents/.a.txt.0123456789abcdef.studio-tmp",
        "agents/.a.md.short.studio-tmp",
        "agents/.a b.md.0123456789abcdef.studio-tmp",
        "agents/a.md.0123456789abcdef.studio-tmp",
    ):
        home.edit(path, "no leftover")

    leftovers = await home.files.leftovers()

    assert leftovers == (
        Leftover(kind="agent", name="a", relative_path=TEMPORARY, content=b"half a te"),
        Leftover(
            kind="agent",
            name="large",
            relative_path="agents/.large.md.0123456789abcdef.studio-tmp",
            content=None,
        ),
        Leftover(kind="playbook", name="n", relative_path=inner, content=b"\xff\x00"),
    )


async def test_a_leftover_can_be_discarded_again_and_again(home: Home) -> None:
    home.edit(TEMPORARY, "half")
    home.edit("agents/a.md", "whole")
    (leftover,) = await home.files.leftovers()

    await home.files.discard(leftover)
    await home.files.discard(leftover)

    assert home.all() == {"agents/a.md": b"whole"}


@pytest.mark.parametrize("folder", ["agents", "agents/a"])
async def test_a_rescued_leftover_stays_beside_the_file_and_is_no_definition(home: Home, folder: str) -> None:
    home.edit(f"{folder}/.a.md.0123456789abcdef.studio-tmp", "an edit")
    (leftover,) = await home.files.leftovers()

    path = await home.files.rescue(leftover)

    assert home.all() == {path: b"an edit"}
    assert path == f"{folder}/a.md.rescued-0123456789abcdef"
    assert await home.files.leftovers() == ()
    assert await home.files.names("agent") == ()


async def test_a_leftover_that_somebody_took_away_cannot_be_rescued(home: Home) -> None:
    home.edit(TEMPORARY, "an edit")
    (leftover,) = await home.files.leftovers()
    home.remove(TEMPORARY)

    with pytest.raises(FileChanged):
        await home.files.rescue(leftover)
