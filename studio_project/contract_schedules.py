"""What the recording of the contract does to schedules: one that is made, changed, skipped, fired and deleted."""

from typing import Final

from studio_project.contract_asgi import Request
from studio_project.contract_story import Document, post

SCHEDULES: Final = "/api/v1/schedules/"

_NIGHTLY: Final[Document] = {
    "name": "nightly review",
    "description": "reads what the day has brought",
    "trigger": {"kind": "cron", "expression": "30 2 * * mon-fri", "timezone": "America/New_York"},
    "action": {
        "kind": "agent",
        "prompt": "Review the changes of today.",
        "model": "model-1",
        "runtime": "claude",
        "on_fail": {"kind": "agent", "prompt": "Say what went wrong.", "runtime": "claude"},
    },
    "project": "studio",
    "missed_fire_policy": "run_once",
    "max_runs": 100,
    "budget_usd": 25.0,
}
CREATE: Final = post(SCHEDULES, _NIGHTLY)
_REVIEWS: Final[Document] = {
    "name": "reviews",
    "trigger": {
        "kind": "github_poll",
        "repository": "example/shop",
        "poll_interval_seconds": 300,
        "filters": {"event": "pr_opened", "draft": False},
    },
    "action": {"kind": "agent", "prompt": "Review {{event.url}}.", "runtime": "claude"},
}
FAULTY: Final = post(
    SCHEDULES,
    {
        "name": "never",
        "trigger": {"kind": "cron", "expression": "0 0 30 2 *"},
        "action": {"kind": "agent", "prompt": "p", "runtime": "claude", "on_success": {"kind": "play"}},
    },
)
# The night in which clocks go forward in New York.
_PREVIEW: Final[Document] = {
    "trigger": {"kind": "cron", "expression": "30 2 * * *", "timezone": "America/New_York"},
    "after": 1_772_859_600.0,
    "count": 3,
}


def looked_at(schedule_id: str, updated_at: float) -> dict[str, Request]:
    """Return what is asked of the schedule after it was made, by the names of the examples, up to its end."""
    path = f"{SCHEDULES}{schedule_id}"
    change = {"expected_updated_at": updated_at, "changes": {"description": None, "max_runs": 50}}
    return {
        "schedule-changed": Request(method="PATCH", path=path, body=change),
        "schedule-limits": Request(path=f"{SCHEDULES}limits"),
        "schedule-preview": post(f"{SCHEDULES}preview", _PREVIEW),
        "firing-skipped": post(f"{path}/skip-next", {}),
        "firing": post(f"{path}/fire", {"fire_key": "by-hand-1"}),
        "firing-repeated": post(f"{path}/fire", {"fire_key": "by-hand-1"}),
        "firings-page": Request(path=f"{path}/firings/", query="limit=1"),
        "schedule-detail": Request(path=path),
        "schedule-explained": Request(path=f"{path}/why"),
        "schedules-planned": post(f"{SCHEDULES}apply", {"schedules": [_NIGHTLY, _REVIEWS], "dry_run": True}),
        "schedules-applied": post(f"{SCHEDULES}apply", {"schedules": [_NIGHTLY, _REVIEWS]}),
        "schedules-paused": post(f"{SCHEDULES}pause-all", {}),
        "schedules-page": Request(path=SCHEDULES, query="enabled=false"),
        "schedules-resumed": post(f"{SCHEDULES}resume-all", {}),
        "schedules-exported": Request(path=f"{SCHEDULES}export"),
        "schedule-disabled": Request(method="PUT", path=f"{path}/enabled", body={"enabled": False}),
        "schedule-deleted": Request(method="DELETE", path=path, query="cancel_runs=true"),
    }
