"""The one validator of schedules."""

import pytest

from contract.errors import ValidationFailure
from contract.parsing import parse_model
from contract.schedules import ScheduleAction
from contract.triggers import CronTrigger, GithubPollTrigger
from schedules.services.checking import failures_of, require_sound
from tests.schedules.scheduler.rigs import Rig

NEVER = CronTrigger(expression="0 0 30 2 *")
CHAIN = parse_model(
    ScheduleAction,
    {
        "kind": "command",
        "command": ["fine"],
        "on_success": {"kind": "command", "command": ["bad"], "on_fail": {"kind": "tide"}},
        "on_fail": {"kind": "command", "command": ["bad"]},
    },
)


async def test_every_fault_of_trigger_and_chain_is_told_with_its_path() -> None:
    rig = Rig()
    rig.runs.refused.add("bad")

    found = await failures_of(trigger=NEVER, action=CHAIN, needs=rig.needs.check(), at=("schedules", 3))

    assert sorted(failure.path for failure in found) == [
        ("schedules", 3, "action", "on_fail", "command", 0),
        ("schedules", 3, "action", "on_success", "command", 0),
        ("schedules", 3, "action", "on_success", "on_fail", "kind"),
        ("schedules", 3, "trigger", "expression"),
    ]


async def test_what_is_not_given_is_not_looked_at() -> None:
    rig = Rig()

    assert await failures_of(trigger=None, action=None, needs=rig.needs.check()) == ()
    await require_sound(trigger=None, action=None, needs=rig.needs.check())


async def test_faults_are_raised_together() -> None:
    poll = GithubPollTrigger(repository="nobody", poll_interval_seconds=60, filters={"event": "x", "color": 1})

    with pytest.raises(ValidationFailure) as raised:
        await require_sound(trigger=poll, action=None, needs=Rig().needs.check(), at=("changes",))

    assert {failure.path for failure in raised.value.field_errors} == {
        ("changes", "trigger", "repository"),
        ("changes", "trigger", "filters", "event"),
        ("changes", "trigger", "filters", "color"),
    }


async def test_a_zone_of_the_configuration_is_checked_where_none_is_given() -> None:
    rig = Rig(zone="Mars/Base")

    found = await failures_of(trigger=CronTrigger(expression="@daily"), action=None, needs=rig.needs.check())

    assert [failure.path for failure in found] == [("trigger", "timezone")]
