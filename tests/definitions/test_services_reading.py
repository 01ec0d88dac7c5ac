"""Reading definitions: lists, one definition, its history, and what differs."""

import pytest

from contract.definitions import (
    DefinitionDetail,
    DefinitionQuery,
    DefinitionSummary,
    VersionQuery,
)
from contract.errors import Conflict, NotFound, PermissionDenied, ValidationFailure
from definitions.content import sha256_of
from definitions.services.reading import (
    get_definition,
    get_definition_version,
    list_definition_versions,
    list_definitions,
)
from tests.definitions.desk import PATH, Desk


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def listed(desk: Desk, **fields: object) -> list[DefinitionSummary]:
    query = DefinitionQuery.model_validate(fields)
    page = await list_definitions(query=query, history=desk.history, files=desk.files)
    return list(page.items)


async def detail(desk: Desk, kind: str = "agent", name: str = "a") -> DefinitionDetail:
    return await get_definition(kind=kind, name=name, history=desk.history, files=desk.files)


# ----------------------------------------------------------------------------------------------------- lists


async def test_a_list_has_what_is_in_the_history_and_what_is_on_the_disk(desk: Desk) -> None:
    await desk.store("one")
    desk.hand("by hand", "agents/b.md")
    desk.hand("name: p\n", "playbooks/a/a.playbook.yaml")

    found = await listed(desk)

    assert [(item.kind, item.name, item.version, item.drift) for item in found] == [
        ("agent", "a", 1, None),
        ("agent", "b", 0, "untracked"),
        ("playbook", "a", 0, "untracked"),
    ]
    assert [item.relative_path for item in found] == [PATH, "agents/b.md", "playbooks/a/a.playbook.yaml"]


async def test_of_a_root_that_is_not_there_now_the_definitions_are_listed_as_missing(desk: Desk) -> None:
    await desk.store("one")
    desk.hand(None, PATH)
    desk.files.unplug("agent")

    found = await listed(desk)

    assert [(item.name, item.drift) for item in found] == [("a", "missing")]


async def test_a_summary_tells_the_file_as_it_is_now(desk: Desk) -> None:
    await desk.store("one")
    at = desk.clock.now()
    desk.clock.advance(10)
    await desk.store("two")
    desk.hand("by hand \u00e9")

    [item] = await listed(desk)

    assert (item.version, item.drift) == (2, "edited")
    assert (item.sha256, item.size_bytes) == (sha256_of("by hand \u00e9"), 10)
    assert (item.created_at, item.updated_at) == (at, at + 10)


async def test_a_missing_file_is_listed_as_missing(desk: Desk) -> None:
    await desk.store("one")
    desk.hand(None)

    [item] = await listed(desk)

    assert (item.drift, item.sha256, item.deleted) == ("missing", None, False)


async def test_a_deleted_definition_is_listed_only_if_asked_for(desk: Desk) -> None:
    await desk.store("one")
    await desk.store(None)

    assert await listed(desk) == []
    [item] = await listed(desk, deleted=True)
    assert (item.deleted, item.drift, item.version) == (True, None, 2)


async def test_an_unreadable_file_is_listed_with_its_reason_and_stops_no_other(desk: Desk) -> None:
    desk.files.make_unreadable(PATH)
    await desk.store("one", name="b")

    found = await listed(desk)

    assert [(item.drift, item.problem) for item in found] == [
        ("unreadable", f"{PATH} is a symbolic link"),
        (None, None),
    ]


async def test_a_second_file_of_a_name_is_told(desk: Desk) -> None:
    await desk.store("one")
    desk.hand("other", "agents/a/a.md")

    [item] = await listed(desk)

    assert item.problem == "agents/a/a.md has the same name and is not used"
    assert (item.sha256, item.drift) == (sha256_of("one"), None)
    assert (await detail(desk)).problem == item.problem


async def test_a_pending_reconciliation_is_shown_in_list_and_detail(desk: Desk) -> None:
    await desk.store("one")
    pending = await desk.fail("two")

    [item] = await listed(desk)

    assert (item.reconciliation_id, item.drift) == (pending.id, "edited")
    assert (await detail(desk)).reconciliation_id == pending.id


async def test_a_search_finds_parts_of_names_whatever_the_case(desk: Desk) -> None:
    for name in ("Writer", "reviewer", "tester"):
        desk.hand("x", f"agents/{name}.md")

    assert [item.name for item in await listed(desk, search="WRI")] == ["Writer"]
    assert [item.name for item in await listed(desk, search="ER")] == ["Writer", "reviewer", "tester"]
    assert await listed(desk, search="agents") == []


