"""Definitions as callers change and read them: saves, histories, comparisons, lists, and what is refused."""

from typing import Any

from contract.application import StudioApplication
from contract.base import Page
from contract.definitions import (
    DefinitionKind,
    DefinitionQuery,
    DefinitionSummary,
    DeleteDefinition,
    RollbackDefinition,
    SaveDefinition,
    SaveResult,
    VersionQuery,
)
from contract.diffs import DiffQuery
from contract.errors import Conflict, NotFound, ValidationFailure
from contract.limits import DEFINITION_MAX_BYTES, DEFINITION_NAME_MAX_CHARS, SAFE_INTEGER_MAX
from tests.parity.catalogue import scenario
from tests.parity.run_scenarios import IMPOSSIBLE_IDS, places
from tests.parity.witness import refused

AGENT = "---\nmodel: m\n---\nDo what you are told.\n"
PLAYBOOK = "name: p\nprompt: Do it.\nsteps:\n  first: {}\n"
CONTENT: dict[DefinitionKind, str] = {"agent": AGENT, "playbook": PLAYBOOK}
# What no kind is called, each a danger of its own in a path.
IMPOSSIBLE_KINDS = ("", "skill", "Agent", "agents", ".", "..", "../agent", "a b", "%61gent", "\x00", "\ud800", "ä")
# No definition is called like this; some of these may be identifiers of other things.
IMPOSSIBLE_NAMES = (
    *IMPOSSIBLE_IDS, ".hidden", "_x", "a:b", "a\\b", "a*", "~", "x" * (DEFINITION_NAME_MAX_CHARS + 1), "\uff41",
)  # fmt: skip


async def save(studio: StudioApplication, name: str, content: str = AGENT, **fields: Any) -> SaveResult:
    return await studio.save_file_definition(
        SaveDefinition(**{"kind": "agent", "name": name, "content": content, **fields})
    )


async def save_all(studio: StudioApplication, name: str, *contents: str) -> None:
    for content in contents:
        await save(studio, name, content)


async def roll_back(studio: StudioApplication, name: str, version: int, **fields: Any) -> SaveResult:
    return await studio.rollback_definition("agent", name, RollbackDefinition(version=version, **fields))


async def delete(studio: StudioApplication, name: str, **fields: Any) -> SaveResult:
    return await studio.delete_definition("agent", name, DeleteDefinition(**fields))


async def history(studio: StudioApplication, name: str) -> list[tuple[str, str]]:
    """Return origin and write status of every version, oldest first."""
    page = await studio.list_definition_versions("agent", name, VersionQuery())
    return [(version.origin, version.write_status) for version in reversed(page.items)]


async def listed(studio: StudioApplication, own: str, **fields: Any) -> Page[DefinitionSummary]:
    return await studio.list_definitions(DefinitionQuery(search=own, **fields))


@scenario
async def saved_definition_is_shown_everywhere(studio: StudioApplication, own: str) -> None:
    for kind, content in CONTENT.items():
        command = SaveDefinition(kind=kind, name=own, content=content, message="ü", actor="a b", expected_version=0)
        saved = await studio.save_file_definition(command)
        detail = await studio.get_definition(kind, own)
        versions = await studio.list_definition_versions(kind, own, VersionQuery())
        version = await studio.get_definition_version(kind, own, 1)

        assert (saved.version, saved.reconciliation_id) == (1, None)
        assert (detail.content, detail.version, detail.drift) == (content, 1, None)
        assert [found.id for found in versions.items] == [version.id]
        assert (version.content, version.message, version.actor) == (content, "ü", "a b")
    assert [found.kind for found in (await listed(studio, own)).items] == ["agent", "playbook"]


@scenario
async def every_save_is_a_version_even_of_the_same_content(studio: StudioApplication, own: str) -> None:
    await save_all(studio, own, "1", "2", "2")

    assert (await studio.get_definition("agent", own)).content == "2"
    assert await history(studio, own) == [("save", "written")] * 3


