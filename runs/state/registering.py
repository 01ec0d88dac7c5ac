"""Inserts runs with what belongs to them from the beginning, inside the transaction of the caller."""

import json
from collections.abc import Sequence
from typing import Any

from contract.events import ProcessIdentity
from runs.batch import Move
from runs.models import InvocationRecord, RunRecord, RunTagRecord
from runs.state import applying


def insert_run(run: RunRecord, *, tags: Sequence[str], actor: str) -> None:
    """Insert a new run, its tag rows and its first transition. IntegrityError when its id is taken."""
    own = sorted(set(tags))
    run.tags = json.dumps(own)
    run.save(force_insert=True)
    add_tag_rows(run, own)
    first = Move(
        from_status=None, to_status=run.status, reason_code=run.status_reason_code, reason_summary=None, refused=False
    )
    applying.add_transition(run, first, actor=actor, at=run.created_at)


def ensure_invocation(invocation_id: str | None, *, kind: str, at: float) -> str | None:
    """Insert an invocation unless there is one, and keep it until the run is there; return its id."""
    if invocation_id is not None:
        kept = InvocationRecord.objects.select_for_update(no_key=True)
        kept.get_or_create(invocation_id=invocation_id, defaults={"kind": kind, "created_at": at})
    return invocation_id


def add_tag_rows(run: RunRecord, tags: Sequence[str]) -> None:
    """Insert rows for tags that the run had not, with its sort keys."""
    keys = {"updated_at": run.updated_at, "sort_started_at": run.sort_started_at, "sort_cost": run.sort_cost}
    RunTagRecord.objects.bulk_create(RunTagRecord(run=run, tag=tag, **keys) for tag in tags)


def process_columns(process: ProcessIdentity | None) -> dict[str, Any]:
    """Return the columns of a run that name its process."""
    if process is None:
        return {}
    return {
        "process_host": process.host,
        "process_pid": process.pid,
        "process_started_at": process.started_at,
        "process_started_ticks": process.started_ticks,
        "process_boot_id": process.boot_id,
    }
