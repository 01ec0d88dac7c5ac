"""RunReadPort, RunEvidencePort, InvocationReadPort and RunTailPort over the in-memory records."""

from collections.abc import Iterable, Sequence
from typing import Any

from contract.base import Page
from contract.events import (
    MessageView,
    SignalView,
)
from contract.limits import STREAM_PAGE_BYTES, STREAM_PAGE_ENTRIES
from contract.runs import (
    EvidencePage,
    EvidenceRequest,
    InvocationDetail,
    InvocationQuery,
    InvocationSummary,
    RunDetail,
    RunQuery,
    RunSummary,
)
from runs.cursors import (
    ListPosition,
    WindowPosition,
    ahead_of_run,
    decode_evidence,
    decode_invocations,
    decode_list,
    decode_window,
    encode_evidence,
    encode_invocations,
    encode_list,
    encode_stream,
    encode_window,
)
from runs.invocations import Outcome, invocation_status
from runs.naming import fold, search_text
from runs.services.ports import Entries, EntryPage, RunHead
from runs.windows import afforded_artifacts, page_within_budget
from tests.fakes import run_views
from tests.fakes.run_records import RunStore, StoredInvocation, StoredRun

_DETAIL_ROWS = 200
_INVOCATION_RUNS = 200


class InMemoryRunReads(RunStore):
    """Reads runs, evidence, invocations, and the newest of runs."""

    async def list_runs(self, query: RunQuery) -> Page[RunSummary]:
        await self.reach("list_runs")
        found = sorted(
            (run for run in self.runs.values() if _matches(run, query)), key=lambda run: _sort_key(run, query)
        )
        after = decode_list(query)
        if after is not None:
            found = [run for run in found if _sort_key(run, query) > (-after.key, -after.number)]
        rows = found[query.offset : query.offset + query.limit + 1]
        shown, has_next = rows[: query.limit], len(rows) > query.limit
        return Page[RunSummary](
            items=self._summaries(shown),
            offset=query.offset,
            limit=query.limit,
            has_next=has_next,
            next_cursor=encode_list(query, _position(shown[-1], query)) if has_next else None,
        )

    async def get_run(self, run_id: str, *, message_limit: int, cursor: str | None) -> RunDetail | None:
        await self.reach("get_run")
        run = self.runs.get(run_id)
        if run is None:
            return None
        last_seq = run.state.last_seq
        position = decode_window(cursor, run_id, message_limit) or WindowPosition(last_seq, 0)
        if position.seq > last_seq:
            raise ahead_of_run()
        branches = run_views.branches(run, message_limit, position)
        older = encode_window(run_id, message_limit, WindowPosition(position.seq, position.window + 1))
        return RunDetail(
            **run_views.summary_fields(run, probe=self.probe, clock=self.clock),
            branches=branches,
            graph=run.graph,
            artifacts=tuple(
                afforded_artifacts(view for _, view in sorted(run.artifacts.values(), key=_row_number)[:_DETAIL_ROWS])
            ),
            transitions=tuple(run.transitions[-_DETAIL_ROWS:]),
            process=run.command.process,
            cancel_reason=run.state.cancel_reason,
            execution=run_views.execution(run),
            totals=run_views.totals(run),
            message_limit=message_limit,
            next_cursor=older if any(branch.has_older for branch in branches) else None,
            stream_cursor=encode_stream(run_id, last_seq),
        )

    async def read_evidence(self, request: EvidenceRequest) -> EvidencePage | None:
        await self.reach("read_evidence")
        run = self.runs.get(request.run_id)
        if run is None:
            return None
        after = decode_evidence(request)
        entries = ((number, item) for number, item in _pane(run, request.pane) if number > after)
        shown, has_next = page_within_budget(entries, request.limit)
        return EvidencePage(
            run_id=request.run_id,
            pane=request.pane,
            items=tuple(item for _, item in shown),
            limit=request.limit,
            has_next=has_next,
            next_cursor=encode_evidence(request.run_id, request.pane, shown[-1][0]) if has_next else None,
        )

    async def list_invocations(self, query: InvocationQuery) -> Page[InvocationSummary]:
        await self.reach("list_invocations")
        found = [item for item in self.invocations.values() if query.kind in (None, item.kind)]
        found.sort(key=_invocation_key)
        after = decode_invocations(query.cursor, query.kind)
        if after is not None:
            found = [item for item in found if _invocation_key(item) > (-after.key, -after.number)]
        rows = found[query.offset : query.offset + query.limit + 1]
        shown, has_next = rows[: query.limit], len(rows) > query.limit
        last = ListPosition(shown[-1].created_at, shown[-1].number) if has_next else None
        return Page[InvocationSummary](
            items=tuple(InvocationSummary(**self._invocation_fields(item)) for item in shown),
            offset=query.offset,
            limit=query.limit,
            has_next=has_next,
            next_cursor=encode_invocations(query.kind, last) if last else None,
        )

    async def get_invocation(self, invocation_id: str) -> InvocationDetail | None:
        await self.reach("get_invocation")
        invocation = self.invocations.get(invocation_id)
        if invocation is None:
            return None
        runs = sorted(self._runs_of(invocation_id), key=lambda run: (-run.updated_at, -run.number))
        return InvocationDetail(
            **self._invocation_fields(invocation),
            runs=self._summaries(runs[:_INVOCATION_RUNS]),
            runs_truncated=len(runs) > _INVOCATION_RUNS,
        )

    async def heads(self, run_ids: Sequence[str]) -> dict[str, RunHead]:
        await self.reach("heads")
        found = (self.runs[run_id] for run_id in run_ids if run_id in self.runs)
        return {
            run.run_id: RunHead(last_seq=run.state.last_seq, status=run.status, reason_code=run.reason_code)
            for run in found
        }

    async def entries(self, run_id: str, kind: Entries, *, after: int, up_to: int) -> EntryPage:
        await self.reach("entries")
        run = self.runs.get(run_id)
        items: list[MessageView | SignalView] = []
        size_bytes = 0
        for seq, item in () if run is None else _pane(run, kind):
            if not after < seq <= up_to:
                continue
            items.append(item)
            size_bytes += item.size_bytes
            if size_bytes >= STREAM_PAGE_BYTES or len(items) == STREAM_PAGE_ENTRIES:
                return EntryPage(items=tuple(items), through=seq)
        return EntryPage(items=tuple(items), through=up_to)

    def _summaries(self, runs: Iterable[StoredRun]) -> tuple[RunSummary, ...]:
        return tuple(run_views.summary(run, probe=self.probe, clock=self.clock) for run in runs)

    def _runs_of(self, invocation_id: str) -> list[StoredRun]:
        return [run for run in self.runs.values() if run.command.invocation_id == invocation_id]

    def _invocation_fields(self, invocation: StoredInvocation) -> dict[str, Any]:
        runs = self._runs_of(invocation.invocation_id)
        summary = invocation_status(
            [Outcome(status=run.status, count=1, ended_at=run.ended_at) for run in runs],
        )
        return {
            "invocation_id": invocation.invocation_id,
            "kind": invocation.kind,
            "status": summary.status,
            "run_count": summary.run_count,
            "open_run_count": summary.open_run_count,
            "created_at": invocation.created_at,
            "ended_at": summary.ended_at,
        }


