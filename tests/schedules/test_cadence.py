"""Due instants of every kind of trigger: exact, strictly later, and in bounded time."""

from itertools import count, islice, pairwise
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.errors import ValidationFailure
from contract.limits import INSTANT_MAX, INTERVAL_SECONDS_MAX
from contract.triggers import AtTrigger, CronTrigger, GithubPollTrigger, IntervalTrigger, Trigger
from schedules.cadence import COUNTED_MAX, due_instants, missed_until, next_due
from tests.schedules.debian_cron import epoch, utc

NOW: Final = epoch("2026-01-01T00:00Z")
YEARS: Final = 366 * 86_400.0


def cron(expression: str, zone: str | None = None) -> CronTrigger:
    return CronTrigger(expression=expression, timezone=zone)


def due_after(trigger: Trigger, after: float, *, anchor_at: float = NOW, zone: str = "UTC") -> float | None:
    return next_due(trigger, after, anchor_at=anchor_at, zone=zone)


def first_of(trigger: Trigger, number: int, after: float = NOW, zone: str = "UTC") -> list[str]:
    return [utc(due) for due in islice(due_instants(trigger, after, anchor_at=NOW, zone=zone), number)]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0 0 1,15 * 5", ["01-02", "01-09", "01-15", "01-16", "01-23", "01-30"]),
        ("0 0 */2 * 5", ["01-09", "01-23", "02-13", "02-27", "03-13", "03-27"]),
        ("0 0 13 * */5", ["02-13", "03-13", "09-13", "11-13", "12-13", "2027-06-13"]),
        ("0 0 * * 0", ["01-04", "01-11"]),
        ("0 0 * * 7", ["01-04", "01-11"]),
        ("0 0 * * SUN", ["01-04", "01-11"]),
        ("@weekly", ["01-04", "01-11"]),
        ("@monthly", ["02-01", "03-01"]),
        ("@annually", ["2027-01-01", "2028-01-01"]),
        ("@Daily", ["01-02", "01-03"]),
        ("0 0 31 4,5 *", ["05-31", "2027-05-31"]),
        ("0 0 29 2 *", ["2028-02-29", "2032-02-29"]),
        ("0 0 29 2 */7", ["2032-02-29", "2060-02-29", "2088-02-29", "2128-02-29"]),
        ("0 0 L 2 *", ["02-28", "2027-02-28", "2028-02-29"]),
        ("0 0 LW * *", ["01-30", "02-27"]),
        ("0 0 * * MON#2", ["01-12", "02-09"]),
        ("0 0 * * 5L", ["01-30", "02-27"]),
    ],
)
def test_days_are_either_of_both_fields_unless_one_begins_with_a_star(expression: str, expected: list[str]) -> None:
    dates = [date if len(date) > 5 else f"2026-{date}" for date in expected]

    assert first_of(cron(expression), len(dates)) == [f"{date}T00:00Z" for date in dates]


def test_a_cron_expression_is_read_in_its_own_zone_and_else_in_the_one_given() -> None:
    after = epoch("2026-07-02T15:00Z")

    assert first_of(cron("0 18 * * *", "America/New_York"), 1, after) == ["2026-07-02T22:00Z"]
    assert first_of(cron("0 18 * * *"), 1, after, zone="America/New_York") == ["2026-07-02T22:00Z"]
    assert first_of(cron("0 18 * * *", "Asia/Kolkata"), 1, after, zone="UTC") == ["2026-07-03T12:30Z"]
    assert first_of(cron("0 13 2 7 *", "America/New_York"), 1, after) == ["2026-07-02T17:00Z"]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_a_full_minute_is_due_until_it_is_reached_exactly(zone: str) -> None:
    due = NOW + 60

    assert due_after(cron("* * * * *", zone), due - 3e-7) == due
    assert due_after(cron("* * * * *", zone), due) == due + 60


@pytest.mark.parametrize("expression", ["0 0 30 2 *", "* * * * * *", "nonsense", ""])
def test_an_expression_that_nothing_should_have_stored_is_refused_with_its_place(expression: str) -> None:
    with pytest.raises(ValidationFailure) as raised:
        due_after(cron(expression), NOW)

    assert [failure.path for failure in raised.value.field_errors] == [("expression",)]


def test_a_zone_that_is_gone_is_refused_and_no_other_takes_its_place() -> None:
    with pytest.raises(ValidationFailure) as raised:
        due_after(cron("0 0 * * *", "Mars/Base"), NOW)

    assert [failure.path for failure in raised.value.field_errors] == [("timezone",)]


@pytest.mark.parametrize("trigger", [cron("* * * * *", "Asia/Tokyo"), cron("0 0 29 2 */7"), IntervalTrigger(seconds=7)])
def test_nothing_is_due_after_the_end_of_the_calendar(trigger: Trigger) -> None:
    assert due_after(trigger, INSTANT_MAX) is None


