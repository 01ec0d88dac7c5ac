"""The one write of schedules: commits in one transaction, each as a whole or not at all.

First the schedules that are named are locked, in one order, and what commits are judged by is read; nobody can change
it any more. Then the ledger says which can be made, and only those are written. So none has to be undone.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import F, Q

from contract.errors import Conflict
from schedules.models import FiringRecord, ScheduleRecord
from schedules.schedule import ScheduleState
from schedules.services.ledger import Key, Ledger, key_of, name_taken, sooner
from schedules.services.ports import SCHEDULES_TOPIC, Commit, FiringDraft, FiringEnd
from schedules.state import rows
from schedules.state.listing import chunks
from studio_project.publishing import Topics

# Alternatives of one condition: each is a seek in an index. SQLite bounds the depth of an expression at 1,000.
_SLOTS_AT_ONCE = 100


def make(commits: Sequence[Commit]) -> tuple[tuple[bool, ...], Topics]:
    """Make the commits that can be made; return which, and the topics that changed. IntegrityError for a taken name."""
    named = _Named.by(commits)
    ledger = Ledger(
        revisions=named.revisions,
        outcomes={key: outcome for key, (_, outcome) in named.slots.items()},
        unended=set(named.unended),
    )
    made = tuple(map(ledger.take, commits))
    writes = _Writes(named)
    for commit, can_be_made in zip(commits, made, strict=True):
        if can_be_made:
            writes.make(commit)
    writes.record_firings()
    return made, writes.topics


@dataclass(slots=True, kw_only=True)
class _Named:
    """What there is of what commits name: row numbers of schedules, of decided slots, and of open firings."""

    numbers: dict[str, int]
    revisions: dict[str, int]
    slots: dict[Key, tuple[int, str]]
    unended: dict[str, int]

    @classmethod
    def by(cls, commits: Sequence[Commit]) -> "_Named":
        drafts = [draft for commit in commits for draft in commit.firings]
        found = _locked(_schedules_of(commits))
        numbers = {schedule_id: number for schedule_id, number, _ in found}
        return cls(
            numbers=numbers,
            revisions={schedule_id: revision for schedule_id, _, revision in found},
            slots=_decided({key_of(draft): numbers.get(draft.schedule_id) for draft in drafts}),
            unended=_unended([end.firing_id for commit in commits for end in commit.ends]),
        )


def _schedules_of(commits: Sequence[Commit]) -> set[str]:
    states = (state for commit in commits for pair in commit.schedules for state in pair if state is not None)
    drafts = (draft for commit in commits for draft in commit.firings)
    return {state.schedule_id for state in states} | {draft.schedule_id for draft in drafts}


def _locked(schedule_ids: Collection[str]) -> list[tuple[str, int, int]]:
    """Lock schedules in the order of their ids, so that no two writers wait for each other; read id, number, revision.

    Firings and their ends are written by who has locked the schedule. Rows that only refer to it are no obstacle.
    """
    schedules = ScheduleRecord.objects.select_for_update(no_key=True).order_by("schedule_id")
    found: list[tuple[str, int, int]] = []
    for ids in chunks(sorted(schedule_ids)):
        found += schedules.filter(schedule_id__in=ids).values_list("schedule_id", "id", "revision")
    return found


def _decided(wanted: dict[Key, int | None]) -> dict[Key, tuple[int, str]]:
    """Read the decisions there are for slots, whose schedules are given by number."""
    by_row = {(number, key[1]): key for key, number in wanted.items() if number is not None}
    found: dict[Key, tuple[int, str]] = {}
    for slots in chunks(list(by_row), _SLOTS_AT_ONCE):
        # Each pair by itself, or a schedule's whole history might be read.
        either = Q(*(Q(schedule_id=number, slot=slot) for number, slot in slots), _connector=Q.OR)
        read = FiringRecord.objects.filter(either).values_list("schedule_id", "slot", "id", "outcome")
        found |= {by_row[number, slot]: (firing, outcome) for number, slot, firing, outcome in read}
    return found


def _unended(firing_ids: Sequence[str]) -> dict[str, int]:
    """Lock the firings of these whose run's end is not recorded; return their row numbers."""
    firings = FiringRecord.objects.select_for_update(no_key=True).order_by("firing_id")
    found: dict[str, int] = {}
    for ids in chunks(sorted(firing_ids)):
        unended = firings.filter(firing_id__in=ids, outcome="fired", run_status__isnull=True)
        found |= dict(unended.values_list("firing_id", "id"))
    return found


