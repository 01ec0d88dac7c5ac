"""From the in-memory records to contract models."""

from typing import Any

from contract.actions import ActionFields, ExecutionView
from contract.base import sanitize_text
from contract.events import MessageView
from contract.limits import READ_BUDGET_BYTES
from contract.money import to_usd
from contract.ports import Clock
from contract.runs import (
    BranchView,
    RunSummary,
    RunTotals,
)
from runs.cursors import WindowPosition
from runs.health import Signs, effective_health
from runs.services.execution_ports import Ending, LaunchDraft
from runs.services.ports import ProcessProbe
from runs.windows import carried_bytes, window_of
from tests.fakes.run_records import StoredMessage, StoredRun, stored_json

_NOT_ENDED = Ending(status="queued", reason_code="run.queued.launched")


def summary_fields(run: StoredRun, *, probe: ProcessProbe, clock: Clock) -> dict[str, Any]:
    """Return the fields of a RunSummary."""
    command, state = run.command, run.state
    described = command.model_dump(
        include={"name", "playbook_name", "agent_name", "invocation_id", "project", "model", "provider"}
    )
    return described | {
        "run_id": run.run_id,
        "status": run.status,
        "effective_health": _health(run, probe, clock),
        "invocation_kind": command.kind,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "updated_at": run.updated_at,
        "branch_count": state.branch_count,
        "message_count": len(run.messages),
        "status_reason_code": run.reason_code,
        "status_reason_summary": run.reason_summary,
        "tags": run.tags,
        "signal_count": len(run.signals),
        "cost_usd": to_usd(state.cost_micros),
        "input_tokens": state.input_tokens,
        "output_tokens": state.output_tokens,
        "created_at": run.created_at,
        "last_activity_at": run.last_activity_at,
        "cancel_requested_at": run.cancel_requested_at,
    }


def summary(run: StoredRun, *, probe: ProcessProbe, clock: Clock) -> RunSummary:
    """Return a run as a list shows it."""
    return RunSummary(**summary_fields(run, probe=probe, clock=clock))


def branches(run: StoredRun, limit: int, position: WindowPosition) -> tuple[BranchView, ...]:
    """Return every branch with its window; content beyond the read budget comes withheld."""
    remaining = READ_BUDGET_BYTES
    views: list[BranchView] = []
    for name, state in run.state.branches.items():
        recorded = [
            message for message in run.messages if message.view.branch == name and message.view.seq <= position.seq
        ]
        first, last = window_of(len(recorded), limit, position.window)
        messages, remaining = _window([m for m in recorded if first <= m.position <= last], remaining)
        views.append(
            BranchView(
                name=name,
                parent=state.parent,
                model=state.model,
                provider=state.provider,
                agent_name=state.agent_name,
                message_count=state.message_count,
                first_message_at=state.first_message_at,
                last_message_at=state.last_message_at,
                messages=messages,
                has_older=last > 0 and first > 1,
            )
        )
    return tuple(views)


def totals(run: StoredRun) -> RunTotals:
    """Count over the whole run."""
    return RunTotals(
        messages_by_role=dict(run.state.messages_by_role),
        signals=len(run.signals),
        artifacts=len(run.artifacts),
        transitions=len(run.transitions),
        usage_reports=len(run.usage),
        usage_reports_without_cost=sum(report.cost_usd is None for report in run.usage),
    )


def execution(run: StoredRun) -> ExecutionView | None:
    """Return how a run is executed, where it was launched."""
    if run.launch is None:
        return None
    draft, ending = run.launch.draft, run.launch.ending or _NOT_ENDED
    return ExecutionView(
        launch_key=draft.launch_key,
        action=action_of(draft).model_dump(mode="json", exclude_defaults=True),
        runtime=draft.runtime,
        cwd=draft.cwd,
        deadline_seconds=draft.deadline_seconds,
        queued_at=run.launch.queued_at,
        claimed_at=run.launch.claimed_at,
        attempts=run.launch.attempts,
        exit_code=ending.exit_code,
        exit_signal=ending.exit_signal,
        stdout_bytes=ending.stdout_bytes,
        stderr_bytes=ending.stderr_bytes,
        withheld_bytes=ending.withheld_bytes,
        output_tail=sanitize_text(ending.output_tail)[0],
    )


def action_of(draft: LaunchDraft) -> ActionFields:
    """Return the action alone: a LaunchRun is one as well, with more."""
    return ActionFields(**{name: getattr(draft.action, name) for name in ActionFields.model_fields})


def own_copy(view: MessageView) -> MessageView:
    """Return a view whose content nobody else holds."""
    return view.model_copy(update={"content": stored_json(view.content)})


def _window(found: list[StoredMessage], budget: int) -> tuple[tuple[MessageView, ...], int]:
    views: list[MessageView] = []
    for message in reversed(found):
        budget -= carried_bytes(message.view.size_bytes)
        view = own_copy(message.view)
        views.append(view if budget >= 0 else view.model_copy(update={"content": None, "withheld": True}))
    return tuple(reversed(views)), max(budget, 0)


def _health(run: StoredRun, probe: ProcessProbe, clock: Clock) -> str | None:
    process = run.command.process
    signs = Signs(
        status=run.status,
        kind=run.command.kind,
        alive=None if process is None else probe.alive(process),
        elsewhere=process is not None and probe.elsewhere(process),
        has_evidence=bool(run.messages or run.signals),
        last_activity_at=run.last_activity_at,
    )
    return effective_health(signs, now=clock.now())
