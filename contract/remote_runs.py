"""Operations on runs, over HTTP: a part of RemoteStudio."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from contract.actions import LaunchResult, LaunchRun
from contract.base import Page
from contract.events import RecordEvents, RecordResult, StreamFrame
from contract.http_exchange import query_of, segment
from contract.remote_part import RemotePart
from contract.runs import (
    CancelResult,
    CancelRun,
    ChangeTags,
    EvidencePage,
    EvidenceRequest,
    InvocationDetail,
    InvocationQuery,
    InvocationSummary,
    RunDetail,
    RunQuery,
    RunReadQuery,
    RunSummary,
    StartRun,
    TagsResult,
)
from contract.stream_following import StreamFollower


class RemoteRuns(RemotePart):
    """Runs, invocations and their streams, at the other end of an exchange."""

    async def list_runs(self, query: RunQuery) -> Page[RunSummary]:
        """Return one page of runs."""
        return await self._exchange.get(Page[RunSummary], "/api/v1/runs/", query_of(query))

    async def get_run(self, run_id: str, query: RunReadQuery) -> RunDetail:
        """Return a run's detail."""
        return await self._exchange.get(RunDetail, _run(run_id), query_of(query))

    async def read_evidence(self, request: EvidenceRequest) -> EvidencePage:
        """Return one page of a pane."""
        query = query_of(request, exclude=frozenset({"run_id"}))
        return await self._exchange.get(EvidencePage, _run(request.run_id, "/evidence"), query)

    async def start_run(self, command: StartRun) -> RunSummary:
        """Register a running run. Sent again without a `run_id`, it would make a second one."""
        repeatable = command.run_id is not None
        return await self._exchange.send(RunSummary, "POST", "/api/v1/runs/", command, repeatable=repeatable)

    async def launch_run(self, command: LaunchRun) -> LaunchResult:
        """Queue a run. Sent again without a `launch_key`, it would be executed twice."""
        repeatable = command.launch_key is not None
        return await self._exchange.send(LaunchResult, "POST", "/api/v1/launches/", command, repeatable=repeatable)

    async def record_events(self, run_id: str, command: RecordEvents) -> RecordResult:
        """Store a batch. Sent again, events without `event_id` would be stored twice."""
        path = _run(run_id, "/events")
        repeatable = all(event.event_id is not None for event in command.events)
        return await self._exchange.send(RecordResult, "POST", path, command, repeatable=repeatable)

    async def cancel_run(self, run_id: str, command: CancelRun) -> CancelResult:
        """Ask a run to stop."""
        return await self._exchange.send(CancelResult, "POST", _run(run_id, "/cancel"), command, repeatable=True)

    async def change_run_tags(self, run_id: str, command: ChangeTags) -> TagsResult:
        """Add and remove tags."""
        return await self._exchange.send(TagsResult, "PATCH", _run(run_id, "/tags"), command, repeatable=True)

    async def list_invocations(self, query: InvocationQuery) -> Page[InvocationSummary]:
        """Return one page of invocations."""
        return await self._exchange.get(Page[InvocationSummary], "/api/v1/invocations/", query_of(query))

    async def get_invocation(self, invocation_id: str) -> InvocationDetail:
        """Return an invocation with its runs."""
        path = f"/api/v1/invocations/{segment('invocation', invocation_id)}"
        return await self._exchange.get(InvocationDetail, path)

    def stream_messages(self, run_id: str, cursor: str | None) -> AsyncIterator[StreamFrame]:
        """Follow a run's messages, over any number of connections."""
        return self._follow(run_id, "/stream", cursor)

    def stream_signals(self, run_id: str, cursor: str | None) -> AsyncIterator[StreamFrame]:
        """Follow a run's signals, over any number of connections."""
        return self._follow(run_id, "/signals", cursor)

    async def _follow(self, run_id: str, room: str, cursor: str | None) -> AsyncGenerator[StreamFrame, None]:
        follower = StreamFollower(self._exchange, _run(run_id, room), cursor, sleep=self._sleep)
        async with aclosing(follower.frames()) as frames:
            async for frame in frames:
                yield frame


def _run(run_id: str, room: str = "") -> str:
    return f"/api/v1/runs/{segment('run', run_id)}{room}"
