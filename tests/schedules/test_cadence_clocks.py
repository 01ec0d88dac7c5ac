"""Cron where the clocks are set: every zone, against Debian's cron."""

from datetime import datetime
from itertools import islice, pairwise, takewhile
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.triggers import CronTrigger
from schedules.cadence import COUNTED_MAX, due_instants, missed_until, next_due
from tests.schedules.debian_cron import changes_of, epoch, runs_of, utc

ZONES = sorted(available_timezones() - {"localtime", "Factory"})
HOUR = 3_600
# Clocks are set there by half an hour, by three, by a day, at midnight, or for Ramadan.
ODD_ZONES = [
    "Africa/Cairo",
    "Africa/Casablanca",
    "America/Asuncion",
    "America/Havana",
    "America/New_York",
    "America/Nuuk",
    "America/Santiago",
    "America/Sao_Paulo",
    "Antarctica/Casey",
    "Antarctica/Troll",
    "Asia/Beirut",
    "Asia/Gaza",
    "Asia/Tehran",
    "Atlantic/Azores",
    "Australia/Lord_Howe",
    "Europe/Dublin",
    "Europe/Helsinki",
    "Europe/London",
    "Pacific/Apia",
    "Pacific/Chatham",
]


def due_from(expression: str, zone: str, start: float, end: float) -> list[float]:
    """Return what is due within [start, end)."""
    trigger = CronTrigger(expression=expression, timezone=zone)
    return list(takewhile(lambda due: due < end, due_instants(trigger, start - 1, anchor_at=0.0, zone="UTC")))


def next_of(expression: str, zone: str, after: str, count: int) -> list[str]:
    trigger = CronTrigger(expression=expression, timezone=zone)
    return [utc(due) for due in islice(due_instants(trigger, epoch(after), anchor_at=0.0, zone="UTC"), count)]


