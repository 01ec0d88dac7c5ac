from typing import cast

import pytest

from contract.limits import BODY_MAX_BYTES
from studio_project.asgi_types import App, Event, Receive, Scope, Send
from studio_project.readiness import Readiness
from studio_project.security import SecurityMiddleware
from tests.studio_project.asgi_client import JSON, ask, scope_of
from tests.studio_project.scripted import ScriptedStudio, config_of

ORIGIN = "https://ui.example"


class Inner:
    """An application that reads the whole body and answers as it was told."""

    def __init__(
        self, status: int = 200, headers: dict[str, str] | None = None, *, fault: Exception | None = None
    ) -> None:
        self.status = status
        self.headers = headers or {"content-type": "application/json"}
        self.fault = fault
        self.fault_after_start = False
        self.scopes: list[Scope] = []
        self.body = b""
        self.was_cut_off = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        while True:
            event = await receive()
            if event["type"] == "http.disconnect":
                self.was_cut_off = True
                return
            self.body += event["body"]
            if not event["more_body"]:
                break
        if self.fault and not self.fault_after_start:
            raise self.fault
        headers = [(name.encode(), value.encode()) for name, value in self.headers.items()]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        if self.fault:
            raise self.fault
        await send({"type": "http.response.body", "body": b"{}"})


def guard(inner: Inner, **environ: str) -> App:
    studio = ScriptedStudio(config_of(**environ))
    return SecurityMiddleware(inner, lambda: studio)


async def test_a_good_request_reaches_the_application_with_its_body() -> None:
    inner = Inner()

    answer = await ask(guard(inner), "POST", "/api/v1/runs/", JSON, body=[b"ab", b"c"])

    assert answer.status == 200
    assert inner.body == b"abc"


async def test_a_refused_request_does_not_reach_the_application() -> None:
    inner = Inner()

    answer = await ask(guard(inner), "GET", "/api/v1/runs/", host="evil.example")

    assert answer.code == "invalid_host"
    assert inner.scopes == []


async def test_the_client_cannot_choose_a_script_prefix() -> None:
    inner = Inner()
    app = guard(inner)

    async def with_prefix(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "root_path": "/evil"}, receive, send)

    await ask(with_prefix, "GET", "/health")

    assert inner.scopes[0]["root_path"] == ""


@pytest.mark.parametrize("path", ["/", "/health", "/api/v1/runs/", "/admin/", "/static/x", "/nowhere"])
async def test_every_answer_forbids_guessing_types_and_leaking_referrers(path: str) -> None:
    answer = await ask(guard(Inner()), "GET", path)

    assert answer.header("x-content-type-options") == "nosniff"
    assert answer.header("referrer-policy") == "same-origin"


async def test_api_answers_are_not_stored_unless_they_say_otherwise() -> None:
    plain = await ask(guard(Inner()), "GET", "/api/v1/runs/")
    own = await ask(guard(Inner(headers={"Cache-Control": "max-age=5"})), "GET", "/api/v1/runs/")
    static = await ask(guard(Inner()), "GET", "/static/x")

    assert plain.headers["cache-control"] == ["no-store"]
    assert own.headers["cache-control"] == ["max-age=5"]
    assert static.header("cache-control") is None


async def test_an_unforeseen_error_is_answered_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    answer = await ask(guard(Inner(fault=RuntimeError("a secret"))), "GET", "/api/v1/runs/")

    assert answer.status == 500
    assert answer.code == "internal"
    assert b"secret" not in answer.body
    assert answer.json["incident_id"] in caplog.text


async def test_an_answer_that_has_begun_is_left_to_the_server_to_cut_off() -> None:
    inner = Inner(fault=RuntimeError("late"))
    inner.fault_after_start = True

    with pytest.raises(RuntimeError, match="late"):
        await ask(guard(inner), "GET", "/api/v1/runs/")


@pytest.mark.parametrize(
    ("status", "code"),
    [(404, "not_found"), (405, "method_not_allowed"), (400, "bad_request"), (413, "payload_too_large")],
)
async def test_an_error_page_of_a_library_becomes_an_error_of_ours(status: int, code: str) -> None:
    inner = Inner(status, {"content-type": "text/html", "Allow": "GET, POST"})

    answer = await ask(guard(inner), "GET", "/api/v1/runs/")

    assert (answer.status, answer.code) == (status, code)
    assert answer.header("allow") == "GET, HEAD, POST"


async def test_error_pages_of_the_admin_stay_pages() -> None:
    answer = await ask(guard(Inner(404, {"content-type": "text/html"})), "GET", "/admin/x")

    assert answer.header("content-type") == "text/html"


# ---- bodies


