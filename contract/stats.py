"""Statistics on the wire: counts that add up, and sums in which the unknown is counted apart."""

from pydantic import Field

from contract.base import ContractModel, Instant, Name, Tup
from contract.limits import STATS_PROJECTS_MAX


class StatsQuery(ContractModel):
    """The window of spend: runs that started from `since` (inclusive) until `until`; by default the day until now."""

    since: Instant | None = None
    until: Instant | None = None
    project: Name | None = None


class ProjectSpend(ContractModel):
    """What the runs of one project, or of none, have reported in the window.

    Sums are of what was reported; `runs_without_cost` and `runs_without_tokens` reported none, which is not zero.
    """

    project: str | None
    runs: int
    cost_usd: float | None
    input_tokens: int | None
    output_tokens: int | None
    runs_without_cost: int
    runs_without_tokens: int


class SpendStats(ContractModel):
    """Spend by project, dearest first; `total` is over all of them, shown or not (`truncated`)."""

    since: float
    until: float
    total: ProjectSpend
    projects: Tup[ProjectSpend] = Field(max_length=STATS_PROJECTS_MAX)
    truncated: bool = False


class QueueStats(ContractModel):
    """Launched runs: waiting, and held by a worker."""

    queued: int
    held: int
    oldest_queued_at: float | None


class StoreStats(ContractModel):
    """Sizes on the disk. `free_bytes` are pages of the database that hold nothing; null where that is not known."""

    vendor: str
    database_bytes: int
    wal_bytes: int | None
    free_bytes: int | None


class ScheduleStats(ContractModel):
    """Schedules now, and the firings of the last day. Lateness is from the due instant to the decision, in seconds."""

    enabled: int
    disabled: int
    oldest_due_at: float | None
    firings_by_outcome: dict[str, int]
    lateness_p50_seconds: float | None
    lateness_p95_seconds: float | None
    lateness_p99_seconds: float | None


class Stats(ContractModel):
    """The state of this Studio at one instant. The counts by status add up to `runs_total`."""

    at: float
    runs_total: int
    runs_by_status: dict[str, int]
    spend: SpendStats
    queue: QueueStats
    store: StoreStats
    schedules: ScheduleStats | None = None