@pytest.mark.parametrize(
    ("expression", "zone", "after", "expected"),
    [
        # DST-01: in the skipped hour, and entries that keep a rhythm across it.
        ("30 2 * * *", "America/New_York", "2026-03-08T06:30Z", ["2026-03-08T07:00Z", "2026-03-09T06:30Z"]),
        ("*/5 * * * *", "America/New_York", "2026-03-08T06:54Z", ["2026-03-08T06:55Z", "2026-03-08T07:00Z"]),
        ("*/5 * * * *", "America/New_York", "2026-03-08T07:00Z", ["2026-03-08T07:05Z"]),
        ("0 * * * *", "America/New_York", "2026-03-08T06:30Z", ["2026-03-08T07:00Z", "2026-03-08T08:00Z"]),
        ("0 */2 * * *", "America/New_York", "2026-03-08T05:00Z", ["2026-03-08T08:00Z", "2026-03-08T10:00Z"]),
        # Two skipped times, and a time that comes just when they do, are due once.
        ("0,30 2 * * *", "America/New_York", "2026-03-08T06:00Z", ["2026-03-08T07:00Z", "2026-03-09T06:00Z"]),
        ("0 2,3 * * *", "America/New_York", "2026-03-08T06:00Z", ["2026-03-08T07:00Z", "2026-03-09T06:00Z"]),
        ("30 2 8 3 *", "America/New_York", "2026-03-08T00:00Z", ["2026-03-08T07:00Z", "2027-03-08T07:30Z"]),
        # DST-02: in the repeated hour.
        ("30 1 * * *", "America/New_York", "2026-11-01T04:00Z", ["2026-11-01T05:30Z", "2026-11-02T06:30Z"]),
        ("30 1 * * *", "America/New_York", "2026-11-01T05:30Z", ["2026-11-02T06:30Z"]),
        ("0 2 * * *", "America/New_York", "2026-11-01T05:59Z", ["2026-11-01T07:00Z"]),
        # DST-04: a rhythm goes on through it.
        ("30 * * * *", "Europe/Helsinki", "2017-10-29T00:45Z", [f"2017-10-29T0{hour}:30Z" for hour in (1, 2, 3)]),
        ("* * * * *", "America/New_York", "2026-11-01T06:30:15Z", ["2026-11-01T06:31Z"]),
        ("0 */2 * * *", "Europe/Berlin", "2026-10-24T22:30Z", ["2026-10-25T00:00Z", "2026-10-25T01:00Z"]),
        ("30 2 * * *", "Europe/London", "2026-03-29T00:30Z", ["2026-03-29T01:30Z", "2026-03-30T01:30Z"]),
        # Half an hour.
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00Z", ["2026-10-03T15:30Z", "2026-10-04T15:15Z"]),
        ("*/20 * * * *", "Australia/Lord_Howe", "2026-10-03T15:25Z", ["2026-10-03T15:40Z", "2026-10-03T16:00Z"]),
        ("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00Z", ["2026-04-04T14:45Z", "2026-04-05T15:15Z"]),
        # Midnight is skipped, and the day begins an hour late.
        ("0 0 * * *", "America/Santiago", "2026-09-05T05:00Z", ["2026-09-06T04:00Z", "2026-09-07T03:00Z"]),
        ("0 */2 * * *", "America/Santiago", "2026-09-06T03:00Z", ["2026-09-06T05:00Z", "2026-09-06T07:00Z"]),
        ("*/30 * 6 9 *", "America/Santiago", "2026-09-06T00:00Z", ["2026-09-06T04:00Z", "2026-09-06T04:30Z"]),
        ("30 0 * * *", "Africa/Cairo", "2026-04-23T00:00Z", ["2026-04-23T22:00Z", "2026-04-24T21:30Z"]),
        ("0 0 * * *", "America/Asuncion", "2018-10-06T12:00Z", ["2018-10-07T04:00Z", "2018-10-08T03:00Z"]),
        ("0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00Z", ["2018-11-04T03:00Z", "2018-11-05T02:00Z"]),
        ("0 0 * * *", "Asia/Beirut", "2026-03-28T00:00Z", ["2026-03-28T22:00Z", "2026-03-29T21:00Z"]),
        # The hour before midnight is repeated: the day before begins again, and ends once.
        ("30 23 * * *", "America/Sao_Paulo", "2019-02-16T12:00Z", ["2019-02-17T01:30Z", "2019-02-18T02:30Z"]),
        ("30 * 16 2 *", "America/Sao_Paulo", "2019-02-17T01:00Z", ["2019-02-17T01:30Z", "2019-02-17T02:30Z"]),
        # A whole day is left out: nobody has it, so nothing of it is made up for.
        ("0 12 * * *", "Pacific/Apia", "2011-12-29T00:00Z", ["2011-12-29T22:00Z", "2011-12-30T22:00Z"]),
        ("0 12 30 12 *", "Pacific/Apia", "2011-12-01T00:00Z", ["2012-12-29T22:00Z"]),
        ("0 * * * *", "Pacific/Apia", "2011-12-30T08:30Z", ["2011-12-30T09:00Z", "2011-12-30T10:00Z"]),
        # Until 1972 Liberia was 44 minutes and 30 seconds behind; the clocks were set to 00:44:30 at midnight.
        ("0 12 * * *", "Africa/Monrovia", "1972-01-05T00:00Z", ["1972-01-05T12:44Z", "1972-01-06T12:44Z"]),
        ("30 0 * * *", "Africa/Monrovia", "1972-01-06T12:00Z", ["1972-01-07T00:44Z", "1972-01-08T00:30Z"]),
        ("*/30 * * * *", "Africa/Monrovia", "1972-01-07T00:00Z", ["1972-01-07T00:14Z", "1972-01-07T01:00Z"]),
    ],
)
def test_clocks_that_are_set_neither_lose_nor_repeat_a_time(
    expression: str, zone: str, after: str, expected: list[str]
) -> None:
    assert next_of(expression, zone, after, len(expected)) == expected


def test_a_clock_that_is_ahead_by_odd_seconds_is_due_at_its_own_full_minute() -> None:
    (due,) = due_from("0 12 5 1 *", "Africa/Monrovia", epoch("1972-01-05T00:00Z"), epoch("1972-01-06T00:00Z"))

    assert due == epoch("1972-01-05T12:44:30Z")


