"""The operations of upkeep, the real ones, over in-memory runs and folders."""

from runs.services.pruning import RunPruner
from studio_project.scheduled_runs import ScheduleTotals
from studio_project.upkeep_operations import UpkeepOperations
from tests.fakes.run_removal import InMemoryRunFolders, InMemoryRunRemoval, InMemoryStats
from tests.fakes.runs import InMemoryRuns
from tests.fakes.schedules import InMemorySchedules


class InMemoryUpkeepOperations(UpkeepOperations):
    """The part of StudioApplication that is about upkeep; `removal` and `kept_files` are what it removes from."""

    def __init__(self, runs: InMemoryRuns, schedules: InMemorySchedules) -> None:
        self.removal = InMemoryRunRemoval(runs)
        self.kept_files = InMemoryRunFolders()
        self.clock = runs.clock
        super().__init__(
            pruner=RunPruner(runs=self.removal, folders=self.kept_files, clock=runs.clock),
            stats=InMemoryStats(runs),
            schedules=ScheduleTotals(states=schedules, clock=runs.clock),
            keep_days=0,
        )
