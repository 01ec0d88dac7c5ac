"""Files that are measured and registered without anybody asking: in time, and whatever is found."""

import asyncio
import hashlib

import pytest

from artifacts.services.ports import FolderListing
from artifacts.services.registering import collect_files, measure_files
from contract.artifacts import ArtifactListQuery, ArtifactSummary, VerifiedPreview
from contract.errors import StateUnavailable
from contract.events import ArtifactEvent
from contract.limits import ARTIFACT_FILES_MAX
from tests.artifacts.desk import Desk
from tests.builders import artifact
from tests.fakes.artifact_files import PIPE, InMemoryArtifactFiles
from tests.fakes.artifacts import InMemoryArtifacts


@pytest.fixture
async def desk() -> Desk:
    return await Desk().open()


class SlowFiles(InMemoryArtifactFiles):
    """Never ends with reading a file that is called slow."""

    async def preview(self, relative_path: str, *, max_bytes: int, expected_sha256: str | None) -> VerifiedPreview:
        if relative_path.endswith("slow"):
            await asyncio.Event().wait()
        return await super().preview(relative_path, max_bytes=max_bytes, expected_sha256=expected_sha256)


async def record(desk: Desk, *events: ArtifactEvent) -> None:
    await desk.runs.record_events("r", events, at=desk.runs.clock.now())


async def listed(desk: Desk) -> dict[str, ArtifactSummary]:
    page = await desk.list_run_artifacts("r", ArtifactListQuery(limit=1_000))
    return {found.name: found for found in page.items}


async def collect(desk: Desk, files: InMemoryArtifactFiles | None = None, *, seconds: float = 10.0) -> None:
    artifacts = InMemoryArtifacts(desk.runs)
    await collect_files(
        run_id="r", artifacts=artifacts, files=files or desk.run_files, clock=desk.runs.clock, seconds=seconds
    )


async def test_files_that_events_name_get_hash_size_and_type(desk: Desk) -> None:
    desk.put("a.md", b"text")
    desk.put("b", b"b")
    await record(desk, artifact("a", path="a.md"), artifact("gone", path="gone"), artifact("b", path="b"))

    await desk.left_files.measure("r", ["a.md", "gone"])

    found = await listed(desk)
    assert (found["a"].sha256, found["a"].size_bytes) == (hashlib.sha256(b"text").hexdigest(), 4)
    assert (found["a"].media_type, found["gone"].size_bytes, found["b"].size_bytes) == ("text/markdown", None, None)


async def test_what_was_told_of_a_file_stays(desk: Desk) -> None:
    desk.put("a", b"text")
    right, wrong = hashlib.sha256(b"text").hexdigest(), "0" * 64
    await record(
        desk,
        artifact("right", path="a", sha256=right, media_type="text/x-log"),
        artifact("wrong", path="a", sha256=wrong),
    )

    await desk.left_files.measure("r", ["a"])

    found = await listed(desk)
    assert (found["right"].sha256, found["right"].size_bytes, found["right"].media_type) == (right, 4, "text/x-log")
    assert (found["wrong"].sha256, found["wrong"].size_bytes) == (wrong, None)


async def test_a_file_is_measured_once_until_it_is_named_again(desk: Desk) -> None:
    desk.put("a", b"1")
    await record(desk, artifact("a", path="a"))
    await desk.left_files.measure("r", ["a"])
    first = (await listed(desk))["a"].sha256

    desk.put("a", b"2")
    await desk.left_files.measure("r", ["a"])
    unchanged = (await listed(desk))["a"].sha256
    await record(desk, artifact("a", path="a"))
    await desk.left_files.measure("r", ["a"])

    assert first == unchanged
    assert (await listed(desk))["a"].sha256 == hashlib.sha256(b"2").hexdigest()


async def test_files_that_nobody_named_are_registered_with_an_ended_run(desk: Desk) -> None:
    long = "x" * 300
    for path in ("a", "out/b.json", "named", long):
        desk.put(path, b"{}")
    await record(desk, artifact("mine", path="named"), ArtifactEvent(kind="file", name="a"))

    await collect(desk)
    await collect(desk)

    found = await listed(desk)
    assert {file.path: (file.kind, file.size_bytes) for file in found.values() if file.path} == {
        "named": ("document", 2),
        "a": ("file", 2),
        "out/b.json": ("file", 2),
        long: ("file", 2),
    }
    assert found["a"].path is None
    assert len(found) == 5


async def test_a_file_that_takes_too_long_is_registered_without_its_hash(desk: Desk) -> None:
    files = SlowFiles()
    files.contents = {"r/a": b"", "r/slow": b"", "r/z": b""}

    await collect(desk, files, seconds=0.05)

    assert {name: file.size_bytes for name, file in (await listed(desk)).items()} == {"a": 0, "slow": None, "z": None}


async def test_no_more_files_are_registered_than_a_run_may_have(desk: Desk) -> None:
    for number in range(ARTIFACT_FILES_MAX + 5):
        desk.put(f"{number:05}", b"")

    await collect(desk)

    assert len(desk.runs.runs["r"].artifacts) == ARTIFACT_FILES_MAX


async def test_what_cannot_be_read_keeps_nothing_else_from_being_measured(desk: Desk) -> None:
    desk.put("a", b"a")
    desk.run_files.odd["r/odd"] = PIPE
    await record(desk, artifact("odd", path="odd"), artifact("a", path="a"))

    await desk.left_files.collect("r")

    found = await listed(desk)
    assert (found["odd"].size_bytes, found["a"].size_bytes) == (None, 1)


async def test_an_empty_folder_is_tidied_away(desk: Desk) -> None:
    await desk.left_files.prepare("r")

    await collect(desk)

    assert desk.run_files.folders == set()
    assert await desk.run_files.survey("r", limit=1) == FolderListing()


async def test_a_store_that_is_away_is_said_in_the_log_alone(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    desk.runs.fault = StateUnavailable(retryable=True, detail="locked")

    await desk.left_files.measure("r", ["a"])
    await desk.left_files.collect("r")

    assert [record.message.partition(":")[0] for record in caplog.records] == ["run r", "run r"]
    with pytest.raises(StateUnavailable):
        await measure_files(run_id="r", paths=None, artifacts=InMemoryArtifacts(desk.runs), files=desk.run_files)
