"""Reconciliations: versions that did not reach their files, and every way to settle them.

A write fails here as it does for people whose definitions lie on a disk that is not there: the root is a symbolic link
that leads nowhere. Studio sees no file, and cannot make one.
"""

from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from contract.application import StudioApplication
from contract.base import Page
from contract.definitions import (
    ReconcileAction,
    Reconciliation,
    ReconciliationQuery,
    ResolveReconciliation,
    SnapshotDefinitions,
)
from contract.errors import Conflict, NotFound, ReconciliationRequired, ValidationFailure
from definitions.names import ROOTS
from tests.parity.catalogue import home_scenario, scenario
from tests.parity.definition_file_scenarios import file_of, summary
from tests.parity.definition_scenarios import delete, history, roll_back, save, save_all
from tests.parity.run_scenarios import IMPOSSIBLE_IDS, places
from tests.parity.witness import refused


@contextmanager
def disk_away(home: Path) -> Iterator[None]:
    """Have the agents on a disk that is not there, until the end of the block."""
    root = home / ROOTS["agent"]
    root.mkdir(exist_ok=True)
    away = root.rename(home / "agents-away")
    root.symlink_to("nowhere")
    try:
        yield
    finally:
        root.unlink()
        away.rename(root)


async def fail(home: Path, write: Awaitable[object]) -> str:
    """Return the reconciliation of a write without a disk."""
    with disk_away(home):
        required = await refused(ReconciliationRequired, write)
    return required.reconciliation_id


async def resolve(
    studio: StudioApplication, reconciliation_id: str, action: ReconcileAction, **fields: Any
) -> Reconciliation:
    return await studio.resolve_reconciliation(reconciliation_id, ResolveReconciliation(action=action, **fields))


async def reconciliations(studio: StudioApplication, own: str, **fields: Any) -> Page[Reconciliation]:
    return await studio.list_reconciliations(ReconciliationQuery(name=own, **fields))


async def actions(studio: StudioApplication, reconciliation_id: str) -> tuple[ReconcileAction, ...]:
    return (await studio.get_reconciliation(reconciliation_id)).actions


@home_scenario
async def a_failed_write_is_in_the_history_and_shown(studio: StudioApplication, own: str, home: Path) -> None:
    reconciliation_id = await fail(home, save(studio, own, "1", actor="a"))

    found = await studio.get_reconciliation(reconciliation_id)
    (in_list,) = (await reconciliations(studio, own)).items

    assert (found.status, found.error_code, found.attempts, found.actor) == ("pending", "not_a_file", 1, None)
    assert [(entry.action, entry.outcome, entry.actor) for entry in found.log] == [(None, "opened", "a")]
    assert in_list.id == reconciliation_id
    assert (await summary(studio, own)).reconciliation_id == reconciliation_id
    assert await history(studio, own) == [("save", "failed")]
    await refused(NotFound, studio.get_definition("agent", own))


@home_scenario
async def a_rollback_fails_as_a_save_does(studio: StudioApplication, own: str, home: Path) -> None:
    await save_all(studio, own, "1", "2")

    reconciliation_id = await fail(home, roll_back(studio, own, 1))

    # The files were away, as if somebody had removed them; that is a version, too.
    assert [origin for origin, _ in await history(studio, own)] == ["save", "save", "external", "rollback"]
    assert (await summary(studio, own)).reconciliation_id == reconciliation_id
    assert (await studio.get_definition("agent", own)).drift == "edited"


@home_scenario
async def a_write_is_tried_again_until_it_succeeds(studio: StudioApplication, own: str, home: Path) -> None:
    reconciliation_id = await fail(home, save(studio, own, "1"))

    again = await fail(home, resolve(studio, reconciliation_id, "retry_write", actor="b"))
    assert await actions(studio, reconciliation_id) == ("retry_write", "accept_file", "dismiss")
    written = await resolve(studio, reconciliation_id, "retry_write", reason="now", actor="c")
    once_more = await resolve(studio, reconciliation_id, "retry_write", actor="d")

    assert again == reconciliation_id
    assert written == once_more
    assert (written.resolution, written.result_version, written.attempts) == ("retry_write", 1, 2)
    assert file_of(home, own).read_text() == "1"
    assert await history(studio, own) == [("save", "written")]
    assert (await summary(studio, own)).reconciliation_id is None
    assert await actions(studio, reconciliation_id) == ()
    log = (await studio.get_reconciliation(reconciliation_id)).log
    assert [(entry.outcome, entry.actor) for entry in log] == [
        ("opened", "operator"),
        ("failed", "b"),
        ("resolved", "c"),
    ]


