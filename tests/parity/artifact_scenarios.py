"""Artifacts: recorded, listed, previewed, sent, verified; and every way to be refused."""

import hashlib
import os
from pathlib import Path
from typing import Any

from contract.application import StudioApplication
from contract.artifacts import ArtifactListQuery, ArtifactQuery, ArtifactResult, SaveArtifact
from contract.errors import Conflict, NotFound, PermissionDenied, ValidationFailure
from contract.limits import ARTIFACT_PREVIEW_MAX_BYTES
from contract.runs import RunReadQuery
from tests.parity.catalogue import home_scenario, scenario
from tests.parity.run_scenarios import IMPOSSIBLE_IDS, places, record, start
from tests.parity.witness import refused


async def save(studio: StudioApplication, run_id: str, name: str = "n", **fields: Any) -> ArtifactResult:
    return await studio.save_artifact(SaveArtifact(**{"run_id": run_id, "kind": "k", "name": name, **fields}))


async def read(studio: StudioApplication, artifact_id: str, **fields: Any) -> ArtifactResult:
    return await studio.resolve_artifact(ArtifactQuery(artifact_id=artifact_id, include_preview=True, **fields))


def put(home: Path, run_id: str, path: str, data: bytes) -> Path:
    """Put a file into the folder of a run."""
    file = home / "artifacts" / run_id / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


@scenario
async def saved_artifact_is_shown_everywhere(studio: StudioApplication, own: str) -> None:
    await start(studio, own)
    data = "Grüße 🜁\n".encode()
    saved = await save(studio, own, "ü ñ", path="out/ü ñ.md", data=data, content={"a": [1, None]})

    found = await studio.resolve_artifact(ArtifactQuery(artifact_id=saved.id))
    preview = await read(studio, saved.id)
    cut = await read(studio, saved.id, preview_limit_bytes=3)
    content = await studio.read_artifact_content(saved.id)
    page = await studio.list_run_artifacts(own, ArtifactListQuery())
    detail = await studio.get_run(own, RunReadQuery())

    assert found == saved
    assert (preview.preview, preview.preview_kind, preview.preview_truncated) == (data, "text", False)
    assert (cut.preview, cut.preview_truncated) == (b"Gr", True)
    assert (content.data, content.file_name, content.truncated) == (data, "ü ñ.md", False)
    assert content.media_type == "text/markdown; charset=utf-8"
    assert content.sha256 == saved.sha256 == hashlib.sha256(data).hexdigest()
    assert [item.artifact_id for item in page.items] == [saved.id]
    assert [(item.sha256, item.size_bytes) for item in detail.artifacts] == [(saved.sha256, len(data))]


