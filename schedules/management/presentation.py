"""Schedules as tables and lines for people. Values in, text out; `zone` is where the reader lives."""

import json
import shlex
from collections.abc import Iterator, Sequence
from datetime import tzinfo
from typing import Final

from pydantic import JsonValue

from contract.errors import ValidationFailure
from contract.schedule_sets import ApplyResult, PlannedSchedule
from contract.schedules import (
    Firing,
    PauseResult,
    PollerView,
    ScheduleDeleted,
    ScheduleDetail,
    ScheduleExplanation,
    ScheduleLimits,
    ScheduleResult,
    ScheduleSummary,
)
from contract.triggers import AtTrigger, CronTrigger, GithubPollTrigger, SchedulePreview, Trigger
from schedules.previews import trigger_in_words
from schedules.reasons import DISABLED_REASONS, FIRING_REASONS
from studio_project.terminal import UNKNOWN, Line, Styled, Table
from studio_project.wording import instant, minute, pairs, titled

_HEALTH_STYLES: Final = {
    "healthy": "green",
    "failing": "bold red",
    "poller_failing": "bold red",
    "overdue": "bold red",
    "disabled": "dim",
}
_STEPS: Final = {
    "create": ("+", "created", "green"),
    "update": ("~", "updated", "yellow"),
    "disable": ("-", "disabled", "red"),
    "unchanged": ("=", "unchanged", "dim"),
}


def schedules_table(schedules: Sequence[ScheduleSummary], zone: tzinfo) -> Table:
    """Return the table of a list of schedules."""
    return Table(
        headers=("NAME", "STATE", "TRIGGER", "ACTION", "PROJECT", "NEXT", "LAST", "RUNS", "SPENT", "ID"),
        rows=[
            (
                found.name,
                state_words(found),
                trigger_short(found.trigger, zone),
                found.action_kind,
                found.project or UNKNOWN,
                minute(found.next_fire_at, zone),
                _last(found, zone),
                _of(found.run_count, found.max_runs),
                money(found.spent_usd),
                found.schedule_id,
            )
            for found in schedules
        ],
        empty="no schedules",
        elastic={"NAME", "TRIGGER", "PROJECT"},
    )


def firings_table(firings: Sequence[Firing], zone: tzinfo) -> Table:
    """Return the table of a list of firings."""
    return Table(
        headers=("DUE", "LATE", "CAUSE", "OUTCOME", "REASON", "RUN", "STATUS", "TOLD"),
        rows=[
            (
                instant(firing.due_at, zone),
                f"{max(0.0, firing.decided_at - firing.due_at):.1f}s" if firing.cause == "due" else UNKNOWN,
                f"chain {firing.depth}" if firing.cause == "chain" else firing.cause,
                firing.outcome,
                firing.reason_code,
                firing.run_id or UNKNOWN,
                firing.run_status or UNKNOWN,
                firing.event or firing.reason_summary or UNKNOWN,
            )
            for firing in firings
        ],
        empty="no firings",
        elastic={"TOLD"},
    )


def schedule_lines(found: ScheduleDetail, zone: tzinfo) -> Iterator[Line]:
    """Yield what `schedule show` says above the table of firings."""
    yield from pairs(_facts(found, zone))
    yield from titled("action", _action_lines(found.action.model_dump(mode="json", exclude_defaults=True)))
    if found.poller is not None:
        yield ()
        yield (Styled("poller", "bold"),)
        yield from ((Styled("  "), *line) for line in pairs(_poller_facts(found.poller, zone)))
    yield ()


def result_line(result: ScheduleResult, what: str, zone: tzinfo) -> Line:
    """Return what is said after a change."""
    due = "nothing is due" if result.next_fire_at is None else f"due next at {instant(result.next_fire_at, zone)}"
    state = due if result.enabled else "it does not fire"
    return (Styled(f"schedule {result.name} {what} ({result.schedule_id}): {state}"),)


def deleted_line(result: ScheduleDeleted) -> Line:
    """Return what is said of a removed schedule."""
    asked = f"; {len(result.cancelled_runs)} runs were asked to stop" if result.cancelled_runs else ""
    return (Styled(f"schedule {result.name} is deleted{asked}"),)


def firing_line(firing: Firing, name: str) -> Line:
    """Return what is said of one decision that a person asked for."""
    if firing.run_id is not None:
        return (Styled(f"schedule {name} fired as run {firing.run_id}"),)
    known = FIRING_REASONS.get(firing.reason_code)
    return (Styled(f"schedule {name} {firing.outcome}: {known.sentence if known else firing.reason_code}"),)


def preview_lines(preview: SchedulePreview) -> Iterator[Line]:
    """Yield the trigger in words, then its instants."""
    yield (Styled(preview.description, "bold"), Styled(f" ({preview.timezone})"))
    for found in preview.instants:
        notes = f"  {'; '.join(found.notes)}" if found.notes else ""
        yield (Styled(f"  {found.local.replace('T', ' ')}"), Styled(notes, "yellow"))
    if not preview.instants:
        yield (Styled("  no further instant", "dim"),)


def explanation_lines(found: ScheduleExplanation) -> Iterator[Line]:
    """Yield what `schedule why` says."""
    yield (
        Styled(f"schedule {found.name} ("),
        Styled(found.health, _HEALTH_STYLES.get(found.health, "")),
        Styled(f"): {found.standing}"),
    )
    yield from titled("what the next decision depends on", found.next_depends_on)
    yield from titled("what was decided, newest first", found.decisions)


