"""By what the store judges commits: pure, for every store alike. Each commit meets what those before it have left."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeVar

from contract.errors import Conflict
from schedules.schedule import ScheduleState
from schedules.services.ports import Commit, FiringDraft

K = TypeVar("K")

# Which decision: of which schedule, for which slot.
Key = tuple[str, str]


@dataclass(slots=True, kw_only=True)
class Ledger:
    """What there is of what commits name.

    `revisions` are those of the schedules, `outcomes` those of the slots that are decided, `unended` the firings whose
    run's end is not recorded.
    """

    revisions: dict[str, int]
    outcomes: dict[Key, str]
    unended: set[str]

    def take(self, commit: Commit) -> bool:
        """Say whether a commit can be made as a whole, and note what it leaves."""
        if not self._allows(commit):
            return False
        for old, new in commit.schedules:
            if new is not None:
                self.revisions[new.schedule_id] = next_revision(old)
            elif old is not None:
                del self.revisions[old.schedule_id]
        self.outcomes.update({key_of(draft): draft.outcome for draft in commit.firings})
        self.unended -= {end.firing_id for end in commit.ends}
        return True

    def _allows(self, commit: Commit) -> bool:
        ended = [end.firing_id for end in commit.ends]
        slots = [key_of(draft) for draft in commit.firings]
        return (
            self._are_as_read(commit)
            and {schedule_id for schedule_id, _ in slots} <= self._left_by(commit)
            and _distinct(slots)
            and all(self.outcomes.get(slot, "deferred") == "deferred" for slot in slots)
            and _distinct(ended)
            and self.unended.issuperset(ended)
        )

    def _are_as_read(self, commit: Commit) -> bool:
        read = [(state.schedule_id, old) for old, new in commit.schedules if (state := old or new) is not None]
        return _distinct([schedule_id for schedule_id, _ in read]) and all(
            self.revisions.get(schedule_id) == (None if old is None else old.revision) for schedule_id, old in read
        )

    def _left_by(self, commit: Commit) -> set[str]:
        removed = {old.schedule_id for old, new in commit.schedules if old is not None and new is None}
        inserted = {new.schedule_id for old, new in commit.schedules if old is None and new is not None}
        return (self.revisions.keys() | inserted) - removed


def key_of(draft: FiringDraft) -> Key:
    """Return which decision a draft is."""
    return draft.schedule_id, draft.slot


def next_revision(old: ScheduleState | None) -> int:
    """Return the revision that a change of a schedule leaves; an inserted one has the first."""
    return 0 if old is None else old.revision + 1


def name_taken(name: str) -> Conflict:
    """Return the conflict of a name that another schedule has."""
    return Conflict("schedule", None, name, f"there is a schedule {name} already")


def sooner(commit: Commit) -> bool:
    """Whether a commit lets a schedule be due sooner than it was."""
    return any(_may_fire_sooner(old, new) for old, new in commit.schedules)


def _may_fire_sooner(old: ScheduleState | None, new: ScheduleState | None) -> bool:
    due_at = _due_at(new)
    before = _due_at(old)
    return due_at is not None and (before is None or due_at < before)


def _due_at(state: ScheduleState | None) -> float | None:
    return state.next_fire_at if state is not None and state.enabled else None


def _distinct(keys: Collection[K]) -> bool:
    return len(set(keys)) == len(keys)
