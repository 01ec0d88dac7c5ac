"""The composition root: the only module that names concrete adapters and binds the operations to them."""

import asyncio
import logging
from contextlib import ExitStack, suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Protocol, cast

from artifacts.files.disk import DiskArtifactFiles
from artifacts.state import DjangoArtifactRemoval, DjangoArtifacts, DjangoRunArtifactRows
from contract.ports import Clock, IdGenerator
from contract.projects import DetectProject
from definitions.files.disk import DiskDefinitionFiles
from definitions.services.ports import WriterProbe
from definitions.services.sourcing import PlaybookSources
from definitions.services.writing import DefinitionWriter
from definitions.state.history import DjangoDefinitionHistory
from definitions.state.reconciliations import DjangoReconciliations
from projects.files import DiskFolders, survey_folder
from projects.services.placing import ProjectFolders
from projects.state import DjangoProjects, DjangoRunProjectRows
from runs.execution.engines import engine_of
from runs.execution.executing import RunExecution
from runs.execution.planning import LaunchPlanner, clear_abandoned
from runs.execution.reaper import Reaper
from runs.execution.worker import Worker
from runs.files.folders import DiskRunFolders
from runs.processes import LocalProcesses
from runs.services.execution_ports import LAUNCHES_TOPIC, ClaimedLaunch
from runs.services.following import RunFollower
from runs.services.ports import ProcessProbe
from runs.services.pruning import RunPruner
from runs.state.launching import DjangoLaunches
from runs.state.outcomes import DjangoRunOutcomes
from runs.state.owning import DjangoRunOwners
from runs.state.projects import DjangoProjectRuns
from runs.state.queueing import DjangoRunQueue
from runs.state.reading import DjangoRunReads
from runs.state.removing import DjangoRunRemoval
from runs.state.statistics import DjangoStats
from runs.state.supervising import DjangoSupervisedRuns
from runs.state.tailing import DjangoRunTail
from runs.state.writing import DjangoRunWrites
from schedules.scheduler.github import GithubPulls
from schedules.scheduler.loop import Scheduler
from schedules.scheduler.poll_rounds import PollRounds
from schedules.services.needs import ScheduleNeeds
from schedules.state.references import DjangoScheduleReferences
from schedules.state.store import DjangoSchedules
from studio_project.artifact_operations import ArtifactOperations, RunFiles
from studio_project.banner import root_url
from studio_project.change_feed import DatabaseChangeFeed
from studio_project.config import StudioConfig, child_environment, current_config
from studio_project.contract_operations import ContractOperations
from studio_project.definition_operations import DefinitionOperations
from studio_project.home import working
from studio_project.machine import LocalMachine
from studio_project.project_operations import ProjectOperations
from studio_project.readiness import Readiness
from studio_project.reconciling import LateFiles, Reconciler
from studio_project.run_operations import LaunchNeeds, RunOperations, allow_demo, policy_of
from studio_project.schedule_operations import ScheduleOperations
from studio_project.scheduled_runs import LaunchedRuns, ScheduleTotals
from studio_project.statedb import StateDB
from studio_project.system import RandomIds, SystemClock
from studio_project.upkeep_operations import UpkeepOperations

if TYPE_CHECKING:
    from procrastinate import App

    from runs.execution.procrastinate_jobs import RunJobs

_log = logging.getLogger(__name__)


class Processes(ProcessProbe, WriterProbe, Protocol):
    """This machine's processes, as runs and definitions look at them."""