def limits_lines(limits: ScheduleLimits) -> list[Line]:
    """Return the bounds of schedules."""
    return pairs((name.replace("_", " "), str(value)) for name, value in limits.model_dump().items())


def pause_line(result: PauseResult, what: str) -> Line:
    """Return what is said after all were paused or resumed."""
    return (Styled(f"{result.changed} schedules {what}; {result.paused} are paused now"),)


def plan_lines(result: ApplyResult) -> Iterator[Line]:
    """Yield the plan as a diff, and a count of its steps."""
    for planned in result.plan:
        if planned.step != "unchanged":
            yield from _planned_lines(planned)
    counted = (f"{_count(result, step)} {word}" for step, (_, word, _) in _STEPS.items())
    yield (Styled(", ".join(counted) + ("" if result.applied else "; nothing was changed (--dry-run)")),)


def state_words(found: ScheduleSummary) -> str:
    """Return how a schedule stands, and why where it is disabled."""
    if found.paused:
        return "paused"
    return found.health if found.disabled_reason is None else f"disabled, {found.disabled_reason.rpartition('.')[2]}"


def trigger_short(trigger: Trigger, zone: tzinfo) -> str:
    """Return a trigger as it is typed."""
    if isinstance(trigger, CronTrigger):
        return trigger.expression
    if isinstance(trigger, AtTrigger):
        return f"at {minute(trigger.at, zone)}"
    return trigger.repository if isinstance(trigger, GithubPollTrigger) else f"every {_duration(trigger.seconds)}"


def money(usd: float | None) -> str:
    """Return US dollars; unknown is not zero."""
    return UNKNOWN if usd is None else f"${usd:.4f}"


def _facts(found: ScheduleDetail, zone: tzinfo) -> list[tuple[str, str | None]]:
    budget = [money(found.budget_usd)] if found.budget_usd is not None else []
    budget += [f"{found.budget_tokens} tokens"] if found.budget_tokens is not None else []
    return [
        ("schedule", found.name),
        ("id", found.schedule_id),
        ("description", found.description),
        ("state", state_words(found)),
        ("why", DISABLED_REASONS.get(found.disabled_reason or "")),
        ("trigger", trigger_words(found.trigger)),
        ("project", found.project),
        ("missed", found.missed_fire_policy),
        ("overlap", found.overlap_policy),
        ("runs", _of(found.run_count, found.max_runs)),
        ("spent", f"{money(found.spent_usd)}, {UNKNOWN if found.spent_tokens is None else found.spent_tokens} tokens"),
        ("budget", ", ".join(budget)),
        ("next", None if found.next_fire_at is None else instant(found.next_fire_at, zone)),
        ("last", None if found.last_fired_at is None else instant(found.last_fired_at, zone)),
        ("last run", " ".join(filter(None, (found.last_run_id, found.last_run_status)))),
        ("created", instant(found.created_at, zone)),
        ("changed", f"{instant(found.updated_at, zone)} ({found.updated_at!r})"),
    ]


def trigger_words(trigger: Trigger) -> str:
    """Return a trigger in words, with what was typed; one that cannot be evaluated as it is stored."""
    zone = (trigger.timezone if isinstance(trigger, CronTrigger) else None) or "UTC"
    try:
        words = trigger_in_words(trigger, zone)
    except (ValidationFailure, KeyError):
        return trigger.model_dump_json()
    return f"{words} ({trigger.expression} in {zone})" if isinstance(trigger, CronTrigger) else words


def _poller_facts(poller: PollerView, zone: tzinfo) -> list[tuple[str, str | None]]:
    return [
        ("asked", instant(poller.last_poll_at, zone)),
        ("answered", instant(poller.last_ok_at, zone)),
        ("asks next", instant(poller.next_poll_at, zone)),
        ("failures", str(poller.consecutive_failures)),
        ("fault", poller.fault),
    ]


def _action_lines(action: dict[str, JsonValue]) -> Iterator[str]:
    for name, value in action.items():
        yield f"{name} {_words(value)}"


def _words(value: JsonValue) -> str:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return shlex.join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _duration(seconds: int) -> str:
    """Return a length as `--every` takes it."""
    found = ""
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        count, seconds = divmod(seconds, size)
        found += f"{count}{unit}" if count else ""
    return found


def _last(found: ScheduleSummary, zone: tzinfo) -> str:
    if found.last_fired_at is None:
        return UNKNOWN
    return f"{minute(found.last_fired_at, zone)} {found.last_run_status or 'open'}"


def _of(count: int, most: int | None) -> str:
    return str(count) if most is None else f"{count} of {most}"


def _count(result: ApplyResult, step: str) -> int:
    return sum(planned.step == step for planned in result.plan)


def _planned_lines(planned: PlannedSchedule) -> Iterator[Line]:
    mark, _, style = _STEPS[planned.step]
    yield (Styled(f"{mark} {planned.name}", style),)
    for change in planned.changes:
        if planned.step != "create":
            yield (Styled(f"    - {change.field}: {_words(change.before)}", "red"),)
        yield (Styled(f"    + {change.field}: {_words(change.after)}", "green"),)
