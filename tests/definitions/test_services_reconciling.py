"""Reconciliations: what each action does, also after the file or the history has moved on."""

import pytest

from contract.definitions import ReconcileAction, Reconciliation, ReconciliationQuery
from contract.errors import Conflict, NotFound, ValidationFailure
from definitions.content import sha256_of
from definitions.services.reconciling import list_reconciliations
from tests.definitions.desk import PATH, Desk
from tests.definitions.resolving import ACTIONS, detail, failed, resolved
from tests.fakes.turns import outcome_of


@pytest.fixture
def desk() -> Desk:
    return Desk()


# ----------------------------------------------------------------------------------------------- each action


async def test_a_second_try_writes_the_version(desk: Desk) -> None:
    found = await failed(desk)
    desk.clock.advance(5)

    result = await resolved(desk, found, "retry_write", actor="ann")

    assert (result.status, result.resolution, result.actor, result.reason) == (
        "resolved",
        "retry_write",
        "ann",
        "because",
    )
    assert (result.resolved_at, result.result_version) == (desk.clock.now(), 2)
    assert desk.story()[1] == ("two", "save", "written")
    assert (desk.text(), desk.is_in_step()) == ("two", True)


async def test_a_second_try_makes_a_file_that_never_was(desk: Desk) -> None:
    found = await desk.fail("one")

    await resolved(desk, found, "retry_write")

    assert (desk.text(), desk.is_in_step()) == ("one", True)


async def test_a_second_try_of_a_deletion_removes_the_file(desk: Desk) -> None:
    await desk.store("one")
    found = await desk.fail(None)

    await resolved(desk, found, "retry_write")

    assert (desk.text(), desk.is_in_step()) == (None, True)


@pytest.mark.parametrize("action", ["retry_write", "accept_file"])
async def test_a_file_that_holds_the_version_already_needs_no_write(desk: Desk, action: ReconcileAction) -> None:
    await desk.store("one")
    found = await desk.fail("two", "io", landed=True)

    result = await resolved(desk, found, action)

    assert (result.resolution, len(desk.versions())) == (action, 2)
    assert desk.is_in_step()


async def test_an_accepted_file_becomes_the_newest_version(desk: Desk) -> None:
    found = await failed(desk)
    desk.hand("by hand")

    result = await resolved(desk, found, "accept_file", reason=None, actor="ann")

    newest = desk.versions()[-1]
    assert (result.resolution, result.result_version) == ("accept_file", 3)
    assert desk.story()[1:] == [("two", "save", "superseded"), ("by hand", "external", "written")]
    assert (newest.message, newest.actor) == ("the file, accepted instead of version 2", "ann")
    assert desk.is_in_step()


async def test_an_accepted_missing_file_is_a_deletion(desk: Desk) -> None:
    found = await failed(desk)
    desk.hand(None)

    await resolved(desk, found, "accept_file")

    assert desk.story()[-1] == (None, "external", "written")
    assert desk.versions()[-1].message == "because"
    assert desk.is_in_step()


async def test_a_deletion_can_be_taken_back_by_accepting_the_file(desk: Desk) -> None:
    await desk.store("one")
    found = await desk.fail(None)

    await resolved(desk, found, "accept_file")

    assert (desk.text(), desk.is_in_step()) == ("one", True)


async def test_a_dismissal_leaves_history_and_file_as_they_are(desk: Desk) -> None:
    found = await failed(desk)

    result = await resolved(desk, found, "dismiss", reason="not needed")

    assert (result.resolution, result.reason, result.actor) == ("dismiss", "not needed", "operator")
    assert desk.story()[1] == ("two", "save", "dismissed")
    assert desk.text() == "one"


@pytest.mark.parametrize("reason", [None, " \n"])
async def test_a_dismissal_without_a_reason_is_refused(desk: Desk, reason: str | None) -> None:
    found = await failed(desk)

    with pytest.raises(ValidationFailure):
        await resolved(desk, found, "dismiss", reason=reason)

    assert desk.only_reconciliation().status == "pending"


async def test_what_is_dismissed_is_replaced_by_the_next_save_and_stays_in_the_history(desk: Desk) -> None:
    found = await failed(desk)
    await resolved(desk, found, "dismiss")

    await desk.store("three", expected=2)

    assert [version.content for version in desk.versions()] == ["one", "two", "three"]
    assert desk.is_in_step()


@pytest.mark.parametrize("reconciliation_id", ["nothing", "", "../etc", "a b"])
async def test_what_does_not_exist_is_not_found(desk: Desk, reconciliation_id: str) -> None:
    found = (await failed(desk)).model_copy(update={"id": reconciliation_id})

    with pytest.raises(NotFound):
        await resolved(desk, found, "retry_write")
    with pytest.raises(NotFound):
        await detail(desk, found)


