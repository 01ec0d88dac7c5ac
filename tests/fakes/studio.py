"""InMemoryStudio: every operation of StudioApplication, the real ones, over in-memory ports."""

from collections.abc import AsyncIterator
from pathlib import PurePath

from contract.actions import LaunchResult, LaunchRun
from contract.application import ContractInfo
from contract.base import Page
from contract.events import RecordEvents, RecordResult, StreamFrame
from contract.limits import CONTRACT_VERSION, PUBLISHED
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
from definitions.services.sourcing import PlaybookSources
from runs.actions import LaunchRules
from runs.runtimes import ACTION_KINDS, SHIPPED
from runs.services import control, launching, reading, recording
from runs.services.following import RunFollower
from runs.services.ports import Entries
from schedules.services.needs import ScheduleNeeds
from studio_project.run_operations import LaunchNeeds
from studio_project.schedule_operations import ScheduleOperations
from studio_project.scheduled_runs import LaunchedRuns
from tests.fakes.artifact_operations import InMemoryArtifactOperations
from tests.fakes.definition_operations import InMemoryDefinitionOperations
from tests.fakes.machines import FakeMachine
from tests.fakes.project_operations import InMemoryProjectOperations
from tests.fakes.run_launches import InMemoryLaunches
from tests.fakes.run_outcomes import InMemoryRunOutcomes
from tests.fakes.runs import InMemoryRuns
from tests.fakes.schedules import InMemorySchedules
from tests.fakes.upkeep_operations import InMemoryUpkeepOperations

POLICY = launching.LaunchPolicy(
    rules=LaunchRules(runtimes=SHIPPED, command_allowlist=("make",)),
    root=None,
    deadline_seconds=dict.fromkeys(ACTION_KINDS, 600.0),
)


class InMemoryStudio(
    InMemoryDefinitionOperations,
    InMemoryArtifactOperations,
    InMemoryProjectOperations,
    InMemoryUpkeepOperations,
    ScheduleOperations,
):
    """Keeps what it has from one event loop to the next, as a database does. `schedules` fires nothing by itself."""

    def __init__(self, runs: InMemoryRuns | None = None) -> None:
        self.runs = runs or InMemoryRuns()
        InMemoryDefinitionOperations.__init__(self)
        InMemoryArtifactOperations.__init__(self, self.runs)
        InMemoryProjectOperations.__init__(self, self.runs)
        self.launches = InMemoryLaunches(self.runs)
        self.machine = FakeMachine(folders={"/"})
        self.schedules = InMemorySchedules(feed=self.runs.feed)
        InMemoryUpkeepOperations.__init__(self, self.runs, self.schedules)
        ScheduleOperations.__init__(self, schedules=self._schedule_needs())

    def _schedule_needs(self) -> ScheduleNeeds:
        sources = PlaybookSources(self.files, home=PurePath("/home"))
        runs = LaunchedRuns(
            needs=LaunchNeeds(
                policy=POLICY, launches=self.launches, sources=sources, projects=self.places, machine=self.machine
            ),
            rows=InMemoryRunOutcomes(self.runs),
            queue=self.launches.queue,
            writes=self.runs,
            clock=self.runs.clock,
            ids=self.runs.ids,
        )
        clock, ids = self.runs.clock, self.runs.ids
        return ScheduleNeeds(states=self.schedules, runs=runs, clock=clock, ids=ids, zone="Etc/UTC", capacity=4)

    async def describe_contract(self) -> ContractInfo:
        return ContractInfo(version=CONTRACT_VERSION, capabilities=("runs",), limits=PUBLISHED)

    async def list_runs(self, query: RunQuery) -> Page[RunSummary]:
        return await reading.list_runs(query=query, runs=self.runs)

    async def get_run(self, run_id: str, query: RunReadQuery) -> RunDetail:
        return await reading.get_run(run_id=run_id, query=query, runs=self.runs)

    async def read_evidence(self, request: EvidenceRequest) -> EvidencePage:
        return await reading.read_evidence(request=request, evidence=self.runs)

    async def start_run(self, command: StartRun) -> RunSummary:
        return await recording.start_run(command=command, runs=self.runs, clock=self.runs.clock, ids=self.runs.ids)

    async def launch_run(self, command: LaunchRun) -> LaunchResult:
        return await launching.launch_run(
            command=command,
            policy=POLICY,
            launches=self.launches,
            sources=PlaybookSources(self.files, home=PurePath("/home")),
            projects=self.places,
            machine=self.machine,
            clock=self.runs.clock,
            ids=self.runs.ids,
        )

    async def record_events(self, run_id: str, command: RecordEvents) -> RecordResult:
        return await recording.record_events(
            run_id=run_id, command=command, runs=self.runs, files=self.left_files, clock=self.runs.clock
        )

    async def cancel_run(self, run_id: str, command: CancelRun) -> CancelResult:
        return await control.cancel_run(run_id=run_id, command=command, runs=self.runs, clock=self.runs.clock)

    async def change_run_tags(self, run_id: str, command: ChangeTags) -> TagsResult:
        return await control.change_run_tags(run_id=run_id, command=command, runs=self.runs, clock=self.runs.clock)

    async def list_invocations(self, query: InvocationQuery) -> Page[InvocationSummary]:
        return await reading.list_invocations(query=query, invocations=self.runs)

    async def get_invocation(self, invocation_id: str) -> InvocationDetail:
        return await reading.get_invocation(invocation_id=invocation_id, invocations=self.runs)

    def stream_messages(self, run_id: str, cursor: str | None) -> AsyncIterator[StreamFrame]:
        return self._follow(run_id, cursor, "messages")

    def stream_signals(self, run_id: str, cursor: str | None) -> AsyncIterator[StreamFrame]:
        return self._follow(run_id, cursor, "signals")

    def _follow(self, run_id: str, cursor: str | None, kind: Entries) -> AsyncIterator[StreamFrame]:
        follower = RunFollower(tail=self.runs, feed=self.runs.feed)
        return follower.follow(run_id, cursor, kind)
