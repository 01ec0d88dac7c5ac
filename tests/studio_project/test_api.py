"""The endpoints, through the whole application, over a scripted Studio."""

import pytest
from django.conf import settings

from contract.errors import (
    Conflict,
    NotFound,
    PermissionDenied,
    ReconciliationRequired,
    StateUnavailable,
    StudioError,
    ValidationFailure,
)
from contract.limits import BODY_MAX_BYTES
from contract.parsing import parse_model
from contract.runs import StartRun
from studio_project.asgi_types import App
from studio_project.http_errors import STATUS
from tests.studio_project.asgi_client import JSON, ask
from tests.studio_project.scripted import ScriptedStudio, unforeseen


@pytest.mark.parametrize(
    ("method", "target", "body", "status"),
    [
        ("GET", "/api/v1/contract", b"", 200),
        ("GET", "/api/v1/runs/", b"", 200),
        ("GET", "/api/v1/runs/?status=running&status=failed&limit=5&project_is_null=true", b"", 200),
        ("POST", "/api/v1/runs/", b'{"run_id": "a:b.c"}', 201),
        ("POST", "/api/v1/launches/", b'{"kind": "command", "command": ["make", "-n"]}', 202),
        ("GET", "/api/v1/runs/r1", b"", 200),
        ("GET", "/api/v1/runs/r1?message_limit=3", b"", 200),
        ("GET", "/api/v1/runs/r1/evidence?pane=signals", b"", 200),
        ("POST", "/api/v1/runs/r1/events", b'{"events": [{"type": "signal", "kind": "NodeStarted"}]}', 200),
        ("POST", "/api/v1/runs/r1/cancel", b'{"reason": "enough"}', 202),
        ("PATCH", "/api/v1/runs/r1/tags", b'{"add": ["x"]}', 200),
        ("GET", "/api/v1/invocations/", b"", 200),
        ("GET", "/api/v1/invocations/i1", b"", 404),
    ],
)
async def test_every_endpoint_answers_json_with_its_status(
    app: App, method: str, target: str, body: bytes, status: int
) -> None:
    answer = await ask(app, method, target, JSON if body else {}, body=body)

    assert answer.status == status
    assert answer.header("content-type") == "application/json"
    assert answer.header("content-length") == str(len(answer.body))
    assert answer.json


@pytest.mark.parametrize("body", [b"", b"null", b" null ", b"{}"])
async def test_a_cancel_needs_no_body(app: App, body: bytes) -> None:
    answer = await ask(app, "POST", "/api/v1/runs/r1/cancel", JSON, body=body)

    assert answer.status == 202


async def test_names_with_colons_and_dots_reach_the_operation(app: App, studio: ScriptedStudio) -> None:
    studio.runs["a:b.c"] = StartRun()

    answer = await ask(app, "GET", "/api/v1/runs/a:b.c")

    assert answer.json["run_id"] == "a:b.c"


@pytest.mark.parametrize(
    "target",
    [
        "/api/v1/runs/?nope=1",
        "/api/v1/runs/?limit=0",
        "/api/v1/runs/?limit=abc",
        "/api/v1/runs/?limit=1&limit=2",
        "/api/v1/runs/?limit=99999999999999999999999",
        "/api/v1/runs/?playbook=%00",
        "/api/v1/runs/r1?nope=1",
        "/api/v1/runs/r1/evidence",
        "/api/v1/runs/r1/evidence?pane=nope",
        "/api/v1/runs/r1/evidence?pane=signals&run_id=r2",
        "/api/v1/invocations/i1?nope=1",
        "/api/v1/contract?nope=1",
    ],
)
async def test_a_query_that_is_not_understood_is_refused(app: App, target: str) -> None:
    answer = await ask(app, "GET", target)

    assert (answer.status, answer.code) == (422, "validation")
    assert answer.json["field_errors"]


