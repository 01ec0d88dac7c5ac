"""Which zones there are, and when their clocks show a time."""

from datetime import datetime
from zoneinfo import ZoneInfo, available_timezones

import pytest

from contract.errors import ValidationFailure
from contract.limits import INSTANT_MAX
from schedules.wall_clocks import WallTime, first_change, local_time, meet, offset_at, zone_named
from tests.schedules.debian_cron import changes_of, epoch


def test_every_iana_zone_is_taken_by_its_name_the_old_ones_included() -> None:
    names = available_timezones() - {"localtime", "Factory"}

    assert {name for name in names if zone_named(name).key != name} == set()
    assert {"EST5EDT", "GB", "UTC", "Etc/GMT+5", "America/Argentina/Buenos_Aires"} <= names


@pytest.mark.parametrize(
    "name",
    [
        *("Mars/Base", "", " ", "America", "Europe/", "EST5EDT,M3.2.0,M11.1.0", "UTC+3", "<+03>-3", "+02:00"),
        *("localtime", "Factory", "posixrules", "posix/Europe/Berlin", "right/Europe/Berlin", "zone.tab"),
        *("../etc/passwd", "/etc/localtime", "Europe/../Europe/Berlin", "Europe/Berlin\x00", "Euro\ud800", "x" * 5_000),
    ],
)
def test_what_is_no_zone_is_refused_with_its_name(name: str) -> None:
    with pytest.raises(ValidationFailure) as raised:
        zone_named(name)

    (failure,) = raised.value.field_errors
    assert (failure.path, failure.code) == (("timezone",), "timezone")
    assert failure.message.isprintable()
    assert name[:5].isprintable() is False or name[:5] in failure.message


def wall(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("zone", "time", "expected"),
    [
        ("America/New_York", "2026-07-01T12:00", WallTime(int(epoch("2026-07-01T16:00Z")))),
        ("America/New_York", "2026-03-08T02:00", WallTime(int(epoch("2026-03-08T07:00Z")), skipped_seconds=3600)),
        ("America/New_York", "2026-03-08T02:59:59", WallTime(int(epoch("2026-03-08T07:00Z")), skipped_seconds=3600)),
        ("America/New_York", "2026-03-08T03:00", WallTime(int(epoch("2026-03-08T07:00Z")))),
        ("America/New_York", "2026-11-01T01:00", WallTime(int(epoch("2026-11-01T05:00Z")), repeated_seconds=3600)),
        ("America/New_York", "2026-11-01T02:00", WallTime(int(epoch("2026-11-01T07:00Z")))),
        ("Australia/Lord_Howe", "2026-10-04T02:15", WallTime(int(epoch("2026-10-03T15:30Z")), skipped_seconds=1800)),
        ("Pacific/Apia", "2011-12-30T12:00", WallTime(int(epoch("2011-12-30T10:00Z")), skipped_seconds=86_400)),
        ("Africa/Monrovia", "1972-01-07T00:30", WallTime(int(epoch("1972-01-07T00:44:30Z")), skipped_seconds=2670)),
    ],
)
def test_a_time_is_met_once_twice_or_at_the_jump_over_it(zone: str, time: str, expected: WallTime) -> None:
    assert meet(wall(time), ZoneInfo(zone)) == expected


@pytest.mark.parametrize("zone", ["Africa/Casablanca", "Asia/Gaza", "Europe/Berlin"])
def test_changes_are_found_to_the_second_and_in_order(zone: str) -> None:
    changes = changes_of(zone)
    found = []
    place: int | None = changes[0] - 1
    while place is not None:
        place = first_change(place, changes[-1], ZoneInfo(zone))
        found += [] if place is None else [place]

    assert tuple(found) == changes
    assert first_change(changes[0], changes[1] - 1, ZoneInfo(zone)) is None


def test_the_end_of_the_calendar_can_be_shown_everywhere() -> None:
    assert local_time(INSTANT_MAX, ZoneInfo("Pacific/Kiritimati")).isoformat() == "9999-12-31T23:59:59+00:00"
    assert local_time(0.0, ZoneInfo("America/New_York")).isoformat() == "1969-12-31T19:00:00-05:00"
    assert offset_at(0, ZoneInfo("Asia/Kathmandu")) == 19_800
