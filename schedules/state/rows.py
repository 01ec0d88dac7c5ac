"""Between rows and what the ports take and return. A row that cannot be read is poisoned: None stands for it."""

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

from pydantic import TypeAdapter

from contract.folding import fold
from contract.money import to_usd
from contract.schedules import Firing, ScheduleAction, ScheduleSummary
from contract.triggers import Trigger
from schedules.health import health_of
from schedules.schedule import PollState, ScheduleState
from schedules.services.ports import FiringDraft, OpenFiring

Row = dict[str, Any]

# Columns that a ScheduleState has under the same name.
_SAME: Final = (
    "schedule_id", "name", "description", "enabled", "paused", "disabled_reason", "zone", "project",
    "missed_fire_policy", "overlap_policy", "max_runs", "budget_micros", "budget_tokens", "anchor_at", "next_fire_at",
    "run_count", "spent_micros", "spent_tokens", "last_fired_at", "last_run_id", "last_run_status",
    "consecutive_failures", "created_at", "updated_at",
)  # fmt: skip
# Columns of a PollState, and its names for them; `seen` is JSON text.
_POLL: Final = {
    "poll_etag": "etag",
    "poll_cursor_at": "cursor_at",
    "poll_last_at": "last_poll_at",
    "poll_last_ok_at": "last_ok_at",
    "poll_not_before": "not_before",
    "poll_failures": "failures",
    "poll_fault": "fault",
}
# What may be poisoned.
JSON_COLUMNS: Final = ("trigger", "action", "poll_seen")
STATE_COLUMNS: Final = ("id", "revision", *_SAME, *JSON_COLUMNS, *_POLL)

_SUMMARY_FIELDS: Final = tuple(ScheduleSummary.model_fields)
# Where a field of a summary is made of another column.
_MADE_OF: Final = {"health": "poll_failures", "budget_usd": "budget_micros", "spent_usd": "spent_micros"}
# One column for each field of a summary, in the order of the fields.
SUMMARY_COLUMNS: Final = tuple(_MADE_OF.get(field, field) for field in _SUMMARY_FIELDS)
# Shared by all summaries that are made here; nobody changes a frozen model's.
_ALL_SET: Final = set(_SUMMARY_FIELDS)

FIRING_COLUMNS: Final = (
    "id", "firing_id", "due_at", "decided_at", "outcome", "reason_code", "run_id", "reason_summary", "cause", "event",
    "depth", "parent_run_id", "run_status",
)  # fmt: skip
OPEN_COLUMNS: Final = ("id", "firing_id", "schedule__schedule_id", "run_id", "depth", "action", "root_firing_id")

_TRIGGER: Final[TypeAdapter[Trigger]] = TypeAdapter(Trigger)
_SEEN: Final = TypeAdapter(tuple[str, ...])
# Two pages of a list: schedules seldom change, and many have the same trigger.
_TRIGGERS_KEPT: Final = 2_000


# ---- from rows


def readable(found: Iterable[Row]) -> tuple[ScheduleState, ...]:
    """Return the schedules of rows; poisoned ones are left out."""
    return tuple(state for row in found if (state := state_of(row)) is not None)


def state_of(row: Row) -> ScheduleState | None:
    """Return a schedule."""
    try:
        trigger, action, seen = _parsed(row)
    except ValueError:
        return None
    poll = PollState(seen=seen, **{name: row[column] for column, name in _POLL.items()})
    same = {column: row[column] for column in _SAME}
    return ScheduleState(**same, trigger=trigger, action=action, poll=poll, revision=row["revision"])


def is_poisoned(row: Row) -> bool:
    """Whether the JSON_COLUMNS of a row cannot be read."""
    try:
        _parsed(row)
    except ValueError:
        return True
    return False


def _parsed(row: Row) -> tuple[Trigger, ScheduleAction, tuple[str, ...]]:
    seen = () if row["poll_seen"] == "[]" else _SEEN.validate_json(row["poll_seen"])
    return _trigger(row["trigger"]), ScheduleAction.model_validate_json(row["action"]), seen