# --------------------------------------------------------------------------------------------------- reading


async def test_a_reconciliation_shows_its_log_the_file_and_what_can_be_done(desk: Desk) -> None:
    found = await failed(desk)

    shown = await detail(desk, found)

    assert (shown.file_sha256, shown.problem, shown.actions) == (sha256_of("one"), None, ACTIONS)
    assert [(entry.action, entry.outcome, entry.detail) for entry in shown.log] == [
        (None, "opened", found.error_detail)
    ]


async def test_an_unreadable_file_is_shown_with_its_reason(desk: Desk) -> None:
    found = await failed(desk)
    desk.files.make_unreadable(PATH)

    shown = await detail(desk, found)

    assert (shown.file_sha256, shown.problem, shown.actions) == (None, f"{PATH} is a symbolic link", ("dismiss",))


@pytest.mark.parametrize("action", ACTIONS)
async def test_an_action_that_is_shown_is_taken_and_no_other(desk: Desk, action: ReconcileAction) -> None:
    found = await failed(desk)
    desk.hand("by hand")
    shown = (await detail(desk, found)).actions

    outcome = await outcome_of(resolved(desk, found, action))

    assert isinstance(outcome, Reconciliation) == (action in shown)


async def test_reconciliations_are_listed_newest_first_by_cursor(desk: Desk) -> None:
    for number in range(5):
        await desk.fail(f"of {number}")
        desk.clock.advance(1)
    versions: list[int] = []
    query = ReconciliationQuery(limit=2)

    while True:
        page = await list_reconciliations(query=query, reconciliations=desk.history)
        versions += [found.version for found in page.items]
        if page.next_cursor is None:
            break
        query = ReconciliationQuery(limit=2, cursor=page.next_cursor)

    assert versions == [5, 4, 3, 2, 1]


async def test_a_list_of_pending_ones_has_the_newest_of_each_definition(desk: Desk) -> None:
    await desk.fail("one")
    await desk.fail("two")

    page = await list_reconciliations(query=ReconciliationQuery(status="pending"), reconciliations=desk.history)

    assert [found.version for found in page.items] == [2]


# -------------------------------------------------------------------------------- the file or the history moved on


@pytest.mark.parametrize("content", ["by hand", None])
async def test_a_second_try_never_replaces_a_file_that_changed_since(desk: Desk, content: str | None) -> None:
    found = await failed(desk)
    desk.hand(content)

    with pytest.raises(Conflict, match=f"{PATH} was changed since the write failed"):
        await resolved(desk, found, "retry_write")

    assert desk.text() == content
    assert desk.only_reconciliation().status == "pending"


async def test_a_second_try_never_replaces_an_edit_that_the_failure_met(desk: Desk) -> None:
    await desk.store("one")
    desk.hand_meanwhile("by hand")
    found = await desk.fail("two")

    with pytest.raises(Conflict):
        await resolved(desk, found, "retry_write")

    assert desk.text() == "by hand"
    assert (await detail(desk, found)).actions == ("accept_file", "dismiss")


async def test_a_file_that_changed_and_changed_back_can_be_written(desk: Desk) -> None:
    found = await failed(desk)
    desk.hand("by hand")
    desk.hand("one")

    await resolved(desk, found, "retry_write")

    assert desk.text() == "two"


@pytest.mark.parametrize("action", ["retry_write", "accept_file"])
async def test_what_cannot_be_read_is_a_conflict_that_says_why(desk: Desk, action: ReconcileAction) -> None:
    found = await failed(desk)
    desk.files.make_unreadable(PATH)

    with pytest.raises(Conflict, match="symbolic link"):
        await resolved(desk, found, action)
    assert (await resolved(desk, found, "dismiss")).resolution == "dismiss"


@pytest.mark.parametrize("action", ACTIONS)
async def test_what_a_newer_save_has_overtaken_is_a_conflict(desk: Desk, action: ReconcileAction) -> None:
    found = await failed(desk)
    await desk.store("three")

    with pytest.raises(Conflict, match="resolved already: superseded"):
        await resolved(desk, found, action)

    assert desk.text() == "three"


async def test_what_was_recovered_is_a_conflict(desk: Desk) -> None:
    found = await failed(desk)
    await desk.history.claim(found.id, writer=desk.processes.start(7), at=desk.clock.now())
    desk.processes.end(7)
    desk.hand("two")

    head = desk.head()
    assert head is not None
    await desk.writer.settle([head])

    with pytest.raises(Conflict, match="resolved already: recovered"):
        await resolved(desk, found, "dismiss")
