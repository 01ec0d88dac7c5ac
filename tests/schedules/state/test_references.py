"""What schedules refer to in other capabilities: asked and told inside others' transactions."""

from typing import Any

import pytest
from django.db import transaction

from contract.parsing import parse_model
from contract.schedules import ScheduleAction
from schedules.models import FiringRecord, ScheduleRecord
from schedules.state.references import DjangoScheduleReferences
from schedules.state.rows import columns_of
from tests.schedules.state.records import insert_firings
from tests.schedules.state.stores import schedule

REFERENCES = DjangoScheduleReferences()
pytestmark = pytest.mark.django_db


def insert(name: str, *, project: str | None = None, **action: Any) -> ScheduleRecord:
    chain = parse_model(ScheduleAction, {"kind": "command", "command": ["look"], **action})
    return ScheduleRecord.objects.create(**columns_of(schedule(name, project=project, action=chain)))


def action_of(record: ScheduleRecord) -> ScheduleAction:
    record.refresh_from_db()
    return ScheduleAction.model_validate_json(record.action)


def test_a_run_is_referred_to_until_its_end_is_recorded() -> None:
    insert("a")
    [number] = ScheduleRecord.objects.values_list("id", flat=True)
    insert_firings(1, 45)

    ids = [f"r{number}-{n}" for n in range(45)]
    found = REFERENCES.referenced([*ids, *(f"other-{n}" for n in range(600))])

    assert found == {f"r{number}-0", f"r{number}-40"}
    FiringRecord.objects.update(run_status="completed")
    assert REFERENCES.referenced(ids) == frozenset()
    assert REFERENCES.referenced([]) == frozenset()


def test_a_project_is_referred_to_by_schedules_and_by_actions_down_their_chains() -> None:
    last = {"kind": "command", "command": ["c"], "project": "p"}
    insert("own", project="p")
    insert("action", project="q", on_fail={"kind": "command", "command": ["b"], "on_success": last})
    insert("none")

    with transaction.atomic():
        counts = (REFERENCES.count("p"), REFERENCES.count("q"), REFERENCES.count("r"))

    assert counts == (2, 1, 0)
    assert REFERENCES.named == "schedules"


def test_a_new_name_goes_everywhere_and_makes_whoever_read_before_decide_anew() -> None:
    last = {"kind": "command", "command": ["c"], "project": "p"}
    first = insert("a", project="p", on_success=last)
    other = insert("b", project="other")
    before = first.revision

    with transaction.atomic():
        renamed = REFERENCES.rename("p", "new/name")

    first.refresh_from_db()
    other.refresh_from_db()
    assert (renamed, first.project, first.revision) == (1, "new/name", before + 1)
    assert action_of(first).on_success == {**last, "project": "new/name"}
    assert (other.project, other.revision) == ("other", before)


def test_a_detached_project_is_named_nowhere() -> None:
    record = insert("a", project="p", on_fail={"kind": "command", "command": ["c"], "project": "p"})

    with transaction.atomic():
        detached = REFERENCES.detach("p")

    assert detached == 1
    assert (action_of(record).on_fail or {})["project"] is None
    with transaction.atomic():
        assert REFERENCES.count("p") == 0


def test_an_action_that_nobody_can_read_stays_as_it_is() -> None:
    record = insert("a", project="p")
    ScheduleRecord.objects.update(action="{no json")

    with transaction.atomic():
        renamed = REFERENCES.rename("p", "q")

    record.refresh_from_db()
    assert (renamed, record.project, record.action) == (1, "q", "{no json")
