"""Definitions whose files people work on by hand: their bytes, drift, what stands in their place, and snapshots."""

import os
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import Any

from contract.application import StudioApplication
from contract.definitions import DefinitionKind, DefinitionSummary, SnapshotDefinitions, SnapshotResult
from contract.diffs import DiffQuery
from contract.errors import Conflict, NotFound, PermissionDenied, ValidationFailure
from contract.limits import DEFINITION_MAX_BYTES
from definitions.names import flat_place, nested_place
from tests.parity.catalogue import home_scenario, lonely_scenario
from tests.parity.definition_scenarios import PLAYBOOK, delete, history, listed, roll_back, save, save_all
from tests.parity.run_scenarios import places
from tests.parity.witness import refused


def file_of(home: Path, name: str, kind: DefinitionKind = "agent") -> Path:
    """Return where a definition's file is, its root made."""
    path = home / flat_place(kind, name)
    path.parent.mkdir(exist_ok=True)
    return path


def nested_file_of(home: Path, name: str) -> Path:
    """Return the second place of an agent's file, its folder made."""
    path = home / nested_place("agent", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


async def snapshot(studio: StudioApplication, **fields: Any) -> SnapshotResult:
    return await studio.snapshot_definitions(SnapshotDefinitions(**fields))


async def summary(studio: StudioApplication, own: str) -> DefinitionSummary:
    """Return the one definition whose name holds the word."""
    (found,) = (await listed(studio, own)).items
    return found


@home_scenario
async def every_byte_of_a_content_is_kept(studio: StudioApplication, own: str, home: Path) -> None:
    texts = (
        "a\r\nb\r\n",
        "\ufeffa\n",
        "no end",
        "\n\na",
        "\ra\r",
        "a\u2028b\u0085\x0c\x1b[31m",
        "🜁\u202e\n",
        " \t\n x",
    )

    for version, text in enumerate(texts, start=1):
        await save(studio, own, text)
        assert file_of(home, own).read_bytes() == text.encode()
        assert (await studio.get_definition("agent", own)).content == text
        assert (await studio.get_definition_version("agent", own, version)).content == text
        await studio.diff_definition("agent", own, DiffQuery())
    await save(studio, own, f"\ufeff{PLAYBOOK}".replace("\n", "\r\n"), kind="playbook")
    for version, text in enumerate(texts, start=1):
        await roll_back(studio, own, version)
        assert file_of(home, own).read_bytes() == text.encode()


@home_scenario
async def an_edit_by_hand_shows_and_a_save_keeps_it(studio: StudioApplication, own: str, home: Path) -> None:
    await save(studio, own, "1")
    file_of(home, own).write_bytes(b"by hand\r\n")

    shown = await studio.get_definition("agent", own)
    await studio.diff_definition("agent", own, DiffQuery(file=True))
    assert (await summary(studio, own)).drift == "edited"
    await save(studio, own, "3", actor="b")

    assert (shown.content, shown.version, shown.drift) == ("by hand\r\n", 1, "edited")
    assert await history(studio, own) == [("save", "written"), ("external", "written"), ("save", "written")]
    assert (await studio.get_definition_version("agent", own, 2)).content == "by hand\r\n"
    assert file_of(home, own).read_text() == "3"


@home_scenario
async def who_expected_a_version_hears_of_an_edit_by_hand(studio: StudioApplication, own: str, home: Path) -> None:
    await save(studio, own, "1")

    file_of(home, own).write_text("by hand")
    conflict = await refused(Conflict, save(studio, own, "lost", expected_version=1))
    file_of(home, own).write_text("by hand again")
    await refused(Conflict, delete(studio, own, expected_version=2))
    file_of(home, own).write_text("and again")
    await refused(Conflict, roll_back(studio, own, 1, expected_version=3))

    assert (conflict.expected, conflict.actual) == ("1", "2")
    assert file_of(home, own).read_text() == "and again"
    assert [origin for origin, _ in await history(studio, own)] == ["save", "external", "external", "external"]


@home_scenario
async def a_removal_by_hand_shows_and_a_save_keeps_it(studio: StudioApplication, own: str, home: Path) -> None:
    await save(studio, own, "1")
    file_of(home, own).unlink()

    assert (await summary(studio, own)).drift == "missing"
    await refused(NotFound, studio.get_definition("agent", own))
    await studio.diff_definition("agent", own, DiffQuery(file=True))
    await save(studio, own, "3")
    file_of(home, own).unlink()
    await delete(studio, own)
    await refused(NotFound, delete(studio, own))

    assert (await studio.get_definition_version("agent", own, 2)).deleted
    assert [origin for origin, _ in await history(studio, own)] == ["save", "external", "save", "delete"]


@home_scenario
async def a_file_without_history_is_a_definition(studio: StudioApplication, own: str, home: Path) -> None:
    file_of(home, own).write_text("found")

    assert (await summary(studio, own)).drift == "untracked"
    assert (await studio.get_definition("agent", own)).version == 0
    await refused(NotFound, studio.diff_definition("agent", own, DiffQuery(from_=1, file=True)))
    await studio.diff_definition("agent", own, DiffQuery(file=True))
    conflict = await refused(Conflict, save(studio, own, "2", expected_version=0))
    await delete(studio, own)

    assert conflict.actual == "1"
    assert [origin for origin, _ in await history(studio, own)] == ["external", "delete"]
    assert not file_of(home, own).exists()


@home_scenario
async def a_file_in_a_folder_of_its_name_stays_there(studio: StudioApplication, own: str, home: Path) -> None:
    nested_file_of(home, own).write_text("1")

    await save(studio, own, "2")
    assert nested_file_of(home, own).read_text() == "2"
    file_of(home, own).write_text("the first place")
    shadowing = await summary(studio, own)
    await studio.get_definition("agent", own)
    await save(studio, own, "4")

    assert shadowing.drift == "edited"
    assert nested_place("agent", own) in str(shadowing.problem)
    assert (file_of(home, own).read_text(), nested_file_of(home, own).read_text()) == ("4", "2")


@home_scenario
async def a_link_is_neither_read_nor_written(studio: StudioApplication, own: str, home: Path) -> None:
    secret = home / f"{own}.secret"
    secret.write_text("secret")
    await save(studio, own, "1")
    file_of(home, own).unlink()
    file_of(home, own).symlink_to(secret)
    (file_of(home, f"{own}-folder").parent / f"{own}-folder").symlink_to(home)

    for name in (own, f"{own}-folder"):
        for operation in (_reads_and_writes if name == own else _reads_and_saves)(studio, name):
            denied = await refused(PermissionDenied, operation)
            assert str(home) not in denied.reason
    page = await listed(studio, own)
    taken = await snapshot(studio, kind="agent", name=own)

    assert [found.drift for found in page.items] == ["unreadable", "unreadable"]
    assert [skipped.relative_path for skipped in taken.skipped] == [flat_place("agent", own)]
    assert secret.read_text() == "secret"
    assert await history(studio, own) == [("save", "written")]


@home_scenario
async def what_is_no_text_file_is_a_conflict(studio: StudioApplication, own: str, home: Path) -> None:
    await save(studio, own, "1")
    path = file_of(home, own)

    for content in (b"\xff\xfe", b"a\x00b", b"\xed\xa0\x80", b"x" * (DEFINITION_MAX_BYTES + 1)):
        path.write_bytes(content)
        await _is_a_conflict(studio, own)
        assert path.read_bytes() == content
    path.unlink()
    path.mkdir()
    await _is_a_conflict(studio, own)
    path.rmdir()
    os.mkfifo(path)
    await _is_a_conflict(studio, own)

    assert await history(studio, own) == [("save", "written")]


async def _is_a_conflict(studio: StudioApplication, name: str) -> None:
    for operation in _reads_and_writes(studio, name):
        await refused(Conflict, operation)
    found = await summary(studio, name)
    taken = await snapshot(studio, kind="agent", name=name)
    assert (found.drift, found.problem) == ("unreadable", taken.skipped[0].reason)


def _reads_and_saves(studio: StudioApplication, name: str) -> Sequence[Awaitable[object]]:
    return studio.get_definition("agent", name), save(studio, name)


def _reads_and_writes(studio: StudioApplication, name: str) -> Sequence[Awaitable[object]]:
    """Return every operation that looks at the file of a definition with one version."""
    compare = studio.diff_definition("agent", name, DiffQuery(file=True))
    return *_reads_and_saves(studio, name), compare, roll_back(studio, name, 1), delete(studio, name)


@home_scenario
async def names_of_files_made_by_hand_collide_too(studio: StudioApplication, own: str, home: Path) -> None:
    file_of(home, own.upper()).write_text("1")

    conflict = await refused(Conflict, save(studio, own))

    assert (conflict.expected, conflict.actual) == (own, own.upper())
    await refused(NotFound, studio.get_definition("agent", own))


@home_scenario
async def a_snapshot_of_one_definition_is_taken_once(studio: StudioApplication, own: str, home: Path) -> None:
    await save(studio, own, "1")
    first = await snapshot(studio, kind="agent", name=own)
    file_of(home, own).write_bytes(b"2\r\n")
    second = await snapshot(studio, kind="agent", name=own, message="m", actor="a")
    again = await snapshot(studio, kind="agent", name=own)
    file_of(home, own).unlink()
    third = await snapshot(studio, kind="agent", name=own)
    last = await snapshot(studio, kind="agent", name=own)

    assert [len(taken.captured) for taken in (first, second, again, third, last)] == [0, 1, 0, 1, 0]
    assert [taken.unchanged for taken in (first, second, again, third, last)] == [1, 0, 1, 0, 1]
    assert third.captured[0].deleted
    assert [origin for origin, _ in await history(studio, own)] == ["save", "external", "external"]


@home_scenario
async def a_snapshot_of_what_cannot_be_is_refused(studio: StudioApplication, own: str, home: Path) -> None:
    for name in (own, "../x", "a b", "x" * 200):
        missing = await refused(NotFound, snapshot(studio, kind="agent", name=name))
        assert missing.resource == "definition"
    failure = await refused(ValidationFailure, snapshot(studio, name=own))

    assert places(failure) == [(("kind",), "missing")]


@lonely_scenario
async def a_snapshot_takes_all_that_was_done_by_hand(studio: StudioApplication, own: str, home: Path) -> None:
    await save_all(studio, f"{own}-same", "1")
    await save_all(studio, f"{own}-edited", "1")
    await save_all(studio, f"{own}-removed", "1")
    file_of(home, f"{own}-edited").write_text("2")
    file_of(home, f"{own}-removed").unlink()
    nested_file_of(home, f"{own}-new").write_text("new")
    file_of(home, f"{own}-binary").write_bytes(b"\xff")
    (file_of(home, own).parent / f".{own}.md").write_text("of no possible name")
    (file_of(home, own).parent / f"{own}-notes.txt").write_text("no definition")
    file_of(home, own, "playbook").write_text("a: [b")

    of_agents = await snapshot(studio, kind="agent", message="before")
    of_all = await snapshot(studio)
    again = await snapshot(studio)

    assert _names(of_agents, own) == ["-edited", "-new", "-removed"]
    assert _names(of_all, own) == [""]
    assert _names(again, own) == []
    assert {skipped.relative_path for skipped in again.skipped} >= {f"agents/{own}-binary.md", f"agents/.{own}.md"}
    await studio.get_definition("playbook", own)
    await listed(studio, own)


def _names(taken: SnapshotResult, own: str) -> list[str]:
    return [found.name.removeprefix(own) for found in taken.captured if found.name.startswith(own)]
