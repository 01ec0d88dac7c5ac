"""ArtifactFolderPort, in memory and on a disk alike."""

import hashlib

import pytest

from contract.artifacts import VerifiedPreview
from contract.errors import Conflict, NotFound, PermissionDenied
from tests.artifacts.files.shelves import Shelf


async def read(shelf: Shelf, place: str, *, max_bytes: int = 100, sha256: str | None = None) -> VerifiedPreview:
    return await shelf.files.preview(place, max_bytes=max_bytes, expected_sha256=sha256)


def sum_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    ("size", "max_bytes", "shown", "truncated"),
    [(0, 1, 0, False), (9, 10, 9, False), (10, 10, 10, False), (11, 10, 10, True), (700_000, 10, 10, True)],
)
async def test_the_beginning_is_shown_and_all_of_it_is_hashed(
    shelf: Shelf, size: int, max_bytes: int, shown: int, truncated: bool
) -> None:
    shelf.put("r/a", b"x" * size)

    found = await read(shelf, "r/a", max_bytes=max_bytes)

    assert (found.data, found.truncated, found.size_bytes) == (b"x" * shown, truncated, size)
    assert (found.sha256, found.kind) == (sum_of(b"x" * size), "text")


async def test_a_character_at_the_cut_is_left_out(shelf: Shelf) -> None:
    shelf.put("r/a.md", "12€4".encode())

    found = await read(shelf, "r/a.md", max_bytes=4)

    assert (found.data, found.truncated, found.kind, found.media_type) == (b"12", True, "text", "text/markdown")


async def test_another_hash_is_a_conflict_until_the_file_is_as_it_was(shelf: Shelf) -> None:
    shelf.put("r/a", b"one")
    recorded = sum_of(b"one")
    await read(shelf, "r/a", sha256=recorded)

    for other in (b"one!", b"eno", b""):
        shelf.put("r/a", other)
        with pytest.raises(Conflict) as conflict:
            await read(shelf, "r/a", sha256=recorded)
        assert (conflict.value.expected, conflict.value.actual) == (recorded, sum_of(other))
    shelf.put("r/a", b"one")

    assert (await read(shelf, "r/a", sha256=recorded)).data == b"one"


@pytest.mark.parametrize("place", ["r/none", "r/folder/none", "other/a"])
async def test_what_is_not_there_is_not_found(shelf: Shelf, place: str) -> None:
    shelf.put("r/a", b"")

    with pytest.raises(NotFound) as missing:
        await read(shelf, place)

    assert (missing.value.resource, missing.value.identifier) == ("artifact file", f"artifacts/{place}")


@pytest.mark.parametrize("place", ["r/link", "r/link/passwd", "r/pipe", "../x", "r/../s/a", "r//etc/passwd", "r/a\\b"])
async def test_nothing_is_read_or_written_through_what_is_no_file(shelf: Shelf, place: str) -> None:
    shelf.put("r/a", b"")
    shelf.link("r/link", "/etc")
    shelf.pipe("r/pipe")

    with pytest.raises(PermissionDenied):
        await read(shelf, place)
    with pytest.raises(PermissionDenied):
        await shelf.files.write(place, b"mine")


async def test_a_file_is_written_and_written_anew(shelf: Shelf) -> None:
    for data in (b"first", "zweite ü".encode(), b""):
        written = await shelf.files.write("r/out/deep/a.txt", data)

        assert shelf.content("r/out/deep/a.txt") == data
        assert (written.sha256, written.size_bytes, written.truncated) == (sum_of(data), len(data), False)
        assert await read(shelf, "r/out/deep/a.txt", max_bytes=4_096) == written


async def test_the_files_of_a_run_are_found(shelf: Shelf) -> None:
    for place in ("r/b", "r/a/2", "r/a/1", "s/other"):
        shelf.put(place, b"")
    shelf.pipe("r/pipe")

    whole = await shelf.files.survey("r", limit=3)
    some = await shelf.files.survey("r", limit=2)
    none = await shelf.files.survey("nobody", limit=2)

    assert (whole.paths, whole.truncated) == (("a/1", "a/2", "b"), False)
    assert (some.paths, some.truncated) == (("a/1", "a/2"), True)
    assert (none.paths, none.truncated) == ((), False)


async def test_a_folder_that_is_a_link_is_not_looked_through(shelf: Shelf) -> None:
    shelf.link("r", "/etc")

    with pytest.raises(PermissionDenied):
        await shelf.files.survey("r", limit=3)


async def test_a_folder_is_made_once_and_tidied_away(shelf: Shelf) -> None:
    first, again = [await shelf.files.prepare("r") for _ in range(2)]

    await shelf.files.tidy("r")
    await shelf.files.tidy("r")

    assert first == again
    assert first.endswith("/artifacts/r")
