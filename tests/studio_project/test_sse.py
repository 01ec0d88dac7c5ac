import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, ClassVar

import pytest

from contract.application import StudioApplication
from contract.errors import NotFound, StateUnavailable, ValidationFailure
from contract.events import StreamFrame
from contract.limits import CURSOR_MAX_CHARS
from contract.sse_parsing import EventStreamParser, ServerEvent
from studio_project.asgi_types import App, Event
from studio_project.frame_encoding import encode
from studio_project.pieces import PIECE_BYTES
from studio_project.request_rules import headers_of
from studio_project.sse import StreamConsumer, StreamRoute, resume_cursor
from tests.studio_project.asgi_client import Answer, ask, scope_of
from tests.studio_project.scripted import ScriptedStudio, done, message, unforeseen

STREAM = "/api/v1/runs/r1/stream"


def events_of(answer: Answer) -> list[ServerEvent]:
    return EventStreamParser().feed(answer.body)


class Viewer:
    """A client of one stream that the test steers: it can leave, and it can stop taking frames."""

    def __init__(self, app: Callable[..., Awaitable[None]], scope: dict[str, Any]) -> None:
        self.answer = Answer()
        self.stops_after_frames: int | None = None
        self.took_frame = asyncio.Event()
        self._frames = 0
        self._incoming: asyncio.Queue[Event] = asyncio.Queue()
        self._incoming.put_nowait({"type": "http.request", "body": b"", "more_body": False})
        self.task: asyncio.Future[None] = asyncio.ensure_future(app(scope, self._incoming.get, self._take))

    async def _take(self, event: Event) -> None:
        await self.answer.take(event)
        if self.answer.ended:
            self.leave()
        elif event["type"] == "http.response.body":
            self._frames += 1
            self.took_frame.set()
            if self._frames == self.stops_after_frames:
                await asyncio.Event().wait()  # the server holds the frame, the client never takes it

    def leave(self) -> None:
        self._incoming.put_nowait({"type": "http.disconnect"})


def stream_scope(target: str = STREAM, *headers: tuple[str, str]) -> dict[str, Any]:
    return scope_of("GET", target, [("host", "localhost"), *headers])


# ---- frames


async def test_a_stream_sends_every_frame_in_order_and_ends(app: App, studio: ScriptedStudio) -> None:
    answer = await ask(app, "GET", STREAM)

    assert answer.status == 200
    assert [event.id for event in events_of(answer)] == ["c1", "c2", "c2"]
    assert '"done"' in events_of(answer)[-1].data
    assert answer.ended
    assert b"\r" not in answer.body


@pytest.mark.parametrize("headers", [{}, {"accept-encoding": "gzip"}])
async def test_a_stream_is_neither_stored_changed_nor_collected_on_the_way(app: App, headers: dict[str, str]) -> None:
    answer = await ask(app, "GET", STREAM, headers)

    assert answer.headers["content-type"] == ["text/event-stream; charset=utf-8"]
    assert answer.headers["cache-control"] == ["no-cache, no-transform"]
    assert answer.headers["x-accel-buffering"] == ["no"]
    assert answer.header("content-length") is None
    assert answer.header("content-encoding") is None


async def test_a_stream_of_nothing_is_empty(app: App, studio: ScriptedStudio) -> None:
    studio.frames = ()

    answer = await ask(app, "GET", STREAM)

    assert (answer.status, answer.body, answer.ended) == (200, b"", True)


async def test_both_streams_of_a_run_are_served(app: App, studio: ScriptedStudio) -> None:
    answer = await ask(app, "GET", "/api/v1/runs/r1/signals")

    assert answer.status == 200


async def test_head_sends_the_headers_alone(app: App, studio: ScriptedStudio) -> None:
    answer = await ask(app, "HEAD", STREAM)

    assert (answer.status, answer.body) == (200, b"")
    assert answer.header("content-type") == "text/event-stream; charset=utf-8"
    assert studio.open_streams == 0


async def test_head_of_an_unknown_run_is_not_found(app: App) -> None:
    assert (await ask(app, "HEAD", "/api/v1/runs/nope/stream")).status == 404


async def test_a_body_that_comes_with_the_request_is_ignored(app: App) -> None:
    answer = await ask(app, "GET", STREAM, body=[b"x", b"y"])

    assert answer.status == 200


# ---- where to resume


