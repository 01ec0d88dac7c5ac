"""RemoteStudio against canned answers: what each operation asks, and how it reads the answer."""

from typing import Any

import httpx
import pytest

from contract.actions import LaunchResult, LaunchRun
from contract.base import Page
from contract.definitions import (
    DefinitionDetail,
    DefinitionQuery,
    DefinitionVersion,
    DeleteDefinition,
    Reconciliation,
    ReconciliationDetail,
    ReconciliationQuery,
    ResolveReconciliation,
    RollbackDefinition,
    SaveDefinition,
    SaveResult,
    SnapshotDefinitions,
    SnapshotResult,
    VersionQuery,
)
from contract.diffs import DefinitionDiff, DiffQuery
from contract.errors import NotFound
from contract.events import MessageEvent, RecordEvents, RecordResult
from contract.runs import (
    CancelResult,
    CancelRun,
    ChangeTags,
    EvidencePage,
    EvidenceRequest,
    InvocationDetail,
    InvocationQuery,
    RunDetail,
    RunQuery,
    RunReadQuery,
    RunSummary,
    RunTotals,
    StartRun,
    TagsResult,
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
LAUNCHED = LaunchResult(run_id="r1", status="queued", launch_key="k1", created_at=1.5)
TOTALS = RunTotals(
    messages_by_role={}, signals=0, artifacts=0, transitions=0, usage_reports=0, usage_reports_without_cost=0
)
INVOCATION: dict[str, Any] = {
    "invocation_id": "i1",
    "kind": "cli",
    "status": "running",
    "run_count": 1,
    "open_run_count": 1,
    "created_at": 1.0,
}
FILE: dict[str, Any] = {"kind": "agent", "name": "a", "relative_path": "agents/a.md", "content": "Look."}
DETAIL = DefinitionDetail(**FILE, sha256="ab", version=1, size_bytes=5)
SAVED = SaveResult(kind="agent", name="a", version=1, saved_at=1.5)
VERSION = DefinitionVersion(**FILE, id="v1", content_sha256="ab", version=1, created_at=1.5)
DIFF = DefinitionDiff(
    kind="agent", name="a", from_version=0, to_version=1, from_sha256=None, to_sha256="ab", added=1, removed=0
)
RECONCILIATION = Reconciliation(
    id="c1",
    version_id="v1",
    kind="agent",
    name="a",
    version=1,
    deleted=False,
    relative_path="agents/a.md",
    expected_sha256="ab",
    observed_sha256=None,
    error_code="no_space",
    error_detail="",
    status="pending",
    attempts=1,
    created_at=1.5,
    updated_at=1.5,
)
SAVE = SaveDefinition(kind="agent", name="a", content="Look.", expected_version=0)


OPERATIONS: list[tuple[str, Operation, Any]] = [
    (
        "GET /api/v1/runs/?status=failed&status=running&project_is_null=true&limit=5&search=a%26b%2Bc+%C3%A9",
        lambda studio: studio.list_runs(
            RunQuery(status=("failed", "running"), limit=5, project_is_null=True, search="a&b+c é", agent=None)
        ),
        Page[RunSummary](items=(SUMMARY,), offset=0, limit=5, has_next=False),
    ),
    (
        "GET /api/v1/runs/?started_after=1e-07",
        lambda studio: studio.list_runs(RunQuery(started_after=1e-07)),
        Page[RunSummary](items=(), offset=0, limit=20, has_next=True, next_cursor="c"),
    ),
    (
        "GET /api/v1/runs/r1?message_limit=3",
        lambda studio: studio.get_run("r1", RunReadQuery(message_limit=3)),
        RunDetail(**RUN, totals=TOTALS, message_limit=3, stream_cursor="s"),
    ),
    (
        "GET /api/v1/runs/r%3F1/evidence?pane=signals&cursor=abc",
        lambda studio: studio.read_evidence(EvidenceRequest(run_id="r?1", pane="signals", cursor="abc")),
        EvidencePage(run_id="r?1", pane="signals", items=(), limit=200, has_next=False),
    ),
    ("POST /api/v1/runs/", lambda studio: studio.start_run(StartRun(run_id="r1")), SUMMARY),
    (
        "POST /api/v1/launches/",
        lambda studio: studio.launch_run(LaunchRun(kind="command", command=("make", "-n"), launch_key="k1")),
        LAUNCHED,
    ),
    (
        "POST /api/v1/runs/r1/events",
        lambda studio: studio.record_events("r1", RecordEvents(events=(MessageEvent(role="user", content=None),))),
        RecordResult(run_id="r1", accepted=1, duplicates=0, last_seq=1),
    ),
    (
        "POST /api/v1/runs/r1/cancel",
        lambda studio: studio.cancel_run("r1", CancelRun(reason="enough")),
        CancelResult(run_id="r1", status="running", cancel_requested_at=1.5),
    ),
    (
        "PATCH /api/v1/runs/r1/tags",
        lambda studio: studio.change_run_tags("r1", ChangeTags(add=("a",))),
        TagsResult(run_id="r1", tags=("a",)),
    ),
    (
        "GET /api/v1/invocations/?kind=cli",
        lambda studio: studio.list_invocations(InvocationQuery(kind="cli")),
        Page[RunSummary](items=(), offset=0, limit=20, has_next=False),
    ),
    (
        "GET /api/v1/invocations/i1",
        lambda studio: studio.get_invocation("i1"),
        InvocationDetail(**INVOCATION, runs=(SUMMARY,)),
    ),
    (
        "GET /api/v1/definitions/?kind=agent&deleted=true",
        lambda studio: studio.list_definitions(DefinitionQuery(kind="agent", deleted=True)),
        Page[RunSummary](items=(), offset=0, limit=20, has_next=False),
    ),
    ("GET /api/v1/definitions/agent/a", lambda studio: studio.get_definition("agent", "a"), DETAIL),
    ("PUT /api/v1/definitions/agent/a", lambda studio: studio.save_file_definition(SAVE), SAVED),
    (
        "GET /api/v1/definitions/agent/a%20b/versions/?limit=5",
        lambda studio: studio.list_definition_versions("agent", "a b", VersionQuery(limit=5)),
        Page[RunSummary](items=(), offset=0, limit=5, has_next=False),
    ),
    (
        "GET /api/v1/definitions/agent/a/versions/1",
        lambda studio: studio.get_definition_version("agent", "a", 1),
        VERSION,
    ),
    (
        "GET /api/v1/definitions/agent/a/diff?from=0&context=1",
        lambda studio: studio.diff_definition("agent", "a", DiffQuery(from_=0, context=1)),
        DIFF,
    ),
    (
        "POST /api/v1/definitions/agent/a/rollback",
        lambda studio: studio.rollback_definition("agent", "a", RollbackDefinition(version=1)),
        SAVED,
    ),
    (
        "DELETE /api/v1/definitions/agent/a?message=not+used&expected_version=1",
        lambda studio: studio.delete_definition("agent", "a", DeleteDefinition(message="not used", expected_version=1)),
        SAVED,
    ),
    (
        "POST /api/v1/definitions/snapshot",
        lambda studio: studio.snapshot_definitions(SnapshotDefinitions()),
        SnapshotResult(captured=(), unchanged=1),
    ),
    (
        "GET /api/v1/reconciliations/?status=pending",
        lambda studio: studio.list_reconciliations(ReconciliationQuery(status="pending")),
        Page[Reconciliation](items=(RECONCILIATION,), offset=0, limit=20, has_next=False),
    ),
    (
        "GET /api/v1/reconciliations/c1",
        lambda studio: studio.get_reconciliation("c1"),
        ReconciliationDetail(**dict(RECONCILIATION), file_sha256=None),
    ),
    (
        "POST /api/v1/reconciliations/c1/resolve",
        lambda studio: studio.resolve_reconciliation("c1", ResolveReconciliation(action="retry_write")),
        RECONCILIATION,
    ),
]


@pytest.mark.parametrize(("asked", "operation", "answer"), OPERATIONS, ids=[row[0] for row in OPERATIONS])
async def test_an_operation_asks_its_route_and_returns_the_model(asked: str, operation: Operation, answer: Any) -> None:
    daemon = answering(answer)

    async with remote(daemon) as studio:
        result = await operation(studio)

    assert daemon.asked == asked
    assert result.model_dump() == answer.model_dump()  # type: ignore[attr-defined]  # every answer is a model


async def test_the_contract_is_described() -> None:
    daemon = CannedDaemon(httpx.Response(200, json={"version": "1.0", "capabilities": ["runs"], "limits": {"a": 1}}))

    async with remote(daemon) as studio:
        info = await studio.describe_contract()

    assert daemon.asked == "GET /api/v1/contract"
    assert (info.version, info.capabilities, info.limits) == ("1.0", ("runs",), {"a": 1})


async def test_a_command_travels_as_json_that_reads_back_as_the_same_command() -> None:
    command = RecordEvents(
        events=(
            MessageEvent(role="user", content={"key": None, "big": 10**30, "text": "\u2028 \ud800 \0"}),
            MessageEvent(role="tool", content=None, event_id="e1"),
        )
    )
    daemon = answering(RecordResult(run_id="r1", accepted=2, duplicates=0, last_seq=2))

    async with remote(daemon) as studio:
        await studio.record_events("r1", command)

    assert daemon.requests[0].headers["content-type"] == "application/json"
    assert RecordEvents.model_validate_json(daemon.requests[0].content) == command


async def test_the_prefix_of_a_url_is_kept() -> None:
    daemon = answering(SUMMARY)

    async with remote(daemon, url=f"{URL}/studio/") as studio:
        await studio.start_run(StartRun())

    assert daemon.asked == "POST /studio/api/v1/runs/"


async def test_fields_that_a_newer_daemon_added_are_ignored() -> None:
    body = {"items": [{**RUN, "added": 1}], "offset": 0, "limit": 1, "has_next": False, "also": {}}

    async with remote(CannedDaemon(httpx.Response(200, json=body))) as studio:
        page = await studio.list_runs(RunQuery())

    assert page.items == (SUMMARY,)


@pytest.mark.parametrize("run_id", ["", ".", "..", "a/b", "x" * 129, "\ud800", "a\0"])
async def test_an_identifier_that_no_path_can_carry_is_not_found_without_asking(run_id: str) -> None:
    daemon = answering(SUMMARY)

    async with remote(daemon) as studio:
        with pytest.raises(NotFound) as failure:
            await studio.get_run(run_id, RunReadQuery())

    assert (failure.value.resource, failure.value.identifier, daemon.requests) == ("run", run_id, [])


@pytest.mark.parametrize(
    ("kind", "name"), [("agent", "../a"), ("agent", ""), ("a/b", "c"), ("agent", "a\0"), ("..", "a")]
)
async def test_a_definition_that_no_path_can_carry_is_not_found_without_asking(kind: str, name: str) -> None:
    daemon = answering(DETAIL)

    async with remote(daemon) as studio:
        with pytest.raises(NotFound) as failure:
            await studio.get_definition(kind, name)

    assert (failure.value.resource, failure.value.identifier, daemon.requests) == ("definition", f"{kind}/{name}", [])


async def test_a_name_that_no_path_can_carry_is_saved_nowhere_and_judged_by_the_daemon() -> None:
    daemon = answering(SAVED)

    async with remote(daemon) as studio:
        await studio.save_file_definition(SaveDefinition(kind="agent", name="a/b", content=""))

    assert daemon.asked == "PUT /api/v1/definitions/agent/-"
    assert daemon.sent["name"] == "a/b"


async def test_a_deletion_says_that_it_would_be_json() -> None:
    daemon = answering(SAVED)

    async with remote(daemon) as studio:
        await studio.delete_definition("agent", "a", DeleteDefinition())

    assert daemon.requests[0].headers["content-type"] == "application/json"
    assert daemon.requests[0].content == b""
