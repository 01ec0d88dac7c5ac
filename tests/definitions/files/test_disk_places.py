"""What only a disk has: links, folders, pipes, modes, owners, and readers in between."""

import asyncio
import hashlib
import os
import socket
import stat
import threading
from pathlib import Path

import pytest

from contract.errors import Conflict, PermissionDenied
from definitions.errors import FileChanged, WriteFault
from definitions.files.syscalls import Syscalls
from tests.definitions.files.hands import DiskHome

OLD = "old\n"
SHA = hashlib.sha256(OLD.encode()).hexdigest()


def link(disk: DiskHome, path: str, target: str) -> None:
    (disk.path / path).parent.mkdir(parents=True, exist_ok=True)
    (disk.path / path).symlink_to(target)


def pipe(disk: DiskHome, path: str) -> None:
    (disk.path / path).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(disk.path / path)


@pytest.mark.parametrize("target", ["../secret.md", "nowhere", "a.md", "other.md", "/dev/zero"])
async def test_no_link_below_a_root_is_followed(disk: DiskHome, target: str) -> None:
    disk.edit("secret.md", OLD)
    disk.edit("agents/other.md", OLD)
    link(disk, "agents/a.md", target)
    everything = disk.all()

    with pytest.raises(PermissionDenied, match=r"^agents/a\.md is a symbolic link; "):
        await disk.files.read_current("agent", "a")
    (seen,) = await disk.files.observe("agent", ["a"])
    for replacing in (None, SHA):
        with pytest.raises(WriteFault) as fault:
            await disk.files.write_current("agent", "a", "new\n", replacing=replacing)
        assert fault.value.code == "not_a_file"
    with pytest.raises(WriteFault):
        await disk.files.remove_current("agent", "a", replacing=SHA)

    assert seen.problem is not None
    assert "symbolic link" in seen.problem
    assert await disk.files.names("agent") == ("a", "other")
    assert disk.all() == everything
    assert (disk.path / "agents/a.md").readlink() == Path(target)


async def test_no_link_to_a_folder_is_followed(disk: DiskHome) -> None:
    disk.edit("outside/a.md", OLD)
    link(disk, "agents/a", "../outside")

    with pytest.raises(PermissionDenied, match=r"^agents/a is a symbolic link; "):
        await disk.files.read_current("agent", "a")
    with pytest.raises(WriteFault):
        await disk.files.write_current("agent", "a", "new\n", replacing=SHA)
    (seen,) = await disk.files.observe("agent", ["a"])

    assert seen.problem is not None
    assert await disk.files.names("agent") == ("a",)
    assert disk.all() == {"outside/a.md": OLD.encode()}


async def test_a_link_beside_the_used_file_is_no_second_file(disk: DiskHome) -> None:
    disk.edit("outside/a.md", OLD)
    link(disk, "agents/a", "../outside")
    disk.edit("agents/a.md", OLD)

    (seen,) = await disk.files.observe("agent", ["a"])

    assert (seen.sha256, seen.problem, seen.shadowed) == (SHA, None, None)


async def test_a_root_may_be_a_link(disk: DiskHome) -> None:
    disk.edit("repository/a.md", OLD)
    link(disk, "agents", "repository")

    await disk.files.write_current("agent", "a", "new\n", replacing=SHA)
    await disk.files.write_current("agent", "b", "b\n")

    assert await disk.files.names("agent") == ("a", "b")
    assert disk.all() == {"repository/a.md": b"new\n", "repository/b.md": b"b\n"}


@pytest.mark.parametrize("nowhere", [True, False])
async def test_a_root_that_leads_to_no_folder_is_refused(disk: DiskHome, nowhere: bool) -> None:
    link(disk, "agents", "missing" if nowhere else "file")
    disk.edit("file", "no folder")

    with pytest.raises(WriteFault) as fault:
        await disk.files.write_current("agent", "a", "new\n")
    (seen,) = await disk.files.observe("agent", ["a"])

    assert fault.value.code == "not_a_file"
    assert (seen.problem is None) == nowhere
    with pytest.raises(Conflict):
        await disk.files.names("agent")
    assert disk.all() == {"file": b"no folder"}


