"""What becomes of the labels that runs had before there were projects."""

from importlib import import_module

import pytest
from django.apps import apps

from projects.models import ProjectRecord
from runs.models import RunRecord
from tests.fakes.clocks import START_AT

LABELS = ("shop", "github.com/team/thing", "shop", None, "no//name", " blank", "Äpfel")


@pytest.mark.django_db
def test_each_label_becomes_a_project_as_old_as_its_first_run() -> None:
    for number, label in enumerate(LABELS):
        at = START_AT + number
        RunRecord.objects.create(
            run_id=f"r{number}", kind="agent", project=label, status="running", created_at=at, updated_at=at,
            sort_started_at=at,
        )  # fmt: skip
    make_rows = import_module("projects.migrations.0002_labels").make_rows

    for _ in range(2):
        make_rows(apps, None)

    made = ProjectRecord.objects.order_by("created_at").values_list("name", "created_at", "search_text")
    assert list(made) == [
        ("shop", START_AT, "shop"),
        ("github.com/team/thing", START_AT + 1, "github.com/team/thing"),
        ("Äpfel", START_AT + 6, "äpfel"),
    ]
