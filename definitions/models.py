"""Records of definitions: their heads, the append-only history, reconciliations and their log. No logic.

The row of a definition is its head: whoever changes anything of a definition locks that row or updates it by what it
was read as. Identifiers of versions and reconciliations stand in the columns that refer to them, so that no list needs
a join to show them.
"""

from typing import ClassVar

from django.db import models
from django.db.models import Q


class DefinitionRecord(models.Model):
    """How far one definition is. `latest_sha256` null: its newest version records a deletion."""

    id = models.BigAutoField(primary_key=True)
    kind = models.CharField(max_length=16)
    name = models.CharField(max_length=120)
    # Equal for two names that a file system or a reader may take for one.
    name_key = models.CharField(max_length=120)
    relative_path = models.CharField(max_length=400)
    # What the newest version is and wants the file to hold.
    latest_version = models.BigIntegerField()
    latest_version_id = models.CharField(max_length=128)
    latest_sha256 = models.CharField(max_length=64, null=True)
    latest_size_bytes = models.BigIntegerField()
    # What the file was last known to hold; null is no file.
    file_sha256 = models.CharField(max_length=64, null=True)
    # The writer at work, if any; `writer_process` is JSON text of ProcessIdentity.
    writer_process = models.TextField(null=True)
    writer_version_id = models.CharField(max_length=128, null=True)
    writer_claimed_at = models.FloatField(null=True)
    # The one reconciliation that may be pending: always of the newest version.
    pending_reconciliation_id = models.CharField(max_length=128, null=True)
    created_at = models.FloatField()
    updated_at = models.FloatField()

    class Meta:
        verbose_name = "definition"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["kind", "name"], name="definition_name_once"),
            models.UniqueConstraint(fields=["kind", "name_key"], name="definition_name_key_once"),
            models.UniqueConstraint(
                fields=["pending_reconciliation_id"],
                condition=Q(pending_reconciliation_id__isnull=False),
                name="definition_of_pending_once",
            ),
            models.CheckConstraint(
                name="definition_writer_whole",
                condition=Q(writer_process__isnull=True, writer_version_id__isnull=True, writer_claimed_at__isnull=True)
                | Q(writer_process__isnull=False, writer_version_id__isnull=False, writer_claimed_at__isnull=False),
            ),
        ]
        indexes: ClassVar = [
            # Few definitions have a writer at any time; they are asked for at each start.
            models.Index(
                fields=["writer_version_id"],
                condition=Q(writer_version_id__isnull=False),
                name="definition_at_work",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


class DefinitionVersionRecord(models.Model):
    """One entry of a definition's history. Append-only, but for what became of its file."""

    id = models.BigAutoField(primary_key=True)
    version_id = models.CharField(max_length=128, unique=True)
    definition = models.ForeignKey(DefinitionRecord, on_delete=models.CASCADE, db_index=False, related_name="versions")
    version = models.BigIntegerField()
    relative_path = models.CharField(max_length=400)
    content = models.TextField()
    content_sha256 = models.CharField(max_length=64)
    size_bytes = models.BigIntegerField()
    message = models.CharField(max_length=2_000, null=True)
    origin = models.CharField(max_length=16)
    deleted = models.BooleanField(default=False)
    actor = models.CharField(max_length=200)
    write_status = models.CharField(max_length=16)
    created_at = models.FloatField()

    class Meta:
        verbose_name = "definition version"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["definition", "version"], name="definition_version_once")
        ]
        indexes: ClassVar = [models.Index(fields=["definition", "content_sha256"], name="definition_content")]

    def __str__(self) -> str:
        return f"version {self.version}"


class ReconciliationRecord(models.Model):
    """A version that is in the history and did not reach its file.

    `observed_sha256` is what the first failure saw in the file's place, `last_observed_sha256` what the last one saw.
    """

    id = models.BigAutoField(primary_key=True)
    reconciliation_id = models.CharField(max_length=128, unique=True)
    # The indexes below begin with it.
    definition = models.ForeignKey(DefinitionRecord, on_delete=models.CASCADE, db_index=False)
    version = models.ForeignKey(DefinitionVersionRecord, on_delete=models.CASCADE, to_field="version_id")
    status = models.CharField(max_length=16)
    error_code = models.CharField(max_length=64)
    error_detail = models.TextField()
    expected_sha256 = models.CharField(max_length=64)
    observed_sha256 = models.CharField(max_length=64, null=True)
    last_observed_sha256 = models.CharField(max_length=64, null=True)
    attempts = models.IntegerField(default=1)
    resolution = models.CharField(max_length=16, null=True)
    reason = models.CharField(max_length=2_000, null=True)
    actor = models.CharField(max_length=200, null=True)
    result_version = models.BigIntegerField(null=True)
    created_at = models.FloatField()
    updated_at = models.FloatField()
    resolved_at = models.FloatField(null=True)

    class Meta:
        verbose_name = "reconciliation"
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["definition"], condition=Q(status="pending"), name="one_pending_reconciliation"
            ),
            models.CheckConstraint(
                name="reconciliation_resolved_iff_at",
                condition=Q(status="pending", resolution__isnull=True, resolved_at__isnull=True)
                | Q(status="resolved", resolution__isnull=False, resolved_at__isnull=False),
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=[*filtering, "-created_at", "-reconciliation_id"], name=f"reconciliation_{name}")
            for name, filtering in {
                "by_created": [],
                "by_status": ["status"],
                "of": ["definition"],
                "of_by_status": ["definition", "status"],
            }.items()
        ]

    def __str__(self) -> str:
        return self.reconciliation_id


class ReconciliationAttemptRecord(models.Model):
    """One entry of a reconciliation's log. Append-only; `action` is null for a failed write."""

    id = models.BigAutoField(primary_key=True)
    reconciliation = models.ForeignKey(
        ReconciliationRecord, on_delete=models.CASCADE, to_field="reconciliation_id", related_name="log"
    )
    action = models.CharField(max_length=16, null=True)
    outcome = models.CharField(max_length=16)
    actor = models.CharField(max_length=200)
    detail = models.TextField()
    at = models.FloatField()

    class Meta:
        verbose_name = "reconciliation attempt"

    def __str__(self) -> str:
        return f"{self.action or 'write'} {self.outcome}"
