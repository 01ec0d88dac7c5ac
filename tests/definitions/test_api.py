"""The routes of definitions over the whole application, with real files and a real store."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from studio_project.application import build_application
from studio_project.asgi_types import App
from studio_project.composition import build_studio, get_studio, set_studio
from studio_project.config import current_config
from tests.studio_project.asgi_client import JSON, Answer, ask

DEFINITIONS = "/api/v1/definitions/"
AGENT = f"{DEFINITIONS}agent/scout"
HOSTILE = (
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
    "-",
    "C:x",
    "a" * 300,
    "a" * 5_000,
)


NO_VERSIONS = ("0", "-1", "2", "latest", "1.0", "01", "+1", "1e0", "%D9%A1", "%00", "9" * 15, "9" * 30, "9" * 5_000)


@pytest_asyncio.fixture
async def app(transactional_db: None, tmp_path: Path) -> AsyncIterator[App]:
    studio = build_studio(current_config().model_copy(update={"home": tmp_path / "home"}))
    (tmp_path / "home").mkdir()
    set_studio(studio)
    yield build_application(get_studio)
    set_studio(None)
    await studio.close()


async def tell(app: App, method: str, target: str, body: Any = None) -> Answer:
    sent = b"" if body is None else json.dumps(body).encode()
    return await ask(app, method, target, JSON, body=sent)


def below(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


async def put(app: App, content: str, target: str = AGENT, **more: Any) -> Answer:
    return await tell(app, "PUT", target, {"content": content, **more})


def faults(answer: Answer) -> list[tuple[list[str | int], str]]:
    assert answer.status == 422, answer.body
    return [(fault["path"], fault["code"]) for fault in answer.json["field_errors"]]


async def test_a_definition_is_saved_read_and_deleted_where_it_is(app: App) -> None:
    saved = await put(app, "Look.\n", expected_version=0)
    read = await ask(app, "GET", AGENT)
    deleted = await tell(app, "DELETE", f"{AGENT}?expected_version=1&message=not%20used")
    gone = await ask(app, "GET", AGENT)

    assert (saved.status, saved.json["version"]) == (200, 1)
    assert (read.json["content"], read.json["drift"]) == ("Look.\n", None)
    assert (deleted.status, deleted.json["version"]) == (200, 2)
    assert (gone.status, gone.json["resource"], gone.json["identifier"]) == (404, "definition", "agent/scout")


async def test_the_history_is_listed_read_compared_and_rolled_back(app: App) -> None:
    await put(app, "One.\n")
    await put(app, "Two.\n", message="better")

    page = await ask(app, "GET", f"{AGENT}/versions/?limit=1")
    version = await ask(app, "GET", f"{AGENT}/versions/1")
    diff = await ask(app, "GET", f"{AGENT}/diff?from=1&to=2")
    rolled = await tell(app, "POST", f"{AGENT}/rollback", {"version": 1, "expected_version": 2})

    assert [(item["version"], item["message"]) for item in page.json["items"]] == [(2, "better")]
    assert version.json["content"] == "One.\n"
    assert (diff.json["added"], diff.json["removed"]) == (1, 1)
    assert rolled.json["version"] == 3


async def test_what_was_done_by_hand_is_captured_and_listed(app: App, tmp_path: Path) -> None:
    await put(app, "One.\n")
    (tmp_path / "home" / "agents" / "scout.md").write_text("By hand.\n")

    listed = await ask(app, "GET", DEFINITIONS)
    snapshot = await tell(app, "POST", f"{DEFINITIONS}snapshot")

    assert [item["drift"] for item in listed.json["items"]] == ["edited"]
    assert [item["version"] for item in snapshot.json["captured"]] == [2]


async def test_a_save_that_misses_its_file_is_an_error_until_it_is_resolved(app: App, tmp_path: Path) -> None:
    (tmp_path / "home" / "agents").symlink_to(tmp_path / "elsewhere")

    saved = await put(app, "One.\n")
    reconciliation = f"/api/v1/reconciliations/{saved.json['reconciliation_id']}"
    pending = await ask(app, "GET", "/api/v1/reconciliations/?status=pending")
    again = await tell(app, "POST", f"{reconciliation}/resolve", {"action": "retry_write"})
    (tmp_path / "elsewhere").mkdir()
    resolved = await tell(app, "POST", f"{reconciliation}/resolve", {"action": "retry_write"})
    detail = await ask(app, "GET", reconciliation)

    assert (saved.status, saved.code) == (500, "reconciliation_required")
    assert [item["error_code"] for item in pending.json["items"]] == ["not_a_file"]
    assert (again.status, again.json["reconciliation_id"]) == (500, saved.json["reconciliation_id"])
    assert (resolved.status, resolved.json["resolution"]) == (200, "retry_write")
    assert [entry["outcome"] for entry in detail.json["log"]] == ["opened", "failed", "resolved"]


# ---- what the path gives


async def test_a_body_may_repeat_what_the_path_gives(app: App) -> None:
    saved = await put(app, "Look.\n", kind="agent", name="scout")

    assert saved.status == 200


async def test_a_body_that_differs_from_the_path_is_refused_at_each_field(app: App) -> None:
    refused = await put(app, "prompt: Go.\n", kind="playbook", name="other")
    listed = await ask(app, "GET", DEFINITIONS)

    assert faults(refused) == [(["kind"], "path"), (["name"], "path")]
    assert listed.json["items"] == []


async def test_an_impossible_name_in_the_body_is_told_what_is_wrong_with_it(app: App) -> None:
    assert faults(await put(app, "Look.\n", name="../scout")) == [(["name"], "name")]


@pytest.mark.parametrize("body", [None, [], "text", {}, {"content": 5}, {"content": "x", "contents": ""}], ids=repr)
async def test_a_save_of_anything_else_is_refused(app: App, body: Any) -> None:
    assert faults(await tell(app, "PUT", AGENT, body))


async def test_a_fault_in_the_content_has_line_and_column(app: App) -> None:
    refused = await put(app, "prompt: Go.\nsteps: [1, 2\n", f"{DEFINITIONS}playbook/nightly")

    (fault, *_) = refused.json["field_errors"]
    assert (fault["path"][0], fault["line"] > 1, fault["column"] > 0) == ("content", True, True)


async def test_a_stale_save_is_told_the_newest_version(app: App) -> None:
    await put(app, "One.\n")

    refused = await put(app, "Two.\n", expected_version=0)

    assert (refused.status, refused.json["expected"], refused.json["actual"]) == (409, "0", "1")


@pytest.mark.parametrize("header", ["If-Match", "If-None-Match", "If-Unmodified-Since"])
@pytest.mark.parametrize(("method", "room"), [("PUT", ""), ("DELETE", ""), ("POST", "/rollback")])
async def test_a_precondition_that_would_not_be_read_is_refused(app: App, header: str, method: str, room: str) -> None:
    refused = await ask(app, method, f"{AGENT}{room}", {**JSON, header: "*"}, body=b'{"content": "x"}')

    assert faults(refused) == [([header], "precondition")]


@pytest.mark.parametrize("body", [{"expected_version": 7}, [], "text"], ids=repr)
async def test_a_deletion_whose_body_would_not_be_read_is_refused(app: App, body: Any) -> None:
    await put(app, "One.\n")

    refused = await tell(app, "DELETE", AGENT, body)

    assert faults(refused) == [([], "body")]
    assert (await ask(app, "GET", AGENT)).status == 200


async def test_a_version_that_is_not_there_is_not_found_however_it_is_spelt(app: App) -> None:
    await put(app, "One.\n")

    answers = [await ask(app, "GET", f"{AGENT}/versions/{spelt}") for spelt in NO_VERSIONS]

    assert {(answer.status, answer.json["resource"]) for answer in answers} == {(404, "definition version")}


async def test_the_parameter_of_a_comparison_is_called_from(app: App) -> None:
    await put(app, "One.\n")

    refused = await ask(app, "GET", f"{AGENT}/diff?from=-1&from_=1")

    assert faults(refused) == [(["from_"], "unknown_field"), (["from"], "greater_than_equal")]


# ---- hostile paths


@pytest.mark.parametrize(
    ("method", "room"),
    [
        ("GET", ""),
        ("PUT", ""),
        ("DELETE", ""),
        ("GET", "/versions/"),
        ("GET", "/versions/1"),
        ("GET", "/diff"),
        ("POST", "/rollback"),
    ],
)
async def test_a_hostile_name_is_not_found_or_not_valid(app: App, tmp_path: Path, method: str, room: str) -> None:
    body = {"PUT": {"content": "x"}, "POST": {"version": 1}}.get(method)
    places = [place for name in HOSTILE for place in (f"agent/{name}", f"{name}/x")]

    answers = [await tell(app, method, f"{DEFINITIONS}{place}{room}", body) for place in places]

    assert {answer.status for answer in answers} <= {404, 422}
    assert {answer.code for answer in answers} <= {"not_found", "validation"}
    assert below(tmp_path) == [tmp_path / "home"]


async def test_a_hostile_reconciliation_is_not_found(app: App) -> None:
    places = [f"/api/v1/reconciliations/{name}" for name in HOSTILE]

    answers = [await ask(app, "GET", place) for place in places]
    resolved = [await tell(app, "POST", f"{place}/resolve", {"action": "accept_file"}) for place in places]

    assert {(answer.status, answer.code) for answer in (*answers, *resolved)} == {(404, "not_found")}


@pytest.mark.parametrize("room", ["", "/versions/", "/versions/1"])
async def test_what_cannot_be_and_what_is_not_there_look_the_same(app: App, room: str) -> None:
    absent = await ask(app, "GET", f"{DEFINITIONS}agent/absent{room}")
    impossible = await ask(app, "GET", f"{DEFINITIONS}agent/%20bsent{room}")
    unknown = await ask(app, "GET", f"{DEFINITIONS}robots/absent{room}")

    assert {absent.status, impossible.status, unknown.status} == {404}
    assert absent.json.keys() == impossible.json.keys() == unknown.json.keys()
    assert absent.json["resource"] == impossible.json["resource"] == unknown.json["resource"]
