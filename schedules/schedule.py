"""A schedule as one value: everything that is stored of it."""

from dataclasses import dataclass, field

from contract.schedules import ScheduleAction
from contract.triggers import Trigger


@dataclass(frozen=True, slots=True, kw_only=True)
class PollState:
    """How the poller of a schedule stands.

    `cursor_at` is the newest event's instant (epoch seconds); null until the first poll has seeded it. `seen` are the
    keys of the events around it, so that events of one second are told apart. `not_before` is when the server wants to
    be asked again at the earliest.
    """

    etag: str | None = None
    cursor_at: float | None = None
    seen: tuple[str, ...] = ()
    last_poll_at: float | None = None
    last_ok_at: float | None = None
    not_before: float | None = None
    failures: int = 0
    fault: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleState:
    """Everything there is of a schedule. Money is in integer micro-dollars; null is unknown.

    `anchor_at` is the origin of an interval's grid. `zone` is the IANA zone its cron expression is evaluated in.
    `paused`: disabled by a pause of all, and to be enabled by its end. `run_count` counts its own starts (due, event,
    manual), in flight included, and never runs that follow in a chain; spend counts all of them.
    """

    schedule_id: str
    name: str
    description: str | None
    enabled: bool
    paused: bool
    disabled_reason: str | None
    trigger: Trigger
    zone: str
    action: ScheduleAction
    project: str | None
    missed_fire_policy: str
    overlap_policy: str
    max_runs: int | None
    budget_micros: int | None
    budget_tokens: int | None
    anchor_at: float
    next_fire_at: float | None
    run_count: int = 0
    spent_micros: int | None = None
    spent_tokens: int | None = None
    last_fired_at: float | None = None
    last_run_id: str | None = None
    last_run_status: str | None = None
    consecutive_failures: int = 0
    poll: PollState = field(default_factory=PollState)
    created_at: float
    updated_at: float
    revision: int = 0