async def test_a_fault_of_a_body_is_named_as_in_process(app: App) -> None:
    with pytest.raises(ValidationFailure) as in_process:
        parse_model(StartRun, {"run_id": "a b", "tags": ["x", "y z"], "nmae": 1})

    answer = await ask(app, "POST", "/api/v1/runs/", JSON, body=b'{"run_id": "a b", "tags": ["x", "y z"], "nmae": 1}')

    assert answer.body == in_process.value.body().to_json()


@pytest.mark.parametrize(
    "fault",
    [
        NotFound("run", "r1"),
        Conflict("run", "running", "completed"),
        PermissionDenied("outside"),
        StateUnavailable(retryable=True),
        StateUnavailable(retryable=False),
        ReconciliationRequired("rec1"),
        ValidationFailure.at("cursor", code="cursor", message="is foreign"),
    ],
)
async def test_what_an_operation_raises_is_what_the_client_reads(
    app: App, studio: ScriptedStudio, fault: StudioError
) -> None:
    studio.fault = fault

    answer = await ask(app, "GET", "/api/v1/runs/r1")

    assert answer.status == STATUS[fault.code]
    assert answer.body == fault.body().to_json()


async def test_what_nobody_foresaw_is_an_incident(
    app: App, studio: ScriptedStudio, caplog: pytest.LogCaptureFixture
) -> None:
    studio.fault = unforeseen()

    answer = await ask(app, "GET", "/api/v1/runs/")

    assert (answer.status, answer.code) == (500, "internal")
    assert b"secret" not in answer.body
    assert len([record for record in caplog.records if record.exc_info]) == 1


# ---- methods


@pytest.mark.parametrize("method", ["TRACE", "OPTIONS", "BREW", "CONNECT", "get", "PoSt"])
@pytest.mark.parametrize(
    ("target", "allow"),
    [
        ("/api/v1/runs/", "GET, HEAD, POST"),
        ("/api/v1/runs/r1", "GET, HEAD"),
        ("/api/v1/runs/r1/tags", "PATCH"),
        ("/api/v1/launches/", "POST"),
        ("/api/v1/runs/r1/stream", "GET, HEAD"),
        ("/api/openapi.json", "GET, HEAD"),
        ("/health", "GET, HEAD"),
        ("/static/ninja/favicon.svg", "GET, HEAD"),
    ],
)
async def test_other_methods_are_not_allowed(app: App, method: str, target: str, allow: str) -> None:
    answer = await ask(app, method, target)

    assert (answer.status, answer.code) == (405, "method_not_allowed")
    assert answer.header("allow") == allow


@pytest.mark.parametrize("target", ["/api/v1/runs/r1", "/api/v1/runs/r1/stream", "/api/docs", "/health", "/ready", "/"])
async def test_a_body_sent_to_a_reading_route_is_not_allowed(app: App, target: str) -> None:
    answer = await ask(app, "POST", target, JSON, body=b"{}")

    assert (answer.status, answer.code) == (405, "method_not_allowed")


@pytest.mark.parametrize("target", ["/api/v1/runs/", "/api/v1/runs/r1", "/api/v1/contract", "/health", "/api/docs"])
async def test_head_tells_what_get_would_say_without_saying_it(app: App, target: str) -> None:
    got = await ask(app, "GET", target)

    headed = await ask(app, "HEAD", target)

    assert headed.status == got.status
    assert headed.header("content-length") == got.header("content-length")
    assert headed.body == b""


# ---- slashes


