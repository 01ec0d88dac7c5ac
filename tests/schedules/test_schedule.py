"""A schedule as one value."""

from dataclasses import FrozenInstanceError, fields

import pytest

from schedules.schedule import PollState, ScheduleState
from tests.schedules.making import state


def test_a_schedule_is_a_value() -> None:
    assert state() == state()
    with pytest.raises(FrozenInstanceError):
        state().name = "other"  # type: ignore[misc]


def test_what_a_new_schedule_has_done_is_nothing() -> None:
    defaults = {field.name: getattr(state(), field.name) for field in fields(ScheduleState) if field.name != "poll"}

    assert {
        name for name, value in defaults.items() if name.startswith(("last_", "spent_")) and value is not None
    } == set()
    assert (defaults["run_count"], defaults["consecutive_failures"], defaults["revision"]) == (0, 0, 0)
    assert state().poll == PollState()
