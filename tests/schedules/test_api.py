"""The routes of schedules over the whole application, with a real store."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from contract.limits import MAX_CHAIN_DEPTH
from studio_project.application import build_application
from studio_project.asgi_types import App
from studio_project.composition import build_studio, get_studio, set_studio
from studio_project.config import current_config
from tests.studio_project.asgi_client import JSON, Answer, ask

SCHEDULES = "/api/v1/schedules/"
CRON = {"kind": "cron", "expression": "0 18 * * *", "timezone": "America/New_York"}
ACTION: dict[str, Any] = {"kind": "command", "command": ["sh"]}
SPEC: dict[str, Any] = {"name": "x", "trigger": CRON, "action": ACTION, "description": "d", "max_runs": 3}
CAPS = {"max_runs": 3, "budget_usd": 1.5, "budget_tokens": 9, "description": "d", "project": "p"}
KEEPING = ("name", "trigger", "action", "missed_fire_policy", "overlap_policy")
UNKNOWN = ("github_cursor", "enabled", "next_fire_at", "run_count", "schedule_id", "updated_at", "paused", "")


@pytest_asyncio.fixture
async def app(transactional_db: None, tmp_path: Path) -> AsyncIterator[App]:
    changes = {"home": tmp_path / "home", "command_allowlist": ("sh",), "timezone": "Europe/Berlin"}
    (tmp_path / "home").mkdir()
    studio = build_studio(current_config().model_copy(update=changes))
    set_studio(studio)
    yield build_application(get_studio)
    set_studio(None)
    await studio.close()


async def tell(app: App, method: str, target: str, body: Any = None) -> Answer:
    sent = b"" if body is None else json.dumps(body).encode()
    return await ask(app, method, target, JSON, body=sent)


async def made(app: App, **fields: Any) -> dict[str, Any]:
    """Make a schedule, and return it."""
    answer = await tell(app, "POST", SCHEDULES, SPEC | fields)
    assert answer.status == 201, answer.body
    return await read(app, answer.json["schedule_id"])


async def read(app: App, schedule_id: str) -> dict[str, Any]:
    found: dict[str, Any] = (await ask(app, "GET", f"{SCHEDULES}{schedule_id}")).json
    return found


async def patch(app: App, schedule: dict[str, Any], **changes: Any) -> Answer:
    body = {"expected_updated_at": schedule["updated_at"], "changes": changes}
    return await tell(app, "PATCH", f"{SCHEDULES}{schedule['schedule_id']}", body)


def faults(answer: Answer) -> list[tuple[list[str | int], str]]:
    assert answer.status == 422, answer.body
    return [(fault["path"], fault["code"]) for fault in answer.json["field_errors"]]


# what a patch may leave out, clear, and not know ---------------------------------------------------------------


async def test_a_patch_of_nothing_changes_nothing(app: App) -> None:
    before = await made(app)

    answer = await patch(app, before)

    assert (answer.status, answer.json["updated_at"]) == (200, before["updated_at"])
    assert await read(app, before["schedule_id"]) == before


async def test_a_patch_changes_what_it_has_and_nothing_else(app: App) -> None:
    before = await made(app, **CAPS)

    assert (await patch(app, before, name="y")).status == 200

    after = await read(app, before["schedule_id"])
    assert {key for key in before if before[key] != after[key]} == {"name", "updated_at"}
    assert after["trigger"]["timezone"] == "America/New_York"


@pytest.mark.parametrize("field", CAPS)
async def test_null_clears_what_can_be_without_a_value(app: App, field: str) -> None:
    before = await made(app, **CAPS)

    assert (await patch(app, before, **{field: None})).status == 200

    after = await read(app, before["schedule_id"])
    assert {key for key in before if before[key] != after[key]} == {field, "updated_at"}
    assert after[field] is None


@pytest.mark.parametrize("field", KEEPING)
async def test_null_clears_nothing_that_is_needed(app: App, field: str) -> None:
    before = await made(app)

    assert faults(await patch(app, before, **{field: None})) == [(["changes", field], "null")]
    assert await read(app, before["schedule_id"]) == before


@pytest.mark.parametrize("field", UNKNOWN)
async def test_what_no_patch_can_change_is_refused_and_not_passed_over(app: App, field: str) -> None:
    before = await made(app)

    assert faults(await patch(app, before, **{field: "x", "name": "y"})) == [(["changes", field], "unknown_field")]
    assert await read(app, before["schedule_id"]) == before


async def test_a_patch_needs_to_know_what_it_changes(app: App) -> None:
    before = await made(app)
    target = f"{SCHEDULES}{before['schedule_id']}"

    assert faults(await tell(app, "PATCH", target, {"changes": {"name": "y"}})) == [
        (["expected_updated_at"], "missing")
    ]
    stale = await tell(app, "PATCH", target, {"expected_updated_at": 1.0, "changes": {"name": "y"}})
    assert (stale.status, stale.json["resource"]) == (409, "schedule")
    assert float(stale.json["actual"]) == before["updated_at"]


# what is refused before anything is stored ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression",
    ["0 0 30 2 *", "0 0 31 4 *", "0 0 31 2,4,6 *", "*/30 * * * * *", "* * * * * *", "0 0 12 * * 2026",
     "0 0 12 1 1 ? 2026", "*/0 * * * *", "5-5/0 * * * *", "59-0/0 * * * *", "* * * 1/00 *", "", "   ",
     "60 * * * *", "* * 0 * *", "*/-5 * * * *", "1,,2 * * * *", "1," * 50_000],
)  # fmt: skip
async def test_an_expression_that_is_none_is_refused(app: App, expression: str) -> None:
    answer = await tell(app, "POST", SCHEDULES, SPEC | {"trigger": {"kind": "cron", "expression": expression}})

    assert [path for path, _ in faults(answer)] == [["trigger", "expression"]]
    assert (await ask(app, "GET", SCHEDULES)).json["items"] == []


@pytest.mark.parametrize("zone", ["Mars/Base", "", "EST5EDT5", "/etc/localtime", "../../etc/passwd", "a" * 65])
async def test_a_zone_that_is_none_is_refused(app: App, zone: str) -> None:
    answer = await tell(app, "POST", SCHEDULES, SPEC | {"trigger": CRON | {"timezone": zone}})

    assert [path for path, _ in faults(answer)] == [["trigger", "timezone"]]


@pytest.mark.parametrize("trigger", [{"kind": "cron", "expression": "0 18 * * *"}, CRON | {"timezone": None}])
async def test_the_zone_that_nobody_named_is_the_configured_one_and_told(app: App, trigger: dict[str, Any]) -> None:
    assert (await made(app, trigger=trigger))["trigger"]["timezone"] == "Europe/Berlin"


async def test_a_chain_is_refused_where_it_is_wrong(app: App) -> None:
    deep: dict[str, Any] = dict(ACTION)
    for _ in range(MAX_CHAIN_DEPTH + 1):
        deep = ACTION | {"on_fail": deep}

    too_deep = await tell(app, "POST", SCHEDULES, SPEC | {"action": deep})
    wrong = await tell(app, "POST", SCHEDULES, SPEC | {"action": ACTION | {"on_success": {"kind": "command"}}})

    assert faults(too_deep) == [(["action", *["on_fail"] * (MAX_CHAIN_DEPTH + 1)], "chain_depth")]
    assert [path for path, _ in faults(wrong)] == [["action", "on_success", "command"]]


async def test_a_name_is_taken_once(app: App) -> None:
    await made(app)

    again = await tell(app, "POST", SCHEDULES, SPEC)

    assert (again.status, again.json["actual"]) == (409, "x")


# what is done with one -----------------------------------------------------------------------------------------


async def test_a_schedule_is_fired_looked_at_and_deleted(app: App) -> None:
    target = f"{SCHEDULES}{(await made(app))['schedule_id']}"

    fired = await tell(app, "POST", f"{target}/fire")
    refused = await tell(app, "POST", f"{target}/fire", {"force": False})
    firings = await ask(app, "GET", f"{target}/firings/?outcome=fired")
    why = await ask(app, "GET", f"{target}/why")
    kept = await tell(app, "DELETE", target)
    gone = await tell(app, "DELETE", f"{target}?cancel_runs=true")

    assert (fired.status, fired.json["outcome"]) == (202, "fired")
    assert (refused.status, refused.json["actual"]) == (409, "schedule.skipped.overlap")
    assert [item["run_id"] for item in firings.json["items"]] == [fired.json["run_id"]]
    assert "A person fired it." in why.json["decisions"][-1]
    assert kept.status == 409
    assert gone.json["cancelled_runs"] == [fired.json["run_id"]]
    assert (await ask(app, "GET", target)).status == 404
    assert (await ask(app, "GET", f"/api/v1/runs/{fired.json['run_id']}")).json["status"] == "cancelled"


async def test_a_schedule_is_disabled_and_enabled(app: App) -> None:
    target = f"{SCHEDULES}{(await made(app))['schedule_id']}/enabled"

    disabled = await tell(app, "PUT", target, {"enabled": False})
    enabled = await tell(app, "PUT", target, {"enabled": True, "expected_updated_at": disabled.json["updated_at"]})

    assert (disabled.json["enabled"], disabled.json["next_fire_at"]) == (False, None)
    assert enabled.json["enabled"]


@pytest.mark.parametrize("word", ["limits", "export", "preview", "apply", "pause-all", "resume-all"])
async def test_words_of_routes_are_no_schedules(app: App, word: str) -> None:
    answer = await tell(app, "DELETE", f"{SCHEDULES}{word}")

    assert answer.status in (404, 405)


@pytest.mark.parametrize("name", ["%00", "..", "..%2f..%2fetc", "%ED%A0%80", "%20", "-", "a" * 5_000])
@pytest.mark.parametrize("room", ["", "/firings/", "/why"])
async def test_hostile_names_are_not_found(app: App, name: str, room: str) -> None:
    answer = await ask(app, "GET", f"{SCHEDULES}{name}{room}")

    assert (answer.status, answer.code) in ((404, "not_found"), (400, "bad_request"))
