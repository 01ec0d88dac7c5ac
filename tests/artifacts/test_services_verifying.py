"""Files hashed anew and compared with what was recorded of them."""

import hashlib

import pytest

from contract.errors import NotFound, PermissionDenied
from contract.events import ArtifactEvent
from contract.limits import ARTIFACT_FILES_MAX
from tests.artifacts.desk import Desk
from tests.builders import artifact
from tests.fakes.artifact_files import LINK


@pytest.fixture
async def desk() -> Desk:
    return await Desk().open()


async def test_every_outcome_is_told_and_nothing_is_changed(desk: Desk) -> None:
    for name in ("same", "other", "gone", "odd"):
        await desk.save(name, path=name, data=b"x")
    desk.put("unhashed", b"x")
    await desk.runs.record_events("r", [artifact("unhashed", path="unhashed"), artifact("no file")], at=0.0)
    desk.put("other", b"y")
    del desk.run_files.contents["r/gone"]
    desk.run_files.odd["r/odd"] = LINK
    desk.put("stray", b"")

    found = await desk.verify_artifacts("r")
    again = await desk.verify_artifacts("r")

    assert found == again
    assert {check.name: check.outcome for check in found.checks} == {
        "same": "unchanged",
        "other": "changed",
        "gone": "missing",
        "odd": "unreadable",
        "unhashed": "unhashed",
    }
    checks = {check.name: check for check in found.checks}
    assert checks["other"].found_sha256 == hashlib.sha256(b"y").hexdigest()
    assert (checks["other"].recorded_sha256, checks["other"].found_bytes) == (hashlib.sha256(b"x").hexdigest(), 1)
    assert "symbolic link" in (checks["odd"].detail or "")
    assert (found.unregistered, found.truncated) == (("stray",), False)


async def test_a_run_without_files_has_nothing_to_verify(desk: Desk) -> None:
    found = await desk.verify_artifacts("r")

    assert (found.checks, found.unregistered, found.truncated) == ((), (), False)


async def test_only_so_many_are_looked_at(desk: Desk) -> None:
    events = [ArtifactEvent(kind="k", name=f"n{number}", path=f"{number}") for number in range(ARTIFACT_FILES_MAX + 1)]
    await desk.runs.record_events("r", events, at=0.0)

    found = await desk.verify_artifacts("r")

    assert (len(found.checks), found.truncated) == (ARTIFACT_FILES_MAX, True)


async def test_a_run_that_is_not_there_and_a_folder_that_is_a_link_are_refused(desk: Desk) -> None:
    desk.run_files.odd["r"] = LINK

    with pytest.raises(PermissionDenied):
        await desk.verify_artifacts("r")
    for run_id in ("none", "../r"):
        with pytest.raises(NotFound):
            await desk.verify_artifacts(run_id)
