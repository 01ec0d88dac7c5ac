"""The folders of the files of runs, on a real disk."""

import os
from pathlib import Path

import pytest

from runs.files.folders import DiskRunFolders
from runs.services.pruning import ClearedFolders
from studio_project.system import SystemClock


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "artifacts"
    folder.mkdir()
    return folder


@pytest.fixture
def folders(root: Path) -> DiskRunFolders:
    return DiskRunFolders(root)


def fill(root: Path, run_id: str, **sizes: int) -> Path:
    """Make a folder with files of these sizes, below each other."""
    folder = root / run_id
    inner = folder
    for name, size in (sizes or {"a": 1}).items():
        inner.mkdir(parents=True)
        (inner / name).write_bytes(b"x" * size)
        inner /= "inner"
    return folder


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def test_a_folder_goes_with_everything_in_it(root: Path, folders: DiskRunFolders) -> None:
    fill(root, "r", a=3, b=4, c=5)
    fill(root, "other")

    assert await folders.size(["r"]) == 12
    assert await folders.clear(["r"]) == ClearedFolders(file_bytes=12)
    assert names_in(root) == ["other"]


async def test_what_is_not_there_is_empty(tmp_path: Path, root: Path, folders: DiskRunFolders) -> None:
    nowhere = DiskRunFolders(tmp_path / "nowhere")

    for missing in (folders, nowhere):
        assert await missing.clear(["r"]) == ClearedFolders()
        assert await missing.size(["r"]) == 0
        assert await missing.names(untouched_since=None) == ()


async def test_no_link_is_followed(tmp_path: Path, root: Path, folders: DiskRunFolders) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("precious")
    folder = fill(root, "r", a=1)
    (folder / "to-folder").symlink_to(elsewhere)
    (folder / "to-file").symlink_to(elsewhere / "precious")
    (folder / "to-nowhere").symlink_to(tmp_path / "gone")
    (root / "link").symlink_to(elsewhere)

    assert await folders.size(["r", "link"]) == 1
    assert await folders.clear(["r", "link"]) == ClearedFolders(file_bytes=1)

    assert names_in(root) == []
    assert (elsewhere / "precious").read_text() == "precious"


async def test_what_is_read_only_and_what_is_no_file_go_as_well(root: Path, folders: DiskRunFolders) -> None:
    folder = fill(root, "r", a=1, b=2)
    os.mkfifo(folder / "pipe")
    (folder / "inner").chmod(0o500)
    folder.chmod(0o500)

    assert await folders.clear(["r"]) == ClearedFolders(file_bytes=3)
    assert names_in(root) == []


async def test_a_plain_file_in_the_place_of_a_folder_goes(root: Path, folders: DiskRunFolders) -> None:
    (root / "r").write_text("x")

    assert await folders.clear(["r"]) == ClearedFolders()
    assert names_in(root) == []


async def test_a_tree_goes_however_deep_it_is(root: Path, folders: DiskRunFolders) -> None:
    fill(root, "fine")
    descriptor = os.open(root, os.O_RDONLY)
    for name in ("deep", *["d"] * 3_000):
        os.mkdir(name, dir_fd=descriptor)
        inner = os.open(name, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(descriptor)
    for taken in (".1", ".3"):
        (root / "deep" / taken).write_text("x")

    assert await folders.size(["fine"]) == 1
    assert await folders.clear(["deep", "fine"]) == ClearedFolders(file_bytes=3)

    assert names_in(root) == []


async def test_a_folder_that_resists_is_told_of_and_keeps_no_other(root: Path, folders: DiskRunFolders) -> None:
    fill(root, "fine")
    # The system refuses to look at such a name, as it may refuse anything else.
    resists = "x" * 300

    assert await folders.clear([resists, "fine"]) == ClearedFolders(file_bytes=1, failed=(resists,))


async def test_only_folders_that_a_run_could_have_are_named(root: Path, folders: DiskRunFolders) -> None:
    fill(root, "a.b:c-d_1")
    fill(root, ".upload")
    (root / "file").write_text("x")
    (root / "link").symlink_to(root)

    assert await folders.names(untouched_since=None) == ("a.b:c-d_1",)


async def test_a_folder_is_as_young_as_its_last_change(root: Path, folders: DiskRunFolders) -> None:
    old = fill(root, "r")
    os.utime(old, (0, 0))

    assert await folders.names(untouched_since=SystemClock().now() - 60) == ()
    assert await folders.names(untouched_since=SystemClock().now() + 60) == ("r",)