async def test_a_kind_is_listed_alone(desk: Desk) -> None:
    desk.hand("x", PATH)
    desk.hand("x", "playbooks/p.playbook.yaml")

    assert [item.name for item in await listed(desk, kind="playbook")] == ["p"]


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
async def test_a_walk_by_cursor_shows_each_definition_once_while_others_come(desk: Desk, limit: int) -> None:
    for number in range(5):
        desk.hand("x", f"agents/n{number}.md")
        desk.hand("x", f"playbooks/n{number}.playbook.yaml")
    names: list[str] = []
    cursor = None

    while True:
        query = DefinitionQuery(limit=limit, cursor=cursor)
        page = await list_definitions(query=query, history=desk.history, files=desk.files)
        names += [f"{item.kind}/{item.name}" for item in page.items]
        desk.hand("x", f"agents/before-{len(names)}.md")
        cursor = page.next_cursor
        if cursor is None:
            break

    assert not page.has_next
    assert names == [f"{kind}/n{number}" for kind in ("agent", "playbook") for number in range(5)]


async def test_an_offset_skips_and_goes_on_by_cursor(desk: Desk) -> None:
    for name in "abcd":
        desk.hand("x", f"agents/{name}.md")
    query = DefinitionQuery(offset=1, limit=2)

    page = await list_definitions(query=query, history=desk.history, files=desk.files)

    assert ([item.name for item in page.items], page.offset, page.has_next) == (["b", "c"], 1, True)
    assert [item.name for item in await listed(desk, cursor=page.next_cursor)] == ["d"]


async def test_a_foreign_cursor_is_refused(desk: Desk) -> None:
    with pytest.raises(ValidationFailure):
        await listed(desk, cursor="x")


# -------------------------------------------------------------------------------------------- one definition


async def test_a_definition_is_its_file_and_how_the_history_stands_to_it(desk: Desk) -> None:
    await desk.store("one")
    desk.hand("by hand")

    found = await detail(desk)

    assert (found.content, found.sha256, found.size_bytes) == ("by hand", sha256_of("by hand"), 7)
    assert (found.version, found.drift, found.relative_path) == (1, "edited", PATH)


async def test_a_file_without_history_is_at_version_zero(desk: Desk) -> None:
    desk.hand("by hand")

    found = await detail(desk)

    assert (found.version, found.drift, found.created_at) == (0, "untracked", None)


@pytest.mark.parametrize(("kind", "name"), [("agent", "b"), ("playbook", "a"), ("nothing", "a"), ("agent", "../a")])
async def test_what_has_no_file_is_not_found(desk: Desk, kind: str, name: str) -> None:
    await desk.store("one")

    with pytest.raises(NotFound):
        await detail(desk, kind, name)


async def test_what_is_no_text_is_refused_with_its_reason(desk: Desk) -> None:
    desk.files.make_unreadable(PATH)
    desk.hand(b"\xff", "agents/b.md")

    with pytest.raises(PermissionDenied):
        await detail(desk)
    with pytest.raises(Conflict):
        await detail(desk, name="b")


# ------------------------------------------------------------------------------------------------- a history


async def test_a_history_is_listed_newest_first_by_cursor(desk: Desk) -> None:
    for number in range(5):
        await desk.store(f"of {number}")
    numbers: list[int] = []
    query = VersionQuery(limit=2)

    while True:
        page = await list_definition_versions(kind="agent", name="a", query=query, history=desk.history)
        numbers += [version.version for version in page.items]
        await desk.store("newer")
        if page.next_cursor is None:
            break
        query = VersionQuery(limit=2, cursor=page.next_cursor)

    assert numbers == [5, 4, 3, 2, 1]


@pytest.mark.parametrize(("kind", "name"), [("agent", "b"), ("nothing", "a"), ("agent", "..")])
async def test_the_history_of_nothing_is_not_found(desk: Desk, kind: str, name: str) -> None:
    await desk.store("one")

    with pytest.raises(NotFound):
        await list_definition_versions(kind=kind, name=name, query=VersionQuery(), history=desk.history)


async def test_a_version_is_read_with_its_content(desk: Desk) -> None:
    await desk.store("one")
    await desk.store("two")

    found = await get_definition_version(kind="agent", name="a", version=1, history=desk.history)

    assert (found.content, found.version, found.write_status) == ("one", 1, "written")


@pytest.mark.parametrize("version", [-1, 0, 2])
async def test_a_version_that_never_was_is_not_found(desk: Desk, version: int) -> None:
    await desk.store("one")

    with pytest.raises(NotFound) as failure:
        await get_definition_version(kind="agent", name="a", version=version, history=desk.history)

    assert failure.value.identifier == f"agent/a/{version}"
