"""Records of runs and what belongs to them: tables, constraints, indexes. No logic.

Every list of runs walks one index in the order of its sort, so each filter column stands in front of each sort key.
Child rows never need an index of their own on `run`: their unique constraint begins with it.
"""

from typing import ClassVar, Final

from django.db import models
from django.db.models import Q

TERMINAL: Final = ("completed", "completed_empty", "failed", "timed_out", "aborted", "cancelled")
_SORTS: Final = {"recent": "updated_at", "started": "sort_started_at", "cost": "sort_cost"}
_FILTERS: Final = {
    "status": "status",
    "project": "project",
    "playbook": "playbook_name",
    "agent": "agent_name",
    "kind": "kind",
    "invocation": "invocation",
}
_ALSO: Final = {("project", "updated_at"): ("status", "last_activity_at")}  # what a list of projects says of its runs


def _list_indexes() -> list[models.Index]:
    # With the columns that search and the started bounds read, so that they walk the index alone.
    plain = [
        models.Index(fields=[f"-{key}", "-id", "search_text", *({"sort_started_at"} - {key})], name=f"run_by_{sort}")
        for sort, key in _SORTS.items()
    ]
    filtered = [
        models.Index(fields=[column, f"-{key}", "-id", *_ALSO.get((column, key), ())], name=f"run_{named}_by_{sort}")
        for named, column in _FILTERS.items()
        for sort, key in _SORTS.items()
    ]
    return plain + filtered


class InvocationRecord(models.Model):
    """One request that caused one or more runs."""

    id = models.BigAutoField(primary_key=True)
    invocation_id = models.CharField(max_length=128, unique=True)
    kind = models.CharField(max_length=64)
    created_at = models.FloatField()

    class Meta:
        verbose_name = "invocation"
        indexes: ClassVar = [
            models.Index(fields=["-created_at", "-id"], name="invocation_by_created"),
            models.Index(fields=["kind", "-created_at", "-id"], name="invocation_kind_by_created"),
        ]

    def __str__(self) -> str:
        return self.invocation_id


class RunRecord(models.Model):
    """One execution. Counters and sort keys are kept by the transaction that adds what they count."""

    id = models.BigAutoField(primary_key=True)
    run_id = models.CharField(max_length=128, unique=True)
    kind = models.CharField(max_length=64)
    name = models.CharField(max_length=200, null=True)
    playbook_name = models.CharField(max_length=200, null=True)
    agent_name = models.CharField(max_length=200, null=True)
    # Lower-cased name and agent, one a line: what `search` looks in, the same on every database.
    search_text = models.CharField(max_length=1_300, default="")
    project = models.CharField(max_length=200, null=True)
    model = models.CharField(max_length=200, null=True)
    provider = models.CharField(max_length=200, null=True)
    # The column holds the caller's own identifier, so that no list needs a join to show it.
    invocation = models.ForeignKey(
        InvocationRecord, on_delete=models.PROTECT, null=True, to_field="invocation_id", db_index=False
    )

    status = models.CharField(max_length=32)
    status_reason_code = models.CharField(max_length=64)
    status_reason_summary = models.CharField(max_length=2_000, null=True)
    cancel_requested_at = models.FloatField(null=True)
    cancel_reason = models.CharField(max_length=2_000, null=True)

    created_at = models.FloatField()
    started_at = models.FloatField(null=True)
    ended_at = models.FloatField(null=True)
    updated_at = models.FloatField()
    last_activity_at = models.FloatField(null=True)

    process_host = models.CharField(max_length=200, null=True)
    process_pid = models.IntegerField(null=True)
    process_started_at = models.FloatField(null=True)
    process_started_ticks = models.BigIntegerField(null=True)
    process_boot_id = models.CharField(max_length=128, null=True)

    last_seq = models.BigIntegerField(default=0)
    branch_count = models.IntegerField(default=0)
    message_count = models.IntegerField(default=0)
    signal_count = models.IntegerField(default=0)
    input_tokens = models.BigIntegerField(null=True)
    output_tokens = models.BigIntegerField(null=True)
    # Integer millionths of a US dollar, so that sums are exact; null is unknown.
    cost_micros = models.BigIntegerField(null=True)
    usage_reports = models.IntegerField(default=0)
    usage_reports_without_cost = models.IntegerField(default=0)
    # JSON texts, kept with the rows they sum up.
    tags = models.TextField(default="[]")
    messages_by_role = models.TextField(default="{}")

    sort_started_at = models.FloatField()
    sort_cost = models.BigIntegerField(default=-1)

    class Meta:
        verbose_name = "run"
        indexes: ClassVar = [
            *_list_indexes(),
            # What may go is found oldest first. A run that has not ended costs it nothing.
            models.Index(fields=["ended_at", "id"], condition=Q(ended_at__isnull=False), name="run_by_end"),
            # What statistics sum up over a window of starts, so that they read this index alone.
            models.Index(
                fields=["started_at", "project", "cost_micros", "input_tokens", "output_tokens"],
                condition=Q(started_at__isnull=False),
                name="run_spend",
            ),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="run_terminal_iff_ended",
                condition=Q(status__in=TERMINAL, ended_at__isnull=False)
                | (~Q(status__in=TERMINAL) & Q(ended_at__isnull=True)),
            )
        ]

    def __str__(self) -> str:
        return self.run_id


