"""Makes a project of each label that runs carry already, as old as the first of its runs.

A label that no project can be called by (contract/projects.py, project_name_fault) stays a label.
"""

from typing import Any

from django.db import migrations
from django.db.models import Min

from contract.folding import fold
from projects.names import is_name

BATCH = 1_000


def make_rows(apps: Any, schema_editor: Any) -> None:
    runs = apps.get_model("runs", "RunRecord").objects
    projects = apps.get_model("projects", "ProjectRecord")
    labels = runs.filter(project__isnull=False).order_by().values_list("project").annotate(Min("created_at"))
    projects.objects.bulk_create(
        (
            projects(name=name, search_text=fold(name), created_at=at, updated_at=at)
            for name, at in labels
            if is_name(name)
        ),
        batch_size=BATCH,
        ignore_conflicts=True,
    )


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0001_initial"),
        ("runs", "0002_launches"),
    ]

    operations = [
        migrations.RunPython(make_rows, migrations.RunPython.noop),
    ]
