"""What only raw HTTP can carry is refused in the same places as the same data given in process."""

import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest
import pytest_asyncio

from contract.actions import LaunchRun
from contract.artifacts import ArtifactListQuery, ArtifactQuery, SaveArtifact
from contract.base import ContractModel
from contract.definitions import (
    DefinitionQuery,
    DeleteDefinition,
    ReconciliationQuery,
    ResolveReconciliation,
    RollbackDefinition,
    SaveDefinition,
    SnapshotDefinitions,
    VersionQuery,
)
from contract.diffs import DiffQuery
from contract.errors import ErrorBody, ValidationFailure
from contract.events import RecordEvents
from contract.limits import (
    COMMAND_ARGUMENTS_MAX,
    CURSOR_MAX_CHARS,
    EVENTS_PER_BATCH_MAX,
    PROMPT_MAX_CHARS,
    SAFE_INTEGER_MAX,
    TAGS_PER_RUN_MAX,
)
from contract.parsing import parse_model, parse_query, strict_json_loads
from contract.projects import AssignRuns, CreateProject, DeleteProject, DetectProject, PatchProject, ProjectQuery
from contract.retention import PruneRuns
from contract.runs import (
    CancelRun,
    ChangeTags,
    EvidenceRequest,
    InvocationQuery,
    RunQuery,
    RunReadQuery,
    StartRun,
)
from contract.schedule_sets import ApplySchedules
from contract.schedules import (
    ChangeSchedule,
    CreateSchedule,
    DeleteSchedule,
    EmptyCommand,
    EnableSchedule,
    FireSchedule,
    FiringQuery,
    ScheduleQuery,
)
from contract.stats import StatsQuery
from contract.stream_query import StreamQuery
from contract.triggers import PreviewSchedule
from tests.live import TOKEN, LiveDaemon
from tests.parity.raw_artifacts import WRONG_ARTIFACTS, WRONG_PREVIEWS
from tests.parity.raw_projects import WRONG_ASSIGNMENTS, WRONG_FOLDERS, WRONG_PATCHES, WRONG_PROJECTS, WRONG_PRUNES
from tests.parity.raw_schedules import (
    WRONG_CHANGES,
    WRONG_ENABLES,
    WRONG_FIRES,
    WRONG_SCHEDULES,
    WRONG_SETS,
    WRONG_TRIGGERS,
)

RUN = "raw-input"
# Loading the certificates of the world, for each test anew, would take longer than everything else here.
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
Places = list[tuple[tuple[str | int, ...], str]]


@dataclass(frozen=True)
class Door:
    """One operation as HTTP has it, and the model its input becomes. `fixed` are fields that the path gives."""

    operation: str
    method: str
    path: str
    model: type[ContractModel]
    fixed: tuple[tuple[str, str], ...] = ()


START = Door("start_run", "POST", "/api/v1/runs/", StartRun)
LAUNCH = Door("launch_run", "POST", "/api/v1/launches/", LaunchRun)
RECORD = Door("record_events", "POST", f"/api/v1/runs/{RUN}/events", RecordEvents)
CANCEL = Door("cancel_run", "POST", f"/api/v1/runs/{RUN}/cancel", CancelRun)
TAGS = Door("change_run_tags", "PATCH", f"/api/v1/runs/{RUN}/tags", ChangeTags)

LIST = Door("list_runs", "GET", "/api/v1/runs/", RunQuery)
DETAIL = Door("get_run", "GET", f"/api/v1/runs/{RUN}", RunReadQuery)
EVIDENCE = Door("read_evidence", "GET", f"/api/v1/runs/{RUN}/evidence", EvidenceRequest, (("run_id", RUN),))
INVOCATIONS = Door("list_invocations", "GET", "/api/v1/invocations/", InvocationQuery)
AGENT = f"/api/v1/definitions/agent/{RUN}"
SAVE = Door("save_file_definition", "PUT", AGENT, SaveDefinition, (("kind", "agent"), ("name", RUN)))
ROLLBACK = Door("rollback_definition", "POST", f"{AGENT}/rollback", RollbackDefinition)
SNAPSHOT = Door("snapshot_definitions", "POST", "/api/v1/definitions/snapshot", SnapshotDefinitions)
RESOLVE = Door("resolve_reconciliation", "POST", f"/api/v1/reconciliations/{RUN}/resolve", ResolveReconciliation)

