"""What migrations do to rows that are there already."""

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

from runs.models import LaunchRecord
from tests.runs.state.records import insert_launches, insert_runs

pytestmark = pytest.mark.django_db


def test_of_a_process_that_nobody_saw_exit_it_is_unknown_what_it_printed() -> None:
    insert_runs(3)
    insert_launches()
    LaunchRecord.objects.update(stdout_bytes=0, stderr_bytes=0, withheld_bytes=0)
    LaunchRecord.objects.filter(launch_key="r0").update(exit_code=0)
    LaunchRecord.objects.filter(launch_key="r1").update(exit_signal=9)

    import_module("runs.migrations.0003_uncounted_output").forget_what_nobody_counted(apps, connection.schema_editor())

    counted = LaunchRecord.objects.order_by("run_id").values_list("launch_key", "stdout_bytes", "withheld_bytes")
    assert list(counted) == [("r0", 0, 0), ("r1", 0, 0), ("r2", None, None)]
