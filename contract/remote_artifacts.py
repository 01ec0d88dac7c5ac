"""Operations on artifacts, over HTTP: a part of RemoteStudio."""

from urllib.parse import unquote

import httpx
from pydantic import ValidationError

from contract.artifact_headers import (
    CONTENT_DISPOSITION,
    CONTENT_TYPE,
    ETAG,
    FILE_NAME_PREFIX,
    SIZE_BYTES,
    TRUNCATED,
)
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
from contract.http_exchange import query_of, segment
from contract.remote_part import RemotePart


class RemoteArtifacts(RemotePart):
    """Artifacts, at the other end of an exchange."""

    async def resolve_artifact(self, query: ArtifactQuery) -> ArtifactResult:
        """Return an artifact."""
        parameters = query_of(query, exclude=frozenset({"artifact_id"}))
        return await self._exchange.get(ArtifactResult, _artifact(query.artifact_id), parameters)

    async def read_artifact_content(self, artifact_id: str) -> ArtifactContent:
        """Return the bytes of an artifact's file, as they are sent to anybody."""
        response = await self._exchange.get_raw(_artifact(artifact_id, "/content"))
        try:
            return _content_of(artifact_id, response)
        except (KeyError, ValueError, ValidationError):
            raise self._exchange.foreign_answer("no content of an artifact") from None

    async def list_run_artifacts(self, run_id: str, query: ArtifactListQuery) -> Page[ArtifactSummary]:
        """Return one page of a run's artifacts."""
        path = f"/api/v1/runs/{segment('run', run_id)}/artifacts"
        return await self._exchange.get(Page[ArtifactSummary], path, query_of(query))

    async def list_invocation_artifacts(self, invocation_id: str, query: ArtifactListQuery) -> Page[ArtifactSummary]:
        """Return one page of an invocation's own artifacts."""
        path = f"/api/v1/invocations/{segment('invocation', invocation_id)}/artifacts"
        return await self._exchange.get(Page[ArtifactSummary], path, query_of(query))

    async def save_artifact(self, command: SaveArtifact) -> ArtifactResult:
        """Record an artifact. Sent again it is the same artifact."""
        return await self._exchange.send(ArtifactResult, "PUT", "/api/v1/artifacts/", command, repeatable=True)

    async def verify_artifacts(self, run_id: str) -> ArtifactVerification:
        """Hash the files of a run anew and compare."""
        path = f"/api/v1/runs/{segment('run', run_id)}/artifacts/verification"
        return await self._exchange.get(ArtifactVerification, path)


def _artifact(artifact_id: str, room: str = "") -> str:
    return f"/api/v1/artifacts/{segment('artifact', artifact_id)}{room}"


def _content_of(artifact_id: str, response: httpx.Response) -> ArtifactContent:
    """Read the model from an answer. KeyError, ValueError or ValidationError for one that nobody of ours gives."""
    disposition = response.headers[CONTENT_DISPOSITION]
    return ArtifactContent(
        artifact_id=artifact_id,
        file_name=unquote(disposition.removeprefix(FILE_NAME_PREFIX), errors="strict"),
        media_type=response.headers[CONTENT_TYPE],
        data=response.content,
        sha256=response.headers[ETAG].strip('"'),
        size_bytes=int(response.headers[SIZE_BYTES]),
        truncated={"true": True, "false": False}[response.headers[TRUNCATED]],
    )
