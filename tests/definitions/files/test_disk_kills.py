"""A process that is killed at any moment of a change."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path

import pytest

from tests.definitions.files.hands import DiskHome
from tests.definitions.files.killed import CHANGES, HAND, NEW, OLD, PLACE, SYSTEMS

ROOT = Path(__file__).parents[3]
OLD_DATA, NEW_DATA, HAND_DATA = (text.encode() for text in (OLD, NEW, HAND))


@dataclass(frozen=True)
class Killed:
    """In the first home the process was killed before its first call, and so on; in the last it came to its end."""

    change: str
    homes: list[DiskHome]


@pytest.fixture(scope="module", params=product(CHANGES, SYSTEMS), ids="-".join)
def killed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Killed:
    change, system = request.param
    folder = tmp_path_factory.mktemp("killed")
    command = [sys.executable, "-m", "tests.definitions.files.killed", change, system, str(folder)]
    subprocess.run(command, cwd=ROOT, check=True)
    homes = [DiskHome(path) for path in sorted(folder.iterdir(), key=lambda path: int(path.name))]
    return Killed(change, homes)


async def test_a_process_killed_at_any_call_leaves_whole_texts_and_loses_none(killed: Killed) -> None:
    homes, change = killed.homes, killed.change

    found = [home.content(PLACE) for home in homes]
    beside = [[leftover.content or b"" for leftover in await home.files.leftovers()] for home in homes]

    assert len(homes) > 12
    assert beside[-1] == []
    for place, others in zip(found, beside, strict=True):
        assert place in (None, OLD_DATA, NEW_DATA, HAND_DATA)
        assert all(text in (OLD_DATA, HAND_DATA) or NEW_DATA.startswith(text) for text in others)
    if change != "create":
        _assert_kept(change, [{place or b"", *others} for place, others in zip(found, beside, strict=True)])
    # What is reached is never taken back, but for what gives way to a hand's text.
    if not change.endswith("edited"):
        assert sum(one != other for one, other in pairwise(found)) == 1


async def test_whoever_starts_after_a_kill_can_write_at_once(killed: Killed, tmp_path: Path) -> None:
    for home in [_copy(home, tmp_path / home.path.name) for home in killed.homes]:
        before = {leftover.relative_path for leftover in await home.files.leftovers()}

        await home.files.write_current("agent", "a", "next\n", replacing=await home.files.current_hash("agent", "a"))

        assert home.content(PLACE) == b"next\n"
        assert {leftover.relative_path for leftover in await home.files.leftovers()} == before


def _copy(home: DiskHome, path: Path) -> DiskHome:
    shutil.copytree(home.path, path)
    return DiskHome(path)


def _assert_kept(change: str, held: list[set[bytes]]) -> None:
    """The old text is somewhere until the change is made; a hand's text is from when it came."""
    kept = [OLD_DATA in texts or HAND_DATA in texts for texts in held]
    made = [NEW_DATA in texts or change == "remove" for texts in held]
    assert all(one or other for one, other in zip(kept, made, strict=True))
    assert kept == sorted(kept, reverse=True)
    if change.endswith("edited"):
        came = [HAND_DATA in texts for texts in held]
        assert all(kept)
        assert came == sorted(came)
