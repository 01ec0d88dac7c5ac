"""Records of schedules and firings: tables, constraints, indexes. No logic."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from studio_project.ordered_text import OrderedCharField


class ScheduleRecord(models.Model):
    """When and what. `trigger`, `action` and `poll_seen` are JSON texts; money is integer micro-dollars.

    Texts that a server or a check says have no bound of their own here: no answer of theirs can be one too long.
    """

    id = models.BigAutoField(primary_key=True)
    schedule_id = models.CharField(max_length=128, unique=True)
    name = OrderedCharField(max_length=200, unique=True)
    # The folded name, in which `search` looks; folding makes up to three characters of one.
    search_text = models.CharField(max_length=600)
    description = models.CharField(max_length=2_000, null=True)
    enabled = models.BooleanField()
    paused = models.BooleanField(default=False)
    disabled_reason = models.CharField(max_length=64, null=True)
    trigger_kind = models.CharField(max_length=32)
    trigger = models.TextField()
    zone = models.CharField(max_length=64)
    action = models.TextField()
    action_kind = models.CharField(max_length=32)
    project = models.CharField(max_length=200, null=True)
    missed_fire_policy = models.CharField(max_length=16)
    overlap_policy = models.CharField(max_length=16)
    max_runs = models.IntegerField(null=True)
    budget_micros = models.BigIntegerField(null=True)
    budget_tokens = models.BigIntegerField(null=True)

    anchor_at = models.FloatField()
    next_fire_at = models.FloatField(null=True)
    run_count = models.IntegerField(default=0)
    spent_micros = models.BigIntegerField(null=True)
    spent_tokens = models.BigIntegerField(null=True)
    last_fired_at = models.FloatField(null=True)
    last_run_id = models.CharField(max_length=128, null=True)
    last_run_status = models.CharField(max_length=32, null=True)
    consecutive_failures = models.IntegerField(default=0)

    poll_etag = models.TextField(null=True)
    poll_cursor_at = models.FloatField(null=True)
    poll_seen = models.TextField(default="[]")
    poll_last_at = models.FloatField(null=True)
    poll_last_ok_at = models.FloatField(null=True)
    poll_not_before = models.FloatField(null=True)
    poll_failures = models.IntegerField(default=0)
    poll_fault = models.TextField(null=True)

    created_at = models.FloatField()
    updated_at = models.FloatField()
    # Grows with every change of the row; who writes compares it with what was read.
    revision = models.BigIntegerField(default=0)

    class Meta:
        verbose_name = "schedule"
        indexes: ClassVar = [
            # As small as what can fire, and in the order in which it will.
            models.Index(fields=["next_fire_at", "id"], condition=Q(enabled=True), name="schedule_due"),
            models.Index(fields=["project", "name"], name="schedule_of_project"),
        ]

    def __str__(self) -> str:
        return self.name


class FiringRecord(models.Model):
    """One decision for one slot. `action` is JSON text of what was fired, for what follows on it in a chain."""

    id = models.BigAutoField(primary_key=True)
    firing_id = models.CharField(max_length=128, unique=True)
    schedule = models.ForeignKey(ScheduleRecord, on_delete=models.CASCADE, db_index=False, related_name="firings")
    slot = models.CharField(max_length=300)
    due_at = models.FloatField()
    decided_at = models.FloatField()
    outcome = models.CharField(max_length=16)
    reason_code = models.CharField(max_length=64)
    reason_summary = models.TextField(null=True)
    cause = models.CharField(max_length=16)
    event = models.CharField(max_length=300, null=True)
    depth = models.IntegerField(default=0)
    root_firing_id = models.CharField(max_length=128)
    parent_run_id = models.CharField(max_length=128, null=True)
    action = models.TextField(null=True)
    run_id = models.CharField(max_length=128, null=True)
    # The end of its run, once it was recorded.
    run_status = models.CharField(max_length=32, null=True)

    class Meta:
        verbose_name = "firing"
        constraints: ClassVar = [
            # The whole of *fires exactly once*.
            models.UniqueConstraint(fields=["schedule", "slot"], name="slot_decided_once"),
            models.CheckConstraint(
                name="fired_iff_run",
                condition=Q(outcome="fired", run_id__isnull=False, action__isnull=False)
                | (~Q(outcome="fired") & Q(run_id__isnull=True)),
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["schedule", "-decided_at", "-id"], name="firing_of_schedule"),
            models.Index(
                fields=["schedule", "id"],
                condition=Q(outcome="fired", run_status__isnull=True),
                name="firing_open",
            ),
            models.Index(fields=["run_id"], condition=Q(run_id__isnull=False), name="firing_of_run"),
            models.Index(fields=["decided_at", "outcome", "cause", "due_at"], name="firing_by_decision"),
        ]

    def __str__(self) -> str:
        return f"{self.outcome} {self.due_at}"
