"""One request and its answer: errors come back as themselves, foreign answers and faults of the network in words."""

import logging
from typing import Any

import httpx
import pytest

from contract.actions import LaunchRun
from contract.base import FieldFailure
from contract.client import RemoteStudio
from contract.definitions import (
    DeleteDefinition,
    ResolveReconciliation,
    RollbackDefinition,
    SaveDefinition,
    SnapshotDefinitions,
)
from contract.errors import (
    Conflict,
    NotFound,
    PermissionDenied,
    ReconciliationRequired,
    RequestRefused,
    StateUnavailable,
    StudioError,
    ValidationFailure,
)
from contract.events import MessageEvent, RecordEvents
from contract.runs import (
    CancelRun,
    RunQuery,
    RunReadQuery,
    RunSummary,
    StartRun,
)
from tests.fakes.daemons import URL, CannedDaemon, Operation, answering, remote

RUN: dict[str, Any] = {
    "run_id": "r1",
    "status": "running",
    **dict.fromkeys(
        (
            "effective_health",
            "playbook_name",
            "agent_name",
            "invocation_kind",
            "invocation_id",
            "project",
            "started_at",
            "ended_at",
            "updated_at",
        )
    ),
}
SUMMARY = RunSummary.model_validate(RUN)


FAULT = FieldFailure(path=("events", 0, "role"), code="missing", message="is required")
ERRORS: list[StudioError] = [
    ValidationFailure((FAULT,)),
    NotFound("run", "r1"),
    Conflict("run", None, "completed"),
    StateUnavailable(retryable=True, detail="locked"),
    StateUnavailable(retryable=False),
    ReconciliationRequired("rec1"),
    PermissionDenied("outside the root"),
    *(RequestRefused(code, "no") for code in RequestRefused.TRANSPORT_CODES),
    RequestRefused("internal", "unforeseen", incident_id="abc"),
]


@pytest.mark.parametrize("error", ERRORS, ids=[f"{error.code}-{at}" for at, error in enumerate(ERRORS)])
async def test_every_error_of_the_daemon_comes_back_as_itself(error: StudioError) -> None:
    daemon = CannedDaemon(httpx.Response(499, content=error.body().to_json()))

    async with remote(daemon) as studio:
        with pytest.raises(type(error)) as failure:
            await studio.get_run("r1", RunReadQuery())

    assert failure.value.body() == error.body()


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(502, text="<h1>Bad gateway</h1>", headers={"content-type": "text/html"}),
        httpx.Response(404, json={"error": "not found"}),
        httpx.Response(200, text="Welcome!"),
        httpx.Response(200, json={"items": 1}),
        httpx.Response(204),
        httpx.Response(307, headers={"location": "https://elsewhere.example/x?token=1"}),
        httpx.Response(308, headers={"location": "http://[bad"}),
        httpx.Response(304),
        httpx.DecodingError("bad gzip"),
    ],
    ids=["html", "foreign-json", "text", "other-json", "empty", "redirect", "bad-redirect", "304", "gzip"],
)
async def test_an_answer_that_is_not_the_contract_s_is_refused_and_names_the_url(
    answer: httpx.Response | httpx.HTTPError,
) -> None:
    daemon = answering(answer)

    async with remote(daemon, token="s3cret") as studio:
        with pytest.raises(RequestRefused) as failure:
            await studio.list_runs(RunQuery())

    assert failure.value.code == "internal"
    assert URL in str(failure.value)
    assert "s3cret" not in str(failure.value)
    assert "token=1" not in str(failure.value)


async def test_a_redirect_is_named_and_not_followed() -> None:
    daemon = CannedDaemon(httpx.Response(308, headers={"location": "https://elsewhere.example:444/x"}))

    async with remote(daemon, token="s3cret") as studio:
        with pytest.raises(RequestRefused, match=r"https://elsewhere\.example:444/x"):
            await studio.list_runs(RunQuery())

    assert len(daemon.requests) == 1


