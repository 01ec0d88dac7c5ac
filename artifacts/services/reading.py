"""Operations that read artifacts and their files."""

from artifacts.cursors import read_artifacts
from artifacts.media import kind_of, passive_type
from artifacts.places import display_path
from artifacts.services.ports import (
    ArtifactFilePort,
    ArtifactMetadataPort,
    ArtifactOwnerPort,
    ArtifactRecordPort,
    Owner,
)
from contract.artifacts import (
    ArtifactContent,
    ArtifactListQuery,
    ArtifactMetadata,
    ArtifactQuery,
    ArtifactResult,
    ArtifactSummary,
    VerifiedPreview,
)
from contract.base import Page
from contract.errors import NotFound
from contract.limits import ARTIFACT_PREVIEW_MAX_BYTES
from contract.lookup import require_possible


async def resolve_artifact(
    *, query: ArtifactQuery, artifacts: ArtifactMetadataPort, files: ArtifactFilePort
) -> ArtifactResult:
    """Return an artifact; a file that is gone leaves it readable. NotFound, Conflict, PermissionDenied."""
    found = await _get(query.artifact_id, artifacts)
    if not query.include_preview or found.relative_path is None:
        return result_of(found)
    try:
        preview = await files.preview(
            found.relative_path, max_bytes=query.preview_limit_bytes, expected_sha256=found.sha256
        )
    except NotFound:
        return result_of(found).model_copy(update={"file_missing": True})
    return _with_preview(result_of(found), preview)


async def read_artifact_content(
    *, artifact_id: str, artifacts: ArtifactMetadataPort, files: ArtifactFilePort
) -> ArtifactContent:
    """Return the bytes of an artifact's file. NotFound also for an artifact without one."""
    found = await _get(artifact_id, artifacts)
    if found.relative_path is None:
        raise NotFound("artifact file", artifact_id)
    read = await files.preview(found.relative_path, max_bytes=ARTIFACT_PREVIEW_MAX_BYTES, expected_sha256=found.sha256)
    return ArtifactContent(
        artifact_id=artifact_id,
        file_name=found.relative_path.rpartition("/")[2],
        media_type=passive_type(found.media_type or read.media_type, read.kind),
        data=read.data,
        sha256=read.sha256,
        size_bytes=read.size_bytes,
        truncated=read.truncated,
    )


async def list_artifacts(
    *, owner: Owner, query: ArtifactListQuery, artifacts: ArtifactRecordPort, owners: ArtifactOwnerPort
) -> Page[ArtifactSummary]:
    """Return one page of a run's or an invocation's artifacts. ValidationFailure for a foreign cursor, NotFound."""
    require_possible(owner.kind, owner.identifier)
    page = await artifacts.list_artifacts(owner, query, after=read_artifacts(query, str(owner)))
    if not page.items:  # who has some is there
        await require_owner(owner, owners)
    return page


async def require_owner(owner: Owner, owners: ArtifactOwnerPort) -> None:
    """Raise NotFound when there is no such run or invocation."""
    require_possible(owner.kind, owner.identifier)
    if not await owners.exists(owner):
        raise NotFound(owner.kind, owner.identifier)


def result_of(found: ArtifactMetadata) -> ArtifactResult:
    """Return what is recorded of an artifact as it is shown."""
    place = found.relative_path
    return ArtifactResult(
        id=found.id,
        kind=found.kind,
        name=found.name,
        content={**found.content},
        display_path=None if place is None else display_path(place),
        sha256=found.sha256,
        media_type=found.media_type,
        preview=None,
        size_bytes=found.size_bytes,
        run_id=found.run_id,
        invocation_id=found.invocation_id,
        created_at=found.created_at,
        updated_at=found.updated_at,
    )


def _with_preview(result: ArtifactResult, preview: VerifiedPreview) -> ArtifactResult:
    shown = {
        "preview": preview.data,
        "preview_truncated": preview.truncated,
        "preview_kind": kind_of(preview.kind, result.media_type),
        "sha256": preview.sha256,
        "size_bytes": preview.size_bytes,
        "media_type": result.media_type or preview.media_type,
    }
    return result.model_copy(update=shown)


async def _get(artifact_id: str, artifacts: ArtifactMetadataPort) -> ArtifactMetadata:
    require_possible("artifact", artifact_id)
    found = await artifacts.get(artifact_id)
    if found is None:
        raise NotFound("artifact", artifact_id)
    return found