@pytest.mark.parametrize(
    ("headers", "query", "cursor"),
    [
        ([], b"", None),
        ([(b"last-event-id", b"c7")], b"", "c7"),
        ([], b"cursor=c8", "c8"),
        ([(b"last-event-id", b"c7")], b"cursor=c8", "c7"),
        ([(b"last-event-id", b"")], b"", None),
        ([(b"last-event-id", b"")], b"cursor=c8", None),
        ([], b"cursor=", None),
    ],
)
def test_the_header_wins_over_the_query_and_empty_is_none(
    headers: list[tuple[bytes, bytes]], query: bytes, cursor: str | None
) -> None:
    assert resume_cursor(headers_of(headers), query) == cursor


@pytest.mark.parametrize(
    ("headers", "query"),
    [
        ([], b"nope=1"),
        ([], b"cursor=a&cursor=b"),
        ([], b"cursor=%00"),
        ([], b"cursor=" + b"x" * (CURSOR_MAX_CHARS + 1)),
        ([(b"last-event-id", b"x" * (CURSOR_MAX_CHARS + 1))], b""),
        ([(b"last-event-id", b"a"), (b"last-event-id", b"b")], b""),
        ([(b"last-event-id", b"c1")], b"nope=1"),
    ],
)
def test_a_position_that_cannot_be_one_is_refused(headers: list[tuple[bytes, bytes]], query: bytes) -> None:
    with pytest.raises(ValidationFailure):
        resume_cursor(headers_of(headers), query)


async def test_the_operation_gets_the_position(app: App, studio: ScriptedStudio) -> None:
    await ask(app, "GET", STREAM, {"last-event-id": "c1"})
    await ask(app, "GET", f"{STREAM}?cursor=c2")
    await ask(app, "GET", STREAM)

    assert studio.resumed_from == ["c1", "c2", None]


# ---- what cannot start


@pytest.mark.parametrize(
    ("target", "headers", "status", "code"),
    [
        ("/api/v1/runs/nope/stream", {}, 404, "not_found"),
        (STREAM, {"last-event-id": "garbled"}, 422, "validation"),
        (f"{STREAM}?cursor=garbled", {}, 422, "validation"),
        (f"{STREAM}?nope=1", {}, 422, "validation"),
    ],
)
async def test_a_stream_that_cannot_start_is_refused_in_json(
    app: App, target: str, headers: dict[str, str], status: int, code: str
) -> None:
    answer = await ask(app, "GET", target, headers)

    assert (answer.status, answer.code) == (status, code)
    assert answer.header("content-type") == "application/json"


@pytest.mark.parametrize(("fault", "status"), [(StateUnavailable(retryable=True), 503), (unforeseen(), 500)])
async def test_a_fault_before_the_first_frame_is_an_ordinary_error(
    app: App, studio: ScriptedStudio, fault: Exception, status: int
) -> None:
    studio.fault = fault

    answer = await ask(app, "GET", STREAM)

    assert answer.status == status
    assert b"secret" not in answer.body


# ---- what fails on the way


@pytest.mark.parametrize(
    ("fault", "code", "retryable"),
    [
        (StateUnavailable(retryable=True), "state_unavailable", True),
        (StateUnavailable(retryable=False), "state_unavailable", False),
        (NotFound("run", "r1"), "not_found", False),
        (TimeoutError(), "internal", False),
        (unforeseen(), "internal", False),
    ],
)
async def test_a_fault_on_the_way_is_a_frame_and_the_end(
    app: App, studio: ScriptedStudio, fault: Exception, code: str, retryable: bool
) -> None:
    studio.frames = (message(1),)
    studio.stream_fault = fault

    answer = await ask(app, "GET", STREAM)

    last = events_of(answer)[-1]
    assert last.id == "c1"
    assert last.data == f'{{"type":"error","code":"{code}","retryable":{str(retryable).lower()}}}'
    assert answer.ended


async def test_an_unforeseen_fault_on_the_way_is_logged_under_an_incident(
    app: App, studio: ScriptedStudio, caplog: pytest.LogCaptureFixture
) -> None:
    studio.stream_fault = unforeseen()

    with caplog.at_level(logging.ERROR):
        await ask(app, "GET", STREAM)

    (record,) = [record for record in caplog.records if record.exc_info]
    assert "incident" in record.getMessage()


# ---- readers that leave, and readers that stall


