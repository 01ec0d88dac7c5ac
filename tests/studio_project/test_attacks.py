"""Every attack on every route, streams and unknown paths included: refused in JSON, before anything is touched."""

import pytest

from contract.limits import BODY_MAX_BYTES
from studio_project.asgi_types import App
from tests.studio_project.asgi_client import JSON, ask
from tests.studio_project.scripted import ScriptedStudio, config_of

READS = (
    "/api/v1/contract",
    "/api/v1/runs/",
    "/api/v1/runs/r1",
    "/api/v1/runs/r1/evidence?pane=messages",
    "/api/v1/runs/r1/stream",
    "/api/v1/runs/r1/signals",
    "/api/v1/invocations/",
    "/api/v1/invocations/i1",
    "/api/v1/definitions/",
    "/api/v1/definitions/agent/a",
    "/api/v1/definitions/agent/a/versions/",
    "/api/v1/definitions/agent/a/versions/1",
    "/api/v1/definitions/agent/a/diff",
    "/api/v1/reconciliations/",
    "/api/v1/reconciliations/c1",
    "/api/openapi.json",
    "/api/docs",
)
WRITES = (
    ("POST", "/api/v1/runs/"),
    ("POST", "/api/v1/launches/"),
    ("POST", "/api/v1/runs/r1/events"),
    ("POST", "/api/v1/runs/r1/cancel"),
    ("PATCH", "/api/v1/runs/r1/tags"),
    ("PUT", "/api/v1/definitions/agent/a"),
    ("DELETE", "/api/v1/definitions/agent/a"),
    ("POST", "/api/v1/definitions/agent/a/rollback"),
    ("POST", "/api/v1/definitions/snapshot"),
    ("POST", "/api/v1/reconciliations/c1/resolve"),
)
UNKNOWN = ("/api", "/api/", "/api/v1", "/api/v1/nowhere", "/api/v1/runs/r1/nowhere", "/nowhere")
OTHERS = ("/", "/health", "/ready", "/static/ninja/swagger-ui.css", "/admin/")
EVERYWHERE = [("GET", path) for path in (*READS, *UNKNOWN, *OTHERS)] + list(WRITES)
UNSAFE = [*WRITES, *(("POST", path) for path in (*READS, *UNKNOWN, *OTHERS))]
GUARDED = [("GET", path) for path in (*READS, *UNKNOWN)] + list(WRITES)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "[::]", "", None])
@pytest.mark.parametrize(("method", "target"), EVERYWHERE)
async def test_a_rebound_host_reaches_nothing(app: App, method: str, target: str, host: str | None) -> None:
    answer = await ask(app, method, target, {**JSON, "x-forwarded-host": "localhost"}, host=host)

    assert (answer.status, answer.code) == (400, "invalid_host")


@pytest.mark.parametrize(("method", "target"), EVERYWHERE)
async def test_two_hosts_reach_nothing(app: App, method: str, target: str) -> None:
    answer = await ask(app, method, target, [("host", "localhost"), ("content-type", "application/json")])

    assert (answer.status, answer.code) == (400, "invalid_host")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:3000"])
@pytest.mark.parametrize(("method", "target"), UNSAFE)
async def test_a_foreign_page_changes_nothing_with_or_without_a_body(
    app: App, studio: ScriptedStudio, method: str, target: str, origin: str
) -> None:
    answer = await ask(app, method, target, {**JSON, "origin": origin, "cookie": "studio_session=x"}, body=b"{}")
    bodyless = await ask(app, method, target, {"origin": origin, "authorization": "Bearer anything"})

    assert (answer.status, answer.code) == (403, "origin_refused")
    assert (bodyless.status, bodyless.code) == (403, "origin_refused")
    assert list(studio.runs) == ["r1"]


@pytest.mark.parametrize(("method", "target"), UNSAFE)
async def test_a_browser_from_elsewhere_without_an_origin_changes_nothing(app: App, method: str, target: str) -> None:
    answer = await ask(app, method, target, {**JSON, "sec-fetch-site": "cross-site"})

    assert answer.code == "origin_refused"


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data; boundary=x", "application/csp-report", None])
@pytest.mark.parametrize(("method", "target"), WRITES)
async def test_a_simple_request_changes_nothing(app: App, method: str, target: str, kind: str | None) -> None:
    answer = await ask(app, method, target, {"content-type": kind} if kind else {}, body=b"{}")

    assert (answer.status, answer.code) == (415, "unsupported_media_type")


@pytest.mark.parametrize("kind", ["text/plain", "application/json"])
@pytest.mark.parametrize(
    ("method", "target"),
    [(spelled, target) for method, target in WRITES for spelled in (method.lower(), method.title(), f"{method} ")],
)
async def test_a_method_in_other_letters_changes_nothing(
    app: App, studio: ScriptedStudio, method: str, target: str, kind: str
) -> None:
    answer = await ask(app, method, target, {"content-type": kind}, body=b"{}")

    assert (answer.status, answer.code) == (405, "method_not_allowed")
    assert list(studio.runs) == ["r1"]


@pytest.mark.parametrize("method", ["get", "Head", "post", "TRACE", "PROPFIND", "CONNECT", "BREW"])
@pytest.mark.parametrize("target", [*READS, *UNKNOWN, *OTHERS])
async def test_a_method_that_nobody_has_is_refused_everywhere(app: App, method: str, target: str) -> None:
    answer = await ask(app, method, target)

    assert (answer.status, answer.code) == (405, "method_not_allowed")
    assert "GET, HEAD" in (answer.header("allow") or "")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_static_files_are_only_read(app: App, method: str) -> None:
    answer = await ask(app, method, "/static/ninja/favicon.svg")

    assert (answer.status, answer.code) == (405, "method_not_allowed")
    assert answer.header("allow") == "GET, HEAD"


