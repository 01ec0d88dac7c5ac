"""People who edit a file in the middle of a save: what they wrote is never lost."""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from definitions.errors import FileChanged, WriteFault
from definitions.files.disk import DiskDefinitionFiles
from definitions.files.syscalls import Syscalls
from tests.definitions.files.hands import DiskHome
from tests.definitions.files.watched import ActAt, LinkingSyscalls, PlainSyscalls, watched

OLD, NEW, HAND, LATER = "old\n", "new\n", "by hand\n", "later by hand\n"
SHA = hashlib.sha256(OLD.encode()).hexdigest()
PLACE = "agents/a.md"

Change = Callable[[DiskDefinitionFiles], Awaitable[object]]
Hand = Callable[[DiskHome], None]


async def create(files: DiskDefinitionFiles) -> object:
    return await files.write_current("agent", "a", NEW)


async def replace(files: DiskDefinitionFiles) -> object:
    return await files.write_current("agent", "a", NEW, replacing=SHA)


async def remove(files: DiskDefinitionFiles) -> object:
    await files.remove_current("agent", "a", replacing=SHA)
    return None


def in_place(home: DiskHome) -> None:
    home.edit(PLACE, HAND)


def anew(home: DiskHome) -> None:
    home.edit_anew(PLACE, HAND)


def take_away(home: DiskHome) -> None:
    home.remove(PLACE)


def make_a_link(home: DiskHome) -> None:
    home.edit("elsewhere", HAND)
    home.remove(PLACE)
    (home.path / PLACE).symlink_to("../elsewhere")


def make_a_folder(home: DiskHome) -> None:
    home.remove(PLACE)
    home.edit(f"{PLACE}/inside", HAND)


@dataclass(frozen=True)
class Step:
    """A home after a change; `made`: it was made; `call`: what the first hand came before."""

    home: DiskHome
    made: bool
    call: str

    @property
    def holds_hand(self) -> bool:
        return HAND.encode() in self.home.all().values()


class Walk:
    """The same change again and again, with a hand before its first, its second, ... and its last call."""

    def __init__(self, path: Path, change: Change, before: str | None, system: type[Syscalls] = Syscalls) -> None:
        self._path = path
        self._change = change
        self._before = before
        self._system = system

    async def with_hand(self, *hands: Hand) -> list[Step]:
        """Return what came of each. Further hands act before the next calls."""
        seen: list[Step] = []
        for number in range(1, 100):
            path = self._path / str(number)
            path.mkdir()
            home = DiskHome(path)
            home.edit("agents/other.md", "other")
            if self._before is not None:
                home.edit(PLACE, self._before)
            watch = ActAt({number + i: partial(hand, home) for i, hand in enumerate(hands)})
            files = DiskHome(path, watched(watch, self._system())).files
            try:
                await self._change(files)
                made = True
            except (FileChanged, WriteFault):
                made = False
            if watch.left:
                break
            seen.append(Step(home, made, watch.calls[0]))
        return seen


@pytest.mark.parametrize("hand", [in_place, anew, make_a_link, make_a_folder])
@pytest.mark.parametrize(("change", "before"), [(create, None), (replace, OLD), (remove, OLD)])
async def test_what_comes_by_hand_at_any_moment_is_in_the_file_or_beside_it(
    tmp_path: Path, change: Change, before: str | None, hand: Hand
) -> None:
    walked = await Walk(tmp_path, change, before).with_hand(hand)

    assert len(walked) > 8
    assert {step.made for step in walked} == {True, False}
    for step in walked:
        assert step.holds_hand
        # It came before the change was made, and has its place back, or after, and has taken it.
        assert step.made or step.home.content(PLACE) != NEW.encode()
        assert await step.home.files.leftovers() == ()


@pytest.mark.parametrize(("change", "before"), [(create, None), (replace, OLD), (remove, OLD)])
async def test_a_file_taken_away_at_any_moment_stays_away(tmp_path: Path, change: Change, before: str | None) -> None:
    walked = await Walk(tmp_path, change, before).with_hand(take_away)

    for step in walked:
        found = step.home.content(PLACE)
        assert found is None or (step.made and found == NEW.encode())
        assert await step.home.files.leftovers() == ()


async def test_of_two_edits_in_a_row_none_is_lost(tmp_path: Path) -> None:
    def later(home: DiskHome) -> None:
        home.edit_anew(PLACE, LATER)

    walked = await Walk(tmp_path, replace, OLD).with_hand(anew, later)

    beside = 0
    for step in walked:
        leftovers = [leftover.content for leftover in await step.home.files.leftovers()]
        assert LATER.encode() in [step.home.content(PLACE), *leftovers]
        beside += len(leftovers)
    assert beside == 1


@pytest.mark.parametrize("system", [Syscalls, LinkingSyscalls])
async def test_an_edit_that_is_taken_away_at_once_brings_nothing_of_ours_back(
    tmp_path: Path, system: type[Syscalls]
) -> None:
    walked = await Walk(tmp_path, replace, OLD, system).with_hand(anew, take_away)

    for step in walked:
        assert step.home.content(PLACE) in (None, HAND.encode())
        assert await step.home.files.leftovers() == ()


@pytest.mark.parametrize(("change", "before"), [(create, None), (replace, OLD), (remove, OLD)])
@pytest.mark.parametrize("hand", [in_place, anew])
async def test_without_an_exchange_only_a_rename_in_the_last_blink_is_not_seen(
    tmp_path: Path, change: Change, before: str | None, hand: Hand
) -> None:
    walked = await Walk(tmp_path, change, before, LinkingSyscalls).with_hand(hand)

    lost = [step.call for step in walked if not step.holds_hand]
    assert lost == (["rename"] if change is replace and hand is anew else [])


@pytest.mark.parametrize(("change", "before"), [(create, None), (replace, OLD), (remove, OLD)])
async def test_without_second_names_what_comes_after_the_last_look_is_not_seen(
    tmp_path: Path, change: Change, before: str | None
) -> None:
    walked = await Walk(tmp_path, change, before, PlainSyscalls).with_hand(anew)

    lost = [step.call for step in walked if not step.holds_hand]
    assert lost[-1:] == ([] if change is remove else ["rename"])
    assert set(lost) <= {"fstat", "read", "close", "rename"}


@pytest.mark.parametrize("change", [replace, remove])
async def test_an_editor_that_is_still_writing_keeps_its_file(tmp_path: Path, change: Change) -> None:
    home = DiskHome(tmp_path)
    home.edit(PLACE, OLD)
    with (home.path / PLACE).open("a") as editor:
        await change(home.files)
        editor.write(HAND)

    (kept,) = await home.files.leftovers()

    assert kept.content == (OLD + HAND).encode()


async def test_a_leftover_that_is_being_written_is_discarded_another_time(tmp_path: Path) -> None:
    home = DiskHome(tmp_path)
    home.edit(f"agents/.a.md.{'0' * 16}.studio-tmp", OLD)
    (leftover,) = await home.files.leftovers()
    with (home.path / leftover.relative_path).open("a"):
        await home.files.discard(leftover)
        kept = await home.files.leftovers()
    await home.files.discard(leftover)

    assert kept == (leftover,)
    assert await home.files.leftovers() == ()