class Studio(
    ContractOperations,
    RunOperations,
    DefinitionOperations,
    ArtifactOperations,
    ProjectOperations,
    ScheduleOperations,
    UpkeepOperations,
):
    """Every operation, bound to adapters: StudioApplication in process, and the life of what serves it."""

    def __init__(self, config: StudioConfig, *, clock: Clock, ids: IdGenerator, probe: Processes) -> None:
        """Bind; nothing is opened before the first call."""
        self.config = config
        self.readiness = Readiness()
        # Where its runs find the daemon; the daemon itself knows better, once it listens.
        self.url = config.url or root_url(config, config.port)
        self._probe = probe
        self._db = StateDB()
        self._feed = DatabaseChangeFeed()
        self._files = DiskDefinitionFiles(config.home, tokens=ids)
        self._sources = PlaybookSources(self._files, home=config.home)
        self._run_files = config.home / "launches"
        self._engine = engine_of(config.queue)
        self._bind_projects(clock)
        self._bind_artifacts(clock, ids)
        self._bind_runs(clock, ids)
        self._bind_definitions(clock, ids)
        self._bind_schedules(clock, ids)
        self._bind_upkeep(clock)
        self._bind_execution(clock)

    def _bind_projects(self, clock: Clock) -> None:
        self._references = DjangoScheduleReferences()
        self._project_rows = DjangoRunProjectRows()
        runs = DjangoProjectRuns()
        self._projects = DjangoProjects(self._db, feed=self._feed, runs=runs, references=(runs, self._references))
        ProjectOperations.__init__(self, projects=self._projects, clock=clock)

    def _bind_artifacts(self, clock: Clock, ids: IdGenerator) -> None:
        records = DjangoArtifacts(self._db, ids=ids)
        self._artifact_rows = DjangoRunArtifactRows(ids)
        self._artifact_store = DiskArtifactFiles(self.config.home, tokens=ids)
        self._left_files = RunFiles(artifacts=records, files=self._artifact_store, clock=clock)
        ArtifactOperations.__init__(
            self, artifacts=records, files=self._artifact_store, owners=DjangoRunOwners(self._db), clock=clock
        )

    def _bind_runs(self, clock: Clock, ids: IdGenerator) -> None:
        self._settlements = DjangoRunWrites(
            self._db,
            feed=self._feed,
            artifacts=self._artifact_rows,
            projects=self._project_rows,
            probe=self._probe,
            clock=clock,
        )
        self._launches = DjangoLaunches(
            self._db, feed=self._feed, announce=self._engine.announce, projects=self._project_rows
        )
        self._launch_needs = LaunchNeeds(
            policy=policy_of(self.config),
            launches=self._launches,
            sources=self._sources,
            projects=ProjectFolders(self._projects, DiskFolders()),
            machine=LocalMachine(self.config.runtimes),
        )
        RunOperations.__init__(
            self,
            reads=DjangoRunReads(self._db, artifacts=self._artifact_rows, probe=self._probe, clock=clock),
            writes=self._settlements,
            follower=RunFollower(tail=DjangoRunTail(self._db), feed=self._feed),
            files=self._left_files,
            launching=self._launch_needs,
            clock=clock,
            ids=ids,
        )

    def _bind_definitions(self, clock: Clock, ids: IdGenerator) -> None:
        history = DjangoDefinitionHistory(self._db, ids=ids)
        DefinitionOperations.__init__(
            self,
            history=history,
            reconciliations=DjangoReconciliations(self._db, ids=ids),
            files=self._files,
            writer=DefinitionWriter(history=history, files=self._files, writers=self._probe, clock=clock),
        )

    def _bind_schedules(self, clock: Clock, ids: IdGenerator) -> None:
        runs = LaunchedRuns(
            needs=self._launch_needs,
            rows=DjangoRunOutcomes(self._db),
            queue=self._launches.queue,
            writes=self._settlements,
            clock=clock,
            ids=ids,
        )
        ScheduleOperations.__init__(
            self,
            schedules=ScheduleNeeds(
                states=DjangoSchedules(self._db, feed=self._feed),
                runs=runs,
                clock=clock,
                ids=ids,
                zone=self.config.timezone,
                capacity=self.config.max_concurrent,
            ),
        )

    def _bind_upkeep(self, clock: Clock) -> None:
        removal = DjangoRunRemoval(
            self._db, feed=self._feed, artifacts=DjangoArtifactRemoval(), references=(self._references,)
        )
        UpkeepOperations.__init__(
            self,
            pruner=RunPruner(runs=removal, folders=DiskRunFolders(self.config.home / "artifacts"), clock=clock),
            stats=DjangoStats(self._db),
            schedules=ScheduleTotals(states=self._schedules.states, clock=clock),
            keep_days=self.config.retention_days,
        )

    def _bind_execution(self, clock: Clock) -> None:
        self._late = LateFiles(self._left_files)
        self.queue = DjangoRunQueue(self._db, feed=self._feed, announce=self._engine.announce)
        self.supervised = DjangoSupervisedRuns(self._db, feed=self._feed, artifacts=self._artifact_rows)
        reaper = Reaper(
            queue=self.queue,
            runs=self.supervised,
            probe=self._probe,
            owner=self._probe.own(),
            clock=clock,
            grace_seconds=self.config.grace_seconds,
            ended=self._late.begin,
        )
        self._reconciler = Reconciler(
            writer=self._writer,
            reaper=reaper,
            clear=partial(clear_abandoned, self._run_files),
            queue=self.queue,
            runs=self._settlements,
            probe=self._probe,
            clock=clock,
        )

    async def reconcile(self) -> None:
        """Bring the store in line with the world: part of the start-up."""
        await self._reconciler.reconcile(self.readiness)

    async def keep_reconciled(self) -> None:
        """Do the same again every minute, and look for lost workers more often, until cancelled."""
        await self._reconciler.keep()

    async def schedule(self) -> None:
        """Fire due schedules and follow up on their runs, until cancelled."""
        token = self.config.github_token
        pulls = GithubPulls(
            api_url=self.config.github_api_url,
            token=None if token is None else token.get_secret_value(),
            clock=self.clock,
        )
        polls = PollRounds(needs=self._schedules, pulls=pulls)
        try:
            await Scheduler(needs=self._schedules, polls=polls, feed=self._feed, runs_topic=LAUNCHES_TOPIC).run()
        finally:
            await pulls.close()

    async def work(self, *, only: str | None = None) -> None:
        """Execute queued runs, until cancelled; then end those that are being executed.

        With `only` just the run of this id, and without a place among those that `max_concurrent` counts.
        """
        await self.engine(only=only).run()

    def engine(self, *, only: str | None = None) -> "Worker | RunJobs":
        """Return what executes queued runs, or one of them."""
        make = self._engine if only is None else partial(Worker, only=only)
        return make(
            queue=self.queue,
            execute=self._execution,
            feed=self._feed,
            owner=self._probe.own(),
            cap=0 if only else self.config.max_concurrent,
            clock=self.clock,
        )

    def _execution(self, launch: ClaimedLaunch) -> RunExecution:
        planner = LaunchPlanner(
            # Launched it can only be by who may (`allow_demo`), and once it is queued every worker may execute it.
            rules=policy_of(allow_demo(self.config)).rules,
            sources=self._sources,
            files=self._left_files,
            folder=self._run_files,
            environment=child_environment(self.config, url=self.url),
        )
        return RunExecution(
            launch,
            runs=self.supervised,
            files=self._left_files,
            planner=planner,
            clock=self.clock,
            grace_seconds=self.config.grace_seconds,
            incident=lambda error: _log.error("a run could not be executed", exc_info=error),
        )

    def store_fault(self) -> str | None:
        """Say what keeps the store from being used, or None; cheap enough for every probe."""
        return self._db.fault()

    def stopping(self) -> None:
        """End every open stream with a shutdown frame. Idempotent."""
        self._follower.stop()

    async def close(self) -> None:
        """End the feed's watcher and the pools, when what runs in them is done."""
        await self._late.close()
        self._artifact_store.close()
        await asyncio.to_thread(self._feed.close)
        await asyncio.to_thread(self._db.close)


