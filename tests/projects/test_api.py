"""The routes of projects over the whole application: names in paths, spellings, and who may ask."""

import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio

from studio_project.application import build_application
from studio_project.asgi_types import App
from studio_project.composition import build_studio, get_studio, set_studio
from studio_project.config import current_config
from tests.studio_project.asgi_client import JSON, Answer, ask

PROJECTS = "/api/v1/projects/"


@pytest_asyncio.fixture
async def app(transactional_db: None) -> AsyncIterator[App]:
    studio = build_studio(current_config())
    set_studio(studio)
    yield build_application(get_studio)
    set_studio(None)
    await studio.close()


async def tell(app: App, method: str, target: str, body: Any = None) -> Answer:
    sent = b"" if body is None else json.dumps(body).encode()
    return await ask(app, method, target, JSON, body=sent)


async def make(app: App, *names: str) -> None:
    for name in names:
        assert (await tell(app, "POST", PROJECTS, {"name": name})).status == 201


async def test_a_project_is_made_changed_given_runs_and_removed(app: App) -> None:
    await tell(app, "POST", "/api/v1/runs/", {"run_id": "r1"})
    made = await tell(app, "POST", PROJECTS, {"name": "github.com/team/thing"})
    place = f"{PROJECTS}github.com/team/thing"
    changed = await tell(app, "PATCH", place, {"path": "/srv", "expected_updated_at": made.json["updated_at"]})
    assigned = await tell(app, "POST", f"{place}/assign", {"run_ids": ["r1"]})
    refused = await tell(app, "DELETE", place)
    read = await ask(app, "GET", place)
    deleted = await tell(app, "DELETE", f"{place}?detach=true")
    gone = await ask(app, "GET", place)

    assert (made.status, changed.json["path"], assigned.json["assigned"]) == (201, "/srv", 1)
    assert (refused.status, refused.code, read.json["run_count"]) == (409, "conflict", 1)
    assert (deleted.status, deleted.json) == (
        200,
        {"name": "github.com/team/thing", "detached_runs": 1, "detached_schedules": 0},
    )
    assert (gone.status, gone.json["resource"], gone.json["identifier"]) == (404, "project", "github.com/team/thing")


@pytest.mark.parametrize("name", ["a b", "100%", "%2F", "a?b#c", "日本/語", "a/b/c", "..a/b", "a:b", "a&b=c", "détect"])
async def test_a_name_is_found_by_its_spelling_in_a_url(app: App, name: str) -> None:
    await make(app, name)

    for spelling in (quote(name, safe="/"), quote(name, safe="")):
        found = await ask(app, "GET", PROJECTS + spelling)
        assert (found.status, found.json["name"]) == (200, name)


@pytest.mark.parametrize(
    "spelling",
    ["..", "%2e%2e", "a/../b", "a/%2e%2e/b", "a//b", "%2Fa", "%20a", "a%5Cb", "a%00b", "%ED%A0%80", "a%0Ab", "x" * 300],
)
async def test_a_spelling_of_no_name_is_not_found(app: App, spelling: str) -> None:
    for method in ("GET", "PATCH", "DELETE"):
        answer = await tell(app, method, PROJECTS + spelling, {} if method == "PATCH" else None)
        assert (answer.status, answer.code) == (404, "not_found")
    assigned = await tell(app, "POST", f"{PROJECTS}{spelling}/assign", {"unassigned": True})
    assert assigned.status in (404, 405)


@pytest.mark.parametrize("spelling", ["a/b/", "a/", "a%2Fb/", "a/assign/", "detect/", "100%25/"])
async def test_a_slash_at_the_end_is_another_spelling(app: App, spelling: str) -> None:
    answer = await tell(app, "GET", f"{PROJECTS}{spelling}?x=1")

    assert answer.status == 308
    location = f"{PROJECTS}{spelling}".replace("%2F", "/").removesuffix("/")
    assert answer.header("location") == f"{location}?x=1"


async def test_a_list_without_its_slash_is_another_spelling(app: App) -> None:
    answer = await tell(app, "POST", "/api/v1/projects", {"name": "a"})

    assert (answer.status, answer.header("location")) == (308, PROJECTS)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "a/b", "DELETE, GET, HEAD, PATCH"),
        ("BREW", "a/b", "DELETE, GET, HEAD, PATCH"),
        ("GET", "a/b/assign", "POST"),
        ("BREW", "a/b/assign", "POST"),
        ("GET", "detect", "POST"),
        ("BREW", "detect", "POST"),
        ("DELETE", "", "GET, HEAD, POST"),
    ],
)
async def test_a_route_says_its_own_methods(app: App, method: str, path: str, allowed: str) -> None:
    answer = await tell(app, method, PROJECTS + path)

    assert (answer.status, answer.header("allow")) == (405, allowed)


async def test_a_deletion_reads_no_body(app: App) -> None:
    await make(app, "a")

    refused = await tell(app, "DELETE", f"{PROJECTS}a", {"detach": True})

    assert (refused.status, refused.json["field_errors"][0]["code"]) == (422, "body")
    assert (await ask(app, "GET", f"{PROJECTS}a")).status == 200


async def test_a_folder_is_asked_about(app: App) -> None:
    body = {"folders": ["/srv/thing"], "remote_url": "git@host:team/thing.git"}

    answer = await tell(app, "POST", f"{PROJECTS}detect", body)

    assert (answer.status, answer.json) == (
        200,
        {"name": "host/team/thing", "source": "git_remote", "registered": False},
    )


async def test_lists_go_on_by_cursor(app: App) -> None:
    await make(app, "ä", "b", "A/b")

    first = await ask(app, "GET", f"{PROJECTS}?limit=2")
    rest = await ask(app, "GET", f"{PROJECTS}?limit=2&cursor={first.json['next_cursor']}")

    assert [item["name"] for item in (*first.json["items"], *rest.json["items"])] == ["A/b", "b", "ä"]
