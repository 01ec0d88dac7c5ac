"""The operations on projects, the real ones, over in-memory runs and folders."""

from projects.services.placing import ProjectFolders
from studio_project.project_operations import ProjectOperations
from tests.fakes.folders import FakeFolders
from tests.fakes.projects import InMemoryProjects
from tests.fakes.runs import InMemoryRuns


class InMemoryProjectOperations(ProjectOperations):
    """The part of StudioApplication that is about projects; `folders` is what the disk says."""

    def __init__(self, runs: InMemoryRuns) -> None:
        self.projects = InMemoryProjects(runs)
        self.folders = FakeFolders()
        self.places = ProjectFolders(self.projects, self.folders)
        super().__init__(projects=self.projects, clock=runs.clock)
