"""Schedules for tests of rules."""

from typing import Any

from contract.parsing import parse_model
from contract.schedules import ScheduleSpec
from schedules.revising import created
from schedules.schedule import ScheduleState

# 2026-01-01T00:00:00Z
NOW = 1_767_225_600.0
EVERY_MINUTE = {"kind": "interval", "seconds": 60}


def spec(**fields: Any) -> ScheduleSpec:
    said = {"name": "nightly", "trigger": EVERY_MINUTE, "action": {"kind": "command", "command": ["true"]}, **fields}
    return parse_model(ScheduleSpec, said)


def state(*, now: float = NOW, zone: str = "UTC", **fields: Any) -> ScheduleState:
    return created(spec(**fields), schedule_id="s1", zone=zone, now=now)
