"""The peer's state database, written as its own command line would leave it: rows of SQLite, no code of the peer."""

import json
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.population import SeededRun, message_text, seeded_runs

NAME: Final = "state.db"
_AT_ONCE: Final = 5_000
_ASSISTANT: Final = 3  # its number of the class of an assistant's message (message_types)
_GONE_PID: Final = 2**22 + 1  # over the largest that Linux gives (PID_MAX_LIMIT, include/linux/threads.h)

Row = tuple[Any, ...]


def seed(path: Path, schema: str, count: int, *, until: float, orphans: bool) -> None:
    """Make the database from the peer's own schema and store the runs; without `orphans` these have failed."""
    runs = seeded_runs(count, until=until)
    with closing(sqlite3.connect(path)) as database:
        database.executescript(schema)
        database.execute("PRAGMA foreign_keys=OFF")
        while chunk := list(islice(runs, _AT_ONCE)):
            with database:
                for table, rows in _rows(chunk, orphans=orphans).items():
                    _insert(database, table, rows)


def start_session(path: Path, session_id: str) -> None:
    """Store a running session with one empty branch."""
    now = time.time()
    with closing(_open(path)) as database, database:
        _insert(
            database, "progressions", [_progression(owner, now, []) for owner in (session_id, f"{session_id}-main")]
        )
        session = (session_id, "benchmark", session_id, now, now, now, "running", "agent")
        _insert(
            database,
            "sessions(id,name,progression_id,created_at,updated_at,started_at,status,invocation_kind)",
            [session],
        )
        _insert(database, _BRANCHES, [(f"{session_id}-main", now, "main", session_id, f"{session_id}-main")])


def add_message(path: Path, session_id: str, position: int, content: dict[str, float]) -> None:
    """Append one message to the branch and the session, in one transaction."""
    now = time.time()
    message_id = f"{session_id}-{position}"
    with closing(_open(path)) as database, database:
        _insert(database, _MESSAGES, [(message_id, now, json.dumps(content), "main", "assistant", _ASSISTANT)])
        for owner in (session_id, f"{session_id}-main"):
            database.execute(
                "UPDATE progressions SET collection = json_insert(collection, '$[#]', ?) WHERE id = ?",
                (message_id, owner),
            )
        database.execute("UPDATE sessions SET last_message_at = ?, updated_at = ? WHERE id = ?", (now, now, session_id))


def _open(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=10)


_MESSAGES: Final = "messages(id,created_at,content,sender,role,lion_class)"
_BRANCHES: Final = "branches(id,created_at,name,session_id,progression_id)"
_SESSIONS: Final = (
    "sessions(id,name,progression_id,created_at,updated_at,started_at,ended_at,last_message_at,status,invocation_kind,"
    "playbook_name,agent_name,project,model,provider,invocation_id,total_cost_usd,node_metadata)"
)


def _rows(runs: Sequence[SeededRun], *, orphans: bool) -> dict[str, Iterable[Row]]:
    return {
        "progressions": (row for run in runs for row in _progressions(run)),
        "invocations(id,skill,started_at,status,created_at,updated_at)": _invocations(runs),
        _SESSIONS: (_session(run, orphans=orphans) for run in runs),
        _BRANCHES: (
            (_branch(run), run.started_at, "main", run.run_id, _branch(run)) for run in runs if run.message_count
        ),
        _MESSAGES: (row for run in runs for row in _messages(run)),
        "run_tags": ((run.run_id, tag, run.started_at) for run in runs for tag in run.tags),
    }


def _insert(database: sqlite3.Connection, table: str, rows: Iterable[Row]) -> None:
    listed = iter(rows)
    first = next(listed, None)
    if first is not None:
        statement = f"INSERT OR IGNORE INTO {table} VALUES ({','.join('?' * len(first))})"
        database.execute(statement, first)
        database.executemany(statement, listed)


def _branch(run: SeededRun) -> str:
    return f"{run.run_id}-main"


def _message_ids(run: SeededRun) -> list[str]:
    return [f"{run.run_id}-{place}" for place in range(run.message_count)]


def _progressions(run: SeededRun) -> Iterator[Row]:
    yield _progression(run.run_id, run.started_at, _message_ids(run))
    if run.message_count:
        yield _progression(_branch(run), run.started_at, _message_ids(run))


def _progression(owner: str, created_at: float, message_ids: list[str]) -> Row:
    return (owner, created_at, json.dumps(message_ids))


def _invocations(runs: Sequence[SeededRun]) -> Iterator[Row]:
    for run in runs:
        yield (run.invocation_id, "launch", run.started_at, "completed", run.started_at, run.started_at)


def _session(run: SeededRun, *, orphans: bool) -> Row:
    is_orphan = run.is_orphan and orphans
    status = "failed" if run.is_orphan and not orphans else run.status
    ended_at = None if is_orphan else run.updated_at
    process = {"pid": _GONE_PID, "pid_host": socket.gethostname(), "pid_create_time": run.started_at}
    cost_usd = None if run.cost_micros is None else run.cost_micros / 1_000_000
    return (
        run.run_id, run.name, run.run_id, run.started_at, run.updated_at, run.started_at, ended_at, run.updated_at,
        status, run.kind, run.playbook_name, run.agent_name, run.project, run.model, run.provider, run.invocation_id,
        cost_usd, json.dumps(process) if is_orphan else None,
    )  # fmt: skip


def _messages(run: SeededRun) -> Iterator[Row]:
    for place, message_id in enumerate(_message_ids(run)):
        content = json.dumps({"assistant_response": message_text(run.number, place)})
        yield (message_id, run.started_at + place, content, "main", "assistant", _ASSISTANT)