async def test_a_reader_that_leaves_ends_the_stream_and_its_finally_blocks_run(
    studio: ScriptedStudio, app: App
) -> None:
    studio.stays_open = True
    viewer = Viewer(app, stream_scope())
    await viewer.took_frame.wait()
    assert studio.open_streams == 1

    viewer.leave()
    await viewer.task

    assert studio.open_streams == 0


async def test_a_server_that_gives_up_ends_the_stream_too(studio: ScriptedStudio, app: App) -> None:
    studio.stays_open = True
    viewer = Viewer(app, stream_scope())
    await viewer.took_frame.wait()

    viewer.task.cancel()
    await asyncio.wait([viewer.task])

    assert studio.open_streams == 0


async def test_a_daemon_that_stops_says_so_on_every_stream(studio: ScriptedStudio, app: App) -> None:
    studio.stays_open = True
    viewers = [Viewer(app, stream_scope()) for _ in range(50)]
    await asyncio.gather(*(viewer.took_frame.wait() for viewer in viewers))

    studio.stopping()
    await asyncio.gather(*(viewer.task for viewer in viewers))

    assert all('"shutdown"' in events_of(viewer.answer)[-1].data for viewer in viewers)
    assert studio.open_streams == 0


class _Impatient(StreamConsumer):
    """Follow the messages of a run."""

    stall_seconds: ClassVar[float] = 0.01

    def open_stream(
        self, studio: StudioApplication, names: Mapping[str, str], cursor: str | None
    ) -> AsyncIterator[StreamFrame]:
        return studio.stream_messages(names["run_id"], cursor)


@pytest.mark.parametrize("stops_after", [1, 2])
async def test_a_reader_that_stalls_is_told_where_to_resume_and_let_go(
    studio: ScriptedStudio, stops_after: int
) -> None:
    studio.frames = (message(1), message(2), message(3), done("c3"))
    scope = {**stream_scope(), "url_route": {"kwargs": {"run_id": "r1"}}}
    viewer = Viewer(_Impatient.as_asgi(), scope)
    viewer.stops_after_frames = stops_after

    await viewer.task

    *taken, last = events_of(viewer.answer)
    assert [event.id for event in taken] == [f"c{number}" for number in range(1, stops_after + 1)]
    assert last.id == f"c{stops_after}"
    assert last.data == f'{{"type":"truncated","cursor":"c{stops_after}"}}'
    assert viewer.answer.ended
    assert studio.open_streams == 0


@pytest.mark.parametrize("stops_after", [1, 2])
async def test_a_reader_that_stalls_within_a_frame_gets_nothing_after_it_but_the_end(
    studio: ScriptedStudio, stops_after: int
) -> None:
    large = message(2, "x" * 2 * PIECE_BYTES)
    studio.frames = (message(1), large, done("c2"))
    scope = {**stream_scope(), "url_route": {"kwargs": {"run_id": "r1"}}}
    viewer = Viewer(_Impatient.as_asgi(), scope)
    viewer.stops_after_frames = 1 + stops_after

    await viewer.task

    whole = encode("c1", studio.frames[0].payload) + encode("c2", large.payload)
    assert whole.startswith(viewer.answer.body)
    assert [event.id for event in events_of(viewer.answer)] == ["c1"]
    assert viewer.answer.ended
    assert studio.open_streams == 0


async def test_a_reader_that_stalls_after_the_last_piece_of_a_frame_is_told_where_to_resume(
    studio: ScriptedStudio,
) -> None:
    studio.frames = (message(1, "x" * 2 * PIECE_BYTES), done("c1"))
    scope = {**stream_scope(), "url_route": {"kwargs": {"run_id": "r1"}}}
    viewer = Viewer(_Impatient.as_asgi(), scope)
    viewer.stops_after_frames = 3

    await viewer.task

    assert [event.id for event in events_of(viewer.answer)] == ["c1", "c1"]
    assert events_of(viewer.answer)[-1].data == '{"type":"truncated","cursor":"c1"}'


def test_a_route_describes_itself() -> None:
    route = StreamRoute(path="runs/<run_id>/x", operation_id="follow_x", consumer=_Impatient)

    assert route.template == "/api/v1/runs/{run_id}/x"
    assert route.described()["summary"] == "Follow the messages of a run."
    assert route.pattern().resolve("api/v1/runs/a/x") is not None
