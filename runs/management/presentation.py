"""Runs and invocations as tables and lines for people. Values in, text out; `zone` is where the reader lives."""

import shlex
from collections.abc import Iterator, Sequence
from datetime import tzinfo
from typing import Final

from pydantic import JsonValue

from contract.actions import ExecutionView, LaunchResult
from contract.base import CommandJson
from contract.events import RecordResult
from contract.runs import (
    BranchView,
    InvocationDetail,
    InvocationSummary,
    RunDetail,
    RunSummary,
)
from runs.endings import signal_name
from studio_project.frame_wording import body_text, message_lines
from studio_project.terminal import UNKNOWN, Line, Styled, Table, printable_block
from studio_project.wording import instant, minute, pairs, size, titled

# Enough of a prompt to know it by.
_GLANCE_CHARS: Final = 80


def runs_table(runs: Sequence[RunSummary], zone: tzinfo) -> Table:
    """Return the table of a list of runs."""
    return Table(
        headers=("RUN", "STATUS", "NAME", "AGENT", "PROJECT", "STARTED", "TOOK", "MSGS", "COST", "TAGS"),
        rows=[
            (
                run.run_id,
                status_words(run),
                run.name or run.playbook_name or UNKNOWN,
                run.agent_name or UNKNOWN,
                run.project or UNKNOWN,
                minute(run.started_at, zone),
                took(run.started_at, run.ended_at),
                str(run.message_count),
                money(run.cost_usd),
                " ".join(run.tags),
            )
            for run in runs
        ],
        empty="no runs",
        elastic={"NAME", "AGENT", "PROJECT", "TAGS"},
    )


def invocations_table(invocations: Sequence[InvocationSummary], zone: tzinfo) -> Table:
    """Return the table of a list of invocations."""
    return Table(
        headers=("INVOCATION", "KIND", "STATUS", "RUNS", "OPEN", "CREATED", "TOOK"),
        rows=[
            (
                found.invocation_id,
                found.kind,
                found.status,
                str(found.run_count),
                str(found.open_run_count),
                minute(found.created_at, zone),
                took(found.created_at, found.ended_at),
            )
            for found in invocations
        ],
        empty="no invocations",
    )


def invocation_lines(invocation: InvocationDetail, zone: tzinfo) -> list[Line]:
    """Return what `invocation show` says above the table of its runs."""
    lines = pairs(
        [
            ("invocation", invocation.invocation_id),
            ("kind", invocation.kind),
            ("status", invocation.status),
            ("created", instant(invocation.created_at, zone)),
            ("took", took(invocation.created_at, invocation.ended_at)),
            ("runs", f"{invocation.run_count}, {invocation.open_run_count} open"),
        ]
    )
    if invocation.runs_truncated:
        lines.append([Styled("the newest runs follow; `run list --invocation` shows all", "dim")])
    return lines


def run_lines(run: RunDetail, zone: tzinfo) -> Iterator[Line]:
    """Yield what `run show` says, branch by branch."""
    yield from pairs(_run_facts(run, zone))
    if run.execution is not None:
        yield from _execution_lines(run.execution, zone)
    if run.graph is not None:
        yield from titled("graph", (f"{edge.source} -> {edge.target}" for edge in run.graph.edges))
        yield from titled("nodes", (f"{node.id} {node.label or ''}" for node in run.graph.nodes))
    artifacts = (f"{found.kind} {found.name} {found.path or ''}" for found in run.artifacts)
    yield from titled("artifacts", artifacts)
    moves = (
        f"{instant(move.at, zone)} {move.from_status or 'new'} -> {move.to_status} {move.reason_code}"
        f" by {move.actor}{' (refused)' if move.refused else ''}"
        for move in run.transitions
    )
    yield from titled("transitions", moves)
    for branch in run.branches:
        yield from _branch_lines(branch, zone)
    if run.next_cursor is not None:
        yield ()
        yield (Styled(f"older messages: --cursor {run.next_cursor}", "dim"),)


def recorded_line(result: RecordResult) -> Line:
    """Return what `run record` says at its end."""
    refused = f", {result.refused_transitions} refused moves" if result.refused_transitions else ""
    return (Styled(f"run {result.run_id}: {result.accepted} accepted, {result.duplicates} duplicates{refused}"),)


def launched_line(result: LaunchResult) -> Line:
    """Return what `run launch` says."""
    if result.repeated:
        return (Styled(f"run {result.run_id} was launched before with key {result.launch_key}; it is {result.status}"),)
    return (Styled(f"run {result.run_id} is {result.status}"),)


