"""The operations on runs, bound: a part of Studio that needs no adapter by its name."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from contract.actions import LaunchResult, LaunchRun
from contract.base import Page
from contract.events import RecordEvents, RecordResult, StreamFrame
from contract.ports import Clock, IdGenerator
from contract.runs import (
    CancelResult,
    CancelRun,
    ChangeTags,
    EvidencePage,
    EvidenceRequest,
    InvocationDetail,
    InvocationQuery,
    InvocationSummary,
    RunDetail,
    RunQuery,
    RunReadQuery,
    RunSummary,
    StartRun,
    TagsResult,
)
from runs.actions import LaunchRules
from runs.demo import demo_agent
from runs.services import control, launching, reading, recording
from runs.services.execution_ports import ActionSources, LaunchPort, Machine, ProjectFolders, RunFilesPort
from runs.services.following import RunFollower
from runs.services.ports import InvocationReadPort, RunEvidencePort, RunReadPort, RunWritePort
from studio_project.config import StudioConfig


class RunReads(RunReadPort, RunEvidencePort, InvocationReadPort, Protocol):
    """Everything that reads runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchNeeds:
    """What a launch is checked by and queued in."""

    policy: launching.LaunchPolicy
    launches: LaunchPort
    sources: ActionSources
    projects: ProjectFolders
    machine: Machine


def policy_of(config: StudioConfig) -> launching.LaunchPolicy:
    """Return what the configuration says of launches."""
    rules = LaunchRules(
        runtimes=config.runtimes, default_runtime=config.default_runtime, command_allowlist=config.command_allowlist
    )
    root = None if config.execution_root is None else str(config.execution_root)
    return launching.LaunchPolicy(rules=rules, root=root, deadline_seconds=config.deadline_seconds)


def allow_demo(config: StudioConfig) -> StudioConfig:
    """Return the configuration with this installation's demo agent among the executables that may be launched."""
    return config.model_copy(update={"command_allowlist": (*config.command_allowlist, demo_agent())})


class RunOperations:
    """Every operation on runs and invocations, over ports."""

    def __init__(
        self,
        *,
        reads: RunReads,
        writes: RunWritePort,
        follower: RunFollower,
        files: RunFilesPort,
        launching: LaunchNeeds,
        clock: Clock,
        ids: IdGenerator,
    ) -> None:
        """Bind."""
        self.clock = clock
        self._reads = reads
        self._writes = writes
        self._follower = follower
        self._folders = files
        self._launching = launching
        self._ids = ids

    async def list_runs(self, query: RunQuery) -> Page[RunSummary]:
        """Return one page of runs."""
        return await reading.list_runs(query=query, runs=self._reads)

    async def get_run(self, run_id: str, query: RunReadQuery) -> RunDetail:
        """Return a run's detail."""
        return await reading.get_run(run_id=run_id, query=query, runs=self._reads)

    async def read_evidence(self, request: EvidenceRequest) -> EvidencePage:
        """Return one page of a pane."""
        return await reading.read_evidence(request=request, evidence=self._reads)

    async def start_run(self, command: StartRun) -> RunSummary:
        """Register a running run."""
        return await recording.start_run(command=command, runs=self._writes, clock=self.clock, ids=self._ids)

    async def launch_run(self, command: LaunchRun) -> LaunchResult:
        """Queue a run that Studio executes."""
        return await launching.launch_run(
            command=command,
            policy=self._launching.policy,
            launches=self._launching.launches,
            sources=self._launching.sources,
            projects=self._launching.projects,
            machine=self._launching.machine,
            clock=self.clock,
            ids=self._ids,
        )

    async def record_events(self, run_id: str, command: RecordEvents) -> RecordResult:
        """Store a batch atomically."""
        return await recording.record_events(
            run_id=run_id, command=command, runs=self._writes, files=self._folders, clock=self.clock
        )

    async def cancel_run(self, run_id: str, command: CancelRun) -> CancelResult:
        """Ask a run to stop."""
        return await control.cancel_run(run_id=run_id, command=command, runs=self._writes, clock=self.clock)

    async def change_run_tags(self, run_id: str, command: ChangeTags) -> TagsResult:
        """Add and remove tags."""
        return await control.change_run_tags(run_id=run_id, command=command, runs=self._writes, clock=self.clock)

    async def list_invocations(self, query: InvocationQuery) -> Page[InvocationSummary]:
        """Return one page of invocations."""
        return await reading.list_invocations(query=query, invocations=self._reads)

    async def get_invocation(self, invocation_id: str) -> InvocationDetail:
        """Return an invocation with its runs."""
        return await reading.get_invocation(invocation_id=invocation_id, invocations=self._reads)

    def stream_messages(self, run_id: str, cursor: str | None) -> AsyncIterator[StreamFrame]:
        """Follow a run's messages."""
        return self._follower.follow(run_id, cursor, "messages")

    def stream_signals(self, run_id: str, cursor: str | None) -> AsyncIterator[StreamFrame]:
        """Follow a run's signals."""
        return self._follower.follow(run_id, cursor, "signals")
