"""Previews: local times, what the clocks do to them, and the trigger in words."""

import pytest

from contract.errors import ValidationFailure
from contract.limits import INSTANT_MAX, PREVIEW_MAX_COUNT
from contract.triggers import (
    AtTrigger,
    CronTrigger,
    GithubPollTrigger,
    IntervalTrigger,
    PreviewInstant,
    SchedulePreview,
    Trigger,
)
from schedules.previews import preview_of
from tests.schedules.debian_cron import epoch

NEW_YORK = "America/New_York"


def preview(trigger: Trigger, after: str, count: int, zone: str = "Europe/Berlin") -> SchedulePreview:
    return preview_of(trigger, after=epoch(after), count=count, anchor_at=epoch(after), zone=zone)


def shown(expression: str, zone: str, after: str, count: int) -> list[tuple[str, tuple[str, ...]]]:
    found = preview(CronTrigger(expression=expression, timezone=zone), after, count)
    return [(instant.local, instant.notes) for instant in found.instants]


def test_an_instant_is_shown_as_epoch_seconds_local_time_and_offset() -> None:
    found = preview(CronTrigger(expression="0 0 1,15 * 5", timezone="Asia/Kolkata"), "2026-01-01T00:00Z", 1)

    assert found == SchedulePreview(
        timezone="Asia/Kolkata",
        description="at 00:00 on days 1 and 15 of the month or on Friday",
        instants=(
            PreviewInstant(at=epoch("2026-01-01T18:30Z"), local="2026-01-02T00:00:00+05:30", utc_offset_seconds=19_800),
        ),
    )


def test_a_trigger_without_a_zone_is_shown_in_the_one_given() -> None:
    found = preview(CronTrigger(expression="0 6 * * *"), "2026-07-01T00:00Z", 1)

    assert (found.timezone, found.instants[0].local) == ("Europe/Berlin", "2026-07-01T06:00:00+02:00")


def test_a_skipped_time_says_when_it_is_due_instead() -> None:
    assert shown("30 2 * * *", NEW_YORK, "2026-03-07T12:00Z", 2) == [
        ("2026-03-08T03:00:00-04:00", ("clocks go forward: 02:30 does not exist; due once, at 03:00",)),
        ("2026-03-09T02:30:00-04:00", ()),
    ]
    assert shown("0 2,3 * * *", NEW_YORK, "2026-03-08T05:00Z", 1) == [
        ("2026-03-08T03:00:00-04:00", ("clocks go forward: 02:00 does not exist; due once, at 03:00",)),
    ]
    assert shown("0-59 2 * * *", NEW_YORK, "2026-03-08T05:00Z", 1)[0][1] == (
        "clocks go forward: 02:00, 02:01, 02:02 and 57 more do not exist; due once, at 03:00",
    )
    assert shown("0 0 * * *", "America/Santiago", "2026-09-05T12:00Z", 1) == [
        ("2026-09-06T01:00:00-03:00", ("clocks go forward: 00:00 does not exist; due once, at 01:00",)),
    ]
    assert shown("30 0 * * *", "Africa/Monrovia", "1972-01-06T12:00Z", 1)[0][1] == (
        "clocks go forward: 00:30 does not exist; due once, at 00:44:30",
    )


def test_a_repeated_time_says_which_one_it_is() -> None:
    assert shown("30 1 * * *", NEW_YORK, "2026-10-31T12:00Z", 2) == [
        ("2026-11-01T01:30:00-04:00", ("clocks go back: 01:30 comes twice; due once, the first time",)),
        ("2026-11-02T01:30:00-05:00", ("clocks have gone back by 1 hour by then",)),
    ]
    assert shown("30 * * * *", NEW_YORK, "2026-11-01T04:45Z", 3) == [
        ("2026-11-01T01:30:00-04:00", ("clocks go back: 01:30 comes twice; this is the first time",)),
        ("2026-11-01T01:30:00-05:00", ("clocks go back: 01:30 comes twice; this is the second time",)),
        ("2026-11-01T02:30:00-05:00", ()),
    ]


