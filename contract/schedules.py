"""Schedules on the wire: when and what, under which policy, and what was decided for each due instant.

A schedule's trigger says when. Its action says what, and what follows on it (`on_success`, `on_fail`: actions as well,
nested up to MAX_CHAIN_DEPTH). A *firing* is one decision of the scheduler for one due instant.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue
from pydantic_core import PydanticCustomError

from contract.actions import ActionFields
from contract.base import ContractModel, ContractPatch, Cursor, Identifier, Instant, Name, Summary, Tup
from contract.limits import (
    BUDGET_TOKENS_MAX,
    BUDGET_USD_MAX,
    LIST_LIMIT_DEFAULT,
    LIST_OFFSET_MAX,
    NAME_MAX_CHARS,
    SCHEDULE_LIST_LIMIT_MAX,
)
from contract.projects import ProjectName
from contract.triggers import Trigger

MissedFirePolicy = Literal["skip", "run_once"]
OverlapPolicy = Literal["skip", "allow"]
ScheduleHealth = Literal["disabled", "never_fired", "healthy", "overdue", "failing", "poller_failing"]
FiringOutcome = Literal["fired", "skipped", "deferred"]
FiringCause = Literal["due", "manual", "event", "chain"]


def _refuse_unprintable(name: str) -> str:
    if name != name.strip() or not name.isprintable():
        message = "must not begin or end with a blank or hold what cannot be printed"
        raise PydanticCustomError("schedule_name", "{message}", {"message": message})
    return name


# People read it, and commands take it where they take an id.
ScheduleName = Annotated[Name, AfterValidator(_refuse_unprintable)]


class ScheduleAction(ActionFields):
    """What a schedule executes, and what follows when it has ended well or badly.

    A chained action has the same fields; it inherits only project and cwd. `cancelled` and `aborted` are neither.
    """

    on_success: dict[str, JsonValue] | None = None
    on_fail: dict[str, JsonValue] | None = None


class SchedulePatch(ContractPatch):
    """What to change of a schedule. A field that is left out stays; null clears those that can be without a value."""

    NEEDED = ("name", "trigger", "action", "missed_fire_policy", "overlap_policy")

    name: ScheduleName | None = None
    description: Summary | None = None
    trigger: Trigger | None = None
    action: ScheduleAction | None = None
    missed_fire_policy: MissedFirePolicy | None = None
    overlap_policy: OverlapPolicy | None = None
    max_runs: int | None = Field(default=None, ge=1, le=2**31 - 1)
    budget_usd: float | None = Field(default=None, gt=0, le=BUDGET_USD_MAX)
    budget_tokens: int | None = Field(default=None, ge=1, le=BUDGET_TOKENS_MAX)
    project: ProjectName | None = None


class ScheduleSpec(ContractModel):
    """Everything a user says of a schedule; what a file of schedules holds of each."""

    name: ScheduleName
    trigger: Trigger
    action: ScheduleAction
    enabled: bool = True
    max_runs: int | None = Field(default=None, ge=1, le=2**31 - 1)
    budget_usd: float | None = Field(default=None, gt=0, le=BUDGET_USD_MAX)
    budget_tokens: int | None = Field(default=None, ge=1, le=BUDGET_TOKENS_MAX)
    description: Summary | None = None
    project: ProjectName | None = None
    missed_fire_policy: MissedFirePolicy = "skip"
    overlap_policy: OverlapPolicy = "skip"


class CreateSchedule(ScheduleSpec):
    """A new schedule."""

    kind: Literal["create"] = "create"


class PatchSchedule(ContractModel):
    """Changes to a schedule that nobody else changed since `expected_updated_at`."""

    kind: Literal["patch"] = "patch"
    schedule_id: Identifier
    expected_updated_at: Instant
    changes: SchedulePatch


class ChangeSchedule(ContractModel):
    """A PatchSchedule whose schedule the path names."""

    expected_updated_at: Instant
    changes: SchedulePatch


class EnableSchedule(ContractModel):
    """A SetScheduleEnabled whose schedule the path names."""

    enabled: bool
    expected_updated_at: Instant | None = None


class SetScheduleEnabled(ContractModel):
    """Lets a schedule fire, or not. Asking for what is already so changes nothing."""

    kind: Literal["set_enabled"] = "set_enabled"
    schedule_id: Identifier
    enabled: bool
    expected_updated_at: Instant | None = None


ScheduleCommand = CreateSchedule | PatchSchedule | SetScheduleEnabled


class ScheduleResult(ContractModel):
    """A schedule after a change. `next_fire_at` is null while nothing is due."""

    schedule_id: str
    name: str
    enabled: bool
    updated_at: float
    next_fire_at: float | None


class PollerView(ContractModel):
    """How the poller of a `github_poll` schedule stands. `fault` is null while polls succeed."""

    last_poll_at: float | None = None
    last_ok_at: float | None = None
    next_poll_at: float | None = None
    consecutive_failures: int = 0
    fault: str | None = None


class ScheduleSummary(ContractModel):
    """One schedule as a list shows it.

    `run_count` counts every started run, those in flight included. `spent_usd` and `spent_tokens` are sums of what
    its runs reported; null while none did. `disabled_reason` is a reason code, null for one disabled by a person.
    """

    schedule_id: str
    name: str
    description: str | None
    enabled: bool
    health: ScheduleHealth
    trigger: Trigger
    action_kind: str
    project: str | None
    missed_fire_policy: str
    overlap_policy: str
    max_runs: int | None
    budget_usd: float | None
    budget_tokens: int | None
    run_count: int
    spent_usd: float | None
    spent_tokens: int | None
    next_fire_at: float | None
    last_fired_at: float | None
    last_run_id: str | None
    last_run_status: str | None
    disabled_reason: str | None
    paused: bool
    created_at: float
    updated_at: float


class Firing(ContractModel):
    """One decision. `due_at` is the planned instant, `decided_at` when it was decided.

    `cause` says what made it due. `event` names the event of a poll, `depth` how far down a chain it is (0: not in
    one), `parent_run_id` the run that it follows.
    """

    firing_id: str
    schedule_id: str
    due_at: float
    decided_at: float
    outcome: FiringOutcome
    reason_code: str
    run_id: str | None
    reason_summary: str | None = None
    cause: FiringCause = "due"
    event: str | None = None
    depth: int = 0
    parent_run_id: str | None = None
    run_status: str | None = None


class ScheduleDetail(ScheduleSummary):
    """A schedule with its action, its poller and its last firings, newest first."""

    action: ScheduleAction
    poller: PollerView | None
    firings: Tup[Firing]


class ScheduleQuery(ContractModel):
    """Which page of the schedules, by name. `search` finds its text in the name, whatever the case."""

    enabled: bool | None = None
    trigger: Literal["cron", "interval", "github_poll", "at"] | None = None
    project: Name | None = None
    search: Name | None = None
    offset: int = Field(default=0, ge=0, le=LIST_OFFSET_MAX)
    limit: int = Field(default=LIST_LIMIT_DEFAULT, ge=1, le=SCHEDULE_LIST_LIMIT_MAX)
    cursor: Cursor | None = None


class FiringQuery(ContractModel):
    """Which page of a schedule's firings, newest decision first."""

    outcome: FiringOutcome | None = None
    offset: int = Field(default=0, ge=0, le=LIST_OFFSET_MAX)
    limit: int = Field(default=LIST_LIMIT_DEFAULT, ge=1, le=SCHEDULE_LIST_LIMIT_MAX)
    cursor: Cursor | None = None


