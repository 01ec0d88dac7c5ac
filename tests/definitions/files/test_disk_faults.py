"""A disk that fails at any call: the file is whole, and the fault is said."""

import errno
import hashlib
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path

import pytest

from contract.errors import StudioApplicationError
from definitions.errors import WriteFault
from definitions.files.disk import DiskDefinitionFiles
from definitions.files.syscalls import Syscalls
from tests.definitions.files.hands import DiskHome
from tests.definitions.files.watched import FailAt, FailNamed, LinkingSyscalls, PlainSyscalls, watched

OLD, NEW = "old\n" * 5_000, "new\n" * 9_000
SHA = hashlib.sha256(OLD.encode()).hexdigest()
CODES = {
    errno.ENOSPC: "no_space",
    errno.EDQUOT: "no_space",
    errno.EACCES: "no_permission",
    errno.EROFS: "read_only",
    errno.EIO: "io",
}

Change = Callable[[DiskDefinitionFiles], Awaitable[object]]


async def create(files: DiskDefinitionFiles) -> object:
    return await files.write_current("agent", "a", NEW)


async def replace(files: DiskDefinitionFiles) -> object:
    return await files.write_current("agent", "a", NEW, replacing=SHA)


async def remove(files: DiskDefinitionFiles) -> object:
    await files.remove_current("agent", "a", replacing=SHA)
    return None


CHANGES: list[tuple[Change, str | None, str | None]] = [(create, None, NEW), (replace, OLD, NEW), (remove, OLD, None)]


class Attempt:
    """A change in a home of its own, during which the n-th call fails."""

    def __init__(self, path: Path, watch: FailAt, system: Syscalls, before: str | None) -> None:
        path.mkdir()
        self.home = DiskHome(path, watched(watch, system))
        if before is not None:
            self.home.edit("agents/a.md", before)
        self.fault: WriteFault | None = None

    async def make(self, change: Change) -> "Attempt":
        try:
            await change(self.home.files)
        except WriteFault as fault:
            self.fault = fault
        return self

    @property
    def text(self) -> str | None:
        data = self.home.content("agents/a.md")
        return None if data is None else data.decode()

    @property
    def temporaries(self) -> list[bytes]:
        return [data for path, data in self.home.all().items() if path.endswith(".studio-tmp")]


@pytest.mark.parametrize(
    ("system", "code"),
    [*((Syscalls, code) for code in CODES), (LinkingSyscalls, errno.EIO), (PlainSyscalls, errno.EIO)],
)
@pytest.mark.parametrize(("change", "before", "after"), CHANGES, ids=["create", "replace", "remove"])
async def test_a_fault_at_any_call_leaves_the_whole_old_or_the_whole_new_text(
    tmp_path: Path, change: Change, before: str | None, after: str | None, code: int, system: type[Syscalls]
) -> None:
    failed = []

    for number in count(1):
        watch = FailAt(number, code)
        attempt = await Attempt(tmp_path / str(number), watch, system(), before).make(change)
        if watch.failed is None:
            assert (attempt.text, attempt.temporaries) == (after, [])
            break
        failed.append(watch.failed)
        assert attempt.text in ((before, after) if attempt.fault is not None else (after,)), watch.failed
        assert attempt.fault is None or attempt.fault.code == CODES[code]
        # Of a change that is made the old text may stay for the next sweep; of one that is not, what cannot be removed.
        swept = [] if before is None or attempt.text != after else [before.encode()]
        assert watch.failed in {"unlink", "rmdir"} or attempt.temporaries in ([], swept)

    assert len(failed) > 8


@pytest.mark.parametrize("system", [Syscalls, LinkingSyscalls, PlainSyscalls])
@pytest.mark.parametrize(("change", "before", "after"), CHANGES, ids=["create", "replace", "remove"])
async def test_a_disk_that_dies_at_any_call_loses_nothing(
    tmp_path: Path, change: Change, before: str | None, after: str | None, system: type[Syscalls]
) -> None:
    for number in count(1):
        watch = FailAt(number, errno.EIO, lasting=True)
        attempt = await Attempt(tmp_path / str(number), watch, system(), before).make(change)
        assert attempt.text in (before, after)
        if watch.failed is None:
            assert attempt.text == after
            break
        # Until the call returns, the old text is somewhere.
        held = [*attempt.temporaries, (attempt.text or "").encode()]
        assert before is None or before.encode() in held or watch.failed in {"fsync", "close", "rmdir"}


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO, errno.EMFILE])
async def test_a_fault_while_reading_is_told_without_the_hosts_paths(tmp_path: Path, code: int) -> None:
    expected = {
        errno.EACCES: ("permission_denied", None),
        errno.EIO: ("state_unavailable", False),
        errno.EMFILE: ("state_unavailable", True),
    }
    DiskHome(tmp_path).edit("agents/a/a.md", OLD)
    told: list[StudioApplicationError] = []

    for number in count(1):
        watch = FailAt(number, code)
        try:
            await DiskHome(tmp_path, watched(watch)).files.read_current("agent", "a")
        except StudioApplicationError as error:
            told.append(error)
        if watch.failed is None:
            break

    assert len(told) >= 6
    assert {(error.code, getattr(error, "retryable", None)) for error in told} == {expected[code]}
    assert all(str(error).startswith("agents") and str(tmp_path) not in str(error) for error in told)


async def test_a_fault_while_looking_at_many_is_a_problem_of_one_or_of_all(tmp_path: Path) -> None:
    DiskHome(tmp_path).edit("agents/a.md", OLD)
    DiskHome(tmp_path).edit("agents/b.md", OLD)
    problems: list[int] = []

    for number in count(1):
        watch = FailAt(number, errno.EIO)
        seen = await DiskHome(tmp_path, watched(watch)).files.observe("agent", ["a", "b"])
        assert all((one.problem is None) == (one.sha256 == SHA) for one in seen)
        if watch.failed is None:
            break
        problems.append(sum(one.problem is not None for one in seen))

    assert problems[0] == 2
    assert set(problems[1:]) == {0, 1}


async def test_a_fault_while_looking_over_a_root_is_told(tmp_path: Path) -> None:
    home = DiskHome(tmp_path, watched(FailAt(2, errno.EIO)))
    home.edit("agents/a.md", OLD)

    with pytest.raises(StudioApplicationError, match="agents cannot be read"):
        await home.files.names("agent")


async def test_a_leftover_that_cannot_be_removed_is_a_fault(tmp_path: Path) -> None:
    DiskHome(tmp_path).edit("agents/.a.md.0123456789abcdef.studio-tmp", "half")
    (leftover,) = await DiskHome(tmp_path).files.leftovers()

    for number in (1, 2):
        files = DiskHome(tmp_path, watched(FailAt(number, errno.EROFS))).files
        with pytest.raises(WriteFault) as rescued:
            await files.rescue(leftover)
        assert rescued.value.code == "read_only"
    system = watched(FailNamed("unlink", errno.EROFS))
    with pytest.raises(WriteFault) as discarded:
        await DiskHome(tmp_path, system).files.discard(leftover)
    assert discarded.value.code == "read_only"

    assert await DiskHome(tmp_path).files.leftovers() == (leftover,)


async def test_leftovers_that_cannot_be_looked_for_hide_no_others(tmp_path: Path) -> None:
    home = DiskHome(tmp_path)
    home.edit("agents", "no folder")
    home.edit("playbooks/.n.playbook.yaml.0123456789abcdef.studio-tmp", "half")

    leftovers = await home.files.leftovers()

    assert [leftover.name for leftover in leftovers] == ["n"]
