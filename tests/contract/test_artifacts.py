"""What is checked in under contract/ can be read by clients, says what the application does, and leaves nothing out."""

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, cast, get_args

import httpx
import pytest
from django.urls import URLPattern, URLResolver
from pydantic import TypeAdapter

from contract.client import RemoteStudio
from contract.errors import BODY_ATTRIBUTES, ErrorBody, RequestRefused, StudioApplicationError
from contract.events import (
    DoneFrame,
    FramePayload,
    StreamFrame,
)
from contract.sse_parsing import EventStreamParser, ServerEvent
from studio_project import urls
from studio_project.application import build_application
from studio_project.commands import EXIT_CODES
from studio_project.composition import Studio, get_studio, set_studio
from studio_project.contract_export import CHECKED_IN
from studio_project.http_errors import STATUS
from tests.contract.example_models import MODELS
from tests.studio_project.asgi_client import JSON, Answer, ask
from tests.studio_project.scripted import ScriptedStudio, config_of

EXCHANGES = {"application-errors", "artifact-content", "redirects"}
STREAMS = ("session", "signals")
PAYLOAD: TypeAdapter[FramePayload] = TypeAdapter(FramePayload)
# A detail of Django's routing that shows nothing, and what talks to people.
NO_CONTRACT = re.compile(r"/|/api/|/admin/.*|/static/.*")
TOKENS = {"auth_token": "write-me", "auth_read_token": "read-me"}


@cache
def document(name: str) -> Any:
    return json.loads((CHECKED_IN / name).read_text(encoding="utf-8"))


def routes() -> list[dict[str, Any]]:
    return list(document("routes.json")["routes"])


def blank(path: str) -> str:
    return re.sub(r"[<{][^>}]*[>}]", "{}", path)


# ---- examples --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_an_example_is_its_model_and_nothing_more(name: str) -> None:
    text = (CHECKED_IN / f"examples/{name}.json").read_text(encoding="utf-8")

    parsed = MODELS[name].model_validate_json(text)

    assert json.loads(parsed.model_dump_json()) == json.loads(text)


def test_every_example_is_read_by_a_test() -> None:
    assert {path.stem for path in (CHECKED_IN / "examples").iterdir()} == MODELS.keys() | EXCHANGES


def test_every_error_code_has_an_example_that_maps_back() -> None:
    examples = document("examples/application-errors.json")
    codes = {member.code for member in StudioApplicationError.__subclasses__()} | set(RequestRefused.TRANSPORT_CODES)

    assert examples.keys() == codes
    for code, answers in examples.items():
        for answer in answers:
            body = ErrorBody.model_validate_json(json.dumps(answer["body"]))
            assert (body.to_error().code, answer["status"]) == (code, STATUS[code])
            assert json.loads(body.to_error().body().to_json()) == answer["body"]
            assert answer["body"].keys() <= set(BODY_ATTRIBUTES[code])


def test_redirects_stay_where_the_client_is_and_keep_the_query() -> None:
    for answer in document("examples/redirects.json"):
        path, _, query = answer["request"]["target"].partition("?")
        location, _, kept = answer["headers"]["location"].partition("?")
        assert (answer["status"], kept) == (document("routes.json")["other_spelling"]["status"], query)
        assert location.rstrip("/") == path.rstrip("/")
        assert location != path


async def test_the_bytes_of_an_artifact_are_read_by_the_client_as_they_were_sent() -> None:
    example = document("examples/artifact-content.json")
    answer = httpx.Response(example["status"], headers=example["headers"], content=example["body"].encode())

    async with RemoteStudio("http://127.0.0.1", transport=httpx.MockTransport(lambda _: answer)) as studio:
        content = await studio.read_artifact_content("a1")

    assert (content.data.decode(), content.file_name) == (example["body"], "findings.md")
    assert (content.size_bytes, content.truncated) == (len(content.data), False)
    assert content.media_type == "text/markdown; charset=utf-8"


# ---- streams ---------------------------------------------------------------------------------------------------


def recorded(name: str) -> list[dict[str, Any]]:
    """Return the exchanges of a file: each a request, its response, and its body."""
    exchanges: list[dict[str, Any]] = []
    for line in (CHECKED_IN / f"sse/{name}.ndjson").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if "request" in entry:
            exchanges.append({**entry, "frames": []})
        elif "response" in entry:
            exchanges[-1] |= entry
        else:
            exchanges[-1]["frames"].append(entry["frame"])
    return exchanges


def events_of(exchange: dict[str, Any], *, cut: int | None = None) -> list[ServerEvent]:
    body = "".join(exchange["frames"]).encode()
    parser = EventStreamParser()
    step = cut or len(body)
    return [event for start in range(0, len(body), step) for event in parser.feed(body[start : start + step])]


def payloads(exchange: dict[str, Any]) -> list[FramePayload]:
    return [PAYLOAD.validate_json(event.data) for event in events_of(exchange)]


@pytest.mark.parametrize("name", STREAMS)
def test_a_recorded_stream_is_read_by_the_clients_parser_however_it_is_cut(name: str) -> None:
    for exchange in recorded(name):
        events = events_of(exchange)
        assert len(events) == len(exchange["frames"])
        assert events_of(exchange, cut=1) == events
        assert all(event.id and event.event == "message" for event in events)
        assert exchange["response"]["headers"]["content-type"].startswith("text/event-stream")