def _matches(run: StoredRun, query: RunQuery) -> bool:
    command = run.command
    exact = (
        (query.playbook, command.playbook_name),
        (query.project, command.project),
        (query.kind, command.kind),
        (query.agent, command.agent_name),
        (query.invocation_id, command.invocation_id),
    )
    return (
        (not query.status or run.status in query.status)
        and all(wanted in (None, found) for wanted, found in exact)
        and not (query.project_is_null and command.project is not None)
        and _matches_tags(run, query)
        and _started_within(run, query)
        and (query.search is None or fold(query.search) in search_text(command.name, command.agent_name))
    )


def _matches_tags(run: StoredRun, query: RunQuery) -> bool:
    if not query.tags:
        return True
    carried = [tag in run.tags for tag in query.tags]
    return all(carried) if query.tags_match == "all" else any(carried)


def _started_within(run: StoredRun, query: RunQuery) -> bool:
    if query.started_after is None and query.started_before is None:
        return True
    if run.started_at is None:
        return False
    return (query.started_after is None or run.started_at >= query.started_after) and (
        query.started_before is None or run.started_at < query.started_before
    )


def _position(run: StoredRun, query: RunQuery) -> ListPosition:
    keys = {"recent": run.updated_at, "started": run.sort_started_at, "cost": run.sort_cost}
    return ListPosition(keys[query.sort], run.number)


def _sort_key(run: StoredRun, query: RunQuery) -> tuple[float, int]:
    position = _position(run, query)
    return -position.key, -position.number


def _invocation_key(invocation: StoredInvocation) -> tuple[float, int]:
    return -invocation.created_at, -invocation.number


def _row_number(row: tuple[int, Any]) -> int:
    return row[0]


def _pane(run: StoredRun, pane: str) -> list[tuple[int, Any]]:
    match pane:
        case "signals":
            return [(signal.seq, signal) for signal in run.signals]
        case "transitions":
            return [(move.number, move) for move in run.transitions]
        case "artifacts":
            return sorted(run.artifacts.values(), key=_row_number)
        case _:
            views = [run_views.own_copy(message.view) for message in run.messages]
            return [(view.seq, view) for view in views if pane == "messages" or view.role == "output"]
