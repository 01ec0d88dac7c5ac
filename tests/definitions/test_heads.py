"""How a history and a file stand to each other."""

from dataclasses import dataclass

import pytest

from contract.definitions import Drift
from contract.errors import Conflict
from definitions.heads import WRITER_LEASE_SECONDS, changed_by_hand, drift_of, is_abandoned, refuse_stale

NOW = 1_700_000_000.0


@dataclass(frozen=True)
class Head:
    """Only what the rules look at: hashes are single letters here."""

    sha256: str | None = "new"
    file_sha256: str | None = "old"
    version: int = 2


@pytest.mark.parametrize("found", ["old", "new"])
def test_what_a_write_of_ours_can_have_left_is_not_changed_by_hand(found: str) -> None:
    assert not changed_by_hand(Head(), found)


@pytest.mark.parametrize("found", ["other", None])
def test_anything_else_is_changed_by_hand(found: str | None) -> None:
    assert changed_by_hand(Head(), found)


def test_a_file_without_history_was_made_by_hand() -> None:
    assert changed_by_hand(None, "any")


def test_no_file_without_history_was_not_touched() -> None:
    assert not changed_by_hand(None, None)


@pytest.mark.parametrize("head", [Head(sha256=None), Head(file_sha256=None)])
def test_no_file_is_ours_where_there_was_none_or_should_be_none(head: Head) -> None:
    assert not changed_by_hand(head, None)


@pytest.mark.parametrize(
    ("head", "found", "drift"),
    [
        (None, None, None),
        (None, "any", "untracked"),
        (Head(), "new", None),
        (Head(), "old", "edited"),
        (Head(), "other", "edited"),
        (Head(), None, "missing"),
        (Head(sha256=None), None, None),
        (Head(sha256=None), "old", "edited"),
    ],
)
def test_drift_says_how_the_file_differs_from_the_newest_version(
    head: Head | None, found: str | None, drift: Drift | None
) -> None:
    assert drift_of(head, found, readable=True) == drift


@pytest.mark.parametrize("head", [None, Head(), Head(sha256=None)])
@pytest.mark.parametrize("found", [None, "old"])
def test_a_file_that_cannot_be_read_is_unreadable_whatever_the_history(head: Head | None, found: str | None) -> None:
    assert drift_of(head, found, readable=False) == "unreadable"


@pytest.mark.parametrize(("head", "expected"), [(None, None), (None, 0), (Head(), None), (Head(), 2)])
def test_the_newest_version_and_no_expectation_are_never_stale(head: Head | None, expected: int | None) -> None:
    refuse_stale("a", head, expected)


@pytest.mark.parametrize(
    ("head", "expected", "actual"), [(None, 1, "0"), (Head(), 0, "2"), (Head(), 1, "2"), (Head(), 3, "2")]
)
def test_any_other_expectation_is_a_conflict_that_names_the_newest_version(
    head: Head | None, expected: int, actual: str
) -> None:
    with pytest.raises(Conflict, match=f"a is at version {actual}, not {expected}") as failure:
        refuse_stale("a", head, expected)

    assert (failure.value.expected, failure.value.actual) == (str(expected), actual)


@pytest.mark.parametrize("alive", [True, None])
@pytest.mark.parametrize("seconds", [0.0, WRITER_LEASE_SECONDS])
def test_a_writer_that_may_live_keeps_its_work_for_the_lease(alive: bool | None, seconds: float) -> None:
    assert not is_abandoned(alive=alive, claimed_at=NOW - seconds, now=NOW)


@pytest.mark.parametrize("alive", [True, None, False])
def test_a_writer_from_before_the_lease_has_abandoned_its_work(alive: bool | None) -> None:
    assert is_abandoned(alive=alive, claimed_at=NOW - WRITER_LEASE_SECONDS - 0.001, now=NOW)


@pytest.mark.parametrize(
    ("alive", "ahead_seconds", "abandoned"),
    [(True, 0.02, False), (True, 3600.0, False), (None, 0.02, False), (None, WRITER_LEASE_SECONDS + 1, True)],
)
def test_a_clock_that_is_ahead_makes_no_living_writer_lost(
    alive: bool | None, ahead_seconds: float, abandoned: bool
) -> None:
    assert is_abandoned(alive=alive, claimed_at=NOW + ahead_seconds, now=NOW) is abandoned


def test_a_writer_that_is_gone_has_abandoned_its_work_at_once() -> None:
    assert is_abandoned(alive=False, claimed_at=NOW, now=NOW)