@dataclass(slots=True)
class _Writes:
    """Writes commits that can be made, one after the other; firings are gathered for one statement at the end."""

    named: _Named
    topics: set[str] = field(default_factory=set)
    _drafts: dict[Key, FiringDraft] = field(default_factory=dict)
    _replaced: list[int] = field(default_factory=list)

    def make(self, commit: Commit) -> None:
        """Write a commit. Names become free before they are taken."""
        self._end(commit.ends)
        self._remove([old for old, new in commit.schedules if old is not None and new is None])
        self._change([(old, new) for old, new in commit.schedules if old is not None and new is not None])
        self._insert([new for old, new in commit.schedules if old is None and new is not None])
        for draft in commit.firings:
            self._decide(draft)
        if sooner(commit):
            self.topics.add(SCHEDULES_TOPIC)

    def record_firings(self) -> None:
        """Insert what was gathered in the place of what it replaces. A slot that is decided would be IntegrityError."""
        for numbers in chunks(self._replaced):
            FiringRecord.objects.filter(id__in=numbers).delete()
        FiringRecord.objects.bulk_create(
            FiringRecord(schedule_id=self.named.numbers[draft.schedule_id], **rows.firing_columns(draft))
            for draft in self._drafts.values()
        )

    def _decide(self, draft: FiringDraft) -> None:
        key = key_of(draft)
        deferred = self.named.slots.pop(key, None)
        if deferred is not None:
            self._replaced.append(deferred[0])
        # As the last one, even in the place of one that was deferred by an earlier commit.
        self._drafts.pop(key, None)
        self._drafts[key] = draft
        if draft.run is not None:
            self.topics.update(draft.run.queue(draft.decided_at))

    def _remove(self, states: Sequence[ScheduleState]) -> None:
        numbers = {state.schedule_id: self.named.numbers.pop(state.schedule_id) for state in states}
        for removed in chunks(list(numbers.values())):
            FiringRecord.objects.filter(schedule__in=removed).delete()
            ScheduleRecord.objects.filter(id__in=removed).delete()
        self._drafts = {key: draft for key, draft in self._drafts.items() if draft.schedule_id not in numbers}

    def _change(self, pairs: Sequence[tuple[ScheduleState, ScheduleState]]) -> None:
        """Write what differs; schedules that change alike, as by a pause of all, in one statement."""
        alike: defaultdict[frozenset[tuple[str, Any]], list[int]] = defaultdict(list)
        for old, new in pairs:
            changed = rows.changed_columns(old, new)
            alike[frozenset(changed.items())].append(self.named.numbers[new.schedule_id])
        for columns, numbers in alike.items():
            for changing in chunks(numbers):
                schedules = ScheduleRecord.objects.filter(id__in=changing)
                schedules.update(**dict(columns), revision=F("revision") + 1)

    def _insert(self, states: Sequence[ScheduleState]) -> None:
        records = ScheduleRecord.objects.bulk_create(ScheduleRecord(**rows.columns_of(state)) for state in states)
        self.named.numbers.update((record.schedule_id, record.pk) for record in records)

    def _end(self, ends: Sequence[FiringEnd]) -> None:
        by_status: defaultdict[str, list[int]] = defaultdict(list)
        for end in ends:
            by_status[end.run_status].append(self.named.unended[end.firing_id])
        for run_status, numbers in by_status.items():
            for ended in chunks(numbers):
                FiringRecord.objects.filter(id__in=ended).update(run_status=run_status)


def conflict_of(commits: Sequence[Commit]) -> Conflict | None:
    """Return the conflict of a name that commits would take from another schedule or from each other, if any."""
    wanted = [new for commit in commits for old, new in commit.schedules if new and not (old and old.name == new.name)]
    holders: dict[str, str] = {}
    for names in chunks([state.name for state in wanted]):
        holders |= dict(ScheduleRecord.objects.filter(name__in=names).values_list("name", "schedule_id"))
    for state in wanted:
        if holders.setdefault(state.name, state.schedule_id) != state.schedule_id:
            return name_taken(state.name)
    return None


def disable_poisoned(schedule_id: str, reason_code: str, at: float) -> tuple[None, Topics]:
    """Disable a row, if it still cannot be read."""
    found = ScheduleRecord.objects.select_for_update(no_key=True).filter(schedule_id=schedule_id, enabled=True)
    row = found.values("id", "updated_at", *rows.JSON_COLUMNS).first()
    if row is None or not rows.is_poisoned(row):
        return None, ()
    ScheduleRecord.objects.filter(id=row["id"]).update(
        enabled=False,
        disabled_reason=reason_code,
        updated_at=max(row["updated_at"], at),
        revision=F("revision") + 1,
    )
    return None, (SCHEDULES_TOPIC,)