async def test_a_root_that_is_a_file_is_a_conflict(disk: DiskHome) -> None:
    disk.edit("agents", "no folder")

    for look in (disk.files.names, disk.files.strangers):
        with pytest.raises(Conflict, match=r"^agents is no folder$"):
            await look("agent")
    with pytest.raises(Conflict):
        await disk.files.read_current("agent", "a")


async def test_what_is_no_regular_file_is_a_conflict_and_never_waited_for(disk: DiskHome) -> None:
    pipe(disk, "agents/pipe.md")
    (disk.path / "agents/folder.md").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(disk.path / "agents/socket.md"))

        async with asyncio.timeout(5):
            for name, thing in (("pipe", "a named pipe"), ("folder", "a folder"), ("socket", "a socket")):
                with pytest.raises(Conflict, match=f"^agents/{name}.md is {thing}, not a regular file$") as refused:
                    await disk.files.read_current("agent", name)
                with pytest.raises(WriteFault) as fault:
                    await disk.files.write_current("agent", name, "new\n", replacing=SHA)
                assert refused.value.actual == thing
                assert fault.value.code == "not_a_file"
            seen = await disk.files.observe("agent", ["pipe", "folder", "socket"])

    assert all(one.problem is not None for one in seen)
    assert await disk.files.names("agent") == ("folder", "pipe", "socket")


async def test_a_pipe_put_there_between_the_look_and_the_opening_is_not_waited_for(tmp_path: Path) -> None:
    class Swapping(Syscalls):
        def open(self, name: str, flags: int, *, folder: int, mode: int = 0) -> int:
            if name == "a.md":
                disk.remove("agents/a.md")
                pipe(disk, "agents/a.md")
            return super().open(name, flags, folder=folder, mode=mode)

    disk = DiskHome(tmp_path, Swapping())
    disk.edit("agents/a.md", OLD)

    async with asyncio.timeout(5):
        with pytest.raises(Conflict):
            await disk.files.read_current("agent", "a")


async def test_a_link_put_there_between_the_look_and_the_opening_is_not_followed(tmp_path: Path) -> None:
    class Swapping(Syscalls):
        def open(self, name: str, flags: int, *, folder: int, mode: int = 0) -> int:
            if name == "a.md":
                disk.remove("agents/a.md")
                link(disk, "agents/a.md", "../secret.md")
            return super().open(name, flags, folder=folder, mode=mode)

    disk = DiskHome(tmp_path, Swapping())
    disk.edit("secret.md", "secret")
    disk.edit("agents/a.md", OLD)

    with pytest.raises(PermissionDenied):
        await disk.files.read_current("agent", "a")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444, 0o755])
async def test_mode_and_owner_stay(disk: DiskHome, mode: int) -> None:
    file = disk.path / "agents/a.md"
    disk.edit("agents/a.md", OLD)
    if os.geteuid() == 0:  # nobody else may give files away
        os.chown(file, 12_345, 23_456)
    file.chmod(mode)
    before = file.stat()

    await disk.files.write_current("agent", "a", "new\n", replacing=SHA)

    after = file.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert after.st_ino != before.st_ino


async def test_a_file_whose_owner_cannot_be_kept_is_still_written(tmp_path: Path) -> None:
    class Unprivileged(Syscalls):
        def fstat(self, descriptor: int) -> os.stat_result:
            found = list(super().fstat(descriptor))
            found[stat.ST_UID] += next(strangers)
            return os.stat_result(found)

        def fchown(self, descriptor: int, owner: int, group: int) -> None:
            asked.append((owner == -1, group == -1))
            raise PermissionError

    strangers = iter(range(100))
    asked: list[tuple[bool, bool]] = []
    disk = DiskHome(tmp_path, Unprivileged())
    disk.edit("agents/a.md", OLD)

    await disk.files.write_current("agent", "a", "new\n", replacing=SHA)

    assert asked == [(False, False), (True, False)]
    assert disk.content("agents/a.md") == b"new\n"


async def test_a_new_file_has_the_mode_that_new_files_have(disk: DiskHome) -> None:
    disk.edit("agents/usual.md", OLD)

    await disk.files.write_current("agent", "a", "new\n")

    assert (disk.path / "agents/a.md").stat().st_mode == (disk.path / "agents/usual.md").stat().st_mode


