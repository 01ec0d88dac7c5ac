"""Trees that somebody made to get at bytes from outside, or to keep a reader busy: the right error, at once."""

import asyncio
import os
import socket
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from contract.errors import Conflict, NotFound, PermissionDenied, StudioApplicationError, ValidationFailure
from contract.limits import ARTIFACT_FILE_MAX_BYTES, ARTIFACT_FILES_MAX
from tests.artifacts.files.shelves import DiskShelf

SECRET = b"from outside"
# Far longer than any of this takes.
_SECONDS = 20.0


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file that is no artifact, in a folder beside the root whose name begins like it."""
    folder = tmp_path / "home" / "artifacts-private"
    folder.mkdir(parents=True)
    (folder / "secret").write_bytes(SECRET)
    (tmp_path / "home" / "artifacts" / "r").mkdir(parents=True)
    return folder


def held_by(folder: Path) -> list[bytes]:
    return [file.read_bytes() for file in folder.iterdir()]


def make_socket(path: Path) -> None:
    """Bind a socket there; its path may be longer than an address is."""
    here = os.open(path.parent, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(f"/proc/self/fd/{here}/{path.name}")
    finally:
        os.close(here)


def chain(run: Path, out: Path) -> None:
    (run / "one").symlink_to(out / "secret")
    (run / "bad").symlink_to("one")


def inside(run: Path, _: Path) -> None:
    (run / "file").write_bytes(b"")
    (run / "bad").symlink_to("file")


def loop(run: Path, _: Path) -> None:
    (run / "bad").symlink_to("other")
    (run / "other").symlink_to("bad")


TREES: dict[str, tuple[Callable[[Path, Path], object], str, type[StudioApplicationError]]] = {
    "a link to a file outside": (lambda run, out: (run / "bad").symlink_to(out / "secret"), "bad", PermissionDenied),
    "a link by a relative path": (
        lambda run, out: (run / "bad").symlink_to("../../artifacts-private/secret"),
        "bad",
        PermissionDenied,
    ),
    "a link to a folder outside": (lambda run, out: (run / "bad").symlink_to(out), "bad/secret", PermissionDenied),
    "a link to a link": (
        chain,
        "bad",
        PermissionDenied,
    ),
    "a link that leads nowhere": (lambda run, out: (run / "bad").symlink_to("nothing"), "bad", PermissionDenied),
    "a link to a file inside": (
        inside,
        "bad",
        PermissionDenied,
    ),
    "a link to another run": (lambda run, out: (run / "bad").symlink_to("../s"), "bad/file", PermissionDenied),
    "a link to itself": (lambda run, out: (run / "bad").symlink_to("bad"), "bad", PermissionDenied),
    "links in a circle": (loop, "bad", PermissionDenied),
    "a folder in a circle": (loop, "bad/other/bad/x", PermissionDenied),
    "a second name of a file outside": (
        lambda run, out: (run / "bad").hardlink_to(out / "secret"),
        "bad",
        PermissionDenied,
    ),
    "a pipe": (lambda run, out: os.mkfifo(run / "bad"), "bad", PermissionDenied),
    "a socket": (lambda run, out: make_socket(run / "bad"), "bad", PermissionDenied),
    "a device": (lambda run, out: os.mknod(run / "bad", 0o020600, os.makedev(1, 5)), "bad", PermissionDenied),
    "a folder": (lambda run, out: (run / "bad").mkdir(), "bad", PermissionDenied),
    "a file as a folder": (lambda run, out: (run / "bad").write_bytes(SECRET), "bad/x", NotFound),
    "a pipe as a folder": (lambda run, out: os.mkfifo(run / "bad"), "bad/x", NotFound),
    "a name that no file has": (lambda run, out: None, "x" * 300, NotFound),
    "a path that is all folders": (lambda run, out: None, "/".join("x" * 500), NotFound),
    "names that are encoded": (lambda run, out: None, "%2e%2e/%2e%2e/artifacts-private/secret", NotFound),
    "names that are encoded twice": (lambda run, out: None, "%252e%252e%252fartifacts-private%252fsecret", NotFound),
    "a way up": (lambda run, out: None, "../../artifacts-private/secret", PermissionDenied),
    "a way up later": (lambda run, out: None, "a/../../../artifacts-private/secret", PermissionDenied),
    "a NUL": (lambda run, out: None, "secret\x00.md", PermissionDenied),
    "a path of the host": (lambda run, out: None, "/etc/passwd", PermissionDenied),
    "a drive": (lambda run, out: None, "C:\\secret", PermissionDenied),
    "a share": (lambda run, out: None, "\\\\host\\share", PermissionDenied),
}


@pytest.mark.parametrize("name", TREES)
async def test_no_byte_comes_from_outside(name: str, disk: DiskShelf, outside: Path) -> None:
    make, path, expected = TREES[name]
    make(disk.root / "r", outside)

    async with asyncio.timeout(_SECONDS):
        with pytest.raises(expected) as refused:
            await disk.files.preview(f"r/{path}", max_bytes=100, expected_sha256=None)

    assert str(disk.home) not in str(refused.value)
    assert SECRET.decode() not in str(refused.value)


@pytest.mark.parametrize("name", [name for name in TREES if TREES[name][2] is PermissionDenied])
async def test_no_byte_is_written_outside(name: str, disk: DiskShelf, outside: Path) -> None:
    make, path, _ = TREES[name]
    make(disk.root / "r", outside)

    async with asyncio.timeout(_SECONDS):
        with pytest.raises(PermissionDenied):
            await disk.files.write(f"r/{path}", b"overwritten")

    assert held_by(outside) == [SECRET]


@pytest.mark.parametrize("name", TREES)
async def test_only_regular_files_are_listed(name: str, disk: DiskShelf, outside: Path) -> None:
    TREES[name][0](disk.root / "r", outside)

    async with asyncio.timeout(_SECONDS):
        found = await disk.files.survey("r", limit=10)

    assert not {path for path in found.paths if path.startswith("bad/")}
    assert set(found.paths) <= {"file", "bad"}


@pytest.mark.parametrize("run_id", ["r", "s"])
async def test_the_folder_of_a_run_may_be_no_link(run_id: str, disk: DiskShelf, outside: Path) -> None:
    (disk.root / "s").symlink_to(outside if run_id == "s" else "r")

    with pytest.raises(PermissionDenied):
        await disk.files.preview("s/secret", max_bytes=100, expected_sha256=None)
    with pytest.raises(PermissionDenied):
        await disk.files.write("s/secret", b"overwritten")
    with pytest.raises(PermissionDenied):
        await disk.files.prepare("s")


async def test_the_root_may_be_a_link(tmp_path: Path, disk: DiskShelf) -> None:
    elsewhere = tmp_path / "large disk"
    elsewhere.mkdir()
    disk.home.mkdir()
    disk.root.symlink_to(elsewhere)

    await disk.files.write("r/a", b"here")

    assert (elsewhere / "r" / "a").read_bytes() == b"here"
    assert (await disk.files.preview("r/a", max_bytes=9, expected_sha256=None)).data == b"here"


async def test_a_path_through_a_file_or_with_a_long_name_cannot_be_written(disk: DiskShelf) -> None:
    disk.put("r/file", b"mine")

    for path in ("file/x", "x" * 256, f"{'y' * 256}/x"):
        with pytest.raises(ValidationFailure) as refused:
            await disk.files.write(f"r/{path}", b"")
        assert refused.value.field_errors[0].path == ("path",)
    assert disk.content("r/file") == b"mine"


async def test_a_huge_file_is_refused_at_once(disk: DiskShelf) -> None:
    disk.put("r/sparse", b"")
    os.truncate(disk.root / "r" / "sparse", 5 * 1024**3)
    began = time.monotonic()

    with pytest.raises(Conflict) as refused:
        await disk.files.preview("r/sparse", max_bytes=100, expected_sha256=None)

    assert refused.value.expected == f"at most {ARTIFACT_FILE_MAX_BYTES} bytes"
    assert time.monotonic() - began < 1.0


async def test_a_large_file_is_hashed_in_little_memory(disk: DiskShelf) -> None:
    disk.put("r/sparse", b"")
    os.truncate(disk.root / "r" / "sparse", 64 * 1024**2)
    tracemalloc.start()

    found = await disk.files.preview("r/sparse", max_bytes=1024, expected_sha256=None)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (found.size_bytes, len(found.data)) == (64 * 1024**2, 1024)
    assert peak < 4 * 1024**2


async def test_a_deep_tree_and_a_wide_one_stay_bounded(disk: DiskShelf) -> None:
    deep = disk.root / "r" / "/".join("d" * 60)
    deep.mkdir(parents=True)
    (deep / "bottom").touch()
    for number in range(ARTIFACT_FILES_MAX + 10):
        disk.put(f"s/{number}", b"")

    down, across = [await disk.files.survey(run_id, limit=ARTIFACT_FILES_MAX) for run_id in ("r", "s")]

    assert (down.paths, down.truncated) == ((), True)
    assert (len(across.paths), across.truncated) == (ARTIFACT_FILES_MAX, True)


async def test_names_that_no_artifact_can_have_are_left_out(disk: DiskShelf) -> None:
    for name in (b"fine", b"line\nbreak", b"back\\slash", b"\xff\xfe", b".0123456789abcdef.studio-tmp"):
        disk.put(f"r/{os.fsdecode(name)}", b"")

    assert (await disk.files.survey("r", limit=10)).paths == ("fine",)