@pytest.mark.parametrize(
    ("target", "location"),
    [
        ("/api/v1/runs", "/api/v1/runs/"),
        ("/api/v1/runs?limit=1&status=a%20b", "/api/v1/runs/?limit=1&status=a%20b"),
        ("/api/v1/runs/r1/", "/api/v1/runs/r1"),
        ("/api/v1/runs/a%20b/", "/api/v1/runs/a%20b"),
        ("/api/v1/runs/r1/stream/", "/api/v1/runs/r1/stream"),
        ("/api/v1/runs/r1/signals/?cursor=x", "/api/v1/runs/r1/signals?cursor=x"),
        ("/api/v1/runs/r1/cancel/", "/api/v1/runs/r1/cancel"),
        ("/api/v1/invocations", "/api/v1/invocations/"),
        ("/api/v1/launches", "/api/v1/launches/"),
        ("/api/v1/contract/", "/api/v1/contract"),
        ("/api/openapi.json/", "/api/openapi.json"),
        ("/health/", "/health"),
        ("/ready/", "/ready"),
        ("/admin", "/admin/"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
async def test_the_other_spelling_is_redirected_by_path_alone_whatever_the_method(
    app: App, method: str, target: str, location: str
) -> None:
    answer = await ask(
        app, method, target, {**JSON, "x-forwarded-proto": "https", "x-forwarded-host": "evil.example"}, body=b"{}"
    )

    assert answer.status == 308
    assert answer.header("location") == location


@pytest.mark.parametrize(
    "target",
    ["/api", "/api/v1", "/api/v1/nowhere", "/api/v1/nowhere/", "/api/v1/runs//", "/api/v1/runs/r1/x", "/nowhere"],
)
async def test_an_unknown_path_is_not_found_in_any_spelling(app: App, target: str) -> None:
    answer = await ask(app, "GET", target)

    assert (answer.status, answer.code) == (404, "not_found")
    assert answer.json["resource"] == "route"


# ---- pages beside the API


async def test_the_root_leads_to_the_admin_by_a_relative_location(app: App) -> None:
    answer = await ask(app, "GET", "/")

    assert answer.status == 302
    assert answer.header("location") == "admin/"


async def test_health_tells_that_the_process_answers(app: App) -> None:
    answer = await ask(app, "GET", "/health")

    assert answer.json["status"] == "ok"
    assert answer.json["version"]


async def test_ready_tells_phase_and_progress_until_the_end(app: App, studio: ScriptedStudio) -> None:
    studio.readiness.ready = False
    studio.readiness.enter("reconcile runs", total=3)
    studio.readiness.advance()

    starting = await ask(app, "GET", "/ready")
    studio.readiness.mark_ready()
    started = await ask(app, "GET", "/ready")

    assert starting.status == 503
    assert starting.json == {"phase": "reconcile runs", "done": 1, "total": 3}
    assert started.status == 200
    assert started.json["phase"] == "ready"


async def test_ready_says_when_the_store_is_gone(app: App, studio: ScriptedStudio) -> None:
    studio.store_fault_text = "there is no database file"

    answer = await ask(app, "GET", "/ready")

    assert answer.status == 503
    assert answer.json["phase"] == "there is no database file"


async def test_static_files_are_served(app: App) -> None:
    answer = await ask(app, "GET", "/static/ninja/swagger-ui.css")

    assert answer.status == 200
    assert answer.header("content-type") == "text/css"


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("/static/nope.css", "not_found"),
        ("/static/../studio_project/settings.py", "not_found"),
        ("/static/", "not_found"),
    ],
)
async def test_only_static_files_are_served(app: App, target: str, code: str) -> None:
    assert (await ask(app, "GET", target)).code == code


async def test_an_unknown_page_of_the_admin_is_told_in_plain_words(app: App) -> None:
    answer = await ask(app, "POST", "/admin/nowhere/", {"content-type": "text/plain"})

    assert answer.status in (403, 404)
    assert (answer.header("content-type") or "").startswith("text/")


async def test_the_documentation_loads_nothing_from_elsewhere(app: App) -> None:
    answer = await ask(app, "GET", "/api/docs")

    page = answer.body.decode()
    assert answer.status == 200
    assert "http://" not in page
    assert "https://" not in page
    assert '"validatorUrl": null' in page
    assert "/api/openapi.json" in page


def test_django_takes_every_body_that_the_middleware_lets_through() -> None:

    assert settings.DATA_UPLOAD_MAX_MEMORY_SIZE == BODY_MAX_BYTES
