"""The operation that compares the files of a run with what was recorded of them."""

from artifacts.media import LOOK_BYTES
from artifacts.places import place_of
from artifacts.services.ports import (
    ArtifactFolderPort,
    ArtifactOwnerPort,
    ArtifactRecordPort,
    Owner,
)
from artifacts.services.reading import require_owner
from contract.artifacts import ArtifactCheck, ArtifactSummary, ArtifactVerification, VerifiedPreview
from contract.errors import Conflict, NotFound, PermissionDenied
from contract.limits import ARTIFACT_FILES_MAX, ARTIFACT_VERIFY_MAX_BYTES


async def verify_artifacts(
    *, run_id: str, artifacts: ArtifactRecordPort, files: ArtifactFolderPort, owners: ArtifactOwnerPort
) -> ArtifactVerification:
    """Hash the files of a run anew, as many and as much as one answer may cost; changes nothing. NotFound."""
    await require_owner(Owner("run", run_id), owners)
    recorded = await artifacts.files_of(run_id, limit=ARTIFACT_FILES_MAX + 1)
    listing = await files.survey(run_id, limit=ARTIFACT_FILES_MAX)
    named = {artifact.path for artifact in recorded}
    checks: list[ArtifactCheck] = []
    hashed_bytes = 0
    for artifact in recorded[:ARTIFACT_FILES_MAX]:
        if hashed_bytes >= ARTIFACT_VERIFY_MAX_BYTES:
            break
        check = await _check(run_id, artifact, files)
        hashed_bytes += check.found_bytes or 0
        checks.append(check)
    return ArtifactVerification(
        run_id=run_id,
        checks=tuple(checks),
        unregistered=tuple(path for path in listing.paths if path not in named),
        truncated=listing.truncated or len(checks) < len(recorded),
    )


async def _check(run_id: str, artifact: ArtifactSummary, files: ArtifactFolderPort) -> ArtifactCheck:
    path = artifact.path or ""
    check = ArtifactCheck(
        artifact_id=artifact.artifact_id,
        kind=artifact.kind,
        name=artifact.name,
        path=path,
        outcome="missing",
        recorded_sha256=artifact.sha256,
    )
    try:
        found = await files.preview(place_of(run_id, path), max_bytes=LOOK_BYTES, expected_sha256=None)
    except NotFound:
        return check
    except (Conflict, PermissionDenied) as error:
        return check.model_copy(update={"outcome": "unreadable", "detail": str(error)})
    return _compared(check, found)


def _compared(check: ArtifactCheck, found: VerifiedPreview) -> ArtifactCheck:
    seen = {"found_sha256": found.sha256, "found_bytes": found.size_bytes}
    if check.recorded_sha256 is None:
        return check.model_copy(update={"outcome": "unhashed", **seen})
    outcome = "unchanged" if found.sha256 == check.recorded_sha256 else "changed"
    return check.model_copy(update={"outcome": outcome, **seen})
