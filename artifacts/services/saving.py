"""The operation that records an artifact, with or without a file."""

import hashlib

from artifacts.errors import other_hash
from artifacts.media import LOOK_BYTES
from artifacts.places import display_path, place_of
from artifacts.services.ports import ArtifactDraft, ArtifactFolderPort, ArtifactOwnerPort, ArtifactRecordPort, Owner
from artifacts.services.reading import require_owner, result_of
from contract.artifacts import ArtifactResult, SaveArtifact, VerifiedPreview
from contract.ports import Clock


async def save_artifact(
    *,
    command: SaveArtifact,
    artifacts: ArtifactRecordPort,
    files: ArtifactFolderPort,
    owners: ArtifactOwnerPort,
    clock: Clock,
) -> ArtifactResult:
    """Record an artifact. The file is written or looked at first, so that nothing is recorded that is not there."""
    owner = _owner_of(command)
    await require_owner(owner, owners)
    found = None if command.path is None else await _file(command, place_of(owner.identifier, command.path), files)
    draft = ArtifactDraft(
        owner=owner,
        kind=command.kind,
        name=command.name,
        content=command.content,
        path=command.path,
        media_type=command.media_type or (None if found is None else found.media_type),
        sha256=None if found is None else found.sha256,
        size_bytes=None if found is None else found.size_bytes,
    )
    return result_of(await artifacts.save(draft, at=clock.now()))


def _owner_of(command: SaveArtifact) -> Owner:
    # The model has made sure that there is one.
    if command.run_id is not None:
        return Owner("run", command.run_id)
    return Owner("invocation", command.invocation_id or "")


async def _file(command: SaveArtifact, place: str, files: ArtifactFolderPort) -> VerifiedPreview:
    if command.data is None:
        return await files.preview(place, max_bytes=LOOK_BYTES, expected_sha256=command.sha256)
    actual = hashlib.sha256(command.data).hexdigest()
    if command.sha256 not in (None, actual):
        raise other_hash(display_path(place), command.sha256, actual)
    return await files.write(place, command.data)
