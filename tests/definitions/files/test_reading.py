"""The port's rules for reading and looking over, over the fake and the disk."""

import hashlib

import pytest

from contract.errors import Conflict, ValidationFailure
from contract.limits import DEFINITION_MAX_BYTES
from tests.definitions.files.hands import Home


def hash_of(content: str | bytes) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


async def test_no_file_and_no_root_are_nothing(home: Home) -> None:
    assert await home.files.read_current("agent", "reviewer") is None
    assert await home.files.current_hash("playbook", "nightly") is None
    assert await home.files.names("agent") == ()
    assert await home.files.strangers("agent") == ()
    assert await home.files.leftovers() == ()
    assert await home.files.find_namesake("agent", "reviewer") is None


@pytest.mark.parametrize(
    "content", ["", "plain\n", "\ufeff# with a BOM\r\nand CRLF\r\n", "no end", "żółw 🐢\n", "\n\n\n"]
)
async def test_a_file_is_read_byte_for_byte(home: Home, content: str) -> None:
    home.edit("agents/reviewer.md", content)

    found = await home.files.read_current("agent", "reviewer")

    assert found is not None
    assert (found.content, found.version, found.relative_path) == (content, 0, "agents/reviewer.md")
    assert found.sha256 == await home.files.current_hash("agent", "reviewer") == hash_of(content)


async def test_the_first_of_two_places_is_used(home: Home) -> None:
    home.edit("playbooks/nightly/nightly.playbook.yaml", "second: 2\n")
    alone = await home.files.read_current("playbook", "nightly")
    home.edit("playbooks/nightly.playbook.yaml", "first: 1\n")

    both = await home.files.read_current("playbook", "nightly")

    assert alone is not None
    assert both is not None
    assert (alone.content, alone.relative_path) == ("second: 2\n", "playbooks/nightly/nightly.playbook.yaml")
    assert (both.content, both.relative_path) == ("first: 1\n", "playbooks/nightly.playbook.yaml")


@pytest.mark.parametrize(
    ("data", "expected", "actual"),
    [
        (b"good\n\xff\xfe", "UTF-8 text", "byte 0xff at offset 5"),
        (b"\xed\xa0\x80", "UTF-8 text", "byte 0xed at offset 0"),
        ("é\x00".encode(), "text without NUL", "NUL at offset 2"),
        (b"x" * (DEFINITION_MAX_BYTES + 1), "at most 1048576 bytes", "1048577 bytes"),
        (b"x" * (2 * DEFINITION_MAX_BYTES), "at most 1048576 bytes", "2097152 bytes"),
    ],
)
async def test_what_is_no_text_is_a_conflict_and_a_problem(home: Home, data: bytes, expected: str, actual: str) -> None:
    home.edit("agents/bad.md", data)

    with pytest.raises(Conflict, match=r"^agents/bad\.md ") as refused:
        await home.files.read_current("agent", "bad")
    with pytest.raises(Conflict):
        await home.files.current_hash("agent", "bad")
    (seen,) = await home.files.observe("agent", ["bad"])

    found = (refused.value.resource, refused.value.expected, refused.value.actual)
    assert found == ("definition file", expected, actual)
    assert (seen.problem, seen.sha256, seen.size_bytes) == (str(refused.value), None, None)


async def test_a_file_may_have_exactly_a_mebibyte(home: Home) -> None:
    home.edit("agents/large.md", b"x" * DEFINITION_MAX_BYTES)

    found = await home.files.read_current("agent", "large")

    assert found is not None
    assert len(found.content) == DEFINITION_MAX_BYTES


async def test_several_places_are_looked_at_in_their_order(home: Home) -> None:
    home.edit("agents/b.md", "bb")
    home.edit("agents/a/a.md", "a")
    home.edit("agents/both.md", "first")
    home.edit("agents/both/both.md", "second")

    b, gone, a, both = await home.files.observe("agent", ["b", "gone", "a", "both"])

    assert (b.relative_path, b.sha256, b.size_bytes, b.shadowed) == ("agents/b.md", hash_of("bb"), 2, None)
    assert (gone.relative_path, gone.sha256, gone.problem) == ("agents/gone.md", None, None)
    assert (a.relative_path, a.sha256) == ("agents/a/a.md", hash_of("a"))
    assert (both.sha256, both.shadowed) == (hash_of("first"), "agents/both/both.md")


async def test_names_are_sorted_and_possible_and_of_their_kind(home: Home) -> None:
    for path in (
        "agents/zeta.md",
        "agents/Alpha.md",
        "agents/folder/folder.md",
        "agents/other/unrelated.md",
        "agents/notes.txt",
        "agents/.hidden.md",
        "agents/zeta/zeta.md",
        "agents/.zeta.md.0123456789abcdef.studio-tmp",
        "agents/zeta.md.rescued-0123456789abcdef",
        "playbooks/nightly.playbook.yaml",
        "playbooks/plain.yaml",
    ):
        home.edit(path, "text\n")

    assert await home.files.names("agent") == ("Alpha", "folder", "zeta")
    assert await home.files.names("playbook") == ("nightly",)


async def test_files_with_an_impossible_name_are_strangers_with_a_reason(home: Home) -> None:
    for path in (
        "agents/my agent.md",
        "agents/ok.md",
        "agents/\uff41gent.md",
        "agents/b c/b c.md",
        "agents/x y/else.md",
    ):
        home.edit(path, "text\n")

    strangers = await home.files.strangers("agent")

    reasons = dict(strangers)
    assert list(reasons) == ["agents/b c/b c.md", "agents/my agent.md", "agents/\uff41gent.md"]
    assert reasons["agents/my agent.md"].startswith("its name must begin with an ASCII letter or digit")
    assert reasons["agents/\uff41gent.md"].endswith("it reads like 'agent'")
    assert await home.files.strangers("playbook") == ()


@pytest.mark.parametrize(
    ("path", "name", "namesake"),
    [
        ("agents/Reviewer.md", "reviewer", "Reviewer"),
        ("agents/reviewer.md", "reviewer", None),
        ("agents/Reviewer/Reviewer.md", "reviewer", "Reviewer"),
        ("agents/Reviewer/other.md", "reviewer", None),
        ("agents/reviewer.MD", "reviewer", "reviewer.MD"),
        ("agents/\uff41gent.md", "agent", "\uff41gent"),
        ("agents/\u017ftop.md", "stop", "\u017ftop"),
        ("agents/Reviewer.txt", "reviewer", None),
        ("playbooks/Reviewer.playbook.yaml", "reviewer", None),
    ],
)
async def test_a_namesake_is_another_name_that_may_be_taken_for_this_one(
    home: Home, path: str, name: str, namesake: str | None
) -> None:
    home.edit(path, "text\n")

    assert await home.files.find_namesake("agent", name) == namesake


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/b", "", ".", "..", "nul\x00"])
async def test_no_impossible_name_leads_anywhere(home: Home, name: str) -> None:
    home.edit("agents/kept.md", "kept")

    with pytest.raises(ValidationFailure):
        await home.files.read_current("agent", name)
    with pytest.raises(ValidationFailure):
        await home.files.write_current("agent", name, "text")

    assert home.all() == {"agents/kept.md": b"kept"}
