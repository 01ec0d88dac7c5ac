"""What becomes of the files of a run without anybody asking: they are measured, and those that nobody named get a name.

Neither fails for what it finds in a folder, and neither takes longer than it was given: what could not be read in that
time stays without hash and size.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from artifacts.media import LOOK_BYTES
from artifacts.places import place_of
from artifacts.services.ports import ArtifactFilePort, ArtifactFolderPort, ArtifactRecordPort, MeasuredFile
from contract.errors import StudioApplicationError
from contract.limits import ARTIFACT_FILES_MAX
from contract.ports import Clock

# Who records events waits for it; a file of a gibibyte takes about a second.
EVENTS_SECONDS: Final = 2.0
# When a run has ended nobody waits but the worker's place in memory.
FOLDER_SECONDS: Final = 20.0


async def measure_files(
    *,
    run_id: str,
    paths: Sequence[str] | None,
    artifacts: ArtifactRecordPort,
    files: ArtifactFilePort,
    seconds: float = EVENTS_SECONDS,
) -> None:
    """Keep hash, size and media type of files that artifacts name, at these paths or at any. StateUnavailable."""
    waiting = await artifacts.unmeasured(run_id, paths=paths, limit=ARTIFACT_FILES_MAX)
    found = await _measured(run_id, waiting, files, seconds)
    if found:
        await artifacts.measure(run_id, found)


async def collect_files(
    *,
    run_id: str,
    artifacts: ArtifactRecordPort,
    files: ArtifactFolderPort,
    clock: Clock,
    seconds: float = FOLDER_SECONDS,
) -> None:
    """Measure the files that artifacts of an ended run name, and record the others in its folder, as of kind `file`.

    StateUnavailable; PermissionDenied for a folder that is none.
    """
    began = clock.monotonic()
    await measure_files(run_id=run_id, paths=None, artifacts=artifacts, files=files, seconds=seconds)
    listing = await files.survey(run_id, limit=ARTIFACT_FILES_MAX)
    named = {found.path for found in await artifacts.files_of(run_id, limit=ARTIFACT_FILES_MAX)}
    unnamed = [path for path in listing.paths if path not in named]
    if unnamed:
        found = await _measured(run_id, unnamed, files, seconds - (clock.monotonic() - began))
        read = {file.path: file for file in found}
        await artifacts.add_files(run_id, [read.get(path, MeasuredFile(path=path)) for path in unnamed], at=clock.now())
    if not listing.paths:
        await files.tidy(run_id)


async def _measured(run_id: str, paths: Sequence[str], files: ArtifactFilePort, seconds: float) -> list[MeasuredFile]:
    """Return what was found of those files that could be read in the time."""
    found: list[MeasuredFile] = []
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            for path in paths:
                with suppress(StudioApplicationError):
                    read = await files.preview(place_of(run_id, path), max_bytes=LOOK_BYTES, expected_sha256=None)
                    found.append(
                        MeasuredFile(
                            path=path, sha256=read.sha256, size_bytes=read.size_bytes, media_type=read.media_type
                        )
                    )
    return found