ARTIFACT = "/api/v1/artifacts/a1"
SAVE_ARTIFACT = Door("save_artifact", "PUT", "/api/v1/artifacts/", SaveArtifact)
RESOLVE_ARTIFACT = Door("resolve_artifact", "GET", ARTIFACT, ArtifactQuery, (("artifact_id", "a1"),))
RUN_ARTIFACTS = Door("list_run_artifacts", "GET", f"/api/v1/runs/{RUN}/artifacts", ArtifactListQuery)
INVOCATION_ARTIFACTS = Door("list_invocation_artifacts", "GET", "/api/v1/invocations/i/artifacts", ArtifactListQuery)
DEFINITIONS = Door("list_definitions", "GET", "/api/v1/definitions/", DefinitionQuery)
VERSIONS = Door("list_definition_versions", "GET", f"{AGENT}/versions/", VersionQuery)
DIFF = Door("diff_definition", "GET", f"{AGENT}/diff", DiffQuery)
DELETE = Door("delete_definition", "DELETE", AGENT, DeleteDefinition)
RECONCILIATIONS = Door("list_reconciliations", "GET", "/api/v1/reconciliations/", ReconciliationQuery)
PROJECT = "/api/v1/projects/raw/input"
CREATE_PROJECT = Door("create_project", "POST", "/api/v1/projects/", CreateProject)
PATCH_PROJECT = Door("patch_project", "PATCH", PROJECT, PatchProject)
ASSIGN = Door("assign_runs", "POST", f"{PROJECT}/assign", AssignRuns)
DETECT = Door("detect_project", "POST", "/api/v1/projects/detect", DetectProject)
PROJECTS = Door("list_projects", "GET", "/api/v1/projects/", ProjectQuery)
DELETE_PROJECT = Door("delete_project", "DELETE", PROJECT, DeleteProject)
SCHEDULE = f"/api/v1/schedules/{RUN}"
CREATE = Door("mutate_schedule", "POST", "/api/v1/schedules/", CreateSchedule)
CHANGE = Door("mutate_schedule", "PATCH", SCHEDULE, ChangeSchedule)
ENABLE = Door("mutate_schedule", "PUT", f"{SCHEDULE}/enabled", EnableSchedule)
FIRE = Door("fire_schedule", "POST", f"{SCHEDULE}/fire", FireSchedule)
SKIP = Door("skip_next", "POST", f"{SCHEDULE}/skip-next", EmptyCommand)
PAUSE = Door("pause_schedules", "POST", "/api/v1/schedules/pause-all", EmptyCommand)
RESUME = Door("resume_schedules", "POST", "/api/v1/schedules/resume-all", EmptyCommand)
PREVIEW = Door("preview_schedule", "POST", "/api/v1/schedules/preview", PreviewSchedule)
APPLY = Door("apply_schedules", "POST", "/api/v1/schedules/apply", ApplySchedules)
SCHEDULES = Door("list_schedules", "GET", "/api/v1/schedules/", ScheduleQuery)
FIRINGS = Door("list_firings", "GET", f"{SCHEDULE}/firings/", FiringQuery)
REMOVE = Door("delete_schedule", "DELETE", SCHEDULE, DeleteSchedule)
MESSAGES = Door("stream_messages", "GET", f"/api/v1/runs/{RUN}/stream", StreamQuery)
SIGNALS = Door("stream_signals", "GET", f"/api/v1/runs/{RUN}/signals", StreamQuery)
PRUNE = Door("prune_runs", "POST", "/api/v1/retention/prune", PruneRuns)
STATS = Door("get_stats", "GET", "/api/v1/stats", StatsQuery)


