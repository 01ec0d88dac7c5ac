"""Time zones: which there are, and when the clock on a wall there shows what."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from contract.errors import ValidationFailure, shown
from contract.limits import INSTANT_MAX

# What ZoneInfo raises for a name that is no zone: a KeyError mostly, an OSError for a folder as "America".
_NO_ZONE: Final = (ValueError, OSError, KeyError)
# Files beside the zones. Those below `right/` count leap seconds, which epoch seconds do not; `localtime` differs from
# machine to machine; `Factory` is what a machine has on which nobody has chosen a zone.
_NOT_ZONES: Final = re.compile(r"posix/.*|right/.*|localtime|posixrules|Factory")

_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001  # on a wall clock: without a zone
# No zone has changed its offset twice within six days since 1970: who looks once a day misses no change.
_DAY_SECONDS: Final = 86_400


def zone_named(name: str) -> ZoneInfo:
    """Return the IANA zone of this name; the old ones (`EST5EDT`, `GB`) are zones as well.

    ValidationFailure at `timezone` for anything else, rules that are written out (`EST5EDT,M3.2.0,M11.1.0`) included:
    no other zone is ever put in the place of an unknown one.
    """
    try:
        if not _NOT_ZONES.fullmatch(name):
            return ZoneInfo(name)
    except _NO_ZONE:
        pass
    message = f"`{shown(name)}` is not an IANA time zone such as Europe/Berlin"
    raise ValidationFailure.at("timezone", code="timezone", message=message)


def local_time(instant: float, zone: ZoneInfo) -> datetime:
    """Return what the clocks of a zone show at an instant (epoch seconds).

    On the last day of the calendar, 9999-12-31, it is in UTC: east of it there is no more such day.
    """
    return datetime.fromtimestamp(instant, UTC if instant > INSTANT_MAX - _DAY_SECONDS else zone)


def offset_at(instant: int, zone: tzinfo) -> int:
    """Return the seconds by which the zone's clocks are ahead of UTC at an instant (epoch seconds)."""
    return _seconds(datetime.fromtimestamp(instant, zone).utcoffset())


def wall_of(instant: int, offset: int) -> datetime:
    """Return what a clock shows, as a datetime without a zone, that is so many seconds ahead of UTC."""
    return _EPOCH + timedelta(seconds=instant + offset)


def instant_of(wall: datetime, offset: int) -> int:
    """Return the instant at which a clock that is so many seconds ahead of UTC shows `wall`."""
    return _seconds(wall - _EPOCH) - offset


def first_change(after: int, until: int, zone: tzinfo) -> int | None:
    """Return the first instant within (after, until] at which the zone's offset is another than just before."""
    offset = offset_at(after, zone)
    for looked in range(after, until, _DAY_SECONDS):
        end = min(looked + _DAY_SECONDS, until)
        if offset_at(end, zone) != offset:
            return _change_within(looked, end, offset, zone)
    return None


@dataclass(frozen=True, slots=True)
class WallTime:
    """When the clocks of a zone show a time.

    `instant` is the first time they do; for a time that is skipped, the instant at which they jump over it.
    `skipped_seconds` and `repeated_seconds` are how far clocks are set forward or back there, 0 where they are not.
    """

    instant: int
    skipped_seconds: int = 0
    repeated_seconds: int = 0


def meet(wall: datetime, zone: tzinfo) -> WallTime:
    """Return when the clocks of a zone show `wall`, a datetime without a zone."""
    # PEP 495: of a skipped or repeated time, fold 0 has the offset before the change and fold 1 the one after it.
    before, after = (_seconds(wall.replace(tzinfo=zone, fold=fold).utcoffset()) for fold in (0, 1))
    first = instant_of(wall, before)
    if before >= after:
        return WallTime(first, repeated_seconds=before - after)
    change = first_change(instant_of(wall, after), first, zone)
    return WallTime(first if change is None else change, skipped_seconds=after - before)


def _change_within(low: int, high: int, offset: int, zone: tzinfo) -> int:
    """Find the change between an instant with this offset and a later one with another."""
    while high - low > 1:
        middle = (low + high) // 2
        if offset_at(middle, zone) == offset:
            low = middle
        else:
            high = middle
    return high


def _seconds(delta: timedelta | None) -> int:
    return 0 if delta is None else delta.days * 86_400 + delta.seconds