@pytest.mark.parametrize("name", STREAMS)
def test_a_recorded_stream_ends_with_a_terminal_frame_and_has_none_before(name: str) -> None:
    terminal = {kind for route in routes() if "stream" in route for kind in route["stream"]["terminal"]}
    ends = []

    for exchange in recorded(name):
        *before, last = (payload.type for payload in payloads(exchange))
        assert not terminal & set(before)
        ends.append(last)

    assert ends == ["done", "done", "truncated", "shutdown"]
    assert set(ends) | {"error"} == terminal


@pytest.mark.parametrize("name", STREAMS)
def test_a_recorded_resumption_neither_loses_nor_repeats(name: str) -> None:
    whole, resumed, *_ = recorded(name)
    position = [event.id for event in events_of(whole)].index(resumed["request"]["headers"]["Last-Event-ID"])

    assert events_of(resumed) == events_of(whole)[position + 1 :]


@pytest.mark.parametrize("name", STREAMS)
async def test_the_client_follows_what_was_recorded_over_every_break(name: str) -> None:
    """The reader is cut off as too slow, resumes, and gets the rest: each frame once."""
    whole, _, slow, _ = recorded(name)
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        seen = request.headers.get("last-event-id")
        frames = slow["frames"] if seen is None else [f for f in whole["frames"] if not f.startswith(f"id: {seen}\n")]
        return httpx.Response(200, headers=whole["response"]["headers"], content="".join(frames))

    async with RemoteStudio("http://127.0.0.1", transport=httpx.MockTransport(answer), sleep=_at_once) as studio:
        stream = studio.stream_messages if name == "session" else studio.stream_signals
        frames = [frame async for frame in stream("demo-1", None)]

    assert _entries(frames) == [payload for payload in payloads(whole) if payload.type in ("message", "signal")]
    assert isinstance(frames[-1].payload, DoneFrame)
    assert [request.headers.get("last-event-id") for request in requests] == [None, events_of(slow)[-1].id]


async def _at_once(_seconds: float) -> None:
    """Wait for nothing."""


def _entries(frames: list[StreamFrame]) -> list[FramePayload]:
    return [frame.payload for frame in frames if frame.payload.type in ("message", "signal")]


# ---- routes ----------------------------------------------------------------------------------------------------


def test_every_route_of_the_application_is_published_and_the_reverse() -> None:
    published = {(route["method"], blank(route["path"])) for route in routes()}

    assert published == _served()


def _served() -> set[tuple[str, str]]:
    pages = {path for path in _patterns(urls.urlpatterns, "/") if not NO_CONTRACT.fullmatch(path)}
    streams = set(_patterns(urls.stream_patterns, "/"))
    operations = {
        (method, blank(f"/api{prefix}{path}"))
        for prefix, router in urls.api._routers
        for path, view in router.path_operations.items()
        for operation in view.operations
        for method in operation.methods
    }
    return operations | {("GET", path) for path in (pages | streams) - {path for _, path in operations}}


def _patterns(entries: list[Any], prefix: str) -> Iterator[str]:
    for entry in entries:
        if isinstance(entry, URLResolver):
            yield from _patterns(entry.url_patterns, f"{prefix}{entry.pattern}")
        elif isinstance(entry, URLPattern):
            yield blank(f"{prefix}{entry.pattern}")


def test_every_published_error_code_can_be_mapped_by_everyone() -> None:
    codes = {code for route in routes() for code in route["errors"]}

    assert document("routes.json")["error_statuses"] == STATUS
    assert codes <= STATUS.keys()
    for code in codes:
        assert ErrorBody(code=code, detail="told").to_error().code == code
        assert code in EXIT_CODES


def test_the_frames_of_a_stream_are_those_of_the_model() -> None:
    union, _ = get_args(FramePayload)
    kinds = {member.model_fields["type"].default for member in get_args(union)}

    for route in routes():
        if "stream" in route:
            assert set(route["stream"]["frames"]) == kinds
            assert route["stream"]["terminal"].keys() < kinds


def test_every_answer_of_the_schema_has_a_named_model() -> None:
    schema = document("openapi.json")

    for item in schema["paths"].values():
        for operation in item.values():
            for answer in operation["responses"].values():
                for content in answer["content"].values():
                    name = content["schema"]["$ref"].removeprefix("#/components/schemas/")
                    assert name in schema["components"]["schemas"]


# ---- tokens ----------------------------------------------------------------------------------------------------


async def _ask_each(route: dict[str, Any], **headers: str) -> Answer:
    path = route["path"].replace("{run_id}", "r1").replace("{invocation_id}", "i1")
    studio = ScriptedStudio(config_of(**TOKENS) if headers else config_of())
    set_studio(cast("Studio", studio))
    try:
        return await ask(build_application(get_studio), route["method"], path, {**JSON, **headers})
    finally:
        set_studio(None)


ROUTES = pytest.mark.parametrize("route", routes(), ids=lambda route: f"{route['method']} {route['path']}")


@ROUTES
async def test_without_configured_tokens_everything_answers(route: dict[str, Any]) -> None:
    answer = await _ask_each(route)

    assert answer.status not in (401, 403, 405)
    if "stream" in route:
        assert (answer.status, answer.header("content-type")) == (200, "text/event-stream; charset=utf-8")


@ROUTES
async def test_with_configured_tokens_each_route_asks_for_what_it_publishes(route: dict[str, Any]) -> None:
    opened_by = {
        token: (await _ask_each(route, authorization=f"Bearer {token}")).status != 401
        for token in ("write-me", "read-me", "wrong")
    }

    assert opened_by == {
        "write-me": True,
        "read-me": route["auth"] in ("read", "public"),
        "wrong": route["auth"] == "public",
    }
