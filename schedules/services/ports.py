"""What the operations on schedules and their scheduler need from the outside.

A schedule is one value, `ScheduleState`, with a `revision` that grows with each change of it, whoever makes it: a
person's edit, a firing, the end of a run. Everything is written by one call, `commit`, which compares the revision that
was read. So each decision is made on what is there: a manual fire beside a due one, two schedulers, an edit meanwhile.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from contract.actions import ActionFields
from contract.base import FieldFailure, Page
from contract.schedules import (
    Firing,
    FiringCause,
    FiringOutcome,
    FiringQuery,
    ScheduleAction,
    ScheduleQuery,
    ScheduleSummary,
)
from schedules.schedule import ScheduleState

# What the change feed calls it when a schedule may be due sooner than it was.
SCHEDULES_TOPIC: Final = "schedules"
# How many of the newest firings say how late firings are: a busy store has millions in a day.
LATENESS_SAMPLES_MAX: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedRun:
    """A checked launch that only has to be queued.

    `queue` inserts the run and its launch when it is called inside the store's transaction, at an instant, and returns
    the topics that changed. Its launch key is the id of the firing.
    """

    run_id: str
    queue: Callable[[float], Collection[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FiringDraft:
    """A decision to be recorded. `slot` is unique within the schedule: nothing is decided twice.

    Slots: `due:<instant>`, `event:<key>`, `manual:<key>`, `chain:<firing id>`. A deferred one is decided again: the
    same slot replaces it, as long as it is deferred.
    """

    firing_id: str
    schedule_id: str
    slot: str
    due_at: float
    decided_at: float
    outcome: FiringOutcome
    reason_code: str
    reason_summary: str | None = None
    cause: FiringCause = "due"
    event: str | None = None
    depth: int = 0
    parent_run_id: str | None = None
    # The firing that a chain began with; None: this one.
    root_firing_id: str | None = None
    # The chained actions that follow on this run are those of `action`. What fired has both, and nothing else a run.
    action: ScheduleAction | None = None
    run: PreparedRun | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FiringEnd:
    """How the run of a firing ended; recorded once."""

    firing_id: str
    run_status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """Changes that happen together or not at all.

    `schedules` are pairs of what was read and what is to be: (None, new) inserts, (old, None) removes with all firings.
    The new revision is the store's to set.
    """

    schedules: Sequence[tuple[ScheduleState | None, ScheduleState | None]]
    firings: Sequence[FiringDraft] = ()
    ends: Sequence[FiringEnd] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFiring:
    """A fired firing whose run's end has not been recorded yet."""

    firing_id: str
    schedule_id: str
    run_id: str
    depth: int
    action: ScheduleAction
    root_firing_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FiringTotals:
    """What statistics need: schedules by standing, and the firings of a window.

    `oldest_due_at` is the earliest instant of an enabled schedule, past or to come. `lateness_seconds` are those of at
    most LATENESS_SAMPLES_MAX firings, the newest first.
    """

    enabled: int
    disabled: int
    oldest_due_at: float | None
    by_outcome: dict[str, int]
    lateness_seconds: tuple[float, ...]


class SchedulerStateService(Protocol):
    """Keeps schedules and firings. Every call is one transaction; StateUnavailable when the store cannot answer."""

    async def find(self, schedule_id: str) -> ScheduleState | None:
        """Return a schedule; None, too, for one whose row cannot be read (see `poisoned`)."""
        ...

    async def every(self) -> tuple[ScheduleState, ...]:
        """Return all schedules by name, in the order of code points, read at one instant."""
        ...

    async def page(self, query: ScheduleQuery, *, now: float) -> Page[ScheduleSummary]:
        """Return one page by name; ValidationFailure for a cursor of another list. Health is that of `now`.

        One whose trigger cannot be read is left out, and the page is shorter for it.
        """
        ...

    async def firings(self, schedule_id: str, query: FiringQuery) -> Page[Firing]:
        """Return one page of a schedule's firings, newest decision first; empty for an unknown schedule."""
        ...

    async def find_firing(self, schedule_id: str, slot: str) -> Firing | None:
        """Return what was decided for a slot."""
        ...

    async def open_firings(self, schedule_ids: Collection[str] | None = None) -> tuple[OpenFiring, ...]:
        """Return the fired firings without a recorded end, of these schedules or of all, oldest first."""
        ...

    async def commit(self, commits: Sequence[Commit]) -> tuple[bool, ...]:
        """Make each of these changes whose revisions are still those that were read; say which were made.

        All in one transaction; each meets what those before it have left. A slot that is decided already, or an end
        that is recorded already, makes its commit fail as a whole. Conflict, and nothing is changed, when a name is
        taken; so does whatever a run's `queue` raises undo the whole call. Within a commit ends come first, then
        removals, changes, insertions, firings. Publishes what changed after the commit: SCHEDULES_TOPIC when a
        schedule may be due sooner, and what the queued runs say.
        """
        ...

    async def due(self, *, now: float, limit: int) -> tuple[ScheduleState, ...]:
        """Return enabled schedules whose `next_fire_at` is not after `now`, the longest due first."""
        ...

    async def earliest_due(self, *, excluding: Collection[str] = ()) -> float | None:
        """Return the earliest `next_fire_at` of an enabled schedule, those of these ids (a few) left out."""
        ...

    async def enabled_after(self, instant: float) -> tuple[ScheduleState, ...]:
        """Return enabled schedules that are due after an instant: to be looked at when a clock stepped back."""
        ...

    async def totals(self, *, since: float) -> FiringTotals:
        """Return what statistics need; lateness is that of due firings that fired since the instant."""
        ...

    async def poisoned(self) -> tuple[str, ...]:
        """Return the ids of enabled schedules whose row cannot be read (a trigger or an action that nobody knows).

        It reads every enabled schedule: for a start, and for when something is due (`earliest_due`) that `due` does
        not return.
        """
        ...

    async def disable_poisoned(self, schedule_id: str, *, reason_code: str, at: float) -> None:
        """Disable a row that still cannot be read, with a reason, so that it delays nobody."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """How a run stands, and what it reported to have spent until now (null: nothing reported)."""

    status: str
    is_terminal: bool
    cost_micros: int | None
    tokens: int | None


class ScheduledRuns(Protocol):
    """The runs of schedules, which another capability owns."""

    async def action_failures(self, action: ActionFields) -> tuple[FieldFailure, ...]:
        """Say why an action could not be executed as it is now, with paths from the action's top; nothing is stored."""
        ...

    async def prepare(self, action: ActionFields, *, firing_id: str, invocation_id: str, name: str) -> PreparedRun:
        """Check an action as a launch is checked. ValidationFailure for what cannot be executed any more."""
        ...

    async def outcomes(self, run_ids: Collection[str]) -> dict[str, RunOutcome]:
        """Return how these runs stand; one that is gone is missing."""
        ...

    async def open_count(self) -> int:
        """Return how many launched runs are queued or held by a worker."""
        ...

    async def cancel(self, run_id: str, *, reason: str) -> None:
        """Ask a run to stop; one that has ended or is gone is left alone."""
        ...