def test_cron_ends_some_decades_before_the_calendar_and_an_interval_with_it() -> None:
    start = INSTANT_MAX - 70 * YEARS
    yearly = list(due_instants(cron("0 0 1 1 *"), start, anchor_at=NOW, zone="UTC"))
    daily = list(due_instants(IntervalTrigger(seconds=86_400), INSTANT_MAX - YEARS, anchor_at=NOW, zone="UTC"))

    assert [utc(due)[:4] for due in (yearly[0], yearly[-1])] == ["9930", "9939"]
    assert utc(daily[-1]) == "9999-12-31T00:00Z"


def test_an_instant_is_due_once() -> None:
    trigger = AtTrigger(at=NOW)

    assert due_after(trigger, NOW - 0.001) == NOW
    assert due_after(trigger, NOW) is None


@pytest.mark.parametrize(
    "trigger",
    [IntervalTrigger(seconds=60), GithubPollTrigger(repository="a/b", poll_interval_seconds=60)],
)
def test_intervals_keep_their_grid_whatever_the_runs_and_ticks_take(trigger: Trigger) -> None:
    starts: list[float] = []
    now = free_at = NOW
    due = due_after(trigger, now)
    for number in count():
        if due is None or len(starts) == 200:
            break
        now += 7
        if now >= due and now >= free_at:
            starts.append(due)
            free_at = now + (150 if number == 100 else 3)
            due = due_after(trigger, now)

    assert starts[0] == NOW + 60
    assert all((due - NOW) % 60 == 0 for due in starts)
    assert all(left < right for left, right in pairwise(starts))


def test_an_interval_is_first_due_one_interval_after_its_anchor() -> None:
    assert due_after(IntervalTrigger(seconds=60), NOW - 1_000_000) == NOW + 60
    assert due_after(IntervalTrigger(seconds=60), NOW) == NOW + 60
    assert due_after(IntervalTrigger(seconds=60), NOW + 60) == NOW + 120


@given(
    seconds=st.integers(1, INTERVAL_SECONDS_MAX),
    anchor_at=st.floats(0, 4e9),
    after=st.floats(0, INSTANT_MAX),
)
def test_every_interval_is_the_anchor_and_whole_steps_rounded_once(
    seconds: int, anchor_at: float, after: float
) -> None:
    due = due_after(IntervalTrigger(seconds=seconds), after, anchor_at=anchor_at)

    if due is None:
        assert after + seconds > INSTANT_MAX - 1
    else:
        steps = round((due - anchor_at) / seconds)
        assert due == anchor_at + steps * seconds
        assert due > after
        assert steps == 1 or anchor_at + (steps - 1) * seconds <= after


@pytest.mark.parametrize(
    ("trigger", "hours", "expected"),
    [
        (cron("*/5 * * * *"), 12, 145),
        (cron("* * * * *"), 12, 721),
        (cron("0 3 * * *"), 12, 1),
        (IntervalTrigger(seconds=300), 12, 145),
        (GithubPollTrigger(repository="a/b", poll_interval_seconds=3_600), 12, 13),
        (AtTrigger(at=NOW + 300), 12, 1),
    ],
)
def test_a_night_is_counted_from_its_first_to_its_newest_instant(trigger: Trigger, hours: int, expected: int) -> None:
    first = due_after(trigger, NOW)
    assert first is not None

    newest, number = missed_until(trigger, first, first + hours * 3_600, anchor_at=NOW, zone="UTC")

    assert number == expected
    following = due_after(trigger, newest)
    assert following is None or following > first + hours * 3_600 >= newest


@pytest.mark.parametrize(
    ("trigger", "newest"),
    [
        (cron("* * * * *"), "2046-01-01T00:00Z"),
        (cron("30 2 * * *", "Europe/Berlin"), "2045-12-31T01:30Z"),
        (cron("*/5 * 29 2 */7", "America/New_York"), "2033-01-01T00:00Z"),
        (IntervalTrigger(seconds=1), "2046-01-01T00:00Z"),
        (GithubPollTrigger(repository="a/b", poll_interval_seconds=1), "2046-01-01T00:00Z"),
    ],
)
def test_a_clock_that_is_twenty_years_ahead_costs_as_little_as_a_night(trigger: Trigger, newest: str) -> None:
    first, until = due_after(trigger, NOW), epoch("2046-01-01T00:00:30Z")
    assert first is not None

    found, number = missed_until(trigger, first, until, anchor_at=NOW, zone="UTC")

    assert number <= COUNTED_MAX
    assert found <= until
    assert (due_after(trigger, found) or until + 1) > until
    assert utc(found)[:4] <= newest[:4]


def test_what_is_not_late_is_the_newest_itself() -> None:
    trigger = cron("*/5 * * * *")

    assert missed_until(trigger, NOW, NOW, anchor_at=NOW, zone="UTC") == (NOW, 1)
    assert missed_until(trigger, NOW, NOW + 299.9, anchor_at=NOW, zone="UTC") == (NOW, 1)
    assert missed_until(trigger, NOW, NOW + 300, anchor_at=NOW, zone="UTC") == (NOW + 300, 2)