@home_scenario
async def a_file_that_came_meanwhile_is_never_overwritten(studio: StudioApplication, own: str, home: Path) -> None:
    reconciliation_id = await fail(home, save(studio, own, "1"))
    file_of(home, own).write_bytes(b"by hand\r\n")

    possible = await actions(studio, reconciliation_id)
    conflict = await refused(Conflict, resolve(studio, reconciliation_id, "retry_write"))
    accepted = await resolve(studio, reconciliation_id, "accept_file", reason="it is better", actor="a")
    again = await resolve(studio, reconciliation_id, "accept_file")

    assert possible == ("accept_file", "dismiss")
    assert (conflict.resource, conflict.expected) == ("definition file", None)
    assert accepted == again
    assert (accepted.resolution, accepted.result_version) == ("accept_file", 2)
    assert (await studio.get_definition_version("agent", own, 2)).content == "by hand\r\n"
    assert await history(studio, own) == [("save", "superseded"), ("external", "written")]
    assert (await summary(studio, own)).drift is None


@home_scenario
async def that_there_is_no_file_can_be_accepted(studio: StudioApplication, own: str, home: Path) -> None:
    reconciliation_id = await fail(home, save(studio, own, "1"))

    accepted = await resolve(studio, reconciliation_id, "accept_file")

    assert accepted.result_version == 2
    assert (await studio.get_definition_version("agent", own, 2)).deleted
    await refused(NotFound, delete(studio, own))


@home_scenario
async def a_file_that_is_right_already_needs_no_write(studio: StudioApplication, own: str, home: Path) -> None:
    actions_: tuple[ReconcileAction, ...] = ("retry_write", "accept_file")
    for action in actions_:
        name = f"{own}-{action[0]}"
        reconciliation_id = await fail(home, save(studio, name, "1"))
        file_of(home, name).write_text("1")

        resolved = await resolve(studio, reconciliation_id, action)

        assert (resolved.resolution, resolved.result_version) == (action, 1)
        assert await history(studio, name) == [("save", "written")]


@home_scenario
async def a_dismissal_leaves_both_and_needs_a_reason(studio: StudioApplication, own: str, home: Path) -> None:
    reconciliation_id = await fail(home, save(studio, own, "1"))
    file_of(home, own).mkdir()

    for reason in (None, "", " \t"):
        failure = await refused(ValidationFailure, resolve(studio, reconciliation_id, "dismiss", reason=reason))
        assert places(failure) == [(("reason",), "missing")]
    dismissed = await resolve(studio, reconciliation_id, "dismiss", reason="never mind", actor="a")
    again = await resolve(studio, reconciliation_id, "dismiss", reason="another")

    assert dismissed == again
    assert (dismissed.reason, dismissed.actor, dismissed.resolution) == ("never mind", "a", "dismiss")
    assert await history(studio, own) == [("save", "dismissed")]
    assert file_of(home, own).is_dir()


@home_scenario
async def what_is_resolved_is_not_resolved_otherwise(studio: StudioApplication, own: str, home: Path) -> None:
    reconciliation_id = await fail(home, save(studio, own, "1"))
    await resolve(studio, reconciliation_id, "dismiss", reason="r")

    others: tuple[ReconcileAction, ...] = ("retry_write", "accept_file")
    for action in others:
        conflict = await refused(Conflict, resolve(studio, reconciliation_id, action))
        assert (conflict.resource, conflict.expected, conflict.actual) == ("reconciliation", "pending", "dismiss")


@home_scenario
async def what_cannot_be_read_can_only_be_dismissed(studio: StudioApplication, own: str, home: Path) -> None:
    reconciliation_id = await fail(home, save(studio, own, "1"))
    path = file_of(home, own)

    for make in (path.mkdir, lambda: path.symlink_to(home), lambda: path.write_bytes(b"\xff")):
        make()
        others: tuple[ReconcileAction, ...] = ("retry_write", "accept_file")
        for action in others:
            conflict = await refused(Conflict, resolve(studio, reconciliation_id, action))
            assert conflict.resource == "definition file"
        found = await studio.get_reconciliation(reconciliation_id)
        assert (found.actions, found.file_sha256) == (("dismiss",), None)
        assert found.problem is not None
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


