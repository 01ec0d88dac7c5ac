"""What the in-memory store keeps, and the ways in which it can refuse to answer."""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from contract.artifacts import ArtifactView
from contract.events import (
    MessageView,
    ProcessIdentity,
    RunGraph,
    SignalView,
    UsageEvent,
)
from contract.ports import Clock, IdGenerator
from contract.runs import (
    StartRun,
    TransitionView,
)
from runs.batch import Move, RunState
from runs.services.execution_ports import Ending, LaunchDraft, Lease
from runs.services.ports import ProcessProbe
from runs.transitions import is_terminal
from tests.fakes.change_feed import InMemoryChangeFeed
from tests.fakes.clocks import FixedClock, SequentialIds
from tests.fakes.processes import FakeProcesses
from tests.fakes.turns import turns


@dataclass(kw_only=True)
class StoredMessage:
    """A message and its place in its branch."""

    position: int
    view: MessageView


@dataclass(kw_only=True)
class StoredLaunch:
    """How Studio executes a run, and who does so."""

    draft: LaunchDraft
    queued_at: float
    owner: ProcessIdentity | None = None
    fence: int = 0
    renewals: int = 0
    claimed_at: float | None = None
    attempts: int = 0
    ending: Ending | None = None

    @property
    def lease(self) -> Lease:
        return Lease(run_id=self.draft.run_id, fence=self.fence)


@dataclass(kw_only=True)
class StoredRun:
    """One run with everything that belongs to it."""

    number: int
    run_id: str
    command: StartRun
    state: RunState
    reason_code: str
    created_at: float
    updated_at: float
    last_activity_at: float
    tags: tuple[str, ...]
    started_at: float | None = None
    ended_at: float | None = None
    reason_summary: str | None = None
    cancel_requested_at: float | None = None
    messages: list[StoredMessage] = field(default_factory=list)
    signals: list[SignalView] = field(default_factory=list)
    usage: list[UsageEvent] = field(default_factory=list)
    artifacts: dict[tuple[str, str], tuple[int, ArtifactView]] = field(default_factory=dict)
    transitions: list[TransitionView] = field(default_factory=list)
    event_ids: set[str] = field(default_factory=set)
    graph: RunGraph | None = None
    launch: StoredLaunch | None = None

    @property
    def status(self) -> str:
        return self.state.status

    @property
    def sort_started_at(self) -> float:
        """A queued run sorts by its registration."""
        return self.created_at if self.started_at is None else self.started_at

    @property
    def sort_cost(self) -> int:
        """Unknown cost stands behind every known one."""
        return -1 if self.state.cost_micros is None else self.state.cost_micros

    @property
    def held(self) -> bool:
        """Whether a worker holds it."""
        return self.launch is not None and self.launch.owner is not None

    def let_go(self) -> None:
        if self.launch is not None:
            self.launch.owner = None

    def touch(self, at: float) -> None:
        self.updated_at = max(self.updated_at, at)

    def take_move(self, move: Move, at: float) -> None:
        """Set what an accepted move changes beside the status itself."""
        self.reason_code, self.reason_summary = move.reason_code, move.reason_summary
        if is_terminal(move.to_status):
            self.ended_at = at
        elif self.started_at is None:
            self.started_at = at


@dataclass(frozen=True, kw_only=True)
class StoredInvocation:
    """One invocation; its runs refer to it."""

    number: int
    invocation_id: str
    kind: str
    created_at: float


@dataclass(kw_only=True)
class StoredProject:
    """One project; its runs carry its name."""

    number: int
    name: str
    created_at: float
    updated_at: float
    path: str | None = None
    description: str | None = None


class RunStore:
    """The records, and the count of the calls that reached them. Base of the in-memory ports."""

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        ids: IdGenerator | None = None,
        feed: InMemoryChangeFeed | None = None,
        probe: ProcessProbe | None = None,
    ) -> None:
        self.clock = clock or FixedClock()
        self.ids = ids or SequentialIds()
        self.feed = feed or InMemoryChangeFeed()
        self.probe = probe or FakeProcesses()
        self.runs: dict[str, StoredRun] = {}
        self.invocations: dict[str, StoredInvocation] = {}
        self.projects: dict[str, StoredProject] = {}
        self.calls: Counter[str] = Counter()
        self.fault: Exception | None = None
        # Which port calls the fault keeps from being answered; None is every call.
        self.failing: str | None = None
        self._numbers: Counter[str] = Counter()

    async def reach(self, port_call: str) -> None:
        """Count a call and let others run while it is under way, as a database does. Raises the set `fault`."""
        self.calls[port_call] += 1
        await turns()
        if self.fault is not None and self.failing in (None, port_call):
            raise self.fault

    def ensure_project(self, name: str | None, *, at: float) -> None:
        """Make the project that a run is registered under, unless there is one."""
        if name is not None and name not in self.projects:
            self.projects[name] = StoredProject(number=self.number("project"), name=name, created_at=at, updated_at=at)

    def number(self, table: str) -> int:
        """Return the next row number of a table."""
        self._numbers[table] += 1
        return self._numbers[table]


def stored_json(body: Any) -> Any:
    """Return the body as it comes back from a store of JSON texts: an own copy."""
    return json.loads(json.dumps(body))
