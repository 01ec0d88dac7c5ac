"""What may be done about a reconciliation."""

from typing import get_args

import pytest

from contract.definitions import ReconcileAction, Reconciliation, Resolution, ResolveReconciliation
from contract.errors import Conflict, ValidationFailure
from definitions.resolution import (
    possible_actions,
    refuse_changed,
    refuse_problem,
    require_reason,
    settled_by,
    wanted_hash,
)

PENDING = Reconciliation(
    id="rec",
    version_id="v2",
    kind="agent",
    name="a",
    version=2,
    deleted=False,
    relative_path="agents/a.md",
    expected_sha256="new",
    observed_sha256="old",
    error_code="no_space",
    error_detail="the disk is full",
    status="pending",
    attempts=1,
    created_at=1.0,
    updated_at=1.0,
)
DELETION = PENDING.model_copy(update={"deleted": True, "expected_sha256": "empty"})


def resolved(resolution: Resolution) -> Reconciliation:
    return PENDING.model_copy(update={"status": "resolved", "resolution": resolution})


def test_a_version_wants_its_content_and_a_deletion_wants_no_file() -> None:
    assert wanted_hash(PENDING) == "new"
    assert wanted_hash(DELETION) is None


@pytest.mark.parametrize("found", ["old", "new"])
def test_a_write_can_be_tried_again_while_the_file_is_old_or_new(found: str) -> None:
    assert possible_actions(PENDING, found, readable=True) == ("retry_write", "accept_file", "dismiss")


@pytest.mark.parametrize("found", ["other", None])
def test_a_file_that_was_changed_since_is_not_written_again(found: str | None) -> None:
    assert possible_actions(PENDING, found, readable=True) == ("accept_file", "dismiss")


def test_a_deletion_can_be_tried_again_after_the_file_is_gone() -> None:
    assert "retry_write" in possible_actions(DELETION, None, readable=True)


def test_what_cannot_be_read_can_only_be_dismissed() -> None:
    assert possible_actions(PENDING, None, readable=False) == ("dismiss",)


@pytest.mark.parametrize("readable", [True, False])
def test_nothing_is_left_to_do_about_a_resolved_one(readable: bool) -> None:
    assert possible_actions(resolved("dismiss"), "old", readable=readable) == ()


@pytest.mark.parametrize("reason", [None, "", " \t\n"])
def test_a_dismissal_without_a_reason_is_refused(reason: str | None) -> None:
    with pytest.raises(ValidationFailure) as failure:
        require_reason(ResolveReconciliation(action="dismiss", reason=reason))

    assert failure.value.field_errors[0].path == ("reason",)


@pytest.mark.parametrize(("action", "reason"), [("dismiss", "not needed"), ("retry_write", None), ("accept_file", "")])
def test_a_reason_is_asked_for_by_a_dismissal_alone(action: ReconcileAction, reason: str | None) -> None:
    require_reason(ResolveReconciliation(action=action, reason=reason))


@pytest.mark.parametrize("action", get_args(ReconcileAction))
def test_the_action_that_resolved_it_gets_it_again(action: ReconcileAction) -> None:
    assert settled_by(resolved(action), action) == resolved(action)


@pytest.mark.parametrize("resolution", get_args(Resolution))
@pytest.mark.parametrize("action", get_args(ReconcileAction))
def test_any_other_action_meets_a_conflict_that_names_the_resolution(
    action: ReconcileAction, resolution: Resolution
) -> None:
    if action != resolution:
        with pytest.raises(Conflict, match=f"resolved already: {resolution}") as failure:
            settled_by(resolved(resolution), action)

        assert failure.value.actual == resolution


def test_a_file_that_can_be_read_is_no_problem() -> None:
    refuse_problem(PENDING, None)


def test_a_file_that_cannot_be_read_is_a_conflict_that_says_why() -> None:
    with pytest.raises(Conflict, match=r"agents/a\.md is a folder"):
        refuse_problem(PENDING, "agents/a.md is a folder")


def test_the_file_that_the_failed_write_saw_may_be_replaced() -> None:
    refuse_changed(PENDING, "old")


@pytest.mark.parametrize("found", ["other", "new", None])
def test_any_other_file_may_not_be_replaced(found: str | None) -> None:
    with pytest.raises(Conflict, match="was changed since the write failed") as failure:
        refuse_changed(PENDING, found)

    assert (failure.value.expected, failure.value.actual) == ("old", found)
