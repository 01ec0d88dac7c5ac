"""RemoteStudio: every operation of StudioApplication over HTTP and server-sent events.

Requests carry the same models as in process, answers are validated against the same models, and errors
come back as the errors they were (`contract.http_exchange`). Streams follow `contract.stream_following`:

    done, error not retryable                                  yielded; the end
    heartbeat, message, signal                                 yielded
    end without done, network error, four silent heartbeats,
    shutdown, truncated, error retryable, status >= 500        connect again from the last cursor
    any other status                                           its error is raised
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from types import TracebackType
from typing import Self

import httpx

from contract.actions import LaunchResult, LaunchRun
from contract.application import ContractInfo
from contract.base import Page
from contract.definitions import (
    DefinitionDetail,
    DefinitionQuery,
    DefinitionSummary,
    DefinitionVersion,
    DefinitionVersionSummary,
    DeleteDefinition,
    Reconciliation,
    ReconciliationDetail,
    ReconciliationQuery,
    ResolveReconciliation,
    RollbackDefinition,
    SaveDefinition,
    SaveResult,
    SnapshotDefinitions,
    SnapshotResult,
    VersionQuery,
)
from contract.diffs import DefinitionDiff, DiffQuery
from contract.errors import NotFound
from contract.events import RecordEvents, RecordResult, StreamFrame
from contract.http_exchange import HttpExchange, query_of, segment
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
from contract.stream_following import Sleep, StreamFollower

_DEFINITIONS = "/api/v1/definitions/"
# Longer than the slowest answer to be expected, short enough that a script notices a hung daemon.
TIMEOUT_SECONDS = 30.0


class RemoteStudio:
    """A StudioApplication at a URL. Use as an async context manager, or call `close`.

    `url` is the daemon's root, such as http://127.0.0.1:8765. `token` is the bearer; it is never logged,
    shown, or sent anywhere else. `transport` replaces the network, `sleep` the waiting between reconnects,
    for tests. Raises ValidationFailure for a URL or token that cannot be used.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._exchange = HttpExchange(url, token=token, transport=transport, timeout_seconds=timeout_seconds)
        self._sleep = sleep

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection; open streams end with an error."""
        await self._exchange.close()

    async def describe_contract(self) -> ContractInfo:
        """Return version, capabilities and limits."""
        return await self._exchange.get(ContractInfo, "/api/v1/contract")

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

    async def list_definitions(self, query: DefinitionQuery) -> Page[DefinitionSummary]:
        """Return one page of definitions."""
        return await self._exchange.get(Page[DefinitionSummary], _DEFINITIONS, query_of(query))

    async def get_definition(self, kind: str, name: str) -> DefinitionDetail:
        """Return the file and how the history stands to it."""
        return await self._exchange.get(DefinitionDetail, _definition(kind, name))

    async def save_file_definition(self, command: SaveDefinition) -> SaveResult:
        """Store content in history and file. Sent again, it would make a second version, or be a Conflict."""
        return await self._exchange.send(SaveResult, "PUT", _place(command), command, repeatable=False)

    async def list_definition_versions(
        self, kind: str, name: str, query: VersionQuery
    ) -> Page[DefinitionVersionSummary]:
        """Return one page of a history."""
        path = _definition(kind, name, "/versions/")
        return await self._exchange.get(Page[DefinitionVersionSummary], path, query_of(query))

    async def get_definition_version(self, kind: str, name: str, version: int) -> DefinitionVersion:
        """Return one version with its content."""
        path = _definition(kind, name, f"/versions/{version}", version=version)
        return await self._exchange.get(DefinitionVersion, path)

    async def diff_definition(self, kind: str, name: str, query: DiffQuery) -> DefinitionDiff:
        """Compare two versions, or a version and the file."""
        return await self._exchange.get(DefinitionDiff, _definition(kind, name, "/diff"), query_of(query))

    async def rollback_definition(self, kind: str, name: str, command: RollbackDefinition) -> SaveResult:
        """Store an earlier version's content as the newest. Sent again, as a save."""
        path = _definition(kind, name, "/rollback", version=command.version)
        return await self._exchange.send(SaveResult, "POST", path, command, repeatable=False)

    async def delete_definition(self, kind: str, name: str, command: DeleteDefinition) -> SaveResult:
        """Record the deletion and remove the file. Sent again, as a save."""
        path = _definition(kind, name)
        return await self._exchange.delete(SaveResult, path, query_of(command), repeatable=False)

    async def snapshot_definitions(self, command: SnapshotDefinitions) -> SnapshotResult:
        """Make versions of what was done to files by hand."""
        path = f"{_DEFINITIONS}snapshot"
        return await self._exchange.send(SnapshotResult, "POST", path, command, repeatable=True)

    async def list_reconciliations(self, query: ReconciliationQuery) -> Page[Reconciliation]:
        """Return one page of reconciliations."""
        return await self._exchange.get(Page[Reconciliation], "/api/v1/reconciliations/", query_of(query))

    async def get_reconciliation(self, reconciliation_id: str) -> ReconciliationDetail:
        """Return a reconciliation with its log."""
        return await self._exchange.get(ReconciliationDetail, _reconciliation(reconciliation_id))

    async def resolve_reconciliation(self, reconciliation_id: str, command: ResolveReconciliation) -> Reconciliation:
        """Settle a reconciliation."""
        path = _reconciliation(reconciliation_id, "/resolve")
        return await self._exchange.send(Reconciliation, "POST", path, command, repeatable=True)

    async def _follow(self, run_id: str, room: str, cursor: str | None) -> AsyncGenerator[StreamFrame, None]:
        follower = StreamFollower(self._exchange, _run(run_id, room), cursor, sleep=self._sleep)
        async with aclosing(follower.frames()) as frames:
            async for frame in frames:
                yield frame


def _run(run_id: str, room: str = "") -> str:
    return f"/api/v1/runs/{segment('run', run_id)}{room}"


def _definition(kind: str, name: str, room: str = "", *, version: int | None = None) -> str:
    try:
        return f"{_DEFINITIONS}{segment('definition', kind)}/{segment('definition', name)}{room}"
    except NotFound:
        if version is None:
            raise NotFound("definition", f"{kind}/{name}") from None
        raise NotFound("definition version", f"{kind}/{name}/{version}") from None


def _place(command: SaveDefinition) -> str:
    """Return where a definition is saved.

    A name that no path carries travels in the body alone: what is wrong with it is for the daemon to say.
    """
    try:
        return _definition(command.kind, command.name)
    except NotFound:
        return _definition(command.kind, "-")


def _reconciliation(reconciliation_id: str, room: str = "") -> str:
    return f"/api/v1/reconciliations/{segment('reconciliation', reconciliation_id)}{room}"