@scenario
async def a_stale_expectation_is_a_conflict(studio: StudioApplication, own: str) -> None:
    await save(studio, own, expected_version=0)
    await save(studio, own, expected_version=1)

    for conflict in (
        await refused(Conflict, save(studio, own, "lost", expected_version=1)),
        await refused(Conflict, roll_back(studio, own, 1, expected_version=1)),
        await refused(Conflict, delete(studio, own, expected_version=1)),
    ):
        assert (conflict.resource, conflict.expected, conflict.actual) == ("definition", "1", "2")
    unborn = await refused(Conflict, save(studio, f"{own}-new", expected_version=7))
    assert (unborn.expected, unborn.actual) == ("7", "0")
    assert (await studio.get_definition("agent", own)).version == 2


@scenario
async def invalid_content_is_refused_with_its_place_and_not_stored(studio: StudioApplication, own: str) -> None:
    bomb = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
        f"{here}: &{here} [{','.join([f'*{before}'] * 9)}]\n" for before, here in zip("abcdef", "bcdefg", strict=True)
    )
    contents: tuple[tuple[DefinitionKind, str, tuple[int, int] | None], ...] = (
        ("playbook", "a: [b", None),
        ("playbook", "name: p\nstepz: {}\n", (2, 1)),
        ("playbook", "name: p\nworkers: 33\nbare: 7\n", (2, 10)),
        ("playbook", "- a\n", (1, 1)),
        ("playbook", "name: a\nname: b\n", (2, 1)),
        ("playbook", "name: \x07\n", (1, 7)),
        ("playbook", "", None),
        ("playbook", bomb, None),
        ("playbook", "prompt: " + "[" * 5_000, None),
        ("playbook", "x: !!python/object/apply:os.system [id]\n", None),
        ("agent", "", None),
        ("agent", "---\nmodel: m\n", (1, 1)),
        ("agent", "---\nmodel: [m\n---\n", None),
        ("agent", "\ufeff---\r\nmodel: m\r\ntimeout: 0\r\n---\r\n", (3, 10)),
        ("agent", "x" * (DEFINITION_MAX_BYTES + 1), None),
        ("agent", "ü" * (DEFINITION_MAX_BYTES // 2 + 1), None),
    )

    for kind, content, place in contents:
        failure = await refused(ValidationFailure, save(studio, own, content, kind=kind))
        assert {path[0] for path, _ in places(failure)} == {"content"}
        assert place in (None, (failure.field_errors[0].line, failure.field_errors[0].column))
        await refused(NotFound, studio.get_definition(kind, own))
        await refused(NotFound, studio.list_definition_versions(kind, own, VersionQuery()))


@scenario
async def impossible_names_are_refused(studio: StudioApplication, own: str) -> None:
    for name in IMPOSSIBLE_NAMES:
        # These two kinds of text are refused before there is a command.
        if name and not {"\x00", "\ud800"} & set(name):
            failure = await refused(ValidationFailure, save(studio, name))
            assert places(failure) == [(("name",), "name")]
        await _nothing_is_found(studio, "agent", name)


@scenario
async def impossible_kinds_are_not_found(studio: StudioApplication, own: str) -> None:
    await save(studio, own)

    for kind in IMPOSSIBLE_KINDS:
        await _nothing_is_found(studio, kind, own)


@scenario
async def unknown_definition_is_not_found_by_any_operation(studio: StudioApplication, own: str) -> None:
    await _nothing_is_found(studio, "agent", own)
    await save(studio, f"{own}-2")
    missing = await refused(NotFound, studio.get_definition_version("agent", f"{own}-2", 2))

    assert (missing.resource, missing.identifier) == ("definition version", f"agent/{own}-2/2")
    for number in (0, -1, SAFE_INTEGER_MAX, 10**15, -(10**30), 10**30):
        await refused(NotFound, studio.get_definition_version("agent", f"{own}-2", number))


async def _nothing_is_found(studio: StudioApplication, kind: str, name: str) -> None:
    await refused(NotFound, studio.get_definition(kind, name))
    await refused(NotFound, studio.list_definition_versions(kind, name, VersionQuery()))
    for version in (1, 0, 10**30):
        await refused(NotFound, studio.get_definition_version(kind, name, version))
    await refused(NotFound, studio.diff_definition(kind, name, DiffQuery(from_=1, to=1)))
    await refused(NotFound, studio.rollback_definition(kind, name, RollbackDefinition(version=1)))
    await refused(NotFound, studio.delete_definition(kind, name, DeleteDefinition()))


@scenario
async def names_that_differ_in_case_alone_collide(studio: StudioApplication, own: str) -> None:
    await save(studio, own)
    await save(studio, own, PLAYBOOK, kind="playbook")

    for name in (own.upper(), own.capitalize()):
        conflict = await refused(Conflict, save(studio, name))
        assert conflict.resource == "definition"
        assert own in str(conflict)
    await delete(studio, own)
    # Its history is still there, and would be restored to the same file.
    await refused(Conflict, save(studio, own.upper()))


@scenario
async def versions_follow_each_other_by_offset_and_by_cursor(studio: StudioApplication, own: str) -> None:
    await save_all(studio, own, *map(str, range(1, 6)))
    by_cursor: list[int] = []
    cursor = None

    for _ in range(3):
        page = await studio.list_definition_versions("agent", own, VersionQuery(limit=2, cursor=cursor))
        by_cursor += [version.version for version in page.items]
        cursor = page.next_cursor
        await save(studio, own, "later")
    by_offset = await studio.list_definition_versions("agent", own, VersionQuery(limit=2, offset=6))
    beyond = await studio.list_definition_versions("agent", own, VersionQuery(offset=99))

    assert (by_cursor, cursor) == ([5, 4, 3, 2, 1], None)
    assert [version.version for version in by_offset.items] == [2, 1]
    assert (beyond.items, beyond.has_next) == ((), False)


@scenario
async def definitions_follow_each_other_by_offset_and_by_cursor(studio: StudioApplication, own: str) -> None:
    for name in ("c", "a", "b"):
        await save(studio, f"{own}-{name}")
    await save(studio, f"{own}-a", PLAYBOOK, kind="playbook")
    by_cursor: list[str] = []
    cursor = None

    for number in range(2):
        page = await listed(studio, own, limit=2, cursor=cursor)
        by_cursor += [f"{found.kind[0]}{found.name[-1]}" for found in page.items]
        cursor = page.next_cursor
        await save(studio, f"{own}-A{number}")
    by_offset = await listed(studio, own, kind="agent", offset=4, limit=1)

    assert (by_cursor, cursor) == (["aa", "ab", "ac", "pa"], None)
    assert [found.name for found in by_offset.items] == [f"{own}-c"]
    assert not by_offset.has_next


@scenario
async def every_filter_finds_its_definitions(studio: StudioApplication, own: str) -> None:
    await save(studio, f"{own}-Part")
    await save(studio, f"{own}-gone")
    await save(studio, f"{own}-part", PLAYBOOK, kind="playbook")
    await delete(studio, f"{own}-gone")
    expected: tuple[tuple[dict[str, Any], list[str]], ...] = (
        ({}, ["Part", "part"]),
        ({"kind": "playbook"}, ["part"]),
        ({"deleted": True}, ["Part", "gone", "part"]),
        ({"deleted": True, "kind": "playbook"}, ["part"]),
        ({"search": f"{own}-PART"}, ["Part", "part"]),
        ({"search": f"{own}-%"}, []),
        ({"search": f"{own}_"}, []),
    )

    for filters, names in expected:
        page = await studio.list_definitions(DefinitionQuery(**{"search": own, **filters}))
        assert [found.name.removeprefix(f"{own}-") for found in page.items] == names, filters


@scenario
async def foreign_cursors_of_definitions_are_refused(studio: StudioApplication, own: str) -> None:
    for name in (own, f"{own}-2"):
        await save_all(studio, name, "1", "2")
    of_list = (await listed(studio, own, limit=1)).next_cursor
    of_versions = (await studio.list_definition_versions("agent", own, VersionQuery(limit=1))).next_cursor

    for query in (
        DefinitionQuery(search=f"{own}-", cursor=of_list),
        DefinitionQuery(search=own, kind="agent", cursor=of_list),
        DefinitionQuery(search=own, cursor=of_versions),
        DefinitionQuery(search=own, cursor="garbled"),
    ):
        failure = await refused(ValidationFailure, studio.list_definitions(query))
        assert places(failure) == [(("cursor",), "cursor")]
    for name, cursor in ((f"{own}-2", of_versions), (own, of_list), (own, "garbled"), (own, "")):
        query_ = VersionQuery(cursor=cursor)
        failure = await refused(ValidationFailure, studio.list_definition_versions("agent", name, query_))
        assert places(failure) == [(("cursor",), "cursor")]
    await _refuse_two_positions(studio, own, of_list, of_versions)


async def _refuse_two_positions(
    studio: StudioApplication, own: str, of_list: str | None, of_versions: str | None
) -> None:
    for operation in (
        listed(studio, own, cursor=of_list, offset=1),
        studio.list_definition_versions("agent", own, VersionQuery(cursor=of_versions, offset=1)),
    ):
        failure = await refused(ValidationFailure, operation)
        assert places(failure) == [(("offset",), "exclusive")]


@scenario
async def versions_are_compared(studio: StudioApplication, own: str) -> None:
    lines = [f"line {number}\n" for number in range(20)]
    changed = [*lines[:3], "another\n", *lines[4:18], "\n", "the end without its newline"]
    await save_all(studio, own, "".join(lines), "".join(changed), "".join(changed))
    expected: tuple[tuple[dict[str, Any], tuple[int, int, int]], ...] = (
        ({}, (0, 0, 0)),
        ({"from_": 1}, (3, 3, 2)),
        ({"from_": 1, "context": 0}, (3, 3, 2)),
        ({"from_": 1, "context": 20}, (3, 3, 1)),
        ({"from_": 2, "to": 1}, (3, 3, 2)),
        ({"to": 2}, (3, 3, 2)),
        ({"to": 1}, (20, 0, 1)),
        ({"from_": 0, "to": 3}, (20, 0, 1)),
        ({"file": True}, (0, 0, 0)),
        ({"file": True, "from_": 1}, (3, 3, 2)),
    )

    for fields, counts in expected:
        diff = await studio.diff_definition("agent", own, DiffQuery(**fields))
        assert (diff.added, diff.removed, len(diff.hunks)) == counts, fields
        assert bool(diff.unified) == bool(diff.hunks)


@scenario
async def versions_that_are_not_there_cannot_be_compared(studio: StudioApplication, own: str) -> None:
    await save(studio, own)

    for query in (DiffQuery(from_=2), DiffQuery(to=2), DiffQuery(from_=7, file=True)):
        await refused(NotFound, studio.diff_definition("agent", own, query))
    failure = await refused(ValidationFailure, studio.diff_definition("agent", own, DiffQuery(to=1, file=True)))
    assert places(failure) == [(("to",), "exclusive")]


@scenario
async def an_earlier_version_is_rolled_back_to(studio: StudioApplication, own: str) -> None:
    await save_all(studio, own, "1", "2")

    rolled_back = await roll_back(studio, own, 1, expected_version=2, actor="a")
    again = await roll_back(studio, own, 2, message="back again")

    assert (rolled_back.version, again.version) == (3, 4)
    assert (await studio.get_definition("agent", own)).content == "2"
    assert (await studio.get_definition_version("agent", own, 3)).content == "1"
    missing = await refused(NotFound, roll_back(studio, own, 5))
    assert missing.resource == "definition version"


@scenario
async def a_deleted_definition_is_restored_from_its_history(studio: StudioApplication, own: str) -> None:
    await save(studio, own, "1")

    deleted = await delete(studio, own, expected_version=1, message="", actor="ä & b")
    for missing in (
        await refused(NotFound, studio.get_definition("agent", own)),
        await refused(NotFound, delete(studio, own)),
    ):
        assert missing.identifier == f"agent/{own}"
    conflict = await refused(Conflict, roll_back(studio, own, 2))
    await studio.diff_definition("agent", own, DiffQuery())
    restored = await roll_back(studio, own, 1)

    assert (deleted.version, restored.version) == (2, 3)
    assert (conflict.expected, conflict.actual) == ("content", "deletion")
    assert (await studio.get_definition_version("agent", own, 2)).deleted
    assert (await studio.get_definition("agent", own)).content == "1"
    assert [origin for origin, _ in await history(studio, own)] == ["save", "delete", "rollback"]
