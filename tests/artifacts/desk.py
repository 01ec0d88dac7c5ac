"""The operations on artifacts over in-memory rows and files, with short forms of what tests do all the time."""

from typing import Any

from contract.artifacts import ArtifactQuery, ArtifactResult, SaveArtifact
from tests.builders import start_run
from tests.fakes.artifact_operations import InMemoryArtifactOperations
from tests.fakes.runs import InMemoryRuns


class Desk(InMemoryArtifactOperations):
    """A run `r` that an invocation `i` caused."""

    def __init__(self) -> None:
        self.runs = InMemoryRuns()
        super().__init__(self.runs)

    async def open(self) -> "Desk":
        await self.runs.start_run("r", start_run(invocation_id="i"), at=self.runs.clock.now())
        return self

    async def save(self, name: str = "n", **fields: Any) -> ArtifactResult:
        owner = {} if "invocation_id" in fields else {"run_id": "r"}
        return await self.save_artifact(SaveArtifact(**{"kind": "k", "name": name, **owner, **fields}))

    async def read(self, artifact_id: str, **fields: Any) -> ArtifactResult:
        query = ArtifactQuery(artifact_id=artifact_id, include_preview=True, **fields)
        return await self.resolve_artifact(query)

    def put(self, path: str, data: bytes) -> None:
        """Put a file into the run's folder."""
        self.run_files.contents[f"r/{path}"] = data