def status_words(run: RunSummary) -> str:
    """Return the status, and beside it what a running run is really doing."""
    if run.status == "running" and run.cancel_requested_at is not None:
        return "running, cancelling"
    if run.effective_health not in (None, "healthy"):
        return f"{run.status}, {run.effective_health}"
    return run.status


def took(started_at: float | None, ended_at: float | None) -> str:
    """Return a duration in its two largest units."""
    if started_at is None or ended_at is None:
        return UNKNOWN
    seconds = max(0.0, ended_at - started_at)
    if seconds < 60:
        return f"{seconds:.1f}s"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02d}m" if hours else f"{minutes}m{seconds:02d}s"


def money(cost_usd: float | None) -> str:
    """Return US dollars; unknown is not zero."""
    return UNKNOWN if cost_usd is None else f"${cost_usd:.4f}"


def _run_facts(run: RunDetail, zone: tzinfo) -> list[tuple[str, str | None]]:
    tokens = f"{_count(run.input_tokens)} in, {_count(run.output_tokens)} out, {money(run.cost_usd)}"
    return [
        ("run", run.run_id),
        ("name", run.name),
        ("status", status_words(run)),
        ("cancelled", run.cancel_reason),
        ("reason", " ".join(filter(None, (run.status_reason_code, run.status_reason_summary)))),
        ("agent", run.agent_name),
        ("playbook", run.playbook_name),
        ("model", " ".join(filter(None, (run.provider, run.model)))),
        ("project", run.project),
        ("invocation", run.invocation_id),
        ("started", instant(run.started_at, zone)),
        ("took", took(run.started_at, run.ended_at)),
        ("usage", tokens),
        ("evidence", f"{run.message_count} messages, {run.signal_count} signals, {run.branch_count} branches"),
        ("tags", " ".join(run.tags)),
    ]


def _count(tokens: int | None) -> str:
    return UNKNOWN if tokens is None else str(tokens)


def _execution_lines(execution: ExecutionView, zone: tzinfo) -> Iterator[Line]:
    """Yield how a launched run is executed, then the end of what it printed."""
    yield ()
    yield (Styled("execution", "bold"),)
    yield from ((Styled("  "), *line) for line in pairs(_execution_facts(execution, zone)))
    if execution.output_tail:
        yield from titled("output, its end", printable_block(execution.output_tail.removesuffix("\n")))


def _execution_facts(execution: ExecutionView, zone: tzinfo) -> list[tuple[str, str | None]]:
    printed = f"{size(execution.stdout_bytes)} stdout, {size(execution.stderr_bytes)} stderr"
    counted = execution.stdout_bytes is not None
    return [
        ("runtime", execution.runtime),
        ("action", _action_words(execution.action)),
        ("cwd", execution.cwd),
        ("key", execution.launch_key),
        ("queued", instant(execution.queued_at, zone)),
        ("claimed", None if execution.claimed_at is None else instant(execution.claimed_at, zone)),
        ("attempts", str(execution.attempts)),
        ("deadline", f"{execution.deadline_seconds:g}s"),
        ("exit code", None if execution.exit_code is None else str(execution.exit_code)),
        ("signal", None if execution.exit_signal is None else signal_name(execution.exit_signal)),
        ("printed", printed if counted else None),
        ("not kept", size(execution.withheld_bytes) if execution.withheld_bytes else None),
    ]


def _action_words(action: CommandJson) -> str:
    """Return kind and given fields of an action, long texts cut, lists of arguments as a shell would take them."""
    fields = dict(action) if isinstance(action, dict) else {}
    kind = fields.pop("kind", UNKNOWN)
    told = [f"{name} {_argument_words(value)}" for name, value in fields.items()]
    return ", ".join(told if kind in fields else [str(kind), *told])


def _argument_words(value: JsonValue) -> str:
    return shlex.join(map(str, value)) if isinstance(value, list) else _cut(body_text(value))


def _cut(text: str) -> str:
    return text if len(text) <= _GLANCE_CHARS else f"{text[:_GLANCE_CHARS]}… ({len(text)} characters)"


def _branch_lines(branch: BranchView, zone: tzinfo) -> Iterator[Line]:
    older = ", older ones left out" if branch.has_older else ""
    parent = f" from {branch.parent}" if branch.parent else ""
    yield ()
    yield (
        Styled(f"branch {branch.name}", "bold"),
        Styled(f"{parent}: {branch.message_count} messages{older}"),
    )
    for message in branch.messages:
        yield from message_lines(message, zone, with_branch=False)