def test_a_change_of_the_clocks_on_the_way_is_told() -> None:
    assert shown("*/30 * * * *", NEW_YORK, "2026-03-08T06:15Z", 3) == [
        ("2026-03-08T01:30:00-05:00", ()),
        ("2026-03-08T03:00:00-04:00", ("clocks have gone forward by 1 hour by then",)),
        ("2026-03-08T03:30:00-04:00", ()),
    ]
    assert shown("0 12 * * *", "Pacific/Apia", "2011-12-29T12:00Z", 2) == [
        ("2011-12-29T12:00:00-10:00", ()),
        ("2011-12-31T12:00:00+14:00", ("clocks have gone forward by 1 day by then",)),
    ]
    assert shown("0 0 * * *", "Pacific/Apia", "2011-12-29T12:00Z", 1) == [
        ("2011-12-31T00:00:00+14:00", ("clocks have gone forward by 1 day by then",)),
    ]
    assert shown("0 0 * * *", "Australia/Lord_Howe", "2026-10-04T00:00Z", 1)[0][1] == ()
    assert shown("0 0 * * *", "Australia/Lord_Howe", "2026-10-03T14:00Z", 1)[0][1] == (
        "clocks have gone forward by 30 minutes by then",
    )


@pytest.mark.parametrize(
    ("trigger", "description", "local"),
    [
        (
            IntervalTrigger(seconds=86_400),
            "every day",
            ["2026-03-29T03:30:00.250+02:00", "2026-03-30T03:30:00.250+02:00"],
        ),
        (
            IntervalTrigger(seconds=90),
            "every 90 seconds",
            ["2026-03-28T02:31:30.250+01:00", "2026-03-28T02:33:00.250+01:00"],
        ),
        (
            IntervalTrigger(seconds=5_400),
            "every 90 minutes",
            ["2026-03-28T04:00:00.250+01:00", "2026-03-28T05:30:00.250+01:00"],
        ),
        (AtTrigger(at=1.8e9), "once, at 2027-01-15 09:00:00+01:00", ["2027-01-15T09:00:00+01:00"]),
        (AtTrigger(at=1.7e9), "once, at 2023-11-14 23:13:20+01:00", []),
        (
            GithubPollTrigger(repository="a/b", poll_interval_seconds=3_600),
            "for each merged pull request of a/b, asked for every hour",
            ["2026-03-28T03:30:00.250+01:00", "2026-03-28T04:30:00.250+01:00"],
        ),
        (
            GithubPollTrigger(
                repository="a/b", poll_interval_seconds=60, filters={"event": "pr_opened", "base": "dev"}
            ),
            "for each opened pull request of a/b into dev, asked for every minute",
            ["2026-03-28T02:31:00.250+01:00", "2026-03-28T02:32:00.250+01:00"],
        ),
    ],
)
def test_every_kind_of_trigger_has_its_instants_and_its_words(
    trigger: Trigger, description: str, local: list[str]
) -> None:
    found = preview(trigger, "2026-03-28T01:30:00.250Z", 2)

    assert found.description == description
    assert [instant.local for instant in found.instants] == local
    assert all(isinstance(instant.at, float) for instant in found.instants)


def test_a_preview_reaches_to_the_end_of_the_calendar() -> None:
    found = preview(AtTrigger(at=INSTANT_MAX), "2026-01-01T00:00Z", PREVIEW_MAX_COUNT, zone="Asia/Tokyo")

    assert [instant.local for instant in found.instants] == ["9999-12-31T23:59:59+00:00"]
    assert (
        preview_of(
            IntervalTrigger(seconds=60), after=INSTANT_MAX - 90, count=9, anchor_at=INSTANT_MAX - 90, zone="Asia/Tokyo"
        )
        .instants[0]
        .at
        == INSTANT_MAX - 30
    )
    far = CronTrigger(expression="0 0 29 2 */7", timezone="Asia/Tokyo")
    assert len(preview(far, "2026-01-01T00:00Z", PREVIEW_MAX_COUNT).instants) == PREVIEW_MAX_COUNT


def test_what_cannot_be_evaluated_is_refused() -> None:
    with pytest.raises(ValidationFailure):
        preview(CronTrigger(expression="0 0 30 2 *"), "2026-01-01T00:00Z", 1)
    with pytest.raises(ValidationFailure):
        preview(IntervalTrigger(seconds=60), "2026-01-01T00:00Z", 1, zone="Mars/Base")
