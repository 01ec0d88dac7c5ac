"""Recording artifacts: what is not there, or not as it is said to be, is not recorded."""

import hashlib

import pytest

from contract.artifacts import ArtifactListQuery
from contract.errors import Conflict, NotFound, PermissionDenied, StudioApplicationError
from tests.artifacts.desk import Desk
from tests.fakes.artifact_files import LINK


@pytest.fixture
async def desk() -> Desk:
    return await Desk().open()


def sum_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


async def recorded(desk: Desk) -> list[str]:
    return [found.name for found in (await desk.list_run_artifacts("r", ArtifactListQuery())).items]


async def test_data_becomes_a_file_of_the_run(desk: Desk) -> None:
    saved = await desk.save(path="out/a.json", data=b"{}", sha256=sum_of(b"{}"))

    assert desk.run_files.contents == {"r/out/a.json": b"{}"}
    assert (saved.sha256, saved.size_bytes, saved.media_type) == (sum_of(b"{}"), 2, "application/json")


async def test_a_file_that_is_there_is_registered(desk: Desk) -> None:
    desk.put("a", b"x" * 100_000)

    saved = await desk.save(path="a", media_type="text/x-log")

    assert (saved.size_bytes, saved.media_type, saved.sha256) == (100_000, "text/x-log", sum_of(b"x" * 100_000))


async def test_again_replaces_it_and_keeps_its_id(desk: Desk) -> None:
    first = await desk.save(path="a", data=b"1", content={"a": 1})
    desk.runs.clock.advance(5.0)  # type: ignore[attr-defined]  # a fixed clock

    again = await desk.save(content=[2])

    assert (again.id, again.created_at) == (first.id, first.created_at)
    assert (again.content, again.display_path, again.sha256, again.size_bytes) == ({"value": [2]}, None, None, None)
    assert again.updated_at == 5.0 + (first.updated_at or 0.0)
    assert await recorded(desk) == ["n"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"run_id": "none"}, NotFound),
        ({"invocation_id": "none"}, NotFound),
        ({"path": "none"}, NotFound),
        ({"path": "there", "sha256": "0" * 64}, Conflict),
        ({"path": "new", "data": b"x", "sha256": "0" * 64}, Conflict),
        ({"path": "link"}, PermissionDenied),
        ({"path": "link", "data": b"x"}, PermissionDenied),
    ],
)
async def test_what_is_refused_is_neither_recorded_nor_written(
    desk: Desk, fields: dict[str, object], expected: type[StudioApplicationError]
) -> None:
    desk.put("there", b"x")
    desk.run_files.odd["r/link"] = LINK

    with pytest.raises(expected):
        await desk.save(**fields)  # type: ignore[arg-type]

    assert await recorded(desk) == []
    assert desk.run_files.contents == {"r/there": b"x"}


async def test_an_invocation_has_artifacts_of_its_own(desk: Desk) -> None:
    saved = await desk.save(invocation_id="i", content={"a": 1})

    assert (saved.run_id, saved.invocation_id) == (None, "i")
    assert await recorded(desk) == []