def _deep(levels: int) -> bytes:
    return b'{"a":' * levels + b"1" + b"}" * levels


def _artifact(content: bytes) -> bytes:
    return b'{"events": [{"type": "artifact", "kind": "k", "name": "n", "content": %s}]}' % content


NO_JSON = (
    b"{", b"{} {}", b"{'a': 1}", b'{"a": 1,}', b"\xff", b"\xef\xbb\xbf{}", b"\x00", b'{"name": "\x00"}', b"// {}",
    b'{"started_at": NaN}', b'{"started_at": Infinity}', b'{"started_at": -Infinity}', b'{"started_at": 1e999}',
    b'{"kind": "a", "kind": "a"}', b'{"process": {"pid": 1, "pid": 2}}', b'{"a": 01}', b"[" * 100_000, _deep(100_000),
)  # fmt: skip
NO_OBJECT = (b"[]", b"[{}]", b'"text"', b"1", b"true", b"9" * 5_000)
WRONG_RUNS = (
    b'{"colour": "blue"}',
    b'{"process": {"host": "h", "pid": 1, "x": 1}}',
    b'{"tags": "x", "started_at": "now", "kind": 7, "name": null, "project": {}}',
    b'{"process": {"host": "h", "pid": true}}',
    b'{"process": {"host": "h", "pid": 1.0}}',
    b'{"process": {"host": "h", "pid": "1"}}',
    b'{"process": {"host": "h"}}',
    b'{"process": {"host": "h", "pid": %d}}' % (SAFE_INTEGER_MAX + 2),
    b'{"process": {"host": "h", "pid": %s}}' % (b"9" * 5_000),
    b'{"started_at": -1}',
    b'{"started_at": 1e300}',
    b'{"started_at": %d}' % (SAFE_INTEGER_MAX + 2),
    b'{"name": "a\\u0000"}',
    b'{"name": "\\ud800"}',
    b'{"tags": ["fine", "\\udfff", "a b", "", "a,b"]}',
    b'{"run_id": "../x"}',
    b'{"run_id": ""}',
    b'{"kind": null}',
    b'{"\\ud800": 1, "\\u0000": 2}',
    b'{"": 1}',
)
WRONG_LAUNCHES = (
    b"{}",
    b'{"kind": "dance"}',
    b'{"kind": null, "command": "sh", "extra_args": [1, "\\u0000"], "colour": "blue"}',
    b'{"kind": "agent", "prompt": "a\\u0000", "model": "", "agent": 7, "runtime": "-"}',
    b'{"kind": "agent", "prompt": "%s"}' % (b"x" * (PROMPT_MAX_CHARS + 1)),
    b'{"kind": "command", "command": [%s]}' % b",".join([b'"sh"'] * (COMMAND_ARGUMENTS_MAX + 1)),
    b'{"kind": "command", "command": ["\\ud800", null]}',
    b'{"kind": "command", "deadline_seconds": 0, "tags": ["a b"], "launch_key": "../x", "invocation_id": ""}',
    b'{"kind": "command", "deadline_seconds": 1e9}',
    b'{"kind": "command", "deadline_seconds": "1"}',
    b'{"kind": "flow_yaml", "flow_yaml": {"prompt": "x"}, "cwd": ""}',
)
WRONG_EVENTS = (
    b"{}",
    b'{"events": {}}',
    b'{"events": []}',
    b'{"events": [%s]}' % b",".join([b'{"type": "graph"}'] * (EVENTS_PER_BATCH_MAX + 1)),
    b'{"events": [{}, 1, null, [], {"type": "nothing"}, {"type": 7}, {"type": null}]}',
    b'{"events": [{"type": "message"}, {"type": "message", "role": "x", "content": 1, "at": "now", "more": 1}]}',
    b'{"events": [{"type": "message", "role": "user", "content": 1, "branch": "\\u0000", "event_id": ""}]}',
    b'{"events": [{"type": "usage", "input_tokens": %d}]}' % (SAFE_INTEGER_MAX + 2),
    b'{"events": [{"type": "usage", "input_tokens": true, "cost_usd": -0.1}]}',
    b'{"events": [{"type": "artifact", "kind": "k", "name": "n", "path": "../x"}]}',
    _artifact(b'{"a": [1, {"b": %d}]}' % (SAFE_INTEGER_MAX + 2)),
    _artifact(b'{"a": "\\u0000"}'),
    _artifact(b'["\\ud800"]'),
    _artifact(_deep(200)),
    b'{"events": [{"type": "graph", "nodes": [{"id": "a", "x": 1}], "edges": [{"source": "a"}]}]}',
    b'{"events": [{"type": "status", "status": "queued"}]}',
)
WRONG_SAVES = (
    b"{}",
    b'{"content": null}',
    b'{"content": "a\\u0000"}',
    b'{"content": "\\udfff", "message": "\\ud800", "actor": ""}',
    b'{"content": "a", "kind": "skill"}',
    b'{"content": "a", "kind": null, "name": ""}',
    b'{"content": "a", "name": "a\\u0000"}',
    b'{"content": "a", "expected_version": -1}',
    b'{"content": "a", "expected_version": "1"}',
    b'{"content": "a", "expected_version": %d}' % (SAFE_INTEGER_MAX + 2),
    b'{"content": "a", "version": 1, "saved_at": 1.0}',
    b'{"content": "a", "message": "%s"}' % (b"x" * 2_001),
)
WRONG_VERSIONS = (b"{}", b'{"version": 0}', b'{"version": 1.0}', b'{"version": true}', b'{"version": "1"}')
WRONG_SNAPSHOTS = (b'{"kind": "all"}', b'{"kind": ["agent"]}', b'{"name": ""}', b'{"name": 7, "all": true}')
WRONG_ACTIONS = (b"{}", b'{"action": "retry"}', b'{"action": null}', b'{"action": "dismiss", "reason": 7, "why": "x"}')
BODIES = (
    *((CREATE_PROJECT, raw) for raw in (b"", b"null", *NO_JSON, *NO_OBJECT, *WRONG_PROJECTS)),
    *((PATCH_PROJECT, raw) for raw in (b"", b"null", *NO_JSON, *NO_OBJECT, *WRONG_PATCHES)),
    *((ASSIGN, raw) for raw in (b"", b"null", *NO_JSON, *NO_OBJECT, *WRONG_ASSIGNMENTS)),
    *((DETECT, raw) for raw in (b"", b"null", *NO_JSON, *NO_OBJECT, *WRONG_FOLDERS)),
    *((START, raw) for raw in (b"", b"null", *NO_JSON, *NO_OBJECT, *WRONG_RUNS)),
    *((LAUNCH, raw) for raw in (b"", b"null", *NO_JSON, *NO_OBJECT, *WRONG_LAUNCHES)),
    *((RECORD, raw) for raw in (b"", b"null", *NO_JSON, *NO_OBJECT, *WRONG_EVENTS)),
    *((CANCEL, raw) for raw in (*NO_JSON, *NO_OBJECT, b'{"reason": 7}', b'{"reason": "\\u0000"}', b'{"why": "x"}')),
    *((TAGS, raw) for raw in (b"", b"null", *NO_JSON, *NO_OBJECT, b'{"add": [1, "a b", ""], "remove": "x"}')),
    *((SAVE, raw) for raw in (b"", b"null", *NO_JSON, *NO_OBJECT, *WRONG_SAVES)),
    *((ROLLBACK, raw) for raw in (b"", b"null", *NO_JSON, *NO_OBJECT, *WRONG_VERSIONS)),
    *((SNAPSHOT, raw) for raw in (*NO_JSON, *NO_OBJECT, *WRONG_SNAPSHOTS)),
    *((RESOLVE, raw) for raw in (b"", b"null", *NO_JSON, *NO_OBJECT, *WRONG_ACTIONS)),
    *((SAVE_ARTIFACT, raw) for raw in (b"", b"null", *NO_JSON, *NO_OBJECT, *WRONG_ARTIFACTS)),
    *((PRUNE, raw) for raw in (b"", b"null", *NO_JSON, *NO_OBJECT, *WRONG_PRUNES)),
    *((CREATE, raw) for raw in (b"", b"null", *NO_JSON, *NO_OBJECT, *WRONG_SCHEDULES)),
    *((CHANGE, raw) for raw in (b"", b"null", *NO_JSON, *NO_OBJECT, *WRONG_CHANGES)),
    *((ENABLE, raw) for raw in (b"", b"null", *NO_OBJECT, *WRONG_ENABLES)),
    *((FIRE, raw) for raw in (*NO_JSON, *NO_OBJECT, *WRONG_FIRES)),
    *((PREVIEW, raw) for raw in (b"", b"null", *NO_OBJECT, *WRONG_TRIGGERS)),
    *((APPLY, raw) for raw in (b"", b"null", *NO_JSON, *NO_OBJECT, *WRONG_SETS)),
    *((door, raw) for door in (SKIP, PAUSE, RESUME) for raw in (*NO_OBJECT, b'{"all": true}')),
    (TAGS, b'{"add": [%s]}' % b",".join(b'"t%d"' % number for number in range(TAGS_PER_RUN_MAX + 1))),
)
ANY_QUERY = (
    "colour=blue",
    "=x",
    "%00=1",
    "cursor=a&cursor=b",
    "cursor=%00",
    f"cursor={'x' * (CURSOR_MAX_CHARS + 1)}",
    "cursor[]=a",
)
NUMBERS = ("", "abc", "0", "-1", "1.0", "1e2", "+1", "%201", "1_000", "0x10", "true", "%D9%A1", "9" * 30, "9" * 5_000)
QUERIES = (
    *((door, query) for door in (LIST, DETAIL, INVOCATIONS, MESSAGES, SIGNALS) for query in ANY_QUERY),
    *((EVIDENCE, f"pane=messages&{query}") for query in ANY_QUERY),
    *((LIST, f"limit={number}") for number in NUMBERS if number != "1_000"),
    *((DETAIL, f"message_limit={number}") for number in NUMBERS),
    *((EVIDENCE, query) for query in ("", "pane=", "pane=all", "pane=output&pane=output", f"pane=output&run_id={RUN}")),
    *((INVOCATIONS, query) for query in ("kind=", "kind=a%20b", "limit=1001", "offset=-1", "status=running")),
    *((LIST, f"project_is_null={word}") for word in ("", "yes", "True", "null", "2")),
    *((LIST, f"started_after={word}") for word in ("", "nan", "inf", "-1", "1e400", "1e300", "now", "1,5")),
    *((LIST, query) for query in ("tags=a%2Cb", "tags=", "tags=a%00", "search=", "search=%00", "sort=newest")),
    *((LIST, query) for query in ("project=", f"project={'x' * 201}", "kind=-", "invocation_id=..", "tags_match=none")),
    *((door, query) for door in (DEFINITIONS, VERSIONS, DIFF, DELETE, RECONCILIATIONS) for query in ANY_QUERY),
    *((door, query) for door in (RESOLVE_ARTIFACT, RUN_ARTIFACTS, INVOCATION_ARTIFACTS) for query in ANY_QUERY),
    *((RESOLVE_ARTIFACT, query) for query in WRONG_PREVIEWS),
    *((RUN_ARTIFACTS, query) for query in ("kind=", "kind=a%20b", "limit=1001", "offset=-1")),
    *((VERSIONS, f"limit={number}") for number in NUMBERS),
    *((DEFINITIONS, query) for query in ("kind=", "kind=skill", "search=", "search=%00", "deleted=yes", "limit=1001")),
    *((DIFF, query) for query in ("from=-1", "from=x", "from_=1", "to=0", "file=2", "context=1001", "from=1&from=2")),
    *((DELETE, query) for query in ("expected_version=-1", "expected_version=", "actor=", "message=%00", "version=1")),
    *((RECONCILIATIONS, query) for query in ("status=open", "kind=skill", "name=", "name=%00", "offset=-1")),
    *((door, query) for door in (PROJECTS, DELETE_PROJECT) for query in ANY_QUERY),
    *((PROJECTS, query) for query in ("limit=1001", "search=", "search=%00", "offset=-1", "name=a")),
    *((DELETE_PROJECT, query) for query in ("detach=yes", "detach=", "detach=true&detach=true", "force=1")),
    *(
        (STATS, query)
        for query in (*ANY_QUERY, "since=", "since=now", "until=-1", "until=1e400", "project=", "since=1&since=2")
    ),
    *((door, query) for door in (SCHEDULES, FIRINGS, REMOVE) for query in ANY_QUERY),
    *((door, f"limit={number}") for door in (SCHEDULES, FIRINGS) for number in NUMBERS if number != "1_000"),
    *(
        (SCHEDULES, query)
        for query in ("enabled=yes", "trigger=tide", "project=", "search=", "search=%00", "limit=1001")
    ),
    *((FIRINGS, query) for query in ("outcome=", "outcome=lost", "offset=-1", "limit=1001")),
    *((REMOVE, query) for query in ("cancel_runs=", "cancel_runs=yes", "force=true")),
    (LIST, "limit=0&limit=1&offset=x&colour=1&sort=&started_before=x"),
)
REFUSED_OPERATIONS = {door.operation for door, _ in (*BODIES, *QUERIES)}


