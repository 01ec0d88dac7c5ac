"""At which instants a trigger is due: pure, exact, and in bounded time, whatever the clocks do.

Cron follows Debian's rules. An expression at fixed times is due once at a time that comes twice (the first time), and
for a skipped time at the jump, unless clocks jump by three hours and more; times that are skipped together are due
once. One that keeps a rhythm (its minute or hour begins with `*`) is due whenever the clocks show a time that matches.

cronsim says what matches, and not when the clocks show it: it takes a skipped midnight for a time that is shown, loses
times where clocks are set by half an hour, and makes up for a skipped day.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import count, islice, takewhile
from math import floor
from typing import Final
from zoneinfo import ZoneInfo

from contract.limits import INSTANT_MAX
from contract.triggers import AtTrigger, CronTrigger, IntervalTrigger, Trigger
from schedules.cron_expressions import CronExpression, read_expression
from schedules.wall_clocks import first_change, instant_of, meet, offset_at, wall_of, zone_named

# Instants that are counted one by one: more than a night of minutes.
COUNTED_MAX: Final = 1_000
# Debian's cron(8): a clock that goes on by three hours and more was set right, and nothing was skipped.
JUMP_SECONDS_MAX: Final = 3 * 3600
# More than any zone has set its clocks by: by a day, across the date line.
_SET_SECONDS_MAX: Final = 2 * 86_400
# The rarest day, a 29 February on a given weekday, comes after 40 years at the latest, and datetime ends in 9999.
_CRON_END: Final = INSTANT_MAX - 60 * 366 * 86_400


def next_due(trigger: Trigger, after: float, *, anchor_at: float, zone: str) -> float | None:
    """Return the first due instant strictly after another, or None when there is none; all are epoch seconds.

    `anchor_at` is the origin of an interval's grid, whose first instant is one interval later. `zone` is that of a cron
    expression that names none. ValidationFailure, with the path below the trigger, for a trigger that nothing should
    have stored.
    """
    return next(due_instants(trigger, after, anchor_at=anchor_at, zone=zone), None)


def due_instants(trigger: Trigger, after: float, *, anchor_at: float, zone: str) -> Iterator[float]:
    """Yield the due instants after another, strictly increasing; see `next_due`."""
    if isinstance(trigger, AtTrigger):
        return iter((trigger.at,) if trigger.at > after else ())
    if isinstance(trigger, CronTrigger):
        expression = read_expression(trigger.expression)
        return _cron_instants(expression, floor(after), zone_named(trigger.timezone or zone))
    seconds = trigger.seconds if isinstance(trigger, IntervalTrigger) else trigger.poll_interval_seconds
    return _grid(seconds, anchor_at, after)


def missed_until(trigger: Trigger, due_at: float, until: float, *, anchor_at: float, zone: str) -> tuple[float, int]:
    """Return the newest due instant up to `until`, and how many there are from `due_at`, which is one, to it.

    The number is at most COUNTED_MAX: then there are so many or more. The work is bounded, however far `until` is.
    """
    newest = due_at
    low, high = due_at, until
    # Each round goes on by one instant, and halves what is left; so a clock that is twenty years ahead takes thirty.
    while (due := next_due(trigger, low, anchor_at=anchor_at, zone=zone)) is not None and due <= until:
        newest = low = due
        middle = low + (high - low) / 2
        jumped = next_due(trigger, middle, anchor_at=anchor_at, zone=zone)
        if jumped is None or jumped > until:
            high = middle
        else:
            newest = low = jumped
    passed = takewhile(lambda due: due <= newest, due_instants(trigger, due_at, anchor_at=anchor_at, zone=zone))
    return newest, 1 + sum(1 for _ in islice(passed, COUNTED_MAX - 1))


def _grid(seconds: int, anchor_at: float, after: float) -> Iterator[float]:
    """Yield anchor + k * seconds, k from 1: each is rounded once from its exact value, so that nothing adds up."""
    passed = (Fraction(after) - Fraction(anchor_at)) // seconds
    for number in count(max(1, passed)):
        due = anchor_at + number * seconds
        if due > INSTANT_MAX:
            return
        if due > after:
            yield due


def _cron_instants(expression: CronExpression, after: int, zone: ZoneInfo) -> Iterator[float]:
    found = _fixed_instants if expression.is_fixed else _rhythm_instants
    if after < _CRON_END:
        for due in found(expression, after, zone):
            if due > _CRON_END:
                return
            yield float(due)


def _fixed_instants(expression: CronExpression, after: int, zone: ZoneInfo) -> Iterator[int]:
    # Later times are never met earlier, so none before what the clocks show now needs to be looked at.
    for wall in expression.walls(wall_of(after, offset_at(after, zone))):
        met = meet(wall, zone)
        if met.instant > after and met.skipped_seconds < JUMP_SECONDS_MAX:
            yield met.instant
            after = met.instant


def _rhythm_instants(expression: CronExpression, after: int, zone: ZoneInfo) -> Iterator[int]:
    """Walk from one change of the clocks to the next: in between they go like any clock."""
    start, offset = after, offset_at(after, zone)
    walls = expression.walls(wall_of(start, offset))
    while True:
        due = instant_of(next(walls), offset)
        # What is farther away than clocks are ever set lies beyond what any change on the way could make due.
        looked = min(due, start + _SET_SECONDS_MAX)
        change = first_change(start, looked, zone)
        if change is None and looked == due:
            yield due
            start = due
        else:
            start = change or max(looked, due - _SET_SECONDS_MAX)
            offset = offset_at(start, zone)
            walls = expression.walls(wall_of(start - 1, offset))
