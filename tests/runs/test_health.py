"""effective_health: what a running run looks like from outside."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.health import IDLE_AFTER_SECONDS, Signs, effective_health, stale_after_seconds
from runs.transitions import STATUSES

HOUR = 3_600.0
NOW = 1_700_000_000.0
GRAPH_KINDS = ("flow", "fanout", "flow_yaml", "workflow")


def signs(**known: Any) -> Signs:
    """A run of an agent, recorded without a process, quiet since just now."""
    quiet_seconds = known.pop("quiet_seconds", 0.0)
    fields: dict[str, Any] = {
        "status": "running",
        "kind": "agent",
        "alive": None,
        "elsewhere": False,
        "has_evidence": True,
        "last_activity_at": NOW - quiet_seconds,
    }
    return Signs(**{**fields, **known})


def health(**known: Any) -> str | None:
    return effective_health(signs(**known), now=NOW)


@pytest.mark.parametrize("status", [status for status in STATUSES if status != "running"])
@pytest.mark.parametrize("alive", [True, False, None])
def test_only_a_running_run_has_a_health(status: str, alive: bool | None) -> None:
    assert health(status=status, alive=alive, quiet_seconds=100 * HOUR) is None


@pytest.mark.parametrize("alive", [True, None])
def test_a_run_that_does_something_is_healthy(alive: bool | None) -> None:
    assert health(alive=alive, quiet_seconds=IDLE_AFTER_SECONDS) == "healthy"


@pytest.mark.parametrize("alive", [True, None])
def test_a_run_quiet_for_over_an_hour_is_idle(alive: bool | None) -> None:
    assert health(alive=alive, quiet_seconds=IDLE_AFTER_SECONDS + 1) == "idle"


def test_a_living_process_quiet_for_too_long_is_unresponsive() -> None:
    assert health(alive=True, quiet_seconds=6 * HOUR + 1) == "unresponsive"


def test_a_run_without_a_known_process_quiet_for_too_long_is_stale() -> None:
    assert health(alive=None, quiet_seconds=6 * HOUR + 1) == "stale"


def test_a_gone_process_with_evidence_is_stale_at_once() -> None:
    assert health(alive=False) == "stale"


def test_a_gone_process_without_evidence_is_orphaned_at_once() -> None:
    assert health(alive=False, has_evidence=False) == "orphaned"


def test_no_process_and_no_evidence_for_an_hour_is_orphaned() -> None:
    assert health(has_evidence=False, quiet_seconds=HOUR) == "healthy"
    assert health(has_evidence=False, quiet_seconds=HOUR + 1) == "orphaned"


def test_a_process_on_another_host_is_unknown_and_never_orphaned() -> None:
    assert health(elsewhere=True, has_evidence=False, quiet_seconds=HOUR + 1) == "idle"
    assert health(elsewhere=True, has_evidence=False, quiet_seconds=7 * HOUR) == "stale"


@pytest.mark.parametrize("kind", GRAPH_KINDS)
def test_graph_shaped_runs_may_be_quiet_for_twelve_hours(kind: str) -> None:
    assert stale_after_seconds(kind) == 12 * HOUR
    assert health(kind=kind, quiet_seconds=12 * HOUR) == "idle"
    assert health(kind=kind, quiet_seconds=12 * HOUR + 1) == "stale"


@pytest.mark.parametrize("kind", ["agent", "play", "command", "anything"])
def test_other_runs_may_be_quiet_for_six_hours(kind: str) -> None:
    assert stale_after_seconds(kind) == 6 * HOUR


def test_a_clock_that_stepped_back_leaves_a_run_healthy() -> None:
    assert health(quiet_seconds=-1_000.0) == "healthy"


@given(st.sampled_from(["agent", *GRAPH_KINDS]), st.booleans(), st.floats(0, 24 * HOUR), st.floats(0, 24 * HOUR))
def test_health_never_improves_while_a_run_is_quiet(
    kind: str, has_evidence: bool, shorter_seconds: float, longer_seconds: float
) -> None:
    order = ("healthy", "idle", "unresponsive", "stale", "orphaned")
    early, late = sorted((shorter_seconds, longer_seconds))

    verdicts = [health(kind=kind, has_evidence=has_evidence, quiet_seconds=seconds) for seconds in (early, late)]

    assert [order.index(verdict or "") for verdict in verdicts] == sorted(order.index(v or "") for v in verdicts)
