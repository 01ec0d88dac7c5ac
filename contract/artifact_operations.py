"""The operations on artifacts: a part of StudioApplication."""

from typing import Protocol

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


class ArtifactOperations(Protocol):
    """Every operation on artifacts."""

    async def resolve_artifact(self, query: ArtifactQuery) -> ArtifactResult:
        """Return an artifact, with the beginning of its file if asked for.

        NotFound; Conflict for a file that is not the recorded one, too large, or changed while it was read;
        PermissionDenied for a link or what is no regular file. A missing file leaves the metadata readable.
        """
        ...

    async def read_artifact_content(self, artifact_id: str) -> ArtifactContent:
        """Return the bytes of an artifact's file. NotFound, also for a missing file; else as a preview."""
        ...

    async def list_run_artifacts(self, run_id: str, query: ArtifactListQuery) -> Page[ArtifactSummary]:
        """Return one page of a run's artifacts, oldest first. NotFound."""
        ...

    async def list_invocation_artifacts(self, invocation_id: str, query: ArtifactListQuery) -> Page[ArtifactSummary]:
        """Return one page of an invocation's own artifacts, oldest first. NotFound."""
        ...

    async def save_artifact(self, command: SaveArtifact) -> ArtifactResult:
        """Record an artifact, with or without a file; again replaces it and keeps its id.

        NotFound for the owner or a file that is not there; Conflict for a file that is not the one of `sha256`;
        PermissionDenied for a link or what is no regular file.
        """
        ...

    async def verify_artifacts(self, run_id: str) -> ArtifactVerification:
        """Hash the files of a run anew and compare; changes nothing. NotFound."""
        ...
