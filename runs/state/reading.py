"""DjangoRunReads: RunReadPort, RunEvidencePort and InvocationReadPort over the ORM."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

from django.db.models import Count, Max, Q

from contract.base import Page
from contract.events import MessageView, RunGraph
from contract.limits import READ_BUDGET_BYTES
from contract.ports import Clock
from contract.runs import (
    BranchView,
    EvidencePage,
    EvidenceRequest,
    InvocationDetail,
    InvocationQuery,
    InvocationSummary,
    RunDetail,
    RunQuery,
    RunSummary,
    RunTotals,
)
from runs.cursors import (
    ListPosition,
    WindowPosition,
    ahead_of_run,
    decode_evidence,
    decode_invocations,
    decode_window,
    encode_evidence,
    encode_invocations,
    encode_list,
    encode_stream,
    encode_window,
)
from runs.invocations import Outcome, invocation_status
from runs.models import (
    BranchRecord,
    InvocationRecord,
    MessageRecord,
    RunRecord,
    SignalRecord,
    TransitionRecord,
)
from runs.services.ports import ProcessProbe, RunArtifactRows
from runs.state import listing, rows
from runs.state.rows import Row
from runs.windows import afforded_artifacts, carried_bytes, page_within_budget, window_of
from studio_project.prepared_query import PreparedQuery
from studio_project.statedb import StateDB

# A detail shows this many artifacts and transitions; the panes show all.
_DETAIL_ROWS: Final = 200
_INVOCATION_RUNS: Final = 200
# Contents read ahead: each may have a mebibyte.
_CHUNK: Final = 50


# What a detail asks for; the numbers and the text stand for what each call fills in.
_RUN: Final = PreparedQuery(RunRecord.objects.filter(run_id="?").values(*rows.DETAIL_COLUMNS), "?")
_BRANCHES: Final = PreparedQuery(
    BranchRecord.objects.filter(run=-1).order_by("id").values("id", *rows.BRANCH_COLUMNS), -1
)
_WINDOW: Final = PreparedQuery(
    MessageRecord.objects.filter(branch=-1, position__range=(-2, -3))
    .order_by("-position")
    .values(*rows.MESSAGE_COLUMNS),
    *(-1, -2, -3),
)
_NEWEST_MOVES: Final = PreparedQuery(
    TransitionRecord.objects.filter(run=-1).order_by("-id").values(*rows.TRANSITION_COLUMNS)[:_DETAIL_ROWS], -1
)
# Built once: naming its columns is half the work of such a query.
_MESSAGES: Final = MessageRecord.objects.order_by("seq").values(*rows.MESSAGE_COLUMNS, "branch__name")
_SIGNALS: Final = SignalRecord.objects.order_by("seq").values(*rows.SIGNAL_COLUMNS)
_TRANSITIONS: Final = TransitionRecord.objects.order_by("id").values(*rows.TRANSITION_COLUMNS)


class DjangoRunReads:
    """Reads runs, evidence and invocations."""

    def __init__(self, db: StateDB, *, artifacts: RunArtifactRows, probe: ProcessProbe, clock: Clock) -> None:
        """Take the executor and what the rows need to be shown."""
        self._db = db
        self._artifacts = artifacts
        self._probe = probe
        self._clock = clock

    async def list_runs(self, query: RunQuery) -> Page[RunSummary]:
        """Return one page: one query, nothing counted."""
        found = await self._db.read(partial(listing.fetch, query))
        shown, has_next = found[: query.limit], len(found) > query.limit
        cursor = encode_list(query, listing.position_of(query, shown[-1])) if has_next else None
        return Page[RunSummary](
            items=self._summaries(shown),
            offset=query.offset,
            limit=query.limit,
            has_next=has_next,
            next_cursor=cursor,
        )

    async def get_run(self, run_id: str, *, message_limit: int, cursor: str | None) -> RunDetail | None:
        """Return a run with one window of its messages, from one snapshot."""
        return await self._db.read(partial(self._detail, run_id, message_limit, cursor), snapshot=True)

    async def read_evidence(self, request: EvidenceRequest) -> EvidencePage | None:
        """Return one page of a pane, from one snapshot."""
        return await self._db.read(partial(self._evidence, request), snapshot=True)

    async def list_invocations(self, query: InvocationQuery) -> Page[InvocationSummary]:
        """Return one page of invocations, newest first."""
        return await self._db.read(partial(_invocations, query), snapshot=True)

    async def get_invocation(self, invocation_id: str) -> InvocationDetail | None:
        """Return an invocation with its newest runs."""
        return await self._db.read(partial(self._invocation, invocation_id), snapshot=True)

    def _summaries(self, found: Iterable[Row]) -> tuple[RunSummary, ...]:
        now = self._clock.now()
        return tuple(rows.summary(row, probe=self._probe, now=now) for row in found)

    def _detail(self, run_id: str, message_limit: int, cursor: str | None) -> RunDetail | None:
        row = _RUN.first(run_id)
        if row is None:
            return None
        position = decode_window(cursor, run_id, message_limit) or WindowPosition(row["last_seq"], 0)
        if position.seq > row["last_seq"]:
            raise ahead_of_run()
        branches = _branches(row, message_limit, position)
        older = any(branch.has_older for branch in branches)
        next_position = WindowPosition(position.seq, position.window + 1)
        found = self._artifacts.of_run(run_id, after=0, limit=_DETAIL_ROWS)
        artifacts = tuple(afforded_artifacts(view for _, view in found))
        transitions = _transitions(row["id"])
        return RunDetail(
            **rows.summary_fields(row, probe=self._probe, now=self._clock.now()),
            branches=branches,
            graph=_graph(row),
            artifacts=artifacts,
            transitions=transitions,
            process=rows.process_of(row),
            cancel_reason=row["cancel_reason"],
            execution=rows.execution_of(row),
            totals=RunTotals(
                messages_by_role=json.loads(row["messages_by_role"]),
                signals=row["signal_count"],
                artifacts=_total(artifacts, lambda: self._artifacts.count(run_id)),
                transitions=_total(transitions, lambda: TransitionRecord.objects.filter(run=row["id"]).count()),
                usage_reports=row["usage_reports"],
                usage_reports_without_cost=row["usage_reports_without_cost"],
            ),
            message_limit=message_limit,
            next_cursor=encode_window(run_id, message_limit, next_position) if older else None,
            stream_cursor=encode_stream(run_id, row["last_seq"]),
        )

    def _evidence(self, request: EvidenceRequest) -> EvidencePage | None:
        number = RunRecord.objects.filter(run_id=request.run_id).values_list("id", flat=True).first()
        if number is None:
            return None
        after = decode_evidence(request)
        found = self._pane(request, number, after)
        shown, has_next = page_within_budget(found, request.limit)
        cursor = encode_evidence(request.run_id, request.pane, shown[-1][0]) if has_next else None
        return EvidencePage(
            run_id=request.run_id,
            pane=request.pane,
            items=tuple(item for _, item in shown),
            limit=request.limit,
            has_next=has_next,
            next_cursor=cursor,
        )

    def _pane(self, request: EvidenceRequest, number: int, after: int) -> Iterable[tuple[int, Any]]:
        wanted = request.limit + 1
        match request.pane:
            case "messages" | "output":
                messages = _MESSAGES.filter(run=number, seq__gt=after)
                if request.pane == "output":
                    messages = messages.filter(role="output")
                return ((row["seq"], rows.message(row)) for row in messages[:wanted].iterator(chunk_size=_CHUNK))
            case "signals":
                signals = _SIGNALS.filter(run=number, seq__gt=after)[:wanted]
                return ((row["seq"], rows.signal(row)) for row in signals.iterator(chunk_size=_CHUNK))
            case "transitions":
                moves = _TRANSITIONS.filter(run=number, id__gt=after)[:wanted]
                return ((row["id"], rows.transition(row)) for row in moves)
            case "artifacts":
                return self._artifacts.of_run(request.run_id, after=after, limit=wanted)

    def _invocation(self, invocation_id: str) -> InvocationDetail | None:
        record = InvocationRecord.objects.filter(invocation_id=invocation_id).first()
        if record is None:
            return None
        runs = RunRecord.objects.filter(invocation__invocation_id=invocation_id).order_by("-updated_at", "-id")
        found = list(runs.values(*rows.SUMMARY_COLUMNS)[: _INVOCATION_RUNS + 1])
        return InvocationDetail(
            **_invocation_fields(record, _outcomes([record])[invocation_id]),
            runs=self._summaries(found[:_INVOCATION_RUNS]),
            runs_truncated=len(found) > _INVOCATION_RUNS,
        )


def _branches(run: Row, limit: int, position: WindowPosition) -> tuple[BranchView, ...]:
    """Return every branch with its window; content beyond the read budget comes withheld."""
    remaining = READ_BUDGET_BYTES
    views: list[BranchView] = []
    for row in _BRANCHES.all(run["id"]) if run["branch_count"] else ():
        branch = row.pop("id")
        count = row["message_count"] if position.seq == run["last_seq"] else _recorded_by(branch, position.seq)
        first, last = window_of(count, limit, position.window)
        messages, used = _window(branch, row["name"], range(first, last + 1), remaining)
        remaining -= used
        views.append(rows.branch(row, messages, has_older=first > 1 and last > 0))
    return tuple(views)


def _recorded_by(branch: int, seq: int) -> int:
    """Return the position of the branch's last message that was recorded by `seq`."""
    messages = MessageRecord.objects.filter(branch=branch, seq__lte=seq).order_by("-position")
    return messages.values_list("position", flat=True).first() or 0


