"""Launches, workers and endings for tests: valid ones, of which a test names only what it is about."""

import hashlib
from typing import Any

from contract.actions import ActionFields
from contract.events import ProcessIdentity
from runs.services.execution_ports import Ending, LaunchDraft

DEADLINE_SECONDS = 600.0


def draft(run_id: str = "r", *, action: ActionFields | None = None, **fields: Any) -> LaunchDraft:
    """Return a launch under a key of its own; equal actions have equal digests."""
    action = action or ActionFields(kind="agent", prompt=f"do the work of {run_id}")
    plain: dict[str, Any] = {
        "launch_key": f"key-of-{run_id}",
        "digest": hashlib.sha256(action.model_dump_json().encode()).hexdigest(),
        "runtime": None,
        "cwd": None,
        "name": f"run {run_id}",
        "tags": (),
        "invocation_id": None,
        "deadline_seconds": DEADLINE_SECONDS,
    }
    return LaunchDraft(run_id=run_id, action=action, **plain | fields)


def worker(pid: int = 1) -> ProcessIdentity:
    """Return a process that claims."""
    return ProcessIdentity(host="this-host", pid=pid, started_at=10.0, boot_id="this-boot")


def child(pid: int = 1_000) -> ProcessIdentity:
    """Return a process that a worker started."""
    return ProcessIdentity(host="this-host", pid=pid, started_at=20.5, started_ticks=2_050, boot_id="this-boot")


def ending(status: str = "completed", reason_code: str = "run.completed.exit_zero", **fields: Any) -> Ending:
    return Ending(status=status, reason_code=reason_code, **fields)