class BranchRecord(models.Model):
    """One conversation of a run."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(RunRecord, on_delete=models.CASCADE, db_index=False, related_name="branches")
    name = models.CharField(max_length=200)
    parent = models.CharField(max_length=200, null=True)
    model = models.CharField(max_length=200, null=True)
    provider = models.CharField(max_length=200, null=True)
    agent_name = models.CharField(max_length=200, null=True)
    message_count = models.IntegerField(default=0)
    first_message_at = models.FloatField(null=True)
    last_message_at = models.FloatField(null=True)

    class Meta:
        verbose_name = "branch"
        verbose_name_plural = "branches"
        constraints: ClassVar = [models.UniqueConstraint(fields=["run", "name"], name="branch_name_once")]

    def __str__(self) -> str:
        return self.name


class MessageRecord(models.Model):
    """One entry of a branch. `position` counts 1.. within its branch; `content` is JSON text."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(RunRecord, on_delete=models.CASCADE, db_index=False)
    branch = models.ForeignKey(BranchRecord, on_delete=models.CASCADE, db_index=False)
    seq = models.BigIntegerField()
    position = models.IntegerField()
    role = models.CharField(max_length=16)
    content = models.TextField()
    sender = models.CharField(max_length=200, null=True)
    recipient = models.CharField(max_length=200, null=True)
    message_id = models.CharField(max_length=200, null=True)
    event_id = models.CharField(max_length=200, null=True)
    at = models.FloatField(null=True)
    recorded_at = models.FloatField()
    size_bytes = models.BigIntegerField()
    withheld = models.BooleanField(default=False)
    sanitized = models.BooleanField(default=False)

    class Meta:
        verbose_name = "message"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "seq"], name="message_seq_once"),
            models.UniqueConstraint(fields=["branch", "position"], name="message_position_once"),
        ]
        indexes: ClassVar = [models.Index(fields=["run", "seq"], condition=Q(role="output"), name="message_output")]

    def __str__(self) -> str:
        return f"{self.run_id}/{self.seq}"


class SignalRecord(models.Model):
    """One lifecycle event of a run; `payload` is JSON text."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(RunRecord, on_delete=models.CASCADE, db_index=False)
    seq = models.BigIntegerField()
    kind = models.CharField(max_length=64)
    op_id = models.CharField(max_length=200, null=True)
    branch = models.CharField(max_length=200)
    payload = models.TextField()
    event_id = models.CharField(max_length=200, null=True)
    at = models.FloatField(null=True)
    recorded_at = models.FloatField()
    size_bytes = models.BigIntegerField()
    withheld = models.BooleanField(default=False)
    sanitized = models.BooleanField(default=False)

    class Meta:
        verbose_name = "signal"
        constraints: ClassVar = [models.UniqueConstraint(fields=["run", "seq"], name="signal_seq_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.seq}"


class EventReceiptRecord(models.Model):
    """Remembers the `event_id` of an accepted event, so that it is accepted once."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(RunRecord, on_delete=models.CASCADE, db_index=False)
    event_id = models.CharField(max_length=200)

    class Meta:
        verbose_name = "event receipt"
        constraints: ClassVar = [models.UniqueConstraint(fields=["run", "event_id"], name="event_once")]

    def __str__(self) -> str:
        return self.event_id


