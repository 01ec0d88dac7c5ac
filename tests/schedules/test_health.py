"""How a schedule stands."""

from typing import Any

import pytest

from schedules.health import health_of
from tests.schedules.making import NOW

FINE: dict[str, Any] = {
    "enabled": True, "next_fire_at": NOW + 60, "last_fired_at": NOW, "last_run_status": "completed", "poll_failures": 0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "healthy"),
        ({"last_run_status": None}, "healthy"),
        ({"last_run_status": "cancelled"}, "healthy"),
        ({"last_fired_at": None}, "never_fired"),
        ({"last_run_status": "failed"}, "failing"),
        ({"last_run_status": "timed_out", "last_fired_at": None}, "failing"),
        ({"next_fire_at": NOW - 120}, "healthy"),
        ({"next_fire_at": NOW - 121, "last_run_status": "failed"}, "overdue"),
        ({"next_fire_at": None}, "healthy"),
        ({"poll_failures": 2}, "healthy"),
        ({"poll_failures": 3, "next_fire_at": NOW - 121}, "poller_failing"),
        ({"enabled": False, "poll_failures": 3}, "disabled"),
    ],
)
def test_the_first_that_holds_is_told(fields: dict[str, Any], expected: str) -> None:
    assert health_of(**{**FINE, **fields}, now=NOW) == expected