async def test_a_disk_that_takes_little_at_once_gets_everything(tmp_path: Path) -> None:
    class Slow(Syscalls):
        def write(self, descriptor: int, data: memoryview) -> int:
            return super().write(descriptor, data[:7])

        def read(self, descriptor: int, size: int) -> bytes:
            return super().read(descriptor, min(size, 5))

    disk = DiskHome(tmp_path, Slow())

    result = await disk.files.write_current("agent", "a", "0123456789" * 100)

    assert disk.content("agents/a.md") == b"0123456789" * 100
    assert await disk.files.current_hash("agent", "a") == result.sha256


async def test_readers_see_the_whole_old_or_the_whole_new_text(disk: DiskHome) -> None:
    texts = ["a" * 90_000, "b" * 60_000, "c" * 100]
    sha = (await disk.files.write_current("agent", "a", texts[0])).sha256
    seen: set[bytes] = set()
    ended = threading.Event()

    def read_on() -> None:
        while not ended.is_set():
            seen.add((disk.path / "agents/a.md").read_bytes())

    reader = threading.Thread(target=read_on)
    reader.start()
    try:
        for number in range(300):
            text = texts[(number + 1) % 3]
            sha = (await disk.files.write_current("agent", "a", text, replacing=sha)).sha256
    finally:
        ended.set()
        reader.join()

    assert seen <= {text.encode() for text in texts}
    assert len(seen) == 3


async def test_of_many_writers_with_the_same_base_one_wins(disk: DiskHome) -> None:
    disk.edit("agents/a.md", OLD)
    texts = [f"writer {number}\n" for number in range(20)]

    results = await asyncio.gather(
        *(disk.files.write_current("agent", "a", text, replacing=SHA) for text in texts), return_exceptions=True
    )

    won = [text for text, result in zip(texts, results, strict=True) if not isinstance(result, BaseException)]
    assert len(won) == 1
    assert all(isinstance(result, FileChanged) for result in results if isinstance(result, BaseException))
    assert disk.all() == {"agents/a.md": won[0].encode()}


async def test_names_that_are_no_text_are_strangers_and_can_be_shown(disk: DiskHome) -> None:
    disk.edit("agents/a.md", OLD)
    (disk.path / "agents" / os.fsdecode(b"bad\xff\x1b.md")).write_bytes(b"")

    ((path, _),) = await disk.files.strangers("agent")

    assert path == "agents/bad?\\x1b.md"
    assert await disk.files.names("agent") == ("a",)


async def test_a_folder_that_holds_more_than_the_file_stays(disk: DiskHome) -> None:
    disk.edit("agents/a/a.md", OLD)
    disk.edit("agents/a/notes.txt", "notes")
    disk.edit("agents/b/b.md", OLD)

    await disk.files.remove_current("agent", "a", replacing=SHA)
    await disk.files.remove_current("agent", "b", replacing=SHA)

    assert disk.all() == {"agents/a/notes.txt": b"notes"}
    assert not (disk.path / "agents/b").exists()


async def test_only_temporary_files_can_be_discarded_or_rescued(disk: DiskHome) -> None:
    disk.edit("agents/.a.md.0123456789abcdef.studio-tmp", "half")
    disk.edit("agents/a.md", OLD)
    (leftover,) = await disk.files.leftovers()
    forged = type(leftover)(kind="agent", name="a", relative_path="agents/a.md", content=None)

    with pytest.raises(ValueError, match="is no leftover"):
        await disk.files.discard(forged)
    with pytest.raises(ValueError, match="is no leftover"):
        await disk.files.rescue(forged)

    assert disk.content("agents/a.md") == OLD.encode()


async def test_a_leftover_that_is_no_file_is_rescued_with_what_it_holds(disk: DiskHome) -> None:
    disk.edit("agents/.a.md.0123456789abcdef.studio-tmp/inside.txt", "kept")
    (leftover,) = await disk.files.leftovers()

    with pytest.raises(WriteFault):
        await disk.files.discard(leftover)
    path = await disk.files.rescue(leftover)

    assert leftover.content is None
    assert disk.all() == {f"{path}/inside.txt": b"kept"}