@pytest.mark.parametrize("bearer", [None, "Bearer wrong", "Basic d3JpdGU6"])
@pytest.mark.parametrize(("method", "target"), GUARDED)
async def test_without_the_token_there_is_nothing_to_see(
    app: App, studio: ScriptedStudio, method: str, target: str, bearer: str | None
) -> None:
    studio.config = config_of(auth_token="write-me", auth_read_token="read-me")

    answer = await ask(app, method, target, {**JSON, **({"authorization": bearer} if bearer else {})})

    assert (answer.status, answer.code) == (401, "unauthorized")
    assert answer.header("www-authenticate") == "Bearer"


@pytest.mark.parametrize(("method", "target"), WRITES)
async def test_the_read_token_writes_nothing(app: App, studio: ScriptedStudio, method: str, target: str) -> None:
    studio.config = config_of(auth_token="write-me", auth_read_token="read-me")

    answer = await ask(app, method, target, {**JSON, "authorization": "Bearer read-me"}, body=b"{}")

    assert (answer.status, answer.code) == (401, "unauthorized")


@pytest.mark.parametrize("target", ["/health", "/ready", "/", "/static/ninja/favicon.svg"])
async def test_probes_and_static_files_need_no_token(app: App, studio: ScriptedStudio, target: str) -> None:
    studio.config = config_of(auth_token="write-me")

    answer = await ask(app, "GET", target)

    assert answer.status < 400


@pytest.mark.parametrize(("method", "target"), UNSAFE)
async def test_a_body_over_the_limit_is_not_read(app: App, method: str, target: str) -> None:
    answer = await ask(app, method, target, {**JSON, "content-length": str(BODY_MAX_BYTES + 1)})

    assert (answer.status, answer.code) == (413, "payload_too_large")


@pytest.mark.parametrize(
    "run_id",
    [
        "%00",
        "a%00b",
        "..",
        "%2e%2e",
        "..%2f..%2fetc%2fpasswd",
        "%252e%252e%252f",
        "....%2f%2f",
        "..%5c..%5cx",
        "%ED%A0%80",
        "%FF",
        "%0d%0aSet-Cookie:%20x",
        "%1b%5b2J",
        "%20",
        "a" * 5_000,
    ],
)
@pytest.mark.parametrize("route", ["", "/stream", "/signals", "/evidence?pane=messages", "/nowhere"])
async def test_a_hostile_name_is_not_found_or_not_valid(app: App, run_id: str, route: str) -> None:
    answer = await ask(app, "GET", f"/api/v1/runs/{run_id}{route}")

    assert answer.status in (404, 422)
    assert answer.code in ("not_found", "validation")


@pytest.mark.parametrize(
    "body",
    [
        b'{"name": NaN}',
        b'{"name": Infinity}',
        b'{"name": 1e999}',
        b'{"name": "\\ud800"}',
        b'{"name": "\\u0000"}',
        b'{"name": "a", "name": "b"}',
        b"[" * 10_000,
        b'{"started_at": ' + b"9" * 5_000 + b"}",
        b'{"started_at": 9223372036854775808}',
        b"\xef\xbb\xbf{}",
        '{"name": "a"}'.encode("utf-16"),
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"{} trailing",
        b'{"name": "\xff"}',
        b'{"nmae": "a"}',
        b'{"kind": true}',
    ],
)
async def test_hostile_json_is_refused_and_nothing_is_stored(app: App, studio: ScriptedStudio, body: bytes) -> None:
    answer = await ask(app, "POST", "/api/v1/runs/", JSON, body=body)

    assert (answer.status, answer.code) == (422, "validation")
    assert list(studio.runs) == ["r1"]


@pytest.mark.parametrize(
    "target", ["//evil.example/", "/%2f%2fevil.example", "//api/v1/runs/", "//api/v1/runs/r1/stream"]
)
async def test_a_path_that_looks_like_a_host_leads_nowhere(app: App, target: str) -> None:
    answer = await ask(app, "GET", target)

    assert (answer.status, answer.code) == (404, "not_found")
    assert answer.header("location") is None


@pytest.mark.parametrize("segment", ["..", ".", "%2e%2e", "%2E", ".%2e", "%252e%252e", "%252e"])
@pytest.mark.parametrize("slash", ["/", "%2f"])
async def test_no_redirect_leads_to_a_dot_segment(app: App, segment: str, slash: str) -> None:
    answer = await ask(app, "GET", f"/api/v1/runs/{segment}{slash}")

    assert (answer.status, answer.code) == (404, "not_found")
    assert answer.header("location") is None


@pytest.mark.parametrize("target", ["http://evil.example/", "*", "evil.example:80"])
async def test_a_target_that_is_no_path_is_a_bad_request(app: App, target: str) -> None:
    answer = await ask(app, "GET", target)

    assert (answer.status, answer.code) == (400, "bad_request")


async def test_a_thousand_parameters_are_a_bad_request(app: App) -> None:
    answer = await ask(app, "GET", "/api/v1/runs/?" + "&".join(f"a{n}=1" for n in range(2_000)))

    assert answer.code in ("bad_request", "validation")
