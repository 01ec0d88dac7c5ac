"""What a history knows of contents: whole ones of any version, and beginnings of the last."""

import pytest

from tests.definitions.state.stores import Store, deletion
from tests.fakes.clocks import START_AT


async def history_of(store: Store, *contents: str, name: str = "scout") -> None:
    for after, content in enumerate(contents):
        await store.append(content, name, after=after)


async def known(store: Store, *contents: bytes, name: str = "scout", last: int = 1) -> list[bool]:
    return list(await store.history.known_contents("agent", [(name, content) for content in contents], last=last))


async def test_of_nothing_nothing_is_known(store: Store) -> None:
    assert await known(store) == []


async def test_the_content_of_any_version_is_known(store: Store) -> None:
    await history_of(store, "text 1", "text 2", "text 3")

    assert await known(store, b"text 3", b"text 9", b"text 1") == [True, False, True]


async def test_a_content_is_known_to_the_definition_that_had_it(store: Store) -> None:
    await history_of(store, "text 1")
    await history_of(store, "text 2", name="other")

    asked = [("scout", b"text 2"), ("other", b"text 2"), ("other", b"text 1"), ("nothing", b"text 1")]

    assert await store.history.known_contents("agent", asked, last=1) == (False, True, False, False)
    assert await store.history.known_contents("playbook", asked, last=1) == (False,) * 4


@pytest.mark.parametrize("last", [1, 2])
async def test_the_beginning_of_one_of_the_last_versions_is_known(store: Store, last: int) -> None:
    await history_of(store, "first text", "older", "newest")

    assert await known(store, b"new", b"old", b"first", b"ewest", last=last) == [True, last == 2, False, False]


async def test_half_a_character_and_bytes_that_are_no_text_are_looked_up(store: Store) -> None:
    await history_of(store, "\u00e9")

    assert await known(store, "\u00e9".encode()[:1], b"\xff", b"a\x00b") == [True, False, False]


async def test_nothing_begins_every_version_and_is_what_no_deletion_holds(store: Store) -> None:
    await history_of(store, "one")
    await store.history.append_version(deletion(), after=1, at=START_AT, file_sha256=None)

    assert await known(store, b"", last=2) == [True]
    assert await known(store, b"", last=0) == [False]
    assert await known(store, b"", name="nothing") == [False]


async def test_more_than_are_asked_at_once_are_answered_in_their_order(store: Store) -> None:
    for number in range(3):
        await store.append(f"text {number}", f"n{number}")
    asked = [(f"n{number % 4}", f"text {number % 5}".encode()) for number in range(250)]

    answers = await store.history.known_contents("agent", asked, last=1)

    assert answers == tuple(number % 4 == number % 5 != 3 for number in range(250))
