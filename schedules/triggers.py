"""What is wrong with a trigger: what could never be due, or not when somebody means it to be."""

from contract.base import FieldFailure
from contract.errors import ValidationFailure
from contract.limits import MISSED_AFTER_SECONDS
from contract.triggers import AtTrigger, CronTrigger, GithubPollTrigger, Trigger
from schedules.cron_expressions import read_expression
from schedules.poll_filters import filter_failures, repository_failures
from schedules.wall_clocks import zone_named


def trigger_failures(trigger: Trigger, *, now: float, zone: str) -> tuple[FieldFailure, ...]:
    """Return every fault of a new trigger, with paths below it; bounds are the contract's, and checked before.

    `now` in epoch seconds: an instant that has passed is one that a new schedule can never be due at. `zone` is that of
    a cron expression that names none.
    """
    if isinstance(trigger, CronTrigger):
        return _cron_failures(trigger, zone)
    if isinstance(trigger, GithubPollTrigger):
        return (*repository_failures(trigger.repository), *filter_failures(trigger.filters))
    if isinstance(trigger, AtTrigger):
        return _past_failures(trigger.at, now)
    return ()


def _cron_failures(trigger: CronTrigger, zone: str) -> tuple[FieldFailure, ...]:
    failures: tuple[FieldFailure, ...] = ()
    for read, text in ((read_expression, trigger.expression), (zone_named, trigger.timezone or zone)):
        try:
            read(text)
        except ValidationFailure as failure:
            failures += failure.field_errors
    return failures


def _past_failures(at: float, now: float) -> tuple[FieldFailure, ...]:
    if at > now - MISSED_AFTER_SECONDS:
        return ()
    return (FieldFailure(path=("at",), code="past", message=f"passed {now - at:.0f} seconds ago"),)
