"""What the recording of the contract tells the application: the runs, their events, and every refused request."""

from typing import Any, Final

from contract.limits import BODY_MAX_BYTES
from studio_project.contract_asgi import Request

Document = dict[str, Any]

# 2025-06-15T15:06:40Z: any instant will do, a round one is easy to recognize.
START_AT: Final = 1_750_000_000.0

RUNS: Final = "/api/v1/runs/"
RUN: Final = "/api/v1/runs/demo-1"
QUIET: Final = "/api/v1/runs/demo-3"
LAUNCHES: Final = "/api/v1/launches/"
DEFINITIONS: Final = "/api/v1/definitions/"


def post(path: str, body: Any) -> Request:
    """Return a command."""
    return Request(method="POST", path=path, body=body)


def record(run: str, *events: Document) -> Request:
    """Return a batch of events for the run at a path."""
    return post(f"{run}/events", {"events": list(events)})


FIRST_RUN: Final[Document] = {
    "run_id": "demo-1",
    "kind": "flow",
    "name": "nightly review",
    "playbook_name": "review",
    "agent_name": "reviewer",
    "invocation_id": "nightly-42",
    "project": "studio",
    "model": "model-1",
    "provider": "example",
    "tags": ["review"],
    "started_at": START_AT,
    "process": {"host": "example-host", "pid": 4242, "started_at": START_AT - 5.0, "boot_id": "boot-1"},
}
SECOND_RUN: Final[Document] = {"run_id": "demo-2", "kind": "agent", "invocation_id": "nightly-42"}
QUIET_RUN: Final[Document] = {"run_id": "demo-3", "kind": "agent", "process": {"host": "example-host", "pid": 4243}}

BACKLOG: Final[tuple[Document, ...]] = (
    {"type": "branch", "name": "main", "model": "model-1", "agent_name": "reviewer"},
    {
        "type": "graph",
        "nodes": [{"id": "read", "label": "Read", "kind": "chat"}, {"id": "judge", "label": "Judge"}],
        "edges": [{"source": "read", "target": "judge", "condition": "result.ok"}],
    },
    {"type": "message", "role": "user", "content": "Review the change.", "event_id": "m1", "at": START_AT},
    {"type": "signal", "kind": "NodeStarted", "op_id": "read", "payload": {"attempt": 1}, "event_id": "s1"},
    {
        "type": "message",
        "role": "assistant",
        "content": {"text": "Reading…", "steps": [1, 2]},
        "sender": "reviewer",
        "recipient": "user",
        "message_id": "msg-2",
        "event_id": "m2",
    },
    {"type": "usage", "input_tokens": 1_200, "output_tokens": 80, "cost_usd": 0.0042, "model": "model-1"},
    {"type": "usage", "output_tokens": 20},
    # A repetition: counted as a duplicate.
    {"type": "message", "role": "user", "content": "Review the change.", "event_id": "m1"},
)
LIVE: Final[tuple[Document, ...]] = (
    {"type": "branch", "name": "judge", "parent": "main"},
    {"type": "message", "role": "tool", "branch": "judge", "content": "NUL \x00 is made printable", "event_id": "m3"},
    {"type": "signal", "kind": "NodeCompleted", "op_id": "read", "payload": None, "event_id": "s2"},
    {"type": "message", "role": "output", "content": "Approved.", "event_id": "m4"},
    {
        "type": "artifact",
        "kind": "report",
        "name": "review.md",
        "path": "reports/review.md",
        "media_type": "text/markdown",
        "content": {"verdict": "approved"},
    },
)
LAUNCH: Final[Document] = {
    "launch_key": "review-of-4711",
    "kind": "agent",
    "prompt": "Say which files have no tests.",
    "agent": "reviewer",
    "model": "model-1",
    "runtime": "claude",
    "project": "studio",
    "name": "missing tests",
    "tags": ["review"],
    "deadline_seconds": 900.0,
}
PROJECTS: Final[dict[str, Request]] = {
    "project-created": post("/api/v1/projects/", {"name": "github.com/team/thing", "path": "/srv/thing"}),
    "runs-assigned": post("/api/v1/projects/github.com/team/thing/assign", {"unassigned": True}),
    "project-changed": Request(
        method="PATCH", path="/api/v1/projects/github.com/team/thing", body={"name": "thing", "path": None}
    ),
    "projects-page": Request(path="/api/v1/projects/"),
    "project-detected": post(
        "/api/v1/projects/detect", {"folders": ["/srv/thing", "/srv", "/"], "remote_url": "git@host:team/thing.git"}
    ),
    "project-deleted": Request(method="DELETE", path="/api/v1/projects/thing", query="detach=true"),
}
_TOO_LARGE: Final = {"content-length": str(BODY_MAX_BYTES + 1)}
REFUSED: Final[tuple[Request, ...]] = (
    Request(path=RUNS, query="status=finished&project=a&project_is_null=true"),
    Request(path=RUNS, query="limit=0&color=blue"),
    record(QUIET, {"type": "message", "role": "nobody", "content": ""}, {"type": "signal", "kind": "-"}),
    post(RUNS, b'{"kind": "agent", "kind": "flow"}'),
    Request(path=RUN, query="cursor=garbled"),
    Request(path=f"{RUN}/stream", headers={"Last-Event-ID": "garbled"}),
    Request(method="PUT", path=f"{DEFINITIONS}playbook/hasty", body={"content": "steps:\n  - [1, 2\n"}),
    Request(method="PUT", path=f"{DEFINITIONS}playbook/hasty", body={"content": "a: 1\n", "name": "other"}),
    Request(method="PUT", path=f"{DEFINITIONS}agent/reviewer!", body={"content": ""}),
    post(LAUNCHES, {"kind": "command", "command": ["reboot"], "prompt": "Now.", "cwd": "here"}),
    post(LAUNCHES, {"kind": "flow_yaml", "flow_yaml": "steps:\n  - [1, 2\n", "runtime": "li"}),
    post("/api/v1/projects/", {"name": "team//thing", "path": "here"}),
    Request(path="/api/v1/projects/github.com/team/nothing"),
    Request(method="DELETE", path="/api/v1/projects/studio"),
    Request(path="/api/v1/runs/nobody"),
    Request(path="/api/v1/runs/nobody/signals"),
    Request(path=f"{DEFINITIONS}robot/reviewer"),
    Request(path=f"{DEFINITIONS}agent/reviewer/versions/latest"),
    Request(path="/api/v1/nothing-here"),
    post(RUNS, QUIET_RUN),
    post(f"{RUN}/cancel", {}),
    post(LAUNCHES, {**LAUNCH, "prompt": "Write them."}),
    Request(method="PUT", path=f"{DEFINITIONS}agent/reviewer", body={"content": "Mine.\n", "expected_version": 4}),
    Request(path=RUNS, headers={"Authorization": "Basic bm9ib2R5"}),
    Request(path=f"{RUN}/stream", headers={"Authorization": "Bearer another"}),
    Request(path=RUNS, headers={"Host": "evil.example"}),
    Request(method="POST", path=RUNS, headers={"Origin": "https://evil.example"}, body=QUIET_RUN),
    Request(method="DELETE", path=RUNS),
    Request(method="POST", path=f"{RUN}/stream"),
    Request(method="POST", path=RUNS, headers={"Content-Type": "text/plain"}, body=QUIET_RUN),
    Request(method="POST", path=RUNS, headers=_TOO_LARGE),
    Request(method="POST", path=RUNS, headers={"Content-Length": "many"}),
)
