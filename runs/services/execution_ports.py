"""What launching and executing runs needs from the outside.

A *lease* is a worker's right to write to a launched run: its `fence` grows with every claim, and a write with an older
fence changes nothing. Leases never run out by a wall clock: a holder counts its `renewals` up, and who watches takes
one over when its own monotonic clock says that the count has stood still too long, or the holder's process is gone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from contract.actions import ActionFields, LaunchResult
from contract.base import FieldFailure
from contract.events import ProcessIdentity, RunEvent

# What the change feed calls it when a run can be claimed that could not before: a launch, or room for one.
LAUNCHES_TOPIC: Final = "launches"

# Told of each run that begins to wait, launched or given back, inside the transaction that makes it so.
Announce = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchDraft:
    """A checked launch, ready to be queued. `digest` is equal for equal actions."""

    launch_key: str
    run_id: str
    action: ActionFields
    digest: str
    runtime: str | None
    cwd: str | None
    name: str | None
    tags: tuple[str, ...]
    invocation_id: str | None
    deadline_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """One worker's hold of one run."""

    run_id: str
    fence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableAction:
    """What was stored of a launch and is no action to this version, such as one of a newer; `fault` says why."""

    fault: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedLaunch:
    """A launch that a worker holds and has to execute; one with an unreadable action it has to end."""

    lease: Lease
    action: ActionFields | UnreadableAction
    runtime: str | None
    cwd: str | None
    deadline_seconds: float
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLaunch:
    """A launch that somebody holds. `process` is the child's, null while none was started."""

    lease: Lease
    owner: ProcessIdentity
    renewals: int
    process: ProcessIdentity | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a run ended, as its executor saw it. What nobody saw or counted is None."""

    status: str
    reason_code: str
    reason_summary: str | None = None
    exit_code: int | None = None
    exit_signal: int | None = None
    stdout_bytes: int | None = None
    stderr_bytes: int | None = None
    withheld_bytes: int | None = None
    output_tail: str = ""


class LaunchPort(Protocol):
    """Queues launches."""

    async def find_launch(self, launch_key: str, *, digest: str) -> LaunchResult | None:
        """Return the run that this key made before, None when there is none.

        Conflict when the key was used for another action.
        """
        ...

    async def launch(self, draft: LaunchDraft, *, at: float) -> LaunchResult:
        """Insert a queued run with its launch, or return the run that this key made before.

        Conflict when the key was used for another action.
        """
        ...


class RunQueue(Protocol):
    """Hands queued runs to workers, each to one at a time.

    A run that waits may be called for by an engine besides (`Announce`); who holds it is decided here alone.
    """

    async def claim(
        self, *, owner: ProcessIdentity, limit: int, cap: int, at: float, only: str | None = None
    ) -> tuple[ClaimedLaunch, ...]:
        """Hold up to `limit` queued runs, oldest first, while fewer than `cap` are held by anybody (0: no cap).

        With `only` no other run than the one of this id. An action that cannot be read is handed out as such: it is in
        nobody's way.
        """
        ...

    async def waiting(self, *, only: str | None = None) -> tuple[str, ...]:
        """Return the ids of the queued runs that nobody holds, oldest first; with `only` at most this one."""
        ...

    async def renew(self, leases: Sequence[Lease], *, at: float) -> frozenset[str]:
        """Count the renewals of those still held up; return their run ids."""
        ...

    async def cancel_requests(self, leases: Sequence[Lease]) -> dict[str, str | None]:
        """Return run id and reason of those held that somebody asked to stop."""
        ...

    async def held(self) -> tuple[HeldLaunch, ...]:
        """Return every launch that is held."""
        ...

    async def give_back(self, lease: Lease, *, at: float) -> bool:
        """Let a run whose process was never started be claimed again, under a new fence; False when not held so."""
        ...

    async def take_over(self, lease: Lease, *, owner: ProcessIdentity, at: float) -> Lease | None:
        """Hold what somebody else holds under this very lease; None when it is not held so any more."""
        ...


class SupervisedRunPort(Protocol):
    """What an executor writes to the run it holds. Every write is fenced: False or None when the lease is lost."""

    async def started(self, lease: Lease, process: ProcessIdentity, *, at: float) -> bool:
        """Record the child before it may begin: the run is running from now on. False also when it was cancelled."""
        ...

    async def record(self, lease: Lease, events: Sequence[RunEvent], *, at: float) -> bool:
        """Store evidence, as a producer's batch."""
        ...

    async def end(self, lease: Lease, ending: Ending, *, at: float) -> bool:
        """End the run, unless it has ended, keep how, and let go of it. False when the lease is lost."""
        ...


class ActionSources(Protocol):
    """What an action refers to and other capabilities own."""

    async def playbook_failures(self, name: str, *, has_prompt: bool) -> tuple[FieldFailure, ...]:
        """Say why there is no such playbook to execute, below ("playbook",).

        One without a prompt of its own needs the action's (`has_prompt`).
        """
        ...

    async def flow_failures(self, flow_yaml: str, *, has_prompt: bool) -> tuple[FieldFailure, ...]:
        """Return what is wrong with an inline flow, below ("flow_yaml",), with line and column."""
        ...

    async def playbook_file(self, name: str) -> str | None:
        """Return the absolute path of a playbook's file, None when there is none."""
        ...


class ProjectFolders(Protocol):
    """What a launch asks about projects."""

    async def project_path(self, name: str) -> str | None:
        """Return the folder of a project, None where it has none."""
        ...

    async def project_of(self, folder: str) -> str | None:
        """Return the project that an absolute folder of this machine belongs to; None too where nobody can tell."""
        ...


class RunFilesPort(Protocol):
    """The folder of a run, in which it leaves files for people. Nothing that is found there is an error."""

    async def prepare(self, run_id: str) -> str:
        """Make the folder; return its absolute path. A StudioApplicationError where it cannot be made."""
        ...

    async def measure(self, run_id: str, paths: Sequence[str]) -> None:
        """Keep hash and size of files that artifacts of the run name. Takes two seconds at most, and never fails."""
        ...

    async def collect(self, run_id: str) -> None:
        """Record the files of a run that has ended, measured. Takes half a minute at most."""
        ...


class Machine(Protocol):
    """Looks at this machine, without waiting for anything."""

    def folder_fault(self, path: str) -> str | None:
        """Say why no process can be started in this folder, or None."""
        ...

    def usable_runtimes(self) -> frozenset[str]:
        """Return the names of the runtimes whose executable is there."""
        ...
