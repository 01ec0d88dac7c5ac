"""Records of projects: tables, constraints, indexes. No logic.

Runs and schedules carry a project's name, and no key: what was recorded under a label stays readable whatever becomes
of the project.
"""

from typing import ClassVar

from django.db import models


class ProjectRecord(models.Model):
    """One project: a label with a home."""

    id = models.BigAutoField(primary_key=True)
    name = models.CharField(max_length=200, unique=True)
    path = models.CharField(max_length=4_096, null=True)
    # Stands for the path in an index, which no path of that length fits into.
    path_key = models.CharField(max_length=64, null=True)
    description = models.CharField(max_length=2_000, null=True)
    # The folded name, in which `search` looks; folding can make several characters of one.
    search_text = models.CharField(max_length=1_300)
    created_at = models.FloatField()
    updated_at = models.FloatField()

    class Meta:
        verbose_name = "project"
        indexes: ClassVar = [
            models.Index(fields=["path_key", "id"], condition=models.Q(path_key__isnull=False), name="project_by_path")
        ]

    def __str__(self) -> str:
        return self.name
