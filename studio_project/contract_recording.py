"""The contract's examples and streams, recorded from the real application on a clock and ids that are the same always.

One story is told to an empty store: a run with two branches and signals that ends well, one that is cancelled, and
one that never says anything; then an agent that is saved, edited by hand, rolled back and deleted, and a playbook that
does not reach its file; then a run that is launched, executed, and launched again; then artifacts, a project that gets
runs, and a schedule with what people do with it. What the application answers is kept, byte for byte where it is a
stream.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol

from contract.errors import PermissionDenied, ReconciliationRequired
from studio_project import contract_artifacts as artifacts
from studio_project import contract_schedules
from studio_project.asgi_types import App
from studio_project.config import StudioConfig
from studio_project.contract_asgi import AsgiClient, Exchange, Request
from studio_project.contract_definitions import (
    READ,
    RECONCILIATIONS,
    RETRY,
    SAVED,
    UNWRITTEN,
    edit_by_hand,
    find_playbooks,
    lose_playbooks,
)
from studio_project.contract_documents import as_text
from studio_project.contract_standins import FaultyProbe, RecordedClock
from studio_project.contract_story import (
    BACKLOG,
    FIRST_RUN,
    LAUNCH,
    LAUNCHES,
    LIVE,
    PROJECTS,
    QUIET,
    QUIET_RUN,
    REFUSED,
    RUN,
    RUNS,
    SECOND_RUN,
    Document,
    post,
    record,
)
from studio_project.http_errors import FIRST_ERROR_STATUS
from studio_project.readiness import Readiness
from studio_project.sse import StreamConsumer

TOKEN: Final = "token-of-the-examples"  # noqa: S105 (shown to everybody, valid nowhere)

_STALL_SECONDS: Final = 0.05
# The incident of an unforeseen error is random; in the recording it is this.
_INCIDENT: Final = "0" * 16

Files = dict[str, str]


class RecordedStudio(Protocol):
    """What the recording needs of Studio beside its application."""

    config: StudioConfig
    readiness: Readiness

    def stopping(self) -> None:
        """End every open stream."""
        ...


class Recording:
    """Tells the story to `app` and keeps the answers."""

    def __init__(
        self,
        app: App,
        studio: RecordedStudio,
        clock: RecordedClock,
        probe: FaultyProbe,
        *,
        execute: Callable[[], Awaitable[None]],
    ) -> None:
        """Take what is recorded; `execute` does what waits in the queue, on the same clock and without a process."""
        self._client = AsgiClient(app, {"authorization": f"Bearer {TOKEN}"})
        self._studio = studio
        self._clock = clock
        self._probe = probe
        self._execute = execute
        self._files: Files = {}

    async def files(self) -> Files:
        """Return the recorded files by their path below `contract/`."""
        await self._prepare()
        messages, signals = _StreamFile("stream"), _StreamFile("signals")
        await self._live(messages, signals)
        await self._read()
        await self._define()
        await self._launch()
        await self._save_artifacts()
        await self._group()
        await self._schedule()
        await self._redirects()
        await self._errors()
        await self._goodbyes(messages, signals)
        self._files |= {"sse/session.ndjson": messages.text(), "sse/signals.ndjson": signals.text()}
        return dict(sorted(self._files.items()))

    # -- the story

    async def _prepare(self) -> None:
        await self._keep("contract-info", Request(path="/api/v1/contract"))
        await self._keep("run-started", post(RUNS, FIRST_RUN))
        await self._keep("record-result", record(RUN, *BACKLOG))
        await self._keep("tags-result", Request(method="PATCH", path=f"{RUN}/tags", body={"add": ["nightly"]}))
        for run in (SECOND_RUN, QUIET_RUN):
            await self._tell(post(RUNS, run))
        await self._keep("cancel-result", post("/api/v1/runs/demo-2/cancel", {"reason": "no longer needed"}))
        await self._tell(record("/api/v1/runs/demo-2", {"type": "status", "status": "cancelled"}))

    async def _live(self, messages: "_StreamFile", signals: "_StreamFile") -> None:
        """Follow the run from its start while it goes on, then once more from the middle."""
        opened = (messages.opened(self._client, RUN), signals.opened(self._client, RUN))
        async with opened[0] as said, opened[1] as signalled:
            await messages.take(said, 2)
            await signals.take(signalled, 1)
            await self._tell(record(RUN, *LIVE))
            await messages.take(said, 2)
            await signals.take(signalled, 1)
            await self._tell(record(RUN, {"type": "status", "status": "completed", "event_id": "end"}))
            await messages.take_rest(said)
            await signals.take_rest(signalled)
        for file in (messages, signals):
            async with file.opened(self._client, RUN, resume_after=1) as again:
                await file.take_rest(again)

    async def _read(self) -> None:
        await self._keep("runs-page", Request(path=RUNS, query="limit=2&sort=started"))
        await self._keep("run-detail", Request(path=RUN))
        await self._keep("run-detail-windowed", Request(path=RUN, query="message_limit=1"))
        for pane in ("messages", "signals", "artifacts", "transitions", "output"):
            request = Request(path=f"{RUN}/evidence", query=f"pane={pane}&limit=3")
            await self._keep(f"evidence-{pane}", request)
        await self._keep("invocations-page", Request(path="/api/v1/invocations/"))
        await self._keep("invocation-detail", Request(path="/api/v1/invocations/nightly-42"))

    async def _define(self) -> None:
        home = self._studio.config.home
        for name, request in SAVED.items():
            await self._keep(name, request)
        edit_by_hand(home)
        for name, request in READ.items():
            await self._keep(name, request)
        lose_playbooks(home)
        self._clock.advance()
        _, refused = await self._client.whole(UNWRITTEN)
        reconciliation = f"{RECONCILIATIONS}{json.loads(refused)['reconciliation_id']}"
        await self._keep("reconciliations-page", Request(path=RECONCILIATIONS, query="status=pending"))
        await self._keep("reconciliation-detail", Request(path=reconciliation))
        find_playbooks(home)
        await self._keep("reconciliation-resolved", post(f"{reconciliation}/resolve", RETRY))

    async def _launch(self) -> None:
        await self._keep("launch-result", post(LAUNCHES, LAUNCH))
        await self._execute()
        await self._keep("launch-repeated", post(LAUNCHES, LAUNCH))
        launched = json.loads(self._files["examples/launch-result.json"])
        await self._keep("run-detail-launched", Request(path=f"{RUNS}{launched['run_id']}"))

    async def _save_artifacts(self) -> None:
        await self._keep("artifact-saved", artifacts.SAVED)
        artifact_id = json.loads(self._files["examples/artifact-saved.json"])["id"]
        await self._keep("artifact-detail", artifacts.detail(artifact_id))
        await self._keep("artifacts-page", artifacts.LISTED)
        artifacts.leave_a_file(self._studio.config.home)
        await self._keep("artifact-verification", artifacts.VERIFIED)
        request = artifacts.content(artifact_id)
        exchange, body = await self._client.whole(request)
        example = artifacts.content_example(request, exchange.status, dict(_headers(exchange)), body)
        self._files["examples/artifact-content.json"] = as_text(example)

    async def _group(self) -> None:
        for name, request in PROJECTS.items():
            await self._keep(name, request)

    async def _schedule(self) -> None:
        await self._keep("schedule-created", contract_schedules.CREATE)
        made = json.loads(self._files["examples/schedule-created.json"])
        for name, request in contract_schedules.looked_at(made["schedule_id"], made["updated_at"]).items():
            await self._keep(name, request)

    async def _redirects(self) -> None:
        requests = (
            Request(path="/api/v1/runs", query="status=running&limit=5"),
            post("/api/v1/runs", QUIET_RUN),
            Request(path=f"{RUN}/stream/"),
        )
        answers = [_answer(request, *await self._client.whole(request)) for request in requests]
        self._files["examples/redirects.json"] = as_text(answers)

    async def _errors(self) -> None:
        """Meet every error code there is."""
        answers: Document = {}
        for request, prepare in self._refused():
            prepare()
            answer = _answer(request, *await self._client.whole(request))
            self._probe.fault, self._studio.readiness = None, Readiness()
            answers.setdefault(answer["body"]["code"], []).append(answer)
        self._files["examples/application-errors.json"] = as_text(answers)

    def _refused(self) -> list[tuple[Request, Callable[[], None]]]:
        quiet = Request(path=QUIET)
        return [
            *((request, _nothing) for request in (*REFUSED, contract_schedules.FAULTY)),
            (quiet, self._failing(PermissionDenied("the path leaves its root"))),
            (quiet, self._failing(ReconciliationRequired("00000000000000ff"))),
            (quiet, self._failing(RuntimeError("not told to clients"))),
            (Request(path=RUNS), self._starting),
        ]

    def _failing(self, fault: Exception) -> Callable[[], None]:
        def fail() -> None:
            self._probe.fault = fault

        return fail

    def _starting(self) -> None:
        self._studio.readiness = Readiness(ready=False)

    async def _goodbyes(self, messages: "_StreamFile", signals: "_StreamFile") -> None:
        """Read too slowly, then be there when the daemon stops, which is the end of the story."""
        # The recording does not wait as long for a slow reader as the daemon does.
        StreamConsumer.stall_seconds = _STALL_SECONDS
        for file in (messages, signals):
            async with file.opened(self._client, RUN, stall_at=1) as slow:
                await file.take_rest(slow)
        opened = (messages.opened(self._client, QUIET), signals.opened(self._client, QUIET))
        async with opened[0] as said, opened[1] as signalled:
            await messages.take(said, 1)
            await signals.take(signalled, 1)
            self._studio.stopping()
            await messages.take_rest(said)
            await signals.take_rest(signalled)

    # -- telling and keeping

    async def _tell(self, request: Request) -> Any:
        self._clock.advance()
        exchange, body = await self._client.whole(request)
        if exchange.status >= FIRST_ERROR_STATUS:
            raise RuntimeError(f"{request.method} {request.target} answered {exchange.status}: {body!r}")
        return json.loads(body)

    async def _keep(self, name: str, request: Request) -> None:
        self._files[f"examples/{name}.json"] = as_text(await self._tell(request))


class _StreamFile:
    """What one kind of stream answered, one JSON object a line: requests, responses, and frames as they were sent."""

    def __init__(self, room: str) -> None:
        self._room = room
        self._lines: list[Document] = []
        self._ids: list[str] = []

    def text(self) -> str:
        """Return the lines."""
        return "".join(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n" for line in self._lines)

    @asynccontextmanager
    async def opened(
        self, client: AsgiClient, run: str, *, resume_after: int | None = None, stall_at: int | None = None
    ) -> AsyncIterator[Exchange]:
        """Open the stream of a run, after the frame with that number if one is given."""
        resume = {} if resume_after is None else {"Last-Event-ID": self._ids[resume_after]}
        request = Request(path=f"{run}/{self._room}", headers={"Accept": "text/event-stream", **resume})
        async with client.open(request, stall_at=stall_at) as exchange:
            self._lines.append({"request": _shown(request)})
            self._lines.append({"response": {"status": exchange.status, "headers": _headers(exchange)}})
            yield exchange

    async def take(self, exchange: Exchange, count: int) -> None:
        """Keep that many frames."""
        for _ in range(count):
            frame = await exchange.part()
            if frame is None:
                raise RuntimeError(f"the stream {self._room} ended early")
            self._keep(frame)

    async def take_rest(self, exchange: Exchange) -> None:
        """Keep every frame up to the end of the body."""
        while (frame := await exchange.part()) is not None:
            self._keep(frame)

    def _keep(self, frame: bytes) -> None:
        text = frame.decode()
        self._ids.append(text.partition("\n")[0].removeprefix("id: "))
        self._lines.append({"frame": text})


def _nothing() -> None:
    """Prepare nothing."""


def _shown(request: Request) -> Document:
    shown: Document = {"method": request.method, "target": request.target, "headers": dict(request.headers)}
    return shown if request.body is None or isinstance(request.body, bytes) else {**shown, "body": request.body}


def _headers(exchange: Exchange) -> Mapping[str, str]:
    return {name.decode().lower(): value.decode() for name, value in exchange.headers}


def _answer(request: Request, exchange: Exchange, body: bytes) -> Document:
    answer: Document = {
        "request": _shown(request),
        "status": exchange.status,
        "headers": {key: value for key, value in _headers(exchange).items() if key != "content-length"},
    }
    return {**answer, "body": _settled(json.loads(body))} if body else answer


def _settled(body: Document) -> Document:
    """Replace the one thing that is random."""
    if "incident_id" not in body:
        return body
    settled: Document = json.loads(json.dumps(body).replace(body["incident_id"], _INCIDENT))
    return settled
