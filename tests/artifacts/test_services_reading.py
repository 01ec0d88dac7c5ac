"""Reading artifacts: metadata without a look at the disk, previews that are verified, lists page by page."""

import hashlib

import pytest

from contract.artifacts import ArtifactListQuery, ArtifactQuery
from contract.errors import Conflict, NotFound, PermissionDenied, StateUnavailable, ValidationFailure
from contract.limits import ARTIFACT_PREVIEW_DEFAULT_BYTES, ARTIFACT_PREVIEW_MAX_BYTES
from tests.artifacts.desk import Desk
from tests.fakes.artifact_files import LINK


@pytest.fixture
async def desk() -> Desk:
    return await Desk().open()


async def test_what_is_recorded_is_read_without_a_look_at_the_file(desk: Desk) -> None:
    saved = await desk.save(path="a.md", data=b"text", content={"x": 1})
    desk.run_files.fault = StateUnavailable(retryable=False)

    found = await desk.resolve_artifact(ArtifactQuery(artifact_id=saved.id))

    assert found == saved
    assert (found.content, found.display_path, found.preview) == ({"x": 1}, "artifacts/r/a.md", None)
    assert (found.size_bytes, found.media_type, found.run_id) == (4, "text/markdown", "r")


@pytest.mark.parametrize(
    ("content", "shown"),
    [({"a": 1}, {"a": 1}), ([1], {"value": [1]}), ("x", {"value": "x"}), (0, {"value": 0}), (None, {})],
)
async def test_what_is_no_object_stands_below_a_key(desk: Desk, content: object, shown: object) -> None:
    assert (await desk.save(content=content)).content == shown


async def test_a_preview_is_the_beginning_with_the_hash_of_all(desk: Desk) -> None:
    data = b"x" * (ARTIFACT_PREVIEW_DEFAULT_BYTES + 1)
    saved = await desk.save(path="a", data=data)

    found = await desk.read(saved.id)
    whole = await desk.read(saved.id, preview_limit_bytes=ARTIFACT_PREVIEW_MAX_BYTES)

    assert (found.preview, found.preview_truncated) == (data[:-1], True)
    assert (whole.preview, whole.preview_truncated, whole.preview_kind) == (data, False, "text")
    assert found.sha256 == hashlib.sha256(data).hexdigest()


async def test_a_file_that_was_never_measured_is_shown_with_what_is_found(desk: Desk) -> None:
    desk.put("a.png", b"\x89PNG\r\n\x1a\n")
    saved = await desk.save(path="a.png")
    rows = desk.runs.runs["r"].artifacts
    [(key, (number, view))] = rows.items()
    rows[key] = (number, view.model_copy(update={"sha256": None, "size_bytes": None, "media_type": None}))

    found = await desk.read(saved.id)

    assert (found.size_bytes, found.media_type, found.preview_kind) == (8, "image/png", "image")
    assert found.sha256


async def test_a_file_that_is_gone_leaves_the_artifact_readable(desk: Desk) -> None:
    saved = await desk.save(path="a", data=b"x")
    desk.run_files.contents.clear()

    found = await desk.read(saved.id)

    assert (found.file_missing, found.preview, found.sha256) == (True, None, saved.sha256)
    with pytest.raises(NotFound) as missing:
        await desk.read_artifact_content(saved.id)
    assert missing.value.resource == "artifact file"


async def test_a_file_that_is_another_one_is_a_conflict(desk: Desk) -> None:
    saved = await desk.save(path="a", data=b"x")
    desk.put("a", b"y")

    for operation in (desk.read(saved.id), desk.read_artifact_content(saved.id)):
        with pytest.raises(Conflict) as conflict:
            await operation
        assert conflict.value.expected == saved.sha256
    assert (await desk.resolve_artifact(ArtifactQuery(artifact_id=saved.id))).sha256 == saved.sha256


async def test_a_link_is_refused(desk: Desk) -> None:
    saved = await desk.save(path="a", data=b"x")
    desk.run_files.odd["r/a"] = LINK

    for operation in (desk.read(saved.id), desk.read_artifact_content(saved.id)):
        with pytest.raises(PermissionDenied):
            await operation


async def test_an_artifact_without_a_file_has_no_preview_and_no_content(desk: Desk) -> None:
    saved = await desk.save()

    found = await desk.read(saved.id)

    assert (found.preview, found.file_missing, found.display_path) == (None, False, None)
    with pytest.raises(NotFound):
        await desk.read_artifact_content(saved.id)


async def test_content_is_sent_with_a_type_that_nobody_executes(desk: Desk) -> None:
    page = await desk.save(path="out/page.html", data=b"<script>")
    text = await desk.save("t", path="ü.txt", data=b"x" * 10)

    sent = await desk.read_artifact_content(page.id)

    assert (sent.media_type, sent.file_name, sent.data) == ("application/octet-stream", "page.html", b"<script>")
    assert (await desk.read_artifact_content(text.id)).media_type == "text/plain; charset=utf-8"


@pytest.mark.parametrize("artifact_id", ["none", "", "../x", "a\x00", "\ud800", "x" * 500])
async def test_an_artifact_that_nobody_has_is_not_found(desk: Desk, artifact_id: str) -> None:
    for operation in (desk.read(artifact_id), desk.read_artifact_content(artifact_id)):
        with pytest.raises(NotFound) as missing:
            await operation
        assert missing.value.resource == "artifact"


async def test_artifacts_of_a_run_and_of_an_invocation_are_listed_apart(desk: Desk) -> None:
    for number in range(3):
        await desk.save(f"n{number}")
    await desk.save("other", kind="report")
    await desk.save("own", invocation_id="i")

    first = await desk.list_run_artifacts("r", ArtifactListQuery(kind="k", limit=2))
    rest = await desk.list_run_artifacts("r", ArtifactListQuery(kind="k", limit=2, cursor=first.next_cursor))
    own = await desk.list_invocation_artifacts("i", ArtifactListQuery())

    assert [found.name for found in (*first.items, *rest.items)] == ["n0", "n1", "n2"]
    assert (first.has_next, rest.has_next) == (True, False)
    assert [(found.name, found.run_id, found.invocation_id) for found in own.items] == [("own", None, "i")]


async def test_an_owner_without_artifacts_has_an_empty_page_and_none_is_not_found(desk: Desk) -> None:
    assert (await desk.list_run_artifacts("r", ArtifactListQuery())).items == ()
    assert (await desk.list_invocation_artifacts("i", ArtifactListQuery())).items == ()
    for owner in ("none", "../r"):
        with pytest.raises(NotFound, match="run"):
            await desk.list_run_artifacts(owner, ArtifactListQuery())
        with pytest.raises(NotFound, match="invocation"):
            await desk.list_invocation_artifacts(owner, ArtifactListQuery())


async def test_a_foreign_cursor_is_refused(desk: Desk) -> None:
    with pytest.raises(ValidationFailure):
        await desk.list_run_artifacts("r", ArtifactListQuery(cursor="garbled"))