def look_at_folder(folder: str) -> DetectProject:
    """Return what the disk of this machine says of a folder's project; the application, wherever it is, decides.

    ValidationFailure for a faulty `.studio.toml`.
    """
    return survey_folder(folder)


def bind_jobs(app: "App") -> None:
    """Let `manage.py procrastinate worker` execute queued runs. The settings name it, for when Django is ready."""

    @cache
    def jobs() -> "RunJobs":
        """Begin to live as every worker does: Procrastinate says nothing before there is a job."""
        studio = get_studio()
        _life.enter_context(working(studio.config.home))
        _life.callback(asyncio.create_task(studio.keep_reconciled()).cancel)
        return cast("RunJobs", studio.engine())

    cast("type[RunJobs]", engine_of("procrastinate")).bind(app, jobs, cap=current_config().max_concurrent)


_life = ExitStack()  # of a process that Procrastinate ends
_current: list[Studio] = []


def build_studio(
    config: StudioConfig,
    *,
    clock: Clock | None = None,
    ids: IdGenerator | None = None,
    probe: Processes | None = None,
) -> Studio:
    """Build a Studio over the configured database; every argument replaces one adapter."""
    return Studio(config, clock=clock or SystemClock(), ids=ids or RandomIds(), probe=probe or LocalProcesses())


def get_studio() -> Studio:
    """Return this process's Studio, built on first use. Call it inside a handler, never at import."""
    if not _current:
        _current.append(build_studio(current_config()))
    return _current[0]


def set_studio(studio: Studio | None) -> None:
    """Replace this process's Studio (serve, tests)."""
    with suppress(IndexError):
        _current.pop()
    if studio is not None:
        _current.append(studio)