@lru_cache(maxsize=_TRIGGERS_KEPT)
def _trigger(text: str) -> Trigger:
    return _TRIGGER.validate_json(text)


def summary(row: tuple[Any, ...], *, now: float) -> ScheduleSummary | None:
    """Return a schedule as a list shows it, from its SUMMARY_COLUMNS."""
    fields = dict(zip(_SUMMARY_FIELDS, row, strict=True))
    try:
        fields["trigger"] = _trigger(fields["trigger"])
    except ValueError:
        return None
    fields["health"] = health_of(
        enabled=fields["enabled"],
        next_fire_at=fields["next_fire_at"],
        last_fired_at=fields["last_fired_at"],
        last_run_status=fields["last_run_status"],
        poll_failures=fields["health"],
        now=now,
    )
    fields["budget_usd"] = to_usd(fields["budget_usd"])
    fields["spent_usd"] = to_usd(fields["spent_usd"])
    return _unchecked(fields)


def _unchecked(fields: Row) -> ScheduleSummary:
    """Return a summary of every field, in their order, as `model_construct` would: a page of them at a tenth of it."""
    made = ScheduleSummary.__new__(ScheduleSummary)
    object.__setattr__(made, "__dict__", fields)
    object.__setattr__(made, "__pydantic_fields_set__", _ALL_SET)
    object.__setattr__(made, "__pydantic_extra__", None)
    object.__setattr__(made, "__pydantic_private__", None)
    return made


def firing(row: Row, schedule_id: str) -> Firing:
    """Return a firing from its FIRING_COLUMNS, taking its row over."""
    del row["id"]
    return Firing(schedule_id=schedule_id, **row)


def open_firing(row: Row) -> OpenFiring | None:
    """Return an open firing from its OPEN_COLUMNS, taking its row over."""
    try:
        row["action"] = ScheduleAction.model_validate_json(row["action"])
    except ValueError:
        return None
    del row["id"]
    return OpenFiring(schedule_id=row.pop("schedule__schedule_id"), **row)


# ---- to rows


def columns_of(state: ScheduleState) -> Row:
    """Return all columns of a schedule but its revision."""
    same = {column: getattr(state, column) for column in _SAME}
    return same | _search(state.name) | _trigger_columns(state.trigger) | _action_columns(state.action) | _poll(state)


def changed_columns(old: ScheduleState, new: ScheduleState) -> Row:
    """Return the columns in which two states of a schedule differ."""
    changed = {column: value for column in _SAME if (value := getattr(new, column)) != getattr(old, column)}
    if "name" in changed:
        changed |= _search(new.name)
    if new.trigger != old.trigger:
        changed |= _trigger_columns(new.trigger)
    if new.action != old.action:
        changed |= _action_columns(new.action)
    if new.poll != old.poll:
        changed |= _poll(new)
    return changed


def firing_columns(draft: FiringDraft) -> Row:
    """Return all columns of a firing but whose it is."""
    return {
        "firing_id": draft.firing_id,
        "slot": draft.slot,
        "due_at": draft.due_at,
        "decided_at": draft.decided_at,
        "outcome": draft.outcome,
        "reason_code": draft.reason_code,
        "reason_summary": draft.reason_summary,
        "cause": draft.cause,
        "event": draft.event,
        "depth": draft.depth,
        "parent_run_id": draft.parent_run_id,
        "root_firing_id": draft.root_firing_id or draft.firing_id,
        "action": None if draft.action is None else _action_text(draft.action),
        "run_id": None if draft.run is None else draft.run.run_id,
    }


def _search(name: str) -> Row:
    return {"search_text": fold(name)}


def _trigger_columns(trigger: Trigger) -> Row:
    return {"trigger": trigger.model_dump_json(), "trigger_kind": trigger.kind}


def _action_columns(action: ScheduleAction) -> Row:
    return {"action": _action_text(action), "action_kind": action.kind}


def _action_text(action: ScheduleAction) -> str:
    return action.model_dump_json(exclude_defaults=True)


def _poll(state: ScheduleState) -> Row:
    columns = {column: getattr(state.poll, name) for column, name in _POLL.items()}
    return columns | {"poll_seen": json.dumps(state.poll.seen)}
