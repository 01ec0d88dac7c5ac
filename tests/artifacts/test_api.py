"""What only HTTP has: headers of raw bytes, hostile paths, and a client that leaves."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from contract.artifacts import SaveArtifact
from contract.runs import StartRun
from studio_project.application import build_application
from studio_project.asgi_types import App
from studio_project.composition import Studio, build_studio, get_studio, set_studio
from studio_project.config import current_config
from studio_project.contract_asgi import Request
from tests.studio_project.asgi_client import JSON, ask

pytestmark = pytest.mark.django_db(transaction=True)


@pytest_asyncio.fixture
async def studio(tmp_path: Path) -> AsyncIterator[Studio]:
    studio = build_studio(current_config().model_copy(update={"home": tmp_path}))
    set_studio(studio)
    await studio.start_run(StartRun(run_id="r"))
    yield studio
    set_studio(None)
    studio.stopping()
    await studio.close()


@pytest.fixture
def app(studio: Studio) -> App:
    return build_application(get_studio)


async def saved(studio: Studio, path: str, data: bytes, name: str = "n") -> str:
    command = SaveArtifact(run_id="r", kind="k", name=name, path=path, data=data)
    return (await studio.save_artifact(command)).id


async def test_bytes_are_sent_to_be_saved_and_never_to_be_executed(app: App, studio: Studio) -> None:
    page = await saved(studio, 'out/Ü "x".html', b"<script>alert(1)</script>")

    answer = await ask(app, "GET", f"/api/v1/artifacts/{page}/content")

    assert answer.status == 200
    assert answer.body == b"<script>alert(1)</script>"
    assert answer.header("content-type") == "application/octet-stream"
    assert answer.header("content-disposition") == "attachment; filename*=UTF-8''%C3%9C%20%22x%22.html"
    assert answer.header("x-content-type-options") == "nosniff"
    assert (answer.header("etag") or "").strip('"').isalnum()
    assert (answer.header("studio-artifact-size"), answer.header("studio-artifact-truncated")) == ("25", "false")


async def test_head_tells_the_same_without_the_bytes(app: App, studio: Studio) -> None:
    text = await saved(studio, "a.txt", b"text")

    answer = await ask(app, "HEAD", f"/api/v1/artifacts/{text}/content")

    assert (answer.status, answer.body, answer.header("content-length")) == (200, b"", "4")


@pytest.mark.parametrize(
    "target",
    [
        "/api/v1/artifacts/../../etc/passwd",
        "/api/v1/artifacts/..%2f..%2fetc%2fpasswd/content",
        "/api/v1/artifacts/%2e%2e/content",
        "/api/v1/artifacts/%252e%252e%252f/content",
        "/api/v1/artifacts/..%5c..%5cx/content",
        "/api/v1/artifacts/....//content",
        "/api/v1/artifacts/%00/content",
        "/api/v1/artifacts/%ED%A0%80/content",
        "/api/v1/artifacts/%FF/content",
        "/api/v1/artifacts/none/content/../../x",
        "/api/v1/runs/../artifacts",
        "/api/v1/runs/..%2f/artifacts/verification",
        "/api/v1/invocations/%2e%2e/artifacts",
    ],
)
async def test_a_hostile_path_finds_nothing(app: App, target: str) -> None:
    answer = await ask(app, "GET", target)

    assert answer.status in (404, 422, 308)
    assert b"root:" not in answer.body


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/passwd", "C:\\\\x", "\\\\\\\\host\\\\share", "a\\u0000b"])
async def test_a_hostile_path_in_a_body_is_a_fault_of_that_field(app: App, path: str) -> None:
    body = f'{{"run_id": "r", "kind": "k", "name": "n", "path": "{path}", "data": "eA=="}}'

    answer = await ask(app, "PUT", "/api/v1/artifacts/", JSON, body=body.encode())

    assert answer.status == 422
    assert answer.json["field_errors"][0]["path"] == ["path"]


async def test_no_answer_names_a_path_of_the_host(app: App, studio: Studio, tmp_path: Path) -> None:
    file = await saved(studio, "a", b"x")
    (tmp_path / "artifacts" / "r" / "a").unlink()

    for room in ("", "?include_preview=true", "/content"):
        answer = await ask(app, "GET", f"/api/v1/artifacts/{file}{room}")
        assert str(tmp_path).encode() not in answer.body
    verified = await ask(app, "GET", "/api/v1/runs/r/artifacts/verification")
    assert str(tmp_path).encode() not in verified.body


async def test_reading_stops_when_the_client_leaves(app: App, studio: Studio) -> None:
    file = await saved(studio, "a", b"x")
    begun, cancelled = asyncio.Event(), asyncio.Event()

    class Hanging:
        async def preview(self, *_: object, **__: object) -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

    studio._artifact_files = Hanging()  # type: ignore[assignment]  # a small working fake of the one call
    left = asyncio.Event()
    request = Request(path=f"/api/v1/artifacts/{file}/content")
    scope = request.scope({})
    asked = False

    async def receive() -> dict[str, object]:
        nonlocal asked
        if not asked:
            asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(_: object) -> None:
        """Nobody reads it."""

    answering = asyncio.ensure_future(app(scope, receive, send))
    await begun.wait()
    left.set()

    async with asyncio.timeout(10):
        await cancelled.wait()
        await answering
