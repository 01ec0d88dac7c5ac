"""Debian's cron as it runs: a process that wakes up every minute, and sees how far the clock on the wall has gone.

Written after the manual and the rules of its main loop, and without anything of what it is to check.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from itertools import pairwise
from zoneinfo import ZoneInfo

# No zone has set its clocks twice within six days since 1970.
_LOOK = 3 * 86_400
_SPANS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
# How far a clock that was set, in minutes, is followed minute by minute, and when it was not set but corrected.
_CATCH_UP, _CORRECTED = 5, 180


def epoch(text: str) -> float:
    """Return the instant of an ISO 8601 text."""
    return datetime.fromisoformat(text).timestamp()


def utc(instant: float) -> str:
    """Return `2026-03-08T07:00Z`."""
    return f"{datetime.fromtimestamp(instant, UTC):%Y-%m-%dT%H:%MZ}"


@cache
def changes_of(name: str, first_year: int = 2015, last_year: int = 2040) -> tuple[int, ...]:
    """Return the instants within these years at which a zone's clocks are set."""
    zone = ZoneInfo(name)
    start, end = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (first_year, last_year + 1))
    offsets = [(instant, _offset(instant, zone)) for instant in range(start, end, _LOOK)]
    return tuple(_change(left, right, zone) for (left, before), (right, after) in pairwise(offsets) if before != after)


def _change(low: int, high: int, zone: ZoneInfo) -> int:
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _offset(middle, zone) == _offset(low, zone) else (low, middle)
    return high


def _offset(instant: int, zone: ZoneInfo) -> timedelta | None:
    return datetime.fromtimestamp(instant, zone).utcoffset()


@dataclass(frozen=True)
class Entry:
    """A line of a crontab, of numbers only."""

    fields: tuple[frozenset[int], ...]
    starts: tuple[bool, ...]

    @property
    def keeps_rhythm(self) -> bool:
        return self.starts[0] or self.starts[1]

    def matches(self, minutes: int) -> bool:
        """Whether it is to be started in a minute of the wall clock, counted since 1970 began on it."""
        minute, hour, day, month, weekday = self.fields
        if minutes % 60 not in minute or minutes // 60 % 24 not in hour:
            return False
        wall = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
        if wall.month not in month:
            return False
        by_day, by_weekday = wall.day in day, bool({wall.isoweekday(), wall.isoweekday() % 7} & weekday)
        return (by_day and by_weekday) if self.starts[2] or self.starts[4] else (by_day or by_weekday)


def entry_of(text: str) -> Entry:
    parts = text.split()
    fields = tuple(_values(part, *span) for part, span in zip(parts, _SPANS, strict=True))
    return Entry(fields, tuple(part.startswith("*") for part in parts))


def _values(field: str, low: int, high: int) -> frozenset[int]:
    values: set[int] = set()
    for term in field.split(","):
        span, _, step = term.partition("/")
        first, _, last = span.partition("-")
        start, end = (low, high) if span == "*" else (int(first), int(last or first))
        values.update(range(start, end + 1, int(step or 1)))
    return frozenset(values)


def runs_of(text: str, name: str, start: int, end: int) -> list[int]:
    """Return the instants within [start, end) at which cron would start an entry; both are whole minutes."""
    entry = entry_of(text)
    virtual, *shown = _shown(name, start - 60, end)
    runs = []
    for instant, running in zip(range(start, end, 60), shown, strict=True):
        if any(_woken(entry, virtual, running)):
            runs.append(instant)
        virtual = virtual if -_CORRECTED < running - virtual <= 0 else running
    return runs


def _woken(entry: Entry, virtual: int, running: int) -> Iterator[bool]:
    """Yield, for every minute that one waking looks at, whether the entry is started for it."""
    gone = running - virtual
    if gone > _CORRECTED or gone <= -_CORRECTED:
        yield entry.matches(running)
    elif gone <= 0:
        yield entry.keeps_rhythm and entry.matches(running)
    elif gone <= _CATCH_UP:
        yield from (entry.matches(minute) for minute in range(virtual + 1, running + 1))
    else:
        yield entry.keeps_rhythm and entry.matches(running)
        if not entry.keeps_rhythm:
            yield from (entry.matches(minute) for minute in range(virtual + 1, running + 1))


@lru_cache(maxsize=8)
def _shown(name: str, start: int, end: int) -> tuple[int, ...]:
    """What the wall clock shows every minute, in minutes since 1970 began on it."""
    zone = ZoneInfo(name)
    offsets = ((instant, _offset(instant, zone)) for instant in range(start, end, 60))
    return tuple((instant + (int(offset.total_seconds()) if offset else 0)) // 60 for instant, offset in offsets)
