"""The operations on artifacts, bound, and what runs need of them: parts of Studio that name no adapter."""

import logging
from collections.abc import Sequence

from artifacts.services import reading, registering, saving, verifying
from artifacts.services.ports import ArtifactFolderPort, ArtifactOwnerPort, ArtifactRecordPort, Owner
from contract.artifacts import (
    ArtifactContent,
    ArtifactListQuery,
    ArtifactQuery,
    ArtifactResult,
    ArtifactSummary,
    ArtifactVerification,
    SaveArtifact,
)
from contract.base import Page
from contract.errors import StudioApplicationError
from contract.ports import Clock

_log = logging.getLogger(__name__)


class ArtifactOperations:
    """Every operation on artifacts, over ports."""

    def __init__(
        self, *, artifacts: ArtifactRecordPort, files: ArtifactFolderPort, owners: ArtifactOwnerPort, clock: Clock
    ) -> None:
        """Bind."""
        self._artifacts = artifacts
        self._artifact_files = files
        self._owners = owners
        self._artifact_clock = clock

    async def resolve_artifact(self, query: ArtifactQuery) -> ArtifactResult:
        """Return an artifact."""
        return await reading.resolve_artifact(query=query, artifacts=self._artifacts, files=self._artifact_files)

    async def read_artifact_content(self, artifact_id: str) -> ArtifactContent:
        """Return the bytes of an artifact's file."""
        return await reading.read_artifact_content(
            artifact_id=artifact_id, artifacts=self._artifacts, files=self._artifact_files
        )

    async def list_run_artifacts(self, run_id: str, query: ArtifactListQuery) -> Page[ArtifactSummary]:
        """Return one page of a run's artifacts."""
        return await self._list(Owner("run", run_id), query)

    async def list_invocation_artifacts(self, invocation_id: str, query: ArtifactListQuery) -> Page[ArtifactSummary]:
        """Return one page of an invocation's own artifacts."""
        return await self._list(Owner("invocation", invocation_id), query)

    async def save_artifact(self, command: SaveArtifact) -> ArtifactResult:
        """Record an artifact."""
        return await saving.save_artifact(
            command=command,
            artifacts=self._artifacts,
            files=self._artifact_files,
            owners=self._owners,
            clock=self._artifact_clock,
        )

    async def verify_artifacts(self, run_id: str) -> ArtifactVerification:
        """Hash the files of a run anew and compare."""
        return await verifying.verify_artifacts(
            run_id=run_id, artifacts=self._artifacts, files=self._artifact_files, owners=self._owners
        )

    async def _list(self, owner: Owner, query: ArtifactListQuery) -> Page[ArtifactSummary]:
        return await reading.list_artifacts(owner=owner, query=query, artifacts=self._artifacts, owners=self._owners)


class RunFiles:
    """The folders of runs as runs see them: RunFilesPort. What cannot be registered is said in the log."""

    def __init__(self, *, artifacts: ArtifactRecordPort, files: ArtifactFolderPort, clock: Clock) -> None:
        """Take where files are and where they are recorded."""
        self._artifacts = artifacts
        self._files = files
        self._clock = clock

    async def prepare(self, run_id: str) -> str:
        """Make the folder of a run; return its absolute path."""
        return await self._files.prepare(run_id)

    async def measure(self, run_id: str, paths: Sequence[str]) -> None:
        """Measure files that were named just now."""
        try:
            await registering.measure_files(run_id=run_id, paths=paths, artifacts=self._artifacts, files=self._files)
        except StudioApplicationError as error:
            _log.warning("run %s: its files were not measured: %s", run_id, error)

    async def collect(self, run_id: str) -> None:
        """Register what an ended run has left in its folder."""
        try:
            await registering.collect_files(
                run_id=run_id, artifacts=self._artifacts, files=self._files, clock=self._clock
            )
        except StudioApplicationError as error:
            _log.warning("run %s: its files were not registered: %s", run_id, error)
