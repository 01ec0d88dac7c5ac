import os
import subprocess
import sys
from pathlib import Path

import pytest

from studio_project.home import LOCK_NAME, HomeLock, HomeTaken, HomeUnusable, is_worked, working


def test_the_first_daemon_takes_the_home_and_says_who_it_is(tmp_path: Path) -> None:
    lock = HomeLock(tmp_path / "home").take(pid=7)
    lock.tell(pid=7, port=8765)

    assert (tmp_path / "home" / LOCK_NAME).read_text() == '{"pid": 7, "port": 8765}\n'
    lock.release()


def test_a_home_is_the_owners_alone(tmp_path: Path) -> None:
    HomeLock(tmp_path / "home").take(pid=7).release()

    assert (tmp_path / "home").stat().st_mode & 0o077 == 0
    assert (tmp_path / "home" / LOCK_NAME).stat().st_mode & 0o077 == 0


def test_the_second_daemon_is_refused_with_the_first_ones_pid_and_port(tmp_path: Path) -> None:
    first = HomeLock(tmp_path).take(pid=7)
    first.tell(pid=7, port=8765)

    with pytest.raises(HomeTaken, match="pid 7, port 8765") as refused:
        HomeLock(tmp_path).take(pid=8)

    assert (refused.value.holder.pid, refused.value.holder.port) == (7, 8765)
    first.release()


@pytest.mark.parametrize("home", ["file", "file/below", "/proc/nope"])
def test_a_home_that_cannot_be_made_is_said(tmp_path: Path, home: str) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(HomeUnusable, match=r"cannot be used: \w+"):
        HomeLock(tmp_path / home).take(pid=7)


def test_a_lock_that_is_a_folder_is_said_and_nothing_is_held(tmp_path: Path) -> None:
    (tmp_path / LOCK_NAME).mkdir()

    with pytest.raises(HomeUnusable):
        HomeLock(tmp_path).take(pid=7)

    (tmp_path / LOCK_NAME).rmdir()
    HomeLock(tmp_path).take(pid=8).release()


def test_the_refused_daemon_changes_nothing(tmp_path: Path) -> None:
    first = HomeLock(tmp_path).take(pid=7)
    before = (tmp_path / LOCK_NAME).read_text()

    with pytest.raises(HomeTaken):
        HomeLock(tmp_path).take(pid=8)

    assert (tmp_path / LOCK_NAME).read_text() == before
    assert [path.name for path in tmp_path.iterdir()] == [LOCK_NAME]
    first.release()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid": 1}', b"\xff\xfe", b"null"])
def test_a_holder_that_has_not_told_yet_is_still_a_holder(tmp_path: Path, content: bytes) -> None:
    first = HomeLock(tmp_path).take(pid=7)
    (tmp_path / LOCK_NAME).write_bytes(content)

    with pytest.raises(HomeTaken, match="just starting"):
        HomeLock(tmp_path).take(pid=8)
    first.release()


def test_a_home_that_was_let_go_can_be_taken_again(tmp_path: Path) -> None:
    first = HomeLock(tmp_path).take(pid=7)
    first.release()
    first.release()

    HomeLock(tmp_path).take(pid=8).release()


def test_a_shorter_line_leaves_nothing_of_a_longer_one(tmp_path: Path) -> None:
    lock = HomeLock(tmp_path).take(pid=4_000_000)
    lock.tell(pid=4_000_000, port=65_535)
    lock.tell(pid=1, port=1)

    assert (tmp_path / LOCK_NAME).read_text() == '{"pid": 1, "port": 1}\n'
    lock.release()


def test_nothing_is_told_without_the_lock(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        HomeLock(tmp_path).tell(pid=1, port=1)


def test_a_daemon_that_was_killed_holds_nothing(tmp_path: Path) -> None:
    program = (
        "import os, signal, pathlib; from studio_project.home import HomeLock;"
        f"HomeLock(pathlib.Path({str(tmp_path)!r})).take(pid=os.getpid()); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", program], cwd=Path(__file__).parents[2], check=False)

    HomeLock(tmp_path).take(pid=os.getpid()).release()


# ---- whether anybody works


def test_a_home_is_worked_as_long_as_any_of_its_workers_is_there(tmp_path: Path) -> None:
    before = is_worked(tmp_path)
    with working(tmp_path):
        with working(tmp_path):
            pass
        meanwhile = is_worked(tmp_path)

    assert (before, meanwhile, is_worked(tmp_path)) == (False, True, False)


def test_who_looks_for_workers_is_in_nobodys_way(tmp_path: Path) -> None:
    with working(tmp_path):
        assert is_worked(tmp_path)
        with working(tmp_path):
            assert is_worked(tmp_path)


def test_nobody_works_where_there_is_no_home(tmp_path: Path) -> None:
    assert not is_worked(tmp_path / "home")
    assert not (tmp_path / "home").exists()


def test_a_worker_that_is_there_first_makes_the_home_for_its_owner_alone(tmp_path: Path) -> None:
    with working(tmp_path / "new" / "home"):
        assert is_worked(tmp_path / "new" / "home")

    assert (tmp_path / "new" / "home").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("home", ["file", "file/below", "/proc/nope"])
def test_a_home_in_which_nobody_can_work_is_said(tmp_path: Path, home: str) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(HomeUnusable, match=r"cannot be used: \w+"), working(tmp_path / home):
        pass
