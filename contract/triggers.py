"""When a schedule is due: its trigger, and a preview of the instants that come of one."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from contract.base import ContractModel, Instant, Name, Text, Tup
from contract.limits import (
    CRON_MAX_CHARS,
    GITHUB_POLL_SECONDS_MIN,
    INTERVAL_SECONDS_MAX,
    PREVIEW_DEFAULT_COUNT,
    PREVIEW_MAX_COUNT,
)

ZoneName = Annotated[Name, Field(max_length=64)]


class CronTrigger(ContractModel):
    """Due by a cron expression of five fields, or `@hourly` to `@yearly`, in an IANA zone (default: the configured).

    Debian's rules: both day fields given means either, unless one begins with `*`; an entry at a fixed time happens
    once in a repeated hour and right after a skipped one; entries with `*` or a step keep their real rhythm.
    """

    kind: Literal["cron"] = "cron"
    expression: Annotated[Text, Field(max_length=CRON_MAX_CHARS)]
    timezone: ZoneName | None = None


class IntervalTrigger(ContractModel):
    """Due every so many seconds from the schedule's creation, whatever the runs take."""

    kind: Literal["interval"] = "interval"
    seconds: int = Field(ge=1, le=INTERVAL_SECONDS_MAX)


class GithubPollTrigger(ContractModel):
    """Due once for each event of a repository's pull requests that passes the filters.

    `repository` is `owner/name`. Filters: `event` pr_opened, pr_updated, pr_closed or pr_merged (default);
    `base`: branch merged into; `draft`: bool; `same_repo_only`: bool.
    """

    kind: Literal["github_poll"] = "github_poll"
    repository: Name
    poll_interval_seconds: int = Field(ge=GITHUB_POLL_SECONDS_MIN, le=INTERVAL_SECONDS_MAX)
    filters: dict[str, JsonValue] = Field(default_factory=dict)


class AtTrigger(ContractModel):
    """Due at one instant."""

    kind: Literal["at"] = "at"
    at: Instant


Trigger = Annotated[CronTrigger | IntervalTrigger | GithubPollTrigger | AtTrigger, Field(discriminator="kind")]


class PreviewSchedule(ContractModel):
    """Asks for the next instants of a trigger after an instant (default: now)."""

    trigger: Trigger
    after: Instant | None = None
    count: int = Field(default=PREVIEW_DEFAULT_COUNT, ge=1, le=PREVIEW_MAX_COUNT)


class PreviewInstant(ContractModel):
    """One due instant: epoch seconds, local time (ISO 8601) with its offset, and what is special about it."""

    at: float
    local: str
    utc_offset_seconds: int
    notes: Tup[str] = ()


class SchedulePreview(ContractModel):
    """The next instants, the zone they were made in, and the trigger in words."""

    timezone: str
    description: str
    instants: Tup[PreviewInstant]