@scenario
async def large_content_is_sent_up_to_a_bound(studio: StudioApplication, own: str) -> None:
    await start(studio, own)
    data = bytes(range(256)) * (ARTIFACT_PREVIEW_MAX_BYTES // 256)
    saved = await save(studio, own, path="b.bin", data=data)

    content = await studio.read_artifact_content(saved.id)

    assert (content.data, content.truncated, content.media_type) == (data, False, "application/octet-stream")


@home_scenario
async def more_than_the_bound_is_not_sent(studio: StudioApplication, own: str, home: Path) -> None:
    await start(studio, own)
    size = ARTIFACT_PREVIEW_MAX_BYTES + 5
    put(home, own, "big.log", b"x" * size)
    saved = await save(studio, own, path="big.log")

    content = await studio.read_artifact_content(saved.id)

    assert (len(content.data), content.size_bytes, content.truncated) == (ARTIFACT_PREVIEW_MAX_BYTES, size, True)


@scenario
async def active_content_is_sent_as_bytes(studio: StudioApplication, own: str) -> None:
    await start(studio, own)
    for name in ("a.html", "a.svg", "a.xml", "a.js", "a.pdf", "a.xhtml"):
        saved = await save(studio, own, name, path=name, data=b"<script>alert(1)</script>")
        assert (await studio.read_artifact_content(saved.id)).media_type == "application/octet-stream"
    told = await save(studio, own, "told", path="a", data=b"<b>", media_type="text/html; charset=utf-8\r\nX: y")
    assert (await studio.read_artifact_content(told.id)).media_type == "application/octet-stream"


@scenario
async def artifact_recorded_again_is_the_same_one(studio: StudioApplication, own: str) -> None:
    await start(studio, own)
    first = await save(studio, own, path="a", data=b"1")

    again = await save(studio, own, content=["x"])
    await record(studio, own, {"type": "artifact", "kind": "k", "name": "n", "content": 3})
    found = await studio.resolve_artifact(ArtifactQuery(artifact_id=first.id))

    assert (again.id, again.content, again.display_path) == (first.id, {"value": ["x"]}, None)
    assert found.content == {"value": 3}


@home_scenario
async def file_that_an_event_names_is_measured(studio: StudioApplication, own: str, home: Path) -> None:
    await start(studio, own)
    put(home, own, "out/a.json", b"{}")
    events = ({"type": "artifact", "kind": "k", "name": name, "path": name} for name in ("out/a.json", "gone"))

    await record(studio, own, *events)
    page = await studio.list_run_artifacts(own, ArtifactListQuery())

    assert [(item.size_bytes, item.media_type) for item in page.items] == [(2, "application/json"), (None, None)]


@scenario
async def invocation_has_artifacts_of_its_own(studio: StudioApplication, own: str) -> None:
    await start(studio, own, invocation_id=own)
    saved = await studio.save_artifact(SaveArtifact(invocation_id=own, kind="k", name="n", content={"a": 1}))

    page = await studio.list_invocation_artifacts(own, ArtifactListQuery())
    of_run = await studio.list_run_artifacts(own, ArtifactListQuery())

    assert [item.artifact_id for item in page.items] == [saved.id]
    assert of_run.items == ()


@scenario
async def artifacts_follow_each_other_by_offset_and_by_cursor(studio: StudioApplication, own: str) -> None:
    await start(studio, own, invocation_id=own)
    for number in range(5):
        await save(studio, own, f"n{number}", kind="odd" if number % 2 else "even")
    seen, cursor = [], None

    for _ in range(2):
        query = ArtifactListQuery(kind="even", limit=2, cursor=cursor)
        page = await studio.list_run_artifacts(own, query)
        seen += [item.name for item in page.items]
        cursor = page.next_cursor
    by_offset = await studio.list_run_artifacts(own, ArtifactListQuery(offset=3, limit=9))

    assert (seen, cursor) == (["n0", "n2", "n4"], None)
    assert [item.name for item in by_offset.items] == ["n3", "n4"]


@scenario
async def foreign_cursors_of_artifacts_are_refused(studio: StudioApplication, own: str) -> None:
    await start(studio, own, invocation_id=own)
    await start(studio, f"{own}-2")
    for number in range(2):
        await save(studio, own, f"n{number}")
    cursor = (await studio.list_run_artifacts(own, ArtifactListQuery(limit=1))).next_cursor

    for operation in (
        studio.list_run_artifacts(f"{own}-2", ArtifactListQuery(cursor=cursor)),
        studio.list_run_artifacts(own, ArtifactListQuery(cursor=cursor, kind="k")),
        studio.list_run_artifacts(own, ArtifactListQuery(cursor="garbled")),
        studio.list_invocation_artifacts(own, ArtifactListQuery(cursor=cursor)),
    ):
        failure = await refused(ValidationFailure, operation)
        assert places(failure) == [(("cursor",), "cursor")]
    both = await refused(ValidationFailure, studio.list_run_artifacts(own, ArtifactListQuery(cursor=cursor, offset=1)))
    assert places(both) == [(("offset",), "exclusive")]


@home_scenario
async def file_that_is_another_one_is_never_shown(studio: StudioApplication, own: str, home: Path) -> None:
    await start(studio, own)
    saved = await save(studio, own, path="a.txt", data=b"first")
    file = put(home, own, "a.txt", b"other")

    for operation in (read(studio, saved.id), studio.read_artifact_content(saved.id)):
        conflict = await refused(Conflict, operation)
        assert (conflict.resource, conflict.expected) == ("artifact file", saved.sha256)
    wrong: dict[str, Any] = {"path": "a.txt", "sha256": saved.sha256}
    await refused(Conflict, save(studio, own, **wrong))
    await refused(Conflict, save(studio, own, **wrong, data=b"third"))
    file.write_bytes(b"first")

    assert (await read(studio, saved.id)).preview == b"first"


@home_scenario
async def huge_file_is_a_conflict(studio: StudioApplication, own: str, home: Path) -> None:
    await start(studio, own)
    saved = await save(studio, own, path="sparse", data=b"")
    os.truncate(home / "artifacts" / own / "sparse", 5 * 1024**3)

    for operation in (read(studio, saved.id), save(studio, own, path="sparse")):
        conflict = await refused(Conflict, operation)
        assert "at most" in str(conflict.expected)


@home_scenario
async def file_that_is_gone_leaves_its_artifact(studio: StudioApplication, own: str, home: Path) -> None:
    await start(studio, own)
    saved = await save(studio, own, path="a/b", data=b"x")
    (home / "artifacts" / own / "a" / "b").unlink()

    found = await read(studio, saved.id)
    missing = await refused(NotFound, studio.read_artifact_content(saved.id))
    unregistered = await refused(NotFound, save(studio, own, path="a/b"))

    assert (found.file_missing, found.preview, found.sha256) == (True, None, saved.sha256)
    assert missing.identifier == unregistered.identifier == f"artifacts/{own}/a/b"


@home_scenario
async def what_is_no_regular_file_is_refused(studio: StudioApplication, own: str, home: Path) -> None:
    await start(studio, own)
    folder = put(home, own, "real", b"x").parent
    (home / f"{own}-secret").write_bytes(b"from outside")
    (folder / "link").symlink_to(home / f"{own}-secret")
    (folder / "folder").mkdir()
    (folder / "out").symlink_to(home)
    os.mkfifo(folder / "pipe")
    (folder / "second").hardlink_to(home / f"{own}-secret")
    events = [
        {"type": "artifact", "kind": "k", "name": path, "path": path}
        for path in ("link", "folder", f"out/{own}-secret", "pipe", "second")
    ]
    await record(studio, own, *events)

    page = await studio.list_run_artifacts(own, ArtifactListQuery())
    for item in page.items:
        await refused(PermissionDenied, read(studio, item.artifact_id))
        await refused(PermissionDenied, studio.read_artifact_content(item.artifact_id))
        await refused(PermissionDenied, save(studio, own, path=item.path))
        await refused(PermissionDenied, save(studio, own, path=item.path, data=b"overwritten"))
    verified = await studio.verify_artifacts(own)

    assert {check.outcome for check in verified.checks} == {"unreadable"}
    assert len(page.items) == len(verified.checks) == 5
    assert (home / f"{own}-secret").read_bytes() == b"from outside"


@home_scenario
async def files_are_verified(studio: StudioApplication, own: str, home: Path) -> None:
    await start(studio, own)
    for name in ("same", "other", "gone"):
        await save(studio, own, name, path=name, data=b"x")
    await record(studio, own, {"type": "artifact", "kind": "k", "name": "late", "path": "late"})
    for name in ("other", "late", "stray"):
        put(home, own, name, b"y")
    (home / "artifacts" / own / "gone").unlink()

    found = await studio.verify_artifacts(own)

    assert [(check.name, check.outcome) for check in found.checks] == [
        ("same", "unchanged"),
        ("other", "changed"),
        ("gone", "missing"),
        ("late", "unhashed"),
    ]
    assert (found.unregistered, found.truncated) == (("stray",), False)


@home_scenario
async def folder_of_a_run_that_is_a_link_is_not_verified(studio: StudioApplication, own: str, home: Path) -> None:
    await start(studio, own)
    (home / "artifacts").mkdir(exist_ok=True)
    (home / "artifacts" / own).symlink_to(home)

    await refused(PermissionDenied, studio.verify_artifacts(own))


@scenario
async def unknown_owners_and_artifacts_are_not_found(studio: StudioApplication, own: str) -> None:
    for missing in (
        await refused(NotFound, save(studio, own)),
        await refused(NotFound, studio.list_run_artifacts(own, ArtifactListQuery())),
        await refused(NotFound, studio.verify_artifacts(own)),
    ):
        assert (missing.resource, missing.identifier) == ("run", own)
    for operation in (
        studio.save_artifact(SaveArtifact(invocation_id=own, kind="k", name="n")),
        studio.list_invocation_artifacts(own, ArtifactListQuery()),
    ):
        assert (await refused(NotFound, operation)).resource == "invocation"
    for identifier in (own, *IMPOSSIBLE_IDS):
        await refused(NotFound, read(studio, identifier))
        await refused(NotFound, studio.read_artifact_content(identifier))
        await refused(NotFound, studio.list_run_artifacts(identifier, ArtifactListQuery()))
        await refused(NotFound, studio.list_invocation_artifacts(identifier, ArtifactListQuery()))
        await refused(NotFound, studio.verify_artifacts(identifier))


@home_scenario
async def path_that_no_file_can_have_is_refused(studio: StudioApplication, own: str, home: Path) -> None:
    await start(studio, own)
    put(home, own, "file", b"x")

    for path in ("x" * 300, "file/x"):
        failure = await refused(ValidationFailure, save(studio, own, path=path, data=b""))
        assert places(failure) == [(("path",), "path")]
        await refused(NotFound, save(studio, own, path=path))