class UsageRecord(models.Model):
    """One report of tokens and money spent."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(RunRecord, on_delete=models.CASCADE)
    model = models.CharField(max_length=200, null=True)
    input_tokens = models.BigIntegerField(null=True)
    output_tokens = models.BigIntegerField(null=True)
    cost_micros = models.BigIntegerField(null=True)
    at = models.FloatField(null=True)
    recorded_at = models.FloatField()

    class Meta:
        verbose_name = "usage report"

    def __str__(self) -> str:
        return f"usage {self.pk}"


class GraphRecord(models.Model):
    """The run's graph as last reported; `graph` is JSON text of RunGraph."""

    run = models.OneToOneField(RunRecord, on_delete=models.CASCADE, primary_key=True, related_name="graph")
    graph = models.TextField()
    updated_at = models.FloatField()

    class Meta:
        verbose_name = "graph"

    def __str__(self) -> str:
        return f"graph of {self.run_id}"


class RunTagRecord(models.Model):
    """One tag of a run, with the run's sort keys, so that a tag's list walks an index as well."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(RunRecord, on_delete=models.CASCADE, db_index=False, related_name="tag_rows")
    tag = models.CharField(max_length=64)
    updated_at = models.FloatField()
    sort_started_at = models.FloatField()
    sort_cost = models.BigIntegerField()

    class Meta:
        verbose_name = "run tag"
        constraints: ClassVar = [models.UniqueConstraint(fields=["run", "tag"], name="run_tag_once")]
        indexes: ClassVar = [
            models.Index(fields=["tag", f"-{key}", "-run"], name=f"run_tag_by_{sort}") for sort, key in _SORTS.items()
        ]

    def __str__(self) -> str:
        return self.tag


class TransitionRecord(models.Model):
    """One accepted or refused move of a run's status. Append-only."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(RunRecord, on_delete=models.CASCADE, related_name="transitions")
    from_status = models.CharField(max_length=32, null=True)
    to_status = models.CharField(max_length=32)
    reason_code = models.CharField(max_length=64)
    reason_summary = models.CharField(max_length=2_000, null=True)
    actor = models.CharField(max_length=200)
    refused = models.BooleanField(default=False)
    at = models.FloatField()

    class Meta:
        verbose_name = "transition"
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run"],
                condition=Q(refused=False, to_status__in=TERMINAL),
                name="one_terminal_transition",
            )
        ]

    def __str__(self) -> str:
        return f"{self.from_status} -> {self.to_status}"


class LaunchRecord(models.Model):
    """How Studio executes a run, and who does so. `action` and `owner` are JSON texts; an owner is a holder.

    What waits is what nobody holds of a run that is queued: the run's status is kept in one place only, and the index
    of queued runs by start gives them oldest first.
    """

    run = models.OneToOneField(RunRecord, on_delete=models.CASCADE, primary_key=True, related_name="launch")
    launch_key = models.CharField(max_length=128, unique=True)
    action = models.TextField()
    digest = models.CharField(max_length=128)
    runtime = models.CharField(max_length=64, null=True)
    cwd = models.CharField(max_length=4_096, null=True)
    deadline_seconds = models.FloatField()
    queued_at = models.FloatField()

    # The lease: `fence` grows with every holder, `renewals` while one holds.
    owner = models.TextField(null=True)
    fence = models.BigIntegerField(default=0)
    renewals = models.BigIntegerField(default=0)
    claimed_at = models.FloatField(null=True)
    attempts = models.IntegerField(default=0)

    exit_code = models.IntegerField(null=True)
    exit_signal = models.IntegerField(null=True)
    stdout_bytes = models.BigIntegerField(null=True)
    stderr_bytes = models.BigIntegerField(null=True)
    withheld_bytes = models.BigIntegerField(null=True)
    output_tail = models.TextField(default="")

    class Meta:
        verbose_name = "launch"
        verbose_name_plural = "launches"
        # As small as what is held at the moment, however much was ever launched.
        indexes: ClassVar = [models.Index(fields=["run"], condition=Q(owner__isnull=False), name="launch_held")]

    def __str__(self) -> str:
        return self.launch_key
