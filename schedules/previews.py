"""What comes of a trigger: its next instants with local times, what the clocks do to them, and the trigger in words."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice, takewhile
from math import floor
from typing import Final
from zoneinfo import ZoneInfo

from contract.triggers import AtTrigger, CronTrigger, IntervalTrigger, PreviewInstant, SchedulePreview, Trigger
from schedules.cadence import JUMP_SECONDS_MAX, due_instants
from schedules.cron_expressions import CronExpression, read_expression
from schedules.cron_wording import in_words, listed
from schedules.poll_filters import DEFAULT_EVENT, POLL_EVENTS
from schedules.wall_clocks import local_time, meet, offset_at, wall_of, zone_named

_UNITS: Final = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
# Skipped times that are named; of a minute's rhythm there would be sixty.
_SKIPPED_NAMED: Final = 3


def preview_of(trigger: Trigger, *, after: float, count: int, anchor_at: float, zone: str) -> SchedulePreview:
    """Return the next `count` due instants after another, fewer where no more come.

    `anchor_at` is the origin of an interval's grid, `zone` that in which a trigger without a zone of its own is shown.
    ValidationFailure, with the path below the trigger, for a trigger that cannot be evaluated.
    """
    name = (trigger.timezone if isinstance(trigger, CronTrigger) else None) or zone
    expression = read_expression(trigger.expression) if isinstance(trigger, CronTrigger) else None
    found = islice(due_instants(trigger, after, anchor_at=anchor_at, zone=zone), count)
    instants = _shown_instants(found, local_time(after, zone_named(name)), zone_named(name), expression)
    return SchedulePreview(timezone=name, description=trigger_in_words(trigger, name), instants=tuple(instants))


def trigger_in_words(trigger: Trigger, zone: str) -> str:
    """Return when a trigger is due, in plain words; `zone` is that of its instants."""
    if isinstance(trigger, CronTrigger):
        return in_words(read_expression(trigger.expression))
    if isinstance(trigger, AtTrigger):
        return f"once, at {local_time(trigger.at, zone_named(zone)).isoformat(sep=' ', timespec='seconds')}"
    if isinstance(trigger, IntervalTrigger):
        return f"every {_length(trigger.seconds).removeprefix('1 ')}"
    event = POLL_EVENTS[str(trigger.filters.get("event", DEFAULT_EVENT))]
    base = f" into {trigger.filters['base']}" if "base" in trigger.filters else ""
    often = _length(trigger.poll_interval_seconds).removeprefix("1 ")
    return f"for each {event} pull request of {trigger.repository}{base}, asked for every {often}"


def _shown_instants(
    found: Iterable[float], before: datetime, zone: ZoneInfo, expression: CronExpression | None
) -> Iterator[PreviewInstant]:
    """Show instants; `before` is what the clocks show before the first of them."""
    for due in found:
        local = local_time(due, zone)
        notes = tuple(_notes(local, expression)) or tuple(_shift_notes(_offset(before), _offset(local)))
        timespec = "seconds" if due.is_integer() else "milliseconds"
        yield PreviewInstant(
            at=due, local=local.isoformat(timespec=timespec), utc_offset_seconds=_offset(local), notes=notes
        )
        before = local


def _notes(local: datetime, expression: CronExpression | None) -> Iterator[str]:
    """Say what the clocks do to one instant: they are set back over it, or forward just before it."""
    is_fixed = expression is not None and expression.is_fixed
    wall, zone = local.replace(tzinfo=None, fold=0), local.tzinfo or UTC
    if meet(wall, zone).repeated_seconds:
        which = "due once, the first time" if is_fixed else f"this is the {'second' if local.fold else 'first'} time"
        yield f"clocks go back: {_clock(wall)} comes twice; {which}"
    elif expression is not None and is_fixed:
        skipped = _skipped_walls(expression, floor(local.timestamp()), zone)
        if skipped:
            yield f"clocks go forward: {_nonexistent(skipped)} not exist; due once, at {_clock(wall)}"


def _skipped_walls(expression: CronExpression, due: int, zone: tzinfo) -> list[datetime]:
    """Return the times of an expression that are due at an instant because clocks jump over them just then."""
    before, after = offset_at(due - 1, zone), offset_at(due, zone)
    if not 0 < after - before < JUMP_SECONDS_MAX:
        return []
    end = wall_of(due, after)
    return list(takewhile(lambda wall: wall < end, expression.walls(wall_of(due - 1, before))))


def _shift_notes(before: int, after: int) -> Iterator[str]:
    if before != after:
        yield f"clocks have gone {'forward' if after > before else 'back'} by {_length(abs(after - before))} by then"


def _nonexistent(walls: list[datetime]) -> str:
    named = [_clock(wall) for wall in walls[:_SKIPPED_NAMED]]
    more = len(walls) - len(named)
    return f"{listed([*named, f'{more} more'] if more else named)} {'does' if len(walls) == 1 else 'do'}"


def _clock(wall: datetime) -> str:
    return f"{wall:%H:%M:%S}" if wall.second else f"{wall:%H:%M}"


def _length(seconds: int) -> str:
    """Return a length of time in the largest unit that measures it evenly, such as `90 minutes`."""
    unit, size = next((unit, size) for unit, size in _UNITS if seconds % size == 0)
    return f"{seconds // size} {unit}{'' if seconds == size else 's'}"


def _offset(local: datetime) -> int:
    return int((local.utcoffset() or timedelta()).total_seconds())
