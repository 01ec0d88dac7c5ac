"""A cron expression in plain words, made from what it matches, not from how it is written."""

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Final, cast

from cronsim import CronSim

from schedules.cron_expressions import CronExpression

_MONTHS: Final = (
    *("", "January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
# As cronsim counts them; Sunday is 0 and 7.
_DAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NTH: Final = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", CronSim.LAST: "last"}
_LAST_DAYS: Final = {CronSim.LAST: "the last day", CronSim.LAST_WEEKDAY: "the last day from Monday to Friday"}
# More times of the day than these are told by their hours and minutes, and more values of a step by the first three.
_NAMED_MAX: Final = 6


def in_words(expression: CronExpression) -> str:
    """Return when an expression is due, such as `at 00:00 on day 1 and 15 of the month or on Friday`."""
    parsed = expression.parsed
    times, is_list = _times(sorted(parsed.minutes), sorted(parsed.hours))
    days = _days(parsed)
    months = "" if len(parsed.months) == len(_MONTHS) - 1 else "in " + listed(_runs(parsed.months, _MONTHS))
    if is_list and not days:
        days = "every day"
    return " ".join(part for part in (times, days, months) if part)


def listed(words: Sequence[str], link: str = "and") -> str:
    """Return `a, b and c`."""
    return f" {link} ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def _times(minutes: list[int], hours: list[int]) -> tuple[str, bool]:
    """Return the times of the day in words, and whether they are a list of them."""
    every_hour, step = _step(hours, 24), _step(minutes, 60)
    if every_hour == 1 and step is not None:
        return ("every minute" if step == 1 else f"every {step} minutes"), False
    if every_hour is not None and len(minutes) == 1:
        return f"every {'hour' if every_hour == 1 else f'{every_hour} hours'} from 00:{minutes[0]:02d}", False
    if len(hours) * len(minutes) <= _NAMED_MAX:
        return "at " + listed([f"{hour:02d}:{minute:02d}" for hour in hours for minute in minutes]), True
    if step is not None:
        often = "every minute" if step == 1 else f"every {step} minutes"
    else:
        often = f"at {_counted('minute', minutes)}"
    return f"{often} of {'every hour' if every_hour == 1 else _counted('hour', hours)}", False


def _step(values: list[int], size: int) -> int | None:
    """Return the step with which values go evenly round a clock of this size, from 0; None when they do not."""
    step = size // len(values)
    return step if len(values) > 1 and values == list(range(0, size, step)) and size % step == 0 else None


def _days(parsed: CronSim) -> str:
    month_days, weekdays = _days_of_month(parsed.days), _weekdays(parsed.weekdays)
    if month_days and weekdays:
        link = f"if it is {listed(weekdays, 'or')}" if parsed.day_and else f"or on {listed(weekdays)}"
        return f"{month_days} {link}"
    if not parsed.day_and:  # either is enough, and one is every day
        return ""
    return f"on {listed(weekdays)}" if weekdays else month_days


def _days_of_month(days: Collection[int]) -> str:
    """Return them in words; nothing for all of them."""
    numbers = [day for day in days if day > 0]
    if len(numbers) == 31:
        return ""
    words = [_counted("day", numbers)] if numbers else []
    return f"on {listed([*words, *(name for day, name in _LAST_DAYS.items() if day in days)])} of the month"


def _weekdays(items: Iterable[object]) -> list[str]:
    """Return their names; none for all of them. Items are 0 to 7, or a weekday and which one of the month."""
    plain = {(item - 1) % 7 + 1 for item in items if isinstance(item, int)}
    nth = sorted(cast("tuple[int, int]", item) for item in items if isinstance(item, tuple))
    named = [f"the {_NTH[which]} {_DAYS[day]} of the month" for day, which in nth]
    return [] if len(plain) == 7 else [*_runs(plain, _DAYS), *named]


def _counted(noun: str, numbers: Collection[int]) -> str:
    words = _runs(numbers, [str(number) for number in range(max(numbers) + 1)])
    return f"{noun}{'' if len(numbers) == 1 else 's'} {listed(words)}"


def _runs(numbers: Collection[int], names: Sequence[str]) -> list[str]:
    """Return the names of numbers: `a to c` for three and more that follow each other, `a, c, e … k` for long steps."""
    ordered = sorted(numbers)
    gaps = {right - left for left, right in pairwise(ordered)}
    if len(ordered) > _NAMED_MAX and len(gaps) == 1 and gaps != {1}:
        return [f"{', '.join(names[number] for number in ordered[:3])} … {names[ordered[-1]]}"]
    breaks = [place for place, (left, right) in enumerate(pairwise(ordered), 1) if right != left + 1]
    words: list[str] = []
    for start, end in pairwise([0, *breaks, len(ordered)]):
        run = [names[number] for number in ordered[start:end]]
        words += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else run
    return words