async def test_an_announced_body_over_the_limit_is_refused_at_once() -> None:
    inner = Inner()

    answer = await ask(guard(inner), "POST", "/api/v1/runs/", {**JSON, "content-length": str(BODY_MAX_BYTES + 1)})

    assert answer.code == "payload_too_large"
    assert inner.scopes == []


async def test_a_body_that_grows_over_the_limit_is_refused_on_the_way() -> None:
    inner = Inner()
    chunk = b"x" * 65_536

    answer = await ask(guard(inner), "POST", "/api/v1/runs/", JSON, body=[chunk] * (BODY_MAX_BYTES // len(chunk) + 2))

    assert answer.code == "payload_too_large"
    assert inner.was_cut_off
    assert len(inner.body) <= BODY_MAX_BYTES


async def test_a_body_of_exactly_the_limit_is_taken() -> None:
    inner = Inner()

    answer = await ask(guard(inner), "POST", "/api/v1/runs/", JSON, body=b"x" * BODY_MAX_BYTES)

    assert answer.status == 200


# ---- CORS


async def test_a_preflight_of_an_allowed_origin_is_answered_here() -> None:
    inner = Inner()
    asked = {"origin": ORIGIN, "access-control-request-method": "POST"}

    answer = await ask(guard(inner, cors_origins=ORIGIN, auth_token="t"), "OPTIONS", "/api/v1/runs/", asked)

    assert answer.status == 204
    assert answer.header("access-control-allow-origin") == ORIGIN
    assert "PATCH" in (answer.header("access-control-allow-methods") or "")
    assert answer.header("access-control-allow-credentials") is None
    assert inner.scopes == []


async def test_an_allowed_origin_can_read_errors_too() -> None:
    app = guard(Inner(), cors_origins=ORIGIN, auth_token="t")

    answer = await ask(app, "GET", "/api/v1/runs/", {"origin": ORIGIN})

    assert answer.code == "unauthorized"
    assert answer.header("access-control-allow-origin") == ORIGIN
    assert answer.header("vary") == "Origin"


async def test_a_foreign_origin_gets_no_permission_to_read() -> None:
    answer = await ask(guard(Inner(), cors_origins=ORIGIN), "GET", "/api/v1/runs/", {"origin": "https://evil.example"})

    assert answer.header("access-control-allow-origin") is None


# ---- readiness


@pytest.mark.parametrize(
    "path", ["/api", "/api/", "/api/v1/runs/", "/api/v1/runs/r1/stream", "/api/docs", "/api/nowhere"]
)
async def test_until_the_daemon_is_ready_the_api_asks_to_come_back(path: str) -> None:
    studio = ScriptedStudio()
    studio.readiness = Readiness(ready=False)

    answer = await ask(SecurityMiddleware(Inner(), lambda: studio), "GET", path)

    assert answer.status == 503
    assert answer.json["retryable"] is True
    assert answer.header("retry-after") == "1"


async def test_until_the_daemon_is_ready_probes_are_answered() -> None:
    studio = ScriptedStudio()
    studio.readiness = Readiness(ready=False)

    answer = await ask(SecurityMiddleware(Inner(), lambda: studio), "GET", "/health")

    assert answer.status == 200


async def test_the_gate_opens_when_the_daemon_is_ready() -> None:
    studio = ScriptedStudio()
    studio.readiness = Readiness(ready=False)
    app = SecurityMiddleware(Inner(), lambda: studio)

    studio.readiness.mark_ready()

    assert (await ask(app, "GET", "/api/v1/runs/")).status == 200


async def test_a_stranger_does_not_learn_how_far_the_start_is() -> None:
    studio = ScriptedStudio(config_of(auth_token="t"))
    studio.readiness = Readiness(ready=False)

    answer = await ask(SecurityMiddleware(Inner(), lambda: studio), "GET", "/api/v1/runs/")

    assert answer.code == "unauthorized"


# ---- protocols


@pytest.mark.parametrize("host", [b"localhost", b"evil.example"])
async def test_a_websocket_is_closed_before_it_opens(host: bytes) -> None:
    sent: list[Event] = []

    async def receive() -> Event:
        return {"type": "websocket.connect"}

    async def send(event: Event) -> None:
        sent.append(event)

    scope = {**scope_of("GET", "/api/v1/runs/", []), "type": "websocket", "headers": [(b"host", host)]}
    await guard(Inner())(scope, receive, send)

    assert [event["type"] for event in sent] == ["websocket.close"]


async def test_other_protocols_are_not_served() -> None:
    nothing = cast("Receive", None)

    with pytest.raises(ValueError, match="lifespan"):
        await guard(Inner())({"type": "lifespan"}, nothing, cast("Send", None))