@home_scenario
async def a_newer_version_settles_it(studio: StudioApplication, own: str, home: Path) -> None:
    reconciliation_id = await fail(home, save(studio, own, "1"))
    second = await fail(home, save(studio, own, "2"))

    first = await studio.get_reconciliation(reconciliation_id)
    await save(studio, own, "3")
    settled = await studio.get_reconciliation(second)

    assert second != reconciliation_id
    for found in (first, settled):
        assert (found.status, found.resolution) == ("resolved", "superseded")
    conflict = await refused(Conflict, resolve(studio, second, "retry_write"))
    assert conflict.actual == "superseded"
    assert await history(studio, own) == [("save", "superseded"), ("save", "superseded"), ("save", "written")]


@home_scenario
async def a_snapshot_settles_it_by_what_was_done_by_hand(studio: StudioApplication, own: str, home: Path) -> None:
    reconciliation_id = await fail(home, save(studio, own, "1"))
    command = SnapshotDefinitions(kind="agent", name=own)
    untouched = await studio.snapshot_definitions(command)
    file_of(home, own).write_text("by hand")

    taken = await studio.snapshot_definitions(command)

    assert (untouched.unchanged, len(taken.captured)) == (1, 1)
    assert (await studio.get_reconciliation(reconciliation_id)).resolution == "superseded"


@home_scenario
async def a_failed_save_can_be_deleted(studio: StudioApplication, own: str, home: Path) -> None:
    reconciliation_id = await fail(home, save(studio, own, "1"))

    deleted = await delete(studio, own, expected_version=1)

    assert deleted.version == 2
    assert (await studio.get_reconciliation(reconciliation_id)).status == "resolved"
    assert (await reconciliations(studio, own, status="pending")).items == ()


@home_scenario
async def reconciliations_follow_each_other_newest_first(studio: StudioApplication, own: str, home: Path) -> None:
    made = [await fail(home, save(studio, own, str(number))) for number in range(5)]
    seen: list[str] = []
    cursor = None

    for number in range(3):
        page = await reconciliations(studio, own, limit=2, cursor=cursor)
        seen += [found.id for found in page.items]
        cursor = page.next_cursor
        await fail(home, save(studio, own, f"later {number}"))
    by_offset = await reconciliations(studio, own, limit=2, offset=6)

    assert (seen, cursor) == (made[::-1], None)
    assert [found.id for found in by_offset.items] == made[1::-1]


@home_scenario
async def every_filter_finds_its_reconciliations(studio: StudioApplication, own: str, home: Path) -> None:
    for number in range(2):
        await fail(home, save(studio, own, str(number)))
    expected: tuple[tuple[dict[str, Any], list[int]], ...] = (
        ({}, [2, 1]),
        ({"status": "pending"}, [2]),
        ({"status": "resolved"}, [1]),
        ({"kind": "agent"}, [2, 1]),
        ({"kind": "playbook"}, []),
        ({"kind": "agent", "status": "pending"}, [2]),
    )

    for filters, versions in expected:
        page = await reconciliations(studio, own, **filters)
        assert [found.version for found in page.items] == versions, filters
    for name in (f"{own}-2", "../x", "x" * 5_000):
        assert (await reconciliations(studio, name)).items == ()


@home_scenario
async def foreign_cursors_of_reconciliations_are_refused(studio: StudioApplication, own: str, home: Path) -> None:
    for number in range(2):
        await fail(home, save(studio, own, str(number)))
    cursor = (await reconciliations(studio, own, limit=1)).next_cursor

    for query in (
        ReconciliationQuery(name=f"{own}-2", cursor=cursor),
        ReconciliationQuery(name=own, status="resolved", cursor=cursor),
        ReconciliationQuery(name=own, cursor="garbled"),
        ReconciliationQuery(name=own, cursor=""),
    ):
        failure = await refused(ValidationFailure, studio.list_reconciliations(query))
        assert places(failure) == [(("cursor",), "cursor")]
    failure = await refused(ValidationFailure, reconciliations(studio, own, cursor=cursor, offset=1))
    assert places(failure) == [(("offset",), "exclusive")]


@scenario
async def unknown_reconciliation_is_not_found(studio: StudioApplication, own: str) -> None:
    for reconciliation_id in (own, *IMPOSSIBLE_IDS):
        for missing in (
            await refused(NotFound, studio.get_reconciliation(reconciliation_id)),
            await refused(NotFound, resolve(studio, reconciliation_id, "retry_write")),
        ):
            assert missing.resource == "reconciliation"
