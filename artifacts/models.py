"""Records of artifacts: metadata, with or without a file below the artifact root. No logic."""

from typing import ClassVar

from django.db import models
from django.db.models import Q


class ArtifactRecord(models.Model):
    """One thing that a run or an invocation made; natural key: owner, kind, name. `content` is JSON text."""

    id = models.BigAutoField(primary_key=True)
    artifact_id = models.CharField(max_length=128, unique=True)
    # The owners' public identifiers: the apps do not refer to each other's tables.
    run_id = models.CharField(max_length=128, null=True)
    invocation_id = models.CharField(max_length=128, null=True)
    kind = models.CharField(max_length=64)
    name = models.CharField(max_length=200)
    content = models.TextField()
    relative_path = models.CharField(max_length=1_024, null=True)
    media_type = models.CharField(max_length=127, null=True)
    sha256 = models.CharField(max_length=64, null=True)
    size_bytes = models.BigIntegerField(null=True)
    created_at = models.FloatField()
    updated_at = models.FloatField()

    class Meta:
        verbose_name = "artifact"
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run_id", "kind", "name"], condition=Q(run_id__isnull=False), name="artifact_once_in_run"
            ),
            models.UniqueConstraint(
                fields=["invocation_id", "kind", "name"],
                condition=Q(invocation_id__isnull=False),
                name="artifact_once_in_invocation",
            ),
            models.CheckConstraint(
                name="artifact_has_one_owner",
                condition=Q(run_id__isnull=False, invocation_id__isnull=True)
                | Q(run_id__isnull=True, invocation_id__isnull=False),
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["run_id", "id"], name="artifact_of_run"),
            models.Index(
                fields=["invocation_id", "id"],
                condition=Q(invocation_id__isnull=False),
                name="artifact_of_invocation",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"
