"""Pages of histories and reconciliations, and what is known of many definitions at once."""

from typing import Any

import pytest

from contract.definitions import DefinitionVersionSummary, ReconciliationQuery, VersionQuery
from tests.definitions.state.stores import WRITER, Store, deletion
from tests.fakes.clocks import START_AT


async def history_of(store: Store, versions: int, name: str = "scout") -> None:
    for number in range(versions):
        await store.append(f"text {number + 1}", name, after=number)


async def numbers(store: Store, before: int | None = None, **query: Any) -> tuple[list[int], bool]:
    """Return the versions of one page, and whether there is another one."""
    page = await store.history.list_versions("agent", "scout", VersionQuery(**query), before=before)
    assert page is not None
    assert page.next_cursor is None
    return [version.version for version in page.items], page.has_next


async def test_a_page_of_a_history_is_none_without_one(store: Store) -> None:
    await history_of(store, 1, "other")

    assert await store.history.list_versions("agent", "scout", VersionQuery(), before=None) is None
    assert await store.history.list_versions("playbook", "other", VersionQuery(), before=None) is None


async def test_a_page_shows_versions_newest_first_and_without_content(store: Store) -> None:
    await history_of(store, 2)
    newest = await store.history.find_version("agent", "scout", 2)
    assert newest is not None

    page = await store.history.list_versions("agent", "scout", VersionQuery(limit=1), before=None)

    assert page is not None
    assert page.items == (DefinitionVersionSummary(**newest.model_dump(exclude={"content"})),)
    assert (page.offset, page.limit, page.has_next) == (0, 1, True)


async def test_pages_of_a_history_go_by_offset_and_from_before_a_version(store: Store) -> None:
    await history_of(store, 5)

    assert await numbers(store) == ([5, 4, 3, 2, 1], False)
    assert await numbers(store, limit=5) == ([5, 4, 3, 2, 1], False)
    assert await numbers(store, limit=2) == ([5, 4], True)
    assert await numbers(store, limit=2, offset=3) == ([2, 1], False)
    assert await numbers(store, limit=2, offset=9) == ([], False)
    assert await numbers(store, before=4, limit=2) == ([3, 2], True)
    assert await numbers(store, before=4, limit=2, offset=1) == ([2, 1], False)
    assert await numbers(store, before=1) == ([], False)


async def test_versions_are_told_apart_by_definition(store: Store) -> None:
    await history_of(store, 3)
    await history_of(store, 2, "other")

    version = await store.history.find_version("agent", "other", 2)

    assert version is not None
    assert (version.name, version.content) == ("other", "text 2")
    assert await store.history.find_version("agent", "other", 3) is None
    assert await store.history.find_version("playbook", "other", 2) is None
    assert await store.history.find_version("agent", "other", 2**53 - 1) is None


async def test_names_are_sorted_by_their_characters_and_deleted_ones_are_asked_for(store: Store) -> None:
    for name in ("b", "a.b", "C", "a-b", "a", "a_b", "gone"):
        await store.append("one", name)
    await store.append("one", "other", kind="playbook")
    await store.history.append_version(deletion("gone"), after=1, at=START_AT, file_sha256=None)

    kept, everything = [await store.history.names("agent", deleted=deleted) for deleted in (False, True)]

    assert kept == ("C", "a", "a-b", "a.b", "a_b", "b")
    assert everything == ("C", "a", "a-b", "a.b", "a_b", "b", "gone")


async def test_heads_are_those_that_are_there(store: Store) -> None:
    for number in range(3):
        await store.append("one", f"n{number}")
    names = [f"n{number}" for number in range(1_200)]

    heads = await store.history.heads("agent", names)

    assert heads == {name: await store.head(name) for name in names[:3]}
    assert await store.history.heads("playbook", names) == {}
    assert await store.history.heads("agent", []) == {}


async def test_at_work_are_the_heads_with_a_writer(store: Store) -> None:
    await store.append("one", "idle")
    await store.append("one", "busy", writer=WRITER)
    await store.append("one", "other", kind="playbook", writer=WRITER)

    found = await store.history.at_work()

    assert [(head.kind, head.name) for head in found] == [("agent", "busy"), ("playbook", "other")]
    assert found[0] == await store.head("busy")


async def failures(store: Store) -> list[str]:
    """Let six definitions fail, two at each instant; return the ids of their reconciliations, newest first."""
    found = [
        await store.fail(f"n{number}", at=START_AT + number // 2, kind="playbook" if number == 5 else "agent")
        for number in range(6)
    ]
    return [entry.id for entry in sorted(found, key=lambda entry: (entry.created_at, entry.id), reverse=True)]


async def test_reconciliations_are_listed_newest_first(store: Store) -> None:
    expected = await failures(store)

    page = await store.reconciliations.list_reconciliations(ReconciliationQuery(limit=6), before=None)

    assert [entry.id for entry in page.items] == expected
    assert page.items[0] == await store.found(expected[0])
    assert (page.offset, page.limit, page.has_next, page.next_cursor) == (0, 6, False, None)


async def test_pages_of_reconciliations_go_by_offset_and_from_before_one(store: Store) -> None:
    expected = await failures(store)

    walked: list[str] = []
    before = None
    for _ in expected:
        query = ReconciliationQuery(limit=1)
        page = await store.reconciliations.list_reconciliations(query, before=before)
        walked += [entry.id for entry in page.items]
        before = (page.items[-1].created_at, page.items[-1].id)
        assert page.has_next == (len(walked) < len(expected))

    assert walked == expected
    assert await store.ids(offset=2, limit=3) == expected[2:5]
    assert await store.ids(offset=9) == []
    assert (await store.reconciliations.list_reconciliations(ReconciliationQuery(), before=before)).items == ()


async def test_reconciliations_are_filtered_by_status_kind_and_name(store: Store) -> None:
    expected = await failures(store)
    last = await store.head("n5", "playbook")
    resolved = last.reconciliation_id
    assert resolved is not None
    await store.reconciliations.dismiss(resolved, reason="so be it", actor="ada", at=START_AT)
    pending = [number for number in expected if number != resolved]

    assert await store.ids(status="resolved") == [resolved]
    assert await store.ids(status="pending") == pending
    assert await store.ids(kind="playbook") == [resolved]
    assert await store.ids(kind="agent") == pending
    assert await store.ids(kind="agent", status="resolved") == []
    assert await store.ids(name="n5") == [resolved]
    assert await store.ids(name="n5", kind="agent") == []
    assert await store.ids(name="n5", kind="playbook", status="pending") == []
    assert await store.ids(name="n4", kind="agent", status="pending") == [(await store.head("n4")).reconciliation_id]


@pytest.mark.parametrize("name", ["N1", "n", "n1 ", "n_", "%"])
async def test_a_name_is_the_whole_name(store: Store, name: str) -> None:
    await failures(store)

    assert await store.ids(name=name) == []
