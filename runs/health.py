"""effective_health: what a running run looks like from outside. Null for every other status; never success."""

from dataclasses import dataclass
from typing import Final

from contract.runs import Health

_HOUR: Final = 3_600.0
IDLE_AFTER_SECONDS: Final = _HOUR
_STALE_AFTER_SECONDS: Final = 6 * _HOUR
# Graph-shaped runs are quiet for longer: one node may think while nothing is recorded.
_STALE_AFTER_GRAPH_SECONDS: Final = 12 * _HOUR
_GRAPH_KINDS: Final = frozenset({"flow", "fanout", "flow_yaml", "workflow"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """What is known of a run. `alive` is None when its process is not recorded or on another host."""

    status: str
    kind: str
    alive: bool | None
    elsewhere: bool
    has_evidence: bool
    last_activity_at: float


def effective_health(signs: Signs, *, now: float) -> Health | None:
    """Judge a run. A process on another host is unknown, never dead."""
    if signs.status != "running":
        return None
    quiet_seconds = now - signs.last_activity_at
    if signs.alive is False:
        return "stale" if signs.has_evidence else "orphaned"
    if signs.alive is None and not signs.elsewhere and not signs.has_evidence and quiet_seconds > _HOUR:
        return "orphaned"
    if quiet_seconds > stale_after_seconds(signs.kind):
        return "unresponsive" if signs.alive else "stale"
    return "idle" if quiet_seconds > IDLE_AFTER_SECONDS else "healthy"


def stale_after_seconds(kind: str) -> float:
    """Return how long a run of this kind may be quiet before it counts as stale."""
    return _STALE_AFTER_GRAPH_SECONDS if kind in _GRAPH_KINDS else _STALE_AFTER_SECONDS