class DeleteSchedule(ContractModel):
    """Without `cancel_runs` a schedule with an open run stays."""

    cancel_runs: bool = False


class ScheduleDeleted(ContractModel):
    """A removed schedule; its runs stay. Those that were open have been asked to stop."""

    schedule_id: str
    name: str
    cancelled_runs: Tup[str]


class FireSchedule(ContractModel):
    """Fires now. It obeys overlap and the caps unless `force`. The same `fire_key` again is the same firing."""

    force: bool = False
    fire_key: Identifier | None = None


class ScheduleLimits(ContractModel):
    """The bounds of schedules, for forms and validators."""

    max_chain_depth: int
    cron_max_chars: int
    interval_seconds_max: int
    preview_max_count: int
    schedules_per_set_max: int
    missed_after_seconds: float
    name_max_chars: int = NAME_MAX_CHARS
    max_concurrent: int
    timezone: str


class ScheduleExplanation(ContractModel):
    """In words: how the schedule stands, what was decided last, and what the next decision depends on."""

    schedule_id: str
    name: str
    health: ScheduleHealth
    standing: str
    decisions: Tup[str]
    next_depends_on: Tup[str]


class EmptyCommand(ContractModel):
    """The body of a command that has nothing to say; it may be left out."""


class PauseResult(ContractModel):
    """After pausing or resuming all: how many schedules changed, and how many are paused now."""

    changed: int
    paused: int
