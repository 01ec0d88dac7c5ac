"""HTTP endpoints of artifacts: parse, one call, answer."""

from typing import Final

from django.http import HttpRequest, HttpResponse
from ninja import Router

from artifacts.media import disposition
from contract.artifact_headers import CONTENT_DISPOSITION, ETAG, SIZE_BYTES, TRUNCATED
from contract.artifacts import (
    ArtifactListQuery,
    ArtifactQuery,
    ArtifactResult,
    ArtifactSummary,
    ArtifactVerification,
    SaveArtifact,
)
from contract.base import ContractModel, Page
from studio_project.api import body_of, query_of, respond, unless_gone
from studio_project.composition import get_studio
from studio_project.openapi import describes, describes_bytes

router = Router(tags=["artifacts"])

# What reading a file can end in.
_READING: Final = ("not_found", "conflict", "permission_denied")
_RAW_HEADERS: Final = {
    CONTENT_DISPOSITION: "always an attachment, with the file's name",
    ETAG: "the SHA-256 of the whole file, in quotes",
    SIZE_BYTES: "bytes of the whole file",
    TRUNCATED: "`true` where fewer were sent, else `false`",
}


@router.put("/artifacts/", **describes(ArtifactResult, body=SaveArtifact, errors=_READING))
async def save_artifact(request: HttpRequest) -> HttpResponse:
    """Record an artifact of a run or an invocation, with or without a file; again replaces it."""
    command = body_of(SaveArtifact, request)
    return respond(await get_studio().save_artifact(command))


@router.get(
    "/artifacts/{artifact_id}",
    **describes(ArtifactResult, query=ArtifactQuery, path_fields=("artifact_id",), errors=_READING),
)
async def resolve_artifact(request: HttpRequest, artifact_id: str) -> HttpResponse:
    """An artifact, with the beginning of its file if asked for."""
    query = query_of(ArtifactQuery, request, artifact_id=artifact_id)
    resolving = get_studio().resolve_artifact(query)
    # What is recorded is there at once; only the file may take long.
    return respond(await (unless_gone(request, resolving) if query.include_preview else resolving))


@router.get("/artifacts/{artifact_id}/content", **describes_bytes(headers=_RAW_HEADERS, errors=_READING))
async def read_artifact_content(request: HttpRequest, artifact_id: str) -> HttpResponse:
    """The bytes of an artifact's file, to be saved; never of a type that a browser executes."""
    query_of(ContractModel, request)
    found = await unless_gone(request, get_studio().read_artifact_content(artifact_id))
    headers = {
        CONTENT_DISPOSITION: disposition(found.file_name),
        ETAG: f'"{found.sha256}"',
        SIZE_BYTES: str(found.size_bytes),
        TRUNCATED: "true" if found.truncated else "false",
    }
    return HttpResponse(found.data, content_type=found.media_type, headers=headers)


@router.get(
    "/runs/{run_id}/artifacts", **describes(Page[ArtifactSummary], query=ArtifactListQuery, errors=("not_found",))
)
async def list_run_artifacts(request: HttpRequest, run_id: str) -> HttpResponse:
    """One page of a run's artifacts, oldest first."""
    query = query_of(ArtifactListQuery, request)
    return respond(await get_studio().list_run_artifacts(run_id, query))


@router.get(
    "/runs/{run_id}/artifacts/verification",
    **describes(ArtifactVerification, errors=("not_found", "permission_denied")),
)
async def verify_artifacts(request: HttpRequest, run_id: str) -> HttpResponse:
    """The files of a run hashed anew and compared with what was recorded of them."""
    query_of(ContractModel, request)
    return respond(await unless_gone(request, get_studio().verify_artifacts(run_id)))


@router.get(
    "/invocations/{invocation_id}/artifacts",
    **describes(Page[ArtifactSummary], query=ArtifactListQuery, errors=("not_found",)),
)
async def list_invocation_artifacts(request: HttpRequest, invocation_id: str) -> HttpResponse:
    """One page of the artifacts that an invocation has of its own, oldest first."""
    query = query_of(ArtifactListQuery, request)
    return respond(await get_studio().list_invocation_artifacts(invocation_id, query))