def _window(branch: int, name: str, positions: range, budget: int) -> tuple[list[MessageView], int]:
    """Read a branch's messages, newest first within the budget; return them oldest first, and what they used."""
    messages: list[MessageView] = []
    used = 0
    if not positions:
        return messages, used
    for row in _WINDOW.stream(branch, positions[0], positions[-1], chunk=_CHUNK):
        used += carried_bytes(row["size_bytes"])
        if used > budget:
            row["content"] = None
        messages.append(rows.message(row, branch=name))
    return messages[::-1], min(used, budget)


def _graph(run: Row) -> RunGraph | None:
    text = run["graph__graph"]
    return None if text is None else RunGraph.model_validate_json(text)


def _transitions(run: int) -> tuple[Any, ...]:
    return tuple(rows.transition(row) for row in reversed(_NEWEST_MOVES.all(run)))


def _total(shown: tuple[Any, ...], count: Callable[[], int]) -> int:
    """Return how many there are: those shown, unless the window was full."""
    return count() if len(shown) == _DETAIL_ROWS else len(shown)


def _invocations(query: InvocationQuery) -> Page[InvocationSummary]:
    found = InvocationRecord.objects.order_by("-created_at", "-id")
    if query.kind is not None:
        found = found.filter(kind=query.kind)
    if position := decode_invocations(query.cursor, query.kind):
        key, number = position.key, position.number
        found = found.filter(Q(created_at__lte=key) & (Q(created_at__lt=key) | Q(id__lt=number)))
    records = list(found[query.offset : query.offset + query.limit + 1])
    shown, has_next = records[: query.limit], len(records) > query.limit
    outcomes = _outcomes(shown)
    last = ListPosition(shown[-1].created_at, shown[-1].pk) if has_next else None
    return Page[InvocationSummary](
        items=tuple(
            InvocationSummary(**_invocation_fields(record, outcomes[record.invocation_id])) for record in shown
        ),
        offset=query.offset,
        limit=query.limit,
        has_next=has_next,
        next_cursor=encode_invocations(query.kind, last) if last else None,
    )


def _outcomes(records: Iterable[InvocationRecord]) -> defaultdict[str, list[Outcome]]:
    """Return, by invocation, how many of its runs have which status: one query for all."""
    ids = [record.invocation_id for record in records]
    outcomes: defaultdict[str, list[Outcome]] = defaultdict(list)
    grouped = RunRecord.objects.filter(invocation_id__in=ids).values_list("invocation_id", "status")
    for invocation_id, status, count, ended_at in grouped.annotate(Count("id"), Max("ended_at")).order_by():
        outcomes[str(invocation_id)].append(Outcome(status=status, count=count, ended_at=ended_at))
    return outcomes


def _invocation_fields(record: InvocationRecord, outcomes: list[Outcome]) -> Row:
    summary = invocation_status(outcomes)
    return {
        "invocation_id": record.invocation_id,
        "kind": record.kind,
        "status": summary.status,
        "run_count": summary.run_count,
        "open_run_count": summary.open_run_count,
        "created_at": record.created_at,
        "ended_at": summary.ended_at,
    }
