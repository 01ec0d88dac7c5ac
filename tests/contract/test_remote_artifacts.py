"""Artifacts at the other end of a wire: raw bytes with their headers, and answers that nobody of ours gives."""

from typing import Any

import httpx
import pytest

from contract.artifacts import ArtifactListQuery, ArtifactQuery, SaveArtifact
from contract.errors import NotFound, RequestRefused, StateUnavailable
from tests.fakes.daemons import CannedDaemon, answering, remote

SUM = "0" * 64
HEADERS = {
    "Content-Type": "image/png",
    "Content-Disposition": "attachment; filename*=UTF-8''%C3%BC%20%22x%22.png",
    "ETag": f'"{SUM}"',
    "Studio-Artifact-Size": "9",
    "Studio-Artifact-Truncated": "true",
}


def sent(**changed: Any) -> httpx.Response:
    headers = {**HEADERS, **{name.replace("_", "-"): value for name, value in changed.items()}}
    return httpx.Response(200, headers={n: v for n, v in headers.items() if v is not None}, content=b"\x89PNG")


async def test_bytes_are_read_as_they_are_with_what_the_headers_say() -> None:
    daemon = CannedDaemon(sent())

    async with remote(daemon) as studio:
        found = await studio.read_artifact_content("a1")

    assert daemon.asked == "GET /api/v1/artifacts/a1/content"
    assert (found.data, found.file_name, found.media_type) == (b"\x89PNG", 'ü "x".png', "image/png")
    assert (found.sha256, found.size_bytes, found.truncated) == (SUM, 9, True)


@pytest.mark.parametrize(
    "changed",
    [
        {"ETag": None},
        {"Content_Disposition": None},
        {"Content_Disposition": "attachment; filename*=UTF-8''%FF"},
        {"Studio_Artifact_Size": "many"},
        {"Studio_Artifact_Truncated": "yes"},
    ],
    ids=str,
)
async def test_an_answer_without_them_is_foreign(changed: dict[str, str | None]) -> None:
    async with remote(CannedDaemon(sent(**changed))) as studio:
        with pytest.raises(RequestRefused, match="no content of an artifact"):
            await studio.read_artifact_content("a1")


async def test_an_error_comes_back_as_itself() -> None:
    missing = NotFound("artifact file", "artifacts/r/a")

    async with remote(CannedDaemon(httpx.Response(404, content=missing.body().to_json()))) as studio:
        with pytest.raises(NotFound) as failure:
            await studio.read_artifact_content("a1")

    assert failure.value.body() == missing.body()


async def test_a_save_may_be_sent_again() -> None:
    async with remote(answering(httpx.ReadTimeout(""))) as studio:
        with pytest.raises(StateUnavailable) as failure:
            await studio.save_artifact(SaveArtifact(run_id="r", kind="k", name="n", path="p", data=b"\xff"))

    assert failure.value.retryable


async def test_what_nobody_can_be_called_is_not_asked_for() -> None:
    daemon = answering(httpx.ReadTimeout(""))

    async with remote(daemon) as studio:
        for operation in (
            studio.resolve_artifact(ArtifactQuery(artifact_id="../x")),
            studio.read_artifact_content(""),
            studio.list_run_artifacts("a/b", ArtifactListQuery()),
            studio.list_invocation_artifacts("..", ArtifactListQuery()),
            studio.verify_artifacts("\x00"),
        ):
            with pytest.raises(NotFound):
                await operation

    assert daemon.requests == []


def test_bytes_travel_in_either_alphabet_of_base64() -> None:
    for text in ("-_8=", "+/8=", "-_8", "+/8"):
        command = SaveArtifact.model_validate({"run_id": "r", "kind": "k", "name": "n", "path": "p", "data": text})
        assert command.data == b"\xfb\xff"


def test_a_hash_may_be_written_in_any_case() -> None:
    fields = {"run_id": "r", "kind": "k", "name": "n", "path": "p"}

    assert SaveArtifact.model_validate({**fields, "sha256": "ABCDEF" + "0" * 58}).sha256 == "abcdef" + "0" * 58
