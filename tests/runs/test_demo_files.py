import os
import shutil
from pathlib import Path

import pytest

from contract.errors import ValidationFailure
from runs.demo_files import folder_name, read_texts, walk
from runs.demo_report import FILE_READ_MAX_BYTES, Fault, FoundFile


def make(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path, encoding="utf-8")


def test_a_walk_goes_through_folders_in_the_order_of_names(tmp_path: Path) -> None:
    make(tmp_path, "z.txt", "b/x", "a/deep/y", "a/w")

    found = list(walk(tmp_path))

    assert [folder.path for folder in found] == [".", "a", "a/deep", "b"]
    assert [file.path for folder in found for file in folder.files] == ["z.txt", "a/w", "a/deep/y", "b/x"]
    assert found[0].files == (FoundFile("z.txt", 5),)


def test_a_walk_leaves_out_histories_caches_and_environments(tmp_path: Path) -> None:
    make(tmp_path, ".git/HEAD", "node_modules/a", "mine/pyvenv.cfg", "mine/lib/x", "kept/CACHEDIR.TAG", "src/ok")

    found = list(walk(tmp_path))

    assert [file.path for folder in found for file in folder.files] == ["src/ok"]
    assert {name for folder in found for name in folder.skipped} == {".git", "node_modules", "mine", "kept"}


def test_a_walk_never_follows_a_symbolic_link(tmp_path: Path) -> None:
    make(tmp_path, "outside/secret", "root/file")
    (tmp_path / "root" / "loop").symlink_to(tmp_path / "root")
    (tmp_path / "root" / "out").symlink_to(tmp_path / "outside")
    (tmp_path / "root" / "link").symlink_to(tmp_path / "outside" / "secret")

    [found] = walk(tmp_path / "root")

    assert [file.path for file in found.files] == ["file"]
    assert found.links == 3


def test_a_walk_takes_pipes_and_sockets_for_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    [found] = walk(tmp_path)

    assert not found.files


def test_a_walk_ends_at_its_bound_and_says_so(tmp_path: Path) -> None:
    make(tmp_path, *(f"a/{n}" for n in range(5)), *(f"b/{n}" for n in range(5)), "c/last")

    found = list(walk(tmp_path, files_max=7))

    assert [(folder.path, len(folder.files), folder.cut) for folder in found] == [
        (".", 0, False),
        ("a", 5, False),
        ("b", 2, True),
    ]


def test_a_folder_that_cannot_be_opened_is_a_fault_and_the_walk_goes_on(tmp_path: Path) -> None:
    make(tmp_path, "a/x", "b/y")
    walking = walk(tmp_path)
    found = [next(walking)]

    shutil.rmtree(tmp_path / "a")
    found += walking

    assert found[1].faults == (Fault("a", "No such file or directory"),)
    assert [file.path for file in found[2].files] == ["b/y"]


def test_a_name_that_is_no_text_is_walked_and_read_all_the_same(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("one two", encoding="utf-8")

    [found] = walk(tmp_path)
    [facts] = read_texts(tmp_path, found.files).texts

    assert facts.words == 2


def test_reading_tells_texts_from_binaries_and_faults(tmp_path: Path) -> None:
    make(tmp_path, "text.md")
    (tmp_path / "data").write_bytes(b"\x00")
    (tmp_path / "link").symlink_to(tmp_path / "text.md")
    os.mkfifo(tmp_path / "pipe")

    reading = read_texts(tmp_path, [FoundFile(name, 1) for name in ("text.md", "data", "link", "pipe", "gone")])

    assert [text.path for text in reading.texts] == ["text.md"]
    assert reading.binaries == ["data"]
    assert [fault.path for fault in reading.faults] == ["link", "pipe", "gone"]
    assert reading.faults[1].reason == "is no longer a file"


def test_a_file_that_grew_is_read_to_the_bound_only(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"x" * (FILE_READ_MAX_BYTES + 10))

    [facts] = read_texts(tmp_path, [FoundFile("log", 1)]).texts

    assert facts.longest_chars == FILE_READ_MAX_BYTES


def test_a_folder_has_a_name_also_when_it_is_the_root() -> None:
    assert folder_name(Path("/")) == "/"


@pytest.mark.parametrize("name", ["missing", "file"])
def test_what_is_no_folder_is_refused(tmp_path: Path, name: str) -> None:
    make(tmp_path, "file")

    with pytest.raises(ValidationFailure) as refused:
        folder_name(tmp_path / name)

    assert refused.value.field_errors[0].path == ("folder",)
