"""Cron expressions: which are taken, what is wrong with the others, and which wall-clock times one matches.

cronsim reads them as Debian's cron does. Beyond that it takes `L` and `LW` as a day of the month, `5L` and `MON#2` as a
day of the week, and `5/15` for `5-59/15`. What it takes and nobody means is refused here: a field of seconds, a step of
`L` or within `5-5`, and a step that is larger than its field.
"""

from bisect import bisect_right
from calendar import monthrange
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from functools import cache, lru_cache
from typing import Final

from cronsim import CronSim, CronSimError
from cronsim.cronsim import RANGES, Field

from contract.errors import ValidationFailure, shown

ALIASES: Final[dict[str, str]] = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}

# Each field's name, and what it may hold.
_FIELDS: Final[dict[Field, tuple[str, str]]] = {
    Field.MINUTE: ("minute", "0-59"),
    Field.HOUR: ("hour", "0-23"),
    Field.DAY: ("day of month", "1-31, `L`, `LW`"),
    Field.MONTH: ("month", "1-12, JAN-DEC"),
    Field.DOW: ("day of week", "0-7, SUN-SAT, `5L`, `MON#2`"),
}
_GRAMMAR: Final = "ranges `a-b`, `*`, steps `/n` from 1, and commas"


class CronExpression:
    """An expression that is due at some time.

    `is_fixed`: it names times of the day. One whose minute or hour begins with `*` does not: it keeps a rhythm.
    """

    def __init__(self, fields: list[str]) -> None:
        """Take five upper-case fields that are right each by itself. CronSimError where no month has such a day."""
        self.parsed = CronSim(" ".join(fields), datetime(2000, 1, 1))  # noqa: DTZ001  # on a wall clock: without a zone
        self.is_fixed = not fields[0].startswith("*") and not fields[1].startswith("*")
        hours, minutes = sorted(self.parsed.hours), sorted(self.parsed.minutes)
        self._times = [time(hour, minute) for hour in hours for minute in minutes]

    def walls(self, after: datetime) -> Iterator[datetime]:
        """Yield every time that matches after another, in order and without end; all are datetimes without a zone."""
        day = after.date()
        first = bisect_right(self._times, after.time())
        while True:
            if day.month not in self.parsed.months:
                day = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
            else:
                if self.parsed.match_day(day):
                    yield from (datetime.combine(day, moment) for moment in self._times[first:])
                day += timedelta(days=1)
            first = 0

    def is_ever_due(self) -> bool:
        """Say whether there is such a day in any year."""
        return any(day.month in self.parsed.months and self.parsed.match_day(day) for day in _every_kind_of_day())


# Whoever asks for the next instant has a schedule's text; there are as many as schedules.
@lru_cache(maxsize=1_024)
def read_expression(text: str) -> CronExpression:
    """Return the expression. ValidationFailure at `expression` for what is none, or could never be due."""
    fields = _fields_of(text)
    for kind, field in zip(_FIELDS, fields, strict=True):
        _check_field(kind, field)
    with suppress(CronSimError):
        expression = CronExpression(fields)
        if expression.is_ever_due():
            return expression
    days = f"`{fields[2]}` in month `{fields[3]}` on weekday `{fields[4]}`"
    raise _failure("never", f"the day {days} never comes")


def _fields_of(text: str) -> list[str]:
    foreign = next((char for char in text if char != "\t" and not " " <= char <= "~"), None)
    if foreign is not None:
        raise _failure("character", f"holds `{shown(foreign)}`, and takes visible ASCII characters and blanks only")
    fields = text.split()
    if not fields:
        raise _failure("empty", "is empty: expected 5 fields, or one of " + ", ".join(ALIASES))
    if fields[0].startswith("@") and len(fields) == 1:
        if fields[0].lower() not in ALIASES:
            raise _failure("unknown_name", f"`{shown(fields[0])}` is none of " + ", ".join(ALIASES))
        fields = ALIASES[fields[0].lower()].split()
    if len(fields) != len(_FIELDS):
        raise _failure("fields", f"expected 5 fields, got {len(fields)}: minute hour day-of-month month day-of-week")
    return [field.upper() for field in fields]


def _check_field(kind: Field, field: str) -> None:
    try:
        kind.parse(field)
    except CronSimError:
        raise _field_failure(kind, field, f"must be made of {_FIELDS[kind][1]}, {_GRAMMAR}") from None
    for base, slash, step in (term.partition("/") for term in field.split(",")):
        if slash and int(step) > max(RANGES[kind]):
            raise _field_failure(kind, field, f"has a step beyond {max(RANGES[kind])}")
        if slash and (base.startswith("L") or ("-" in base and len(kind.parse(base)) == 1)):
            raise _field_failure(kind, field, f"has a step within `{shown(base)}`, which is a single value")


@cache
def _every_kind_of_day() -> tuple[date, ...]:
    """Return the days of fourteen years: the seven common years and the seven leap years that there are."""
    years = (*(2001, 2002, 2003, 2005, 2006, 2009, 2010), *range(2000, 2028, 4))
    return tuple(day for year in years for month in range(1, 13) for day in _days_of(year, month))


def _days_of(year: int, month: int) -> list[date]:
    return [date(year, month, number) for number in range(1, monthrange(year, month)[1] + 1)]


def _field_failure(kind: Field, field: str, fault: str) -> ValidationFailure:
    return _failure("field", f"{_FIELDS[kind][0]} `{shown(field)}` {fault}")


def _failure(code: str, message: str) -> ValidationFailure:
    return ValidationFailure.at("expression", code=code, message=message)