@pytest_asyncio.fixture
async def wire(daemon: LiveDaemon) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
    async with httpx.AsyncClient(base_url=daemon.url, headers=headers, verify=NO_TLS) as client:
        await client.post("/api/v1/runs/", json={"run_id": RUN})
        yield client


def _name(value: object) -> str:
    return value.operation if isinstance(value, Door) else repr(value)[:60]


@pytest.mark.parametrize(("door", "raw"), BODIES, ids=_name)
async def test_a_body_is_refused_where_the_same_data_is(door: Door, raw: bytes, wire: httpx.AsyncClient) -> None:
    expected = _places_of(lambda: parse_model(door.model, _with_path(door, strict_json_loads(raw))))

    response = await wire.request(door.method, door.path, content=raw)

    assert _refusal(response) == expected


@pytest.mark.parametrize(("door", "query"), QUERIES, ids=_name)
async def test_a_query_is_refused_where_the_same_data_is(door: Door, query: str, wire: httpx.AsyncClient) -> None:
    words = parse_qs(query, keep_blank_values=True)
    expected = _places_of(lambda: parse_query(door.model, words, **dict(door.fixed)))

    response = await wire.request(door.method, f"{door.path}?{query}")

    assert _refusal(response) == expected


def _with_path(door: Door, body: object) -> object:
    return {**dict(door.fixed), **body} if isinstance(body, dict) else body


def _places_of(parse: Any) -> Places:
    with pytest.raises(ValidationFailure) as refused:
        parse()
    return [(failure.path, failure.code) for failure in refused.value.field_errors]


def _refusal(response: httpx.Response) -> Places:
    assert response.status_code == 422, response.text
    failures = ErrorBody.model_validate_json(response.content).field_errors
    assert failures
    return [(failure.path, failure.code) for failure in failures]
