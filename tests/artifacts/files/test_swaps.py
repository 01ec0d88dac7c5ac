"""Somebody who acts between any two system calls: a folder or a file swapped for a link, a file that is written to."""

import asyncio
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event

import pytest

from contract.artifacts import VerifiedPreview
from contract.errors import Conflict, NotFound, PermissionDenied, StudioApplicationError
from tests.artifacts.files.shelves import DiskShelf
from tests.artifacts.files.watched import ActAt, Counting, watched

INSIDE, SECRET = b"inside" * 100_000, b"SECRET" * 100_000
PLACE = "r/folder/file"
REFUSALS = (NotFound, PermissionDenied, Conflict)


class Stage:
    """A home with one artifact's file, and a folder outside with a file of the same name."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.root = self.home / "artifacts"
        self.outside = folder / "outside"
        for where, content in ((self.root / "r" / "folder", INSIDE), (self.outside / "folder", SECRET)):
            where.mkdir(parents=True)
            (where / "file").write_bytes(content)

    def swap_run(self) -> None:
        self._swap(self.root / "r", self.outside)

    def swap_folder(self) -> None:
        self._swap(self.root / "r" / "folder", self.outside / "folder")

    def swap_file(self) -> None:
        self._swap(self.root / PLACE, self.outside / "folder" / "file")

    def swap_file_for_pipe(self) -> None:
        (self.root / PLACE).unlink()
        os.mkfifo(self.root / PLACE)

    def hardlink_file(self) -> None:
        (self.root / PLACE).unlink()
        (self.root / PLACE).hardlink_to(self.outside / "folder" / "file")

    def remove_all(self) -> None:
        shutil.rmtree(self.root)

    def _swap(self, place: Path, target: Path) -> None:
        place.rename(place.with_name("moved"))
        place.symlink_to(target)


ACTIONS: dict[str, Callable[[Stage], None]] = {
    "the run's folder becomes a link": Stage.swap_run,
    "the folder becomes a link": Stage.swap_folder,
    "the file becomes a link": Stage.swap_file,
    "the file becomes a pipe": Stage.swap_file_for_pipe,
    "the file becomes a second name": Stage.hardlink_file,
    "everything is removed": Stage.remove_all,
}


async def _read(stage: Stage, number: int, action: Callable[[], None]) -> VerifiedPreview | StudioApplicationError:
    shelf = DiskShelf(stage.home, watched(ActAt(number, action)))
    try:
        async with asyncio.timeout(20):
            return await shelf.files.preview(PLACE, max_bytes=1_000, expected_sha256=None)
    except StudioApplicationError as refused:
        return refused
    finally:
        shelf.close()


def steps(folder: Path, *, writing: bool = False) -> int:
    """Return how many system calls a read, or a write, makes."""
    counting = Counting()
    shelf = DiskShelf(Stage(folder).home, watched(counting))
    work = shelf.files.write(PLACE, b"new") if writing else _preview(shelf)
    asyncio.run(_done(work))
    shelf.close()
    return len(counting.names)


async def _preview(shelf: DiskShelf) -> VerifiedPreview:
    return await shelf.files.preview(PLACE, max_bytes=1_000, expected_sha256=None)


async def _done(work: object) -> None:
    await work  # type: ignore[misc]


@pytest.mark.parametrize("name", ACTIONS)
def test_whatever_is_swapped_at_whatever_step_no_byte_comes_from_outside(name: str, tmp_path: Path) -> None:
    for number in range(1, steps(tmp_path / "counted") + 1):
        stage = Stage(tmp_path / str(number))

        found = asyncio.run(_read(stage, number, lambda stage=stage: ACTIONS[name](stage)))  # type: ignore[misc]

        if isinstance(found, VerifiedPreview):
            assert (found.data, found.size_bytes) == (INSIDE[:1_000], len(INSIDE))
        else:
            assert isinstance(found, REFUSALS), (number, found)
            assert str(stage.home) not in str(found)


@pytest.mark.parametrize("name", ACTIONS)
def test_whatever_is_swapped_at_whatever_step_no_byte_is_written_outside(name: str, tmp_path: Path) -> None:
    for number in range(1, steps(tmp_path / "counted", writing=True) + 1):
        stage = Stage(tmp_path / str(number))
        shelf = DiskShelf(stage.home, watched(ActAt(number, lambda stage=stage: ACTIONS[name](stage))))  # type: ignore[misc]

        with suppress(StudioApplicationError):
            asyncio.run(_done(shelf.files.write(PLACE, b"new")))
        shelf.close()

        assert (stage.outside / "folder" / "file").read_bytes() == SECRET
        assert [path.name for path in (stage.outside / "folder").iterdir()] == ["file"]


@pytest.mark.parametrize("change", ["grow", "shrink", "rewrite"])
def test_a_file_that_is_written_to_while_it_is_read_is_a_conflict(change: str, tmp_path: Path) -> None:
    last = steps(tmp_path / "counted")
    outcomes = []
    for number in range(1, last + 1):
        stage = Stage(tmp_path / str(number))

        def act(file: Path = stage.root / PLACE) -> None:
            if change == "shrink":
                os.truncate(file, 10)
            else:
                with file.open("r+b" if change == "rewrite" else "ab") as opened:
                    opened.write(b"other!")

        outcomes.append(asyncio.run(_read(stage, number, act)))

    conflicts = [found for found in outcomes if isinstance(found, Conflict)]
    assert conflicts
    assert {str(found).endswith("changed while it was read; try again") for found in conflicts} == {True}
    # Before the read begins, and after it has ended, it is one file or the other.
    assert all(isinstance(found, VerifiedPreview | Conflict) for found in outcomes)


def test_a_file_that_grows_for_ever_is_not_followed(tmp_path: Path) -> None:
    stage = Stage(tmp_path)

    def grow(_: int, name: str) -> None:
        if name == "read":
            with (stage.root / PLACE).open("ab") as opened:
                opened.write(b"x" * 300_000)

    shelf = DiskShelf(stage.home, watched(grow))
    with pytest.raises(Conflict):
        asyncio.run(_done(_preview(shelf)))
    shelf.close()


async def test_a_read_whose_caller_is_gone_stops(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    reading, left, stopped = Event(), Event(), Event()
    reads = 0

    def watch(_: int, name: str) -> None:
        nonlocal reads
        if name == "read":
            reads += 1
            reading.set()
            left.wait(20)
        elif name == "close" and left.is_set():
            stopped.set()

    shelf = DiskShelf(stage.home, watched(watch))
    task = asyncio.create_task(_preview(shelf))
    await asyncio.to_thread(reading.wait, 20)
    task.cancel()
    await asyncio.wait([task])
    left.set()

    assert await asyncio.to_thread(stopped.wait, 20)
    assert reads == 1
    shelf.close()


async def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    stage = Stage(tmp_path)

    def full(_: int, name: str) -> None:
        if name == "fsync":
            raise OSError(28, "No space left on device")

    shelf = DiskShelf(stage.home, watched(full))
    with pytest.raises(StudioApplicationError, match="No space left"):
        await shelf.files.write(PLACE, b"new")
    shelf.close()

    assert [path.name for path in (stage.root / "r" / "folder").iterdir()] == ["file"]
    assert (stage.root / PLACE).read_bytes() == INSIDE


async def test_folders_are_the_owners_alone(tmp_path: Path) -> None:
    shelf = DiskShelf(tmp_path)

    await shelf.files.write("r/a/b", b"x")
    await shelf.files.prepare("s")
    shelf.close()

    modes = {path.relative_to(tmp_path): path.stat().st_mode & 0o777 for path in (tmp_path / "artifacts").rglob("*")}
    assert {str(path): oct(mode) for path, mode in modes.items()} == {
        "artifacts/r": "0o700",
        "artifacts/r/a": "0o700",
        "artifacts/r/a/b": "0o600",
        "artifacts/s": "0o700",
    }
