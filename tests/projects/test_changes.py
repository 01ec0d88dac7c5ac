"""What a patch changes, and what keeps a project."""

import pytest

from contract.errors import Conflict
from contract.projects import PatchProject
from projects.changes import Fields, changed_fields, later, require_unused

CURRENT: Fields = {"name": "shop", "path": "/a", "description": None}


@pytest.mark.parametrize(
    ("patch", "changed"),
    [
        ({}, {}),
        ({"name": "shop", "path": "/a", "description": None}, {}),
        ({"path": None}, {"path": None}),
        ({"name": "other", "description": "d"}, {"name": "other", "description": "d"}),
    ],
)
def test_what_is_given_and_differs_is_changed(patch: Fields, changed: Fields) -> None:
    assert changed_fields(CURRENT, PatchProject.model_validate(patch), updated_at=5.0) == changed


def test_an_expectation_has_to_hold_even_where_nothing_is_changed() -> None:
    assert changed_fields(CURRENT, PatchProject(expected_updated_at=5.0), updated_at=5.0) == {}
    with pytest.raises(Conflict):
        changed_fields(CURRENT, PatchProject(expected_updated_at=4.0), updated_at=5.0)


@pytest.mark.parametrize("at", [0.0, 1_700_000_000.0, 1_699_999_999.0])
def test_an_instant_is_always_later(at: float) -> None:
    assert later(1_700_000_000.0, at) > 1_700_000_000.0


def test_an_instant_is_the_clocks_where_that_went_on() -> None:
    assert later(1.0, 2.0) == 2.0


def test_what_refers_to_a_project_is_counted_by_its_name() -> None:
    require_unused("shop", {"runs": 0, "schedules": 0})
    with pytest.raises(Conflict, match="project shop has 1 run and 2 schedules"):
        require_unused("shop", {"runs": 1, "schedules": 2})
