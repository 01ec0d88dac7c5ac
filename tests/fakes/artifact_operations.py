"""The operations on artifacts, the real ones, over in-memory rows and files."""

from studio_project.artifact_operations import ArtifactOperations, RunFiles
from tests.fakes.artifact_files import InMemoryArtifactFiles
from tests.fakes.artifacts import InMemoryArtifacts
from tests.fakes.runs import InMemoryRuns


class InMemoryArtifactOperations(ArtifactOperations):
    """The part of StudioApplication that is about artifacts; `run_files` are the files."""

    def __init__(self, runs: InMemoryRuns) -> None:
        self.run_files = InMemoryArtifactFiles()
        artifacts = InMemoryArtifacts(runs)
        super().__init__(artifacts=artifacts, files=self.run_files, owners=artifacts, clock=runs.clock)
        self.left_files = RunFiles(artifacts=artifacts, files=self.run_files, clock=runs.clock)