@pytest.mark.parametrize("zone", ODD_ZONES)
def test_odd_zones_are_as_on_debian_at_every_change(zone: str) -> None:
    expressions = ["30 * * * *", "*/7 * * * *", "0 */2 * * *", "30 1 * * *", "15,45 0-3 * * *", "0 0 * * *"]
    for number, change in enumerate(changes_of(zone)):
        start, end = change - 3 * HOUR, change + 3 * HOUR
        for expression in expressions if number < 4 else expressions[number % 6 :: 6]:
            assert due_from(expression, zone, start, end) == runs_of(expression, zone, start - start % 60, end)


@pytest.mark.parametrize("zone", ODD_ZONES)
def test_days_around_a_change_are_whole_seen_from_days_before(zone: str) -> None:
    for change in changes_of(zone)[:2]:
        start, end = change // 60 * 60 - 70 * HOUR, change // 60 * 60 + 50 * HOUR
        for days_on in (-1, 0, 1):
            day = datetime.fromtimestamp(change + days_on * 24 * HOUR, ZoneInfo(zone)).day
            expression = f"*/30 * {day} * *"
            assert due_from(expression, zone, start, end) == runs_of(expression, zone, start, end)


def field(low: int, high: int) -> st.SearchStrategy[str]:
    value = st.integers(low, high).map(str)
    span = st.tuples(st.integers(low, high), st.integers(low, high)).filter(lambda pair: pair[0] < pair[1])
    ranges = span.map(lambda pair: f"{pair[0]}-{pair[1]}")
    steps = st.tuples(st.one_of(st.just("*"), ranges), st.integers(1, high)).map(lambda pair: f"{pair[0]}/{pair[1]}")
    term = st.one_of(value, ranges, steps)
    return st.one_of(st.just("*"), st.lists(term, min_size=1, max_size=3).map(",".join))


# Mostly all days: a day that is not near a change shows nothing.
DAYS = st.one_of(st.just(("*", "*", "*")), st.tuples(field(1, 28), field(1, 12), field(0, 7)))
EXPRESSIONS = st.builds(
    lambda minute, hour, days: " ".join((minute, hour, *days)),
    field(0, 59),
    st.one_of(field(0, 23), field(0, 3)),
    DAYS,
)


@settings(max_examples=80, deadline=None)
@given(data=st.data(), zone=st.sampled_from(ZONES), expression=EXPRESSIONS)
def test_every_zone_is_as_on_debian_around_every_change(data: st.DataObject, zone: str, expression: str) -> None:
    changes = changes_of(zone) or (int(epoch("2026-03-29T01:00Z")),)
    middle = data.draw(st.sampled_from(changes)) // 60 * 60
    start, end = middle - 14 * HOUR, middle + 14 * HOUR

    due = due_from(expression, zone, start, end)

    assert due == runs_of(expression, zone, start, end)


@settings(max_examples=60, deadline=None)
@given(
    data=st.data(),
    zone=st.sampled_from(ODD_ZONES),
    expression=EXPRESSIONS,
    shift=st.floats(-9e4, 9e4),
    length=st.floats(0, 2e5),
)
def test_next_and_newest_agree_with_the_walk(
    data: st.DataObject, zone: str, expression: str, shift: float, length: float
) -> None:
    after = data.draw(st.sampled_from(changes_of(zone) or (1_800_000_000,))) + shift
    trigger = CronTrigger(expression=expression, timezone=zone)
    walked = [*islice(due_instants(trigger, after, anchor_at=0.0, zone="UTC"), 12)]

    assert after < walked[0]
    assert all(left < right for left, right in pairwise(walked))
    assert all(next_due(trigger, left, anchor_at=0.0, zone="UTC") == right for left, right in pairwise(walked))
    assert all(next_due(trigger, due - 0.25, anchor_at=0.0, zone="UTC") == due for due in walked)
    until = walked[0] + length
    passed = list(takewhile(lambda due: due <= until, due_instants(trigger, after, anchor_at=0.0, zone="UTC")))
    assert missed_until(trigger, walked[0], until, anchor_at=0.0, zone="UTC") == (
        passed[-1],
        min(len(passed), COUNTED_MAX),
    )
