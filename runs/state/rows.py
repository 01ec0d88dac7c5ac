"""From rows to contract models. Rows come from our own tables, and pass the models' own validation."""

import json
from typing import Any, Final

from contract.actions import ExecutionView
from contract.events import (
    MessageView,
    ProcessIdentity,
    SignalView,
)
from contract.money import to_usd
from contract.runs import (
    BranchView,
    RunSummary,
    TransitionView,
)
from runs.health import Signs, effective_health
from runs.services.ports import ProcessProbe

Row = dict[str, Any]

PROCESS_COLUMNS: Final = (
    "process_host", "process_pid", "process_started_at", "process_started_ticks", "process_boot_id"
)  # fmt: skip
SUMMARY_COLUMNS: Final = (
    "id", "run_id", "kind", "name", "playbook_name", "agent_name", "project", "model", "provider", "invocation_id",
    "status", "status_reason_code", "status_reason_summary", "cancel_requested_at", "created_at", "started_at",
    "ended_at", "updated_at", "last_activity_at", "branch_count", "message_count", "signal_count", "input_tokens",
    "output_tokens", "cost_micros", "tags", *PROCESS_COLUMNS, "sort_started_at", "sort_cost",
)  # fmt: skip
# Columns of a launch that an ExecutionView shows under the same name.
_EXECUTION: Final = (
    "launch_key", "action", "runtime", "cwd", "deadline_seconds", "queued_at", "claimed_at", "attempts", "exit_code",
    "exit_signal", "stdout_bytes", "stderr_bytes", "withheld_bytes", "output_tail",
)  # fmt: skip
DETAIL_COLUMNS: Final = (
    *SUMMARY_COLUMNS, "last_seq", "messages_by_role", "usage_reports", "usage_reports_without_cost", "cancel_reason",
    "graph__graph", *(f"launch__{column}" for column in _EXECUTION),
)  # fmt: skip
ENTRY_COLUMNS: Final = ("seq", "event_id", "at", "recorded_at", "size_bytes", "withheld", "sanitized")
# A message's own columns; where the branch is not known already, `branch__name` is read with them.
MESSAGE_COLUMNS: Final = (*ENTRY_COLUMNS, "role", "content", "sender", "recipient", "message_id")
BRANCH_COLUMNS: Final = (
    "name", "parent", "model", "provider", "agent_name", "message_count", "first_message_at", "last_message_at"
)  # fmt: skip
TRANSITION_COLUMNS: Final = (
    "id", "from_status", "to_status", "reason_code", "reason_summary", "actor", "refused", "at"
)  # fmt: skip
SIGNAL_COLUMNS: Final = (*ENTRY_COLUMNS, "branch", "kind", "op_id", "payload")
# Columns that a summary shows under the same name.
_SAME: Final = (
    "run_id", "status", "playbook_name", "agent_name", "invocation_id", "project", "started_at", "ended_at",
    "updated_at", "branch_count", "message_count", "status_reason_code", "status_reason_summary", "name", "model",
    "provider", "signal_count", "input_tokens", "output_tokens", "created_at", "last_activity_at",
    "cancel_requested_at",
)  # fmt: skip


def summary_fields(row: Row, *, probe: ProcessProbe, now: float) -> Row:
    """Return the fields of a RunSummary."""
    fields = {column: row[column] for column in _SAME}
    fields["effective_health"] = _health(row, probe, now) if row["status"] == "running" else None
    fields["invocation_kind"] = row["kind"]
    fields["cost_usd"] = to_usd(row["cost_micros"])
    fields["tags"] = () if row["tags"] == "[]" else tuple(json.loads(row["tags"]))
    return fields


def summary(row: Row, *, probe: ProcessProbe, now: float) -> RunSummary:
    """Return a run as a list shows it."""
    return RunSummary(**summary_fields(row, probe=probe, now=now))


def process_of(row: Row) -> ProcessIdentity | None:
    """Return the recorded process of a run, where there is one."""
    if row["process_pid"] is None:
        return None
    return ProcessIdentity(
        host=row["process_host"],
        pid=row["process_pid"],
        started_at=row["process_started_at"],
        started_ticks=row["process_started_ticks"],
        boot_id=row["process_boot_id"],
    )


def execution_of(row: Row) -> ExecutionView | None:
    """Return how a run is executed, where it was launched."""
    if row["launch__launch_key"] is None:
        return None
    fields = {column: row[f"launch__{column}"] for column in _EXECUTION}
    return ExecutionView(**fields | {"action": json.loads(fields["action"])})


def _health(row: Row, probe: ProcessProbe, now: float) -> str | None:
    process = process_of(row)
    signs = Signs(
        status=row["status"],
        kind=row["kind"],
        alive=None if process is None else probe.alive(process),
        elsewhere=process is not None and probe.elsewhere(process),
        has_evidence=row["message_count"] > 0 or row["signal_count"] > 0,
        last_activity_at=row["last_activity_at"] or row["created_at"],
    )
    return effective_health(signs, now=now)


def message(row: Row, *, branch: str | None = None) -> MessageView:
    """Return one message, taking its row over; a row without `content` gives a withheld one."""
    row["branch"] = row.pop("branch__name") if branch is None else branch
    if row["content"] is None:
        row["withheld"] = True
    else:
        row["content"] = json.loads(row["content"])
    return MessageView(**row)


def signal(row: Row) -> SignalView:
    """Return one signal, taking its row over."""
    row["payload"] = json.loads(row["payload"])
    return SignalView(**row)


def branch(row: Row, messages: list[MessageView], *, has_older: bool) -> BranchView:
    """Return a branch with a window of its messages, taking its row over."""
    return BranchView(messages=tuple(messages), has_older=has_older, **row)


def transition(row: Row) -> TransitionView:
    """Return one move of a run, taking its row over."""
    row["number"] = row.pop("id")
    return TransitionView(**row)
