"""Which triggers are taken: everything that can never be due is told at once, with its place."""

import pytest
from pydantic import JsonValue

from contract.base import FieldFailure
from contract.errors import ValidationFailure
from contract.limits import CRON_MAX_CHARS, MISSED_AFTER_SECONDS
from contract.parsing import parse_model
from contract.triggers import AtTrigger, CronTrigger, GithubPollTrigger, IntervalTrigger, PreviewSchedule, Trigger
from schedules.triggers import trigger_failures

NOW = 1_800_000_000.0


def failures_of(trigger: Trigger, zone: str = "Europe/Berlin") -> tuple[FieldFailure, ...]:
    return trigger_failures(trigger, now=NOW, zone=zone)


def places_of(trigger: Trigger, zone: str = "Europe/Berlin") -> list[tuple[tuple[str | int, ...], str]]:
    return [(failure.path, failure.code) for failure in failures_of(trigger, zone)]


@pytest.mark.parametrize(
    "trigger",
    [
        CronTrigger(expression="*/5 * * * *"),
        CronTrigger(expression=" @daily ", timezone="EST5EDT"),
        CronTrigger(expression="0 0 29 2 *", timezone="Asia/Tokyo"),
        IntervalTrigger(seconds=1),
        AtTrigger(at=NOW + 1e9),
        AtTrigger(at=NOW - MISSED_AFTER_SECONDS + 1),
        GithubPollTrigger(repository="octo-org/Hello.World", poll_interval_seconds=60),
    ],
)
def test_what_can_be_due_is_taken(trigger: Trigger) -> None:
    assert failures_of(trigger) == ()


def test_both_faults_of_a_poll_are_told() -> None:
    trigger = GithubPollTrigger(repository="a", poll_interval_seconds=60, filters={"state": "open"})

    assert places_of(trigger) == [(("repository",), "repository"), (("filters", "state"), "unknown_field")]


def test_both_faults_of_a_cron_trigger_are_told() -> None:
    assert places_of(CronTrigger(expression="60 * * * *", timezone="Mars/Base")) == [
        (("expression",), "field"),
        (("timezone",), "timezone"),
    ]


def test_a_zone_that_is_unknown_is_never_replaced_not_even_the_configured_one() -> None:
    assert places_of(CronTrigger(expression="@daily"), zone="Mars/Base") == [(("timezone",), "timezone")]
    assert places_of(CronTrigger(expression="@daily", timezone="UTC+3")) == [(("timezone",), "timezone")]


def test_an_instant_that_has_passed_can_never_be_due() -> None:
    (failure,) = failures_of(AtTrigger(at=NOW - 3_600))

    assert (failure.path, failure.code, failure.message) == (("at",), "past", "passed 3600 seconds ago")
    assert places_of(AtTrigger(at=NOW - MISSED_AFTER_SECONDS)) == [(("at",), "past")]


@pytest.mark.parametrize(
    ("trigger", "path"),
    [
        ({"kind": "cron", "expression": "1," * 50_000}, ("trigger", "expression")),
        ({"kind": "cron", "expression": "1" * (CRON_MAX_CHARS + 1)}, ("trigger", "expression")),
        ({"kind": "cron", "expression": "@daily", "timezone": ""}, ("trigger", "timezone")),
        ({"kind": "cron", "expression": "@daily\x00"}, ("trigger", "expression")),
        ({"kind": "interval", "seconds": 0}, ("trigger", "seconds")),
        ({"kind": "interval", "seconds": 10**12}, ("trigger", "seconds")),
        ({"kind": "interval", "seconds": 1.5}, ("trigger", "seconds")),
        (
            {"kind": "github_poll", "repository": "a/b", "poll_interval_seconds": 0},
            ("trigger", "poll_interval_seconds"),
        ),
        ({"kind": "at", "at": -1.0}, ("trigger", "at")),
        ({"kind": "at", "at": 1e12}, ("trigger", "at")),
    ],
)
def test_bounds_are_the_contracts_and_are_checked_before(trigger: JsonValue, path: tuple[str, ...]) -> None:
    with pytest.raises(ValidationFailure) as raised:
        parse_model(PreviewSchedule, {"trigger": trigger})

    assert [failure.path for failure in raised.value.field_errors] == [path]