@pytest.mark.parametrize(
    "fault",
    [
        httpx.ConnectError("Connection refused"),
        httpx.ConnectTimeout(""),
        httpx.ReadTimeout(""),
        httpx.RemoteProtocolError("Server disconnected"),
        httpx.WriteError("broken pipe"),
    ],
    ids=lambda fault: type(fault).__name__,
)
async def test_a_daemon_that_does_not_answer_is_unavailable_and_the_text_says_how_to_start_one(
    fault: httpx.HTTPError,
) -> None:
    async with remote(answering(fault)) as studio:
        with pytest.raises(StateUnavailable) as failure:
            await studio.list_runs(RunQuery())

    assert failure.value.retryable
    assert f"the daemon at {URL} does not answer" in str(failure.value)
    assert "studio serve" in str(failure.value)


EVENT = MessageEvent(role="user", content="x")
SAVE = SaveDefinition(kind="agent", name="a", content="Look.", expected_version=1)
NAMED_EVENT = MessageEvent(role="user", content="x", event_id="e1")


@pytest.mark.parametrize(
    ("operation", "retryable"),
    [
        (lambda studio: studio.start_run(StartRun()), False),
        (lambda studio: studio.start_run(StartRun(run_id="r1")), True),
        (lambda studio: studio.launch_run(LaunchRun(kind="agent", prompt="Look.")), False),
        (lambda studio: studio.launch_run(LaunchRun(kind="agent", prompt="Look.", launch_key="k1")), True),
        (lambda studio: studio.record_events("r1", RecordEvents(events=(NAMED_EVENT, EVENT))), False),
        (lambda studio: studio.record_events("r1", RecordEvents(events=(NAMED_EVENT,))), True),
        (lambda studio: studio.cancel_run("r1", CancelRun()), True),
        (lambda studio: studio.save_file_definition(SAVE), False),
        (lambda studio: studio.delete_definition("agent", "a", DeleteDefinition(expected_version=1)), False),
        (lambda studio: studio.rollback_definition("agent", "a", RollbackDefinition(version=1)), False),
        (lambda studio: studio.snapshot_definitions(SnapshotDefinitions()), True),
        (lambda studio: studio.resolve_reconciliation("c1", ResolveReconciliation(action="retry_write")), True),
    ],
    ids=[
        *("start", "start-with-id", "launch", "launch-with-key", "events", "events-with-ids", "cancel"),
        *("save", "delete", "rollback", "snapshot", "resolve"),
    ],
)
async def test_only_what_can_be_sent_twice_is_retryable_once_it_may_have_arrived(
    operation: Operation, retryable: bool
) -> None:
    async with remote(answering(httpx.ReadTimeout(""))) as studio:
        with pytest.raises(StateUnavailable) as failure:
            await operation(studio)

    assert failure.value.retryable is retryable


async def test_what_was_never_sent_is_always_retryable() -> None:
    async with remote(answering(httpx.ConnectError("refused"))) as studio:
        with pytest.raises(StateUnavailable) as failure:
            await studio.start_run(StartRun())

    assert failure.value.retryable


# URL and token ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8765",
        "ftp://host",
        "http://",
        "http://user:pass@host",
        "http://host/?a=1",
        "http://host/#x",
        "http://h:99999",
        "http://\x00",
    ],
)
def test_a_url_that_cannot_be_used_is_a_validation_failure_that_hides_it(url: str) -> None:
    with pytest.raises(ValidationFailure) as failure:
        RemoteStudio(url)

    assert failure.value.field_errors[0].path == ("url",)
    assert "pass" not in str(failure.value).replace("password", "")


@pytest.mark.parametrize("token", ["", "two words", "line\nend", "tökén"])
def test_a_token_that_no_header_can_carry_is_a_validation_failure_that_hides_it(token: str) -> None:
    with pytest.raises(ValidationFailure) as failure:
        RemoteStudio(URL, token=token)

    assert failure.value.field_errors[0].path == ("token",)
    assert token == "" or token not in str(failure.value)


async def test_the_token_travels_in_its_header_and_nowhere_else(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    daemon = answering(SUMMARY)

    async with remote(daemon, token="s3cret") as studio:
        await studio.start_run(StartRun())

    request = daemon.requests[0]
    assert request.headers["authorization"] == "Bearer s3cret"
    assert "s3cret" not in str(request.url)
    assert "s3cret" not in request.content.decode()
    assert "s3cret" not in caplog.text
    assert "s3cret" not in repr(studio)


async def test_without_a_token_there_is_no_authorization() -> None:
    daemon = answering(SUMMARY)

    async with remote(daemon) as studio:
        await studio.start_run(StartRun())

    assert "authorization" not in daemon.requests[0].headers
