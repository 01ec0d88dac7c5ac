"""Removing old runs, over in-memory ports: what goes, what stays, in which steps, and what becomes of the files."""

import asyncio
from typing import Any

import pytest

from contract.errors import StateUnavailable, ValidationFailure
from contract.retention import PruneResult, PruneRuns
from runs.retention import BATCH_RUNS
from runs.services.pruning import STRAY_SECONDS, RunPruner
from tests.builders import artifact, message, signal, start_run, status
from tests.fakes.clocks import FixedClock
from tests.fakes.run_removal import InMemoryRunFolders, InMemoryRunRemoval, KeptRuns
from tests.fakes.runs import InMemoryRuns
from tests.fakes.turns import until_idle

DAY = 86_400.0


class Desk:
    """A pruner and everything it works on."""

    def __init__(self) -> None:
        self.clock = FixedClock()
        self.runs = InMemoryRuns(clock=self.clock)
        self.kept = KeptRuns()
        self.removal = InMemoryRunRemoval(self.runs, references=(self.kept,))
        self.folders = InMemoryRunFolders()
        self.pruner = RunPruner(runs=self.removal, folders=self.folders, clock=self.clock)

    async def ended(self, run_id: str, *, end: str = "completed", **fields: Any) -> None:
        await self.runs.start_run(run_id, start_run(**fields), at=self.clock.now())
        await self.runs.record_events(run_id, [message(), signal(), artifact(), status(end)], at=self.clock.now())
        self.folders.folders[run_id] = 10

    async def prune(self, days: float = 1, **fields: Any) -> PruneResult:
        return await self.pruner.prune(PruneRuns(older_than_seconds=days * DAY, **fields), pause_seconds=0)

    @property
    def left(self) -> set[str]:
        return set(self.runs.runs)


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def test_old_runs_go_with_all_that_belongs_to_them(desk: Desk) -> None:
    await desk.ended("old")
    desk.clock.advance(DAY)
    await desk.ended("new")

    result = await desk.prune()

    assert result == PruneResult(
        runs=1, messages=1, signals=1, artifacts=1, file_bytes=10, has_more=False, dry_run=False
    )
    assert (desk.left, set(desk.folders.folders)) == ({"new"}, {"new"})


async def test_a_dry_run_tells_all_that_would_go_and_removes_nothing(desk: Desk) -> None:
    for number in range(30):
        await desk.ended(f"r{number}", invocation_id=f"i{number}")
    await desk.runs.start_run("open", start_run(invocation_id="i0"), at=desk.clock.now())
    desk.clock.advance(DAY)

    told = await desk.prune(dry_run=True, limit=1)
    result = await desk.prune()

    assert (told.runs, told.file_bytes, told.kept_referenced, told.has_more) == (29, 290, 1, False)
    assert told.model_copy(update={"dry_run": False}) == result


async def test_no_more_than_the_limit_goes_and_the_cursor_goes_on(desk: Desk) -> None:
    for number in range(5):
        await desk.ended(f"r{number}")
        desk.clock.advance(1)
    desk.clock.advance(DAY)

    first = await desk.prune(limit=2)
    second = await desk.prune(limit=2, cursor=first.next_cursor)
    last = await desk.prune(limit=2, cursor=second.next_cursor)

    assert [(result.runs, result.has_more) for result in (first, second, last)] == [(2, True), (2, True), (1, False)]
    assert last.next_cursor is None


async def test_the_oldest_end_goes_first(desk: Desk) -> None:
    await desk.runs.start_run("slow", start_run(), at=desk.clock.now())
    await desk.ended("quick")
    desk.clock.advance(1)
    await desk.runs.record_events("slow", [status("failed")], at=desk.clock.now())
    desk.clock.advance(DAY)

    await desk.prune(limit=1)

    assert desk.left == {"slow"}


async def test_nothing_is_left_to_ask_for_when_exactly_the_limit_went(desk: Desk) -> None:
    await desk.ended("r")
    desk.clock.advance(DAY)

    assert not (await desk.prune(limit=1)).has_more


async def test_many_go_in_short_transactions(desk: Desk) -> None:
    for number in range(3 * BATCH_RUNS):
        await desk.ended(f"r{number}")
    desk.clock.advance(DAY)

    await desk.prune()

    assert desk.runs.calls["remove"] == 3


async def test_runs_that_stay_cost_no_write(desk: Desk) -> None:
    for number in range(20):
        await desk.ended(f"r{number}", invocation_id="i")
    await desk.runs.start_run("open", start_run(invocation_id="i"), at=desk.clock.now())
    desk.clock.advance(DAY)

    result = await desk.prune()

    assert (result.runs, result.kept_referenced, desk.runs.calls["remove"]) == (0, 20, 0)


async def test_what_is_referred_to_stays_with_its_files(desk: Desk) -> None:
    await desk.ended("kept")
    await desk.ended("r")
    desk.kept.run_ids = {"kept"}
    desk.clock.advance(DAY)

    result = await desk.prune()

    assert (result.runs, result.kept_referenced) == (1, 1)
    assert set(desk.folders.folders) == {"kept"}


async def test_a_run_that_is_referred_to_after_the_look_stays(desk: Desk) -> None:
    await desk.ended("r")
    desk.kept.run_ids, desk.kept.silent = {"r"}, 1
    desk.clock.advance(DAY)

    result = await desk.prune()

    assert (result.runs, result.kept_referenced, desk.left) == (0, 1, {"r"})
    assert set(desk.folders.folders) == {"r"}


@pytest.mark.parametrize(
    ("fields", "left"),
    [
        ({"status": ("failed",)}, {"a", "c"}),
        ({"status": ("failed", "completed")}, {"c"}),
        ({"project": "p"}, {"a", "b"}),
        ({"project": "p", "status": ("failed",)}, {"a", "b", "c"}),
    ],
)
async def test_only_what_is_asked_for_goes(desk: Desk, fields: dict[str, Any], left: set[str]) -> None:
    await desk.ended("a")
    await desk.ended("b", end="failed")
    await desk.ended("c", end="cancelled", project="p")
    desk.clock.advance(DAY)

    await desk.prune(**fields)

    assert desk.left == left


async def test_a_cursor_of_another_command_is_refused_and_nothing_goes(desk: Desk) -> None:
    for number in range(3):
        await desk.ended(f"r{number}")
    desk.clock.advance(DAY)
    cursor = (await desk.prune(limit=1)).next_cursor

    for fields in ({"project": "p"}, {"days": 0.5}, {"status": ("failed",)}):
        with pytest.raises(ValidationFailure):
            await desk.prune(cursor=cursor, **fields)

    assert len(desk.left) == 2


async def test_a_folder_that_resists_is_told_of_and_tried_again(desk: Desk) -> None:
    await desk.ended("r")
    desk.clock.advance(DAY)
    desk.folders.stuck = {"r"}

    first = await desk.prune()
    desk.folders.stuck.clear()
    second = await desk.prune()

    assert (first.runs, first.failed_folders, first.file_bytes) == (1, ("r",), 0)
    assert (second.runs, second.failed_folders, second.file_bytes) == (0, (), 10)


async def test_folders_without_a_run_go_unless_they_are_young(desk: Desk) -> None:
    await desk.ended("r")
    desk.folders.folders |= {"stray": 7, "young": 7}
    desk.folders.changed_at = {"young": desk.clock.now() - STRAY_SECONDS + 1}

    result = await desk.prune()

    assert (result.runs, result.file_bytes) == (0, 7)
    assert set(desk.folders.folders) == {"r", "young"}


async def test_folders_without_a_run_stay_until_all_that_may_go_went(desk: Desk) -> None:
    for run_id in ("a", "b"):
        await desk.ended(run_id)
    desk.folders.folders["stray"] = 7
    desk.clock.advance(DAY)

    await desk.prune(limit=1)

    assert set(desk.folders.folders) == {"b", "stray"}


async def test_a_process_that_dies_between_rows_and_files_leaves_a_folder_that_goes_next(desk: Desk) -> None:
    await desk.ended("r")
    desk.clock.advance(DAY)

    desk.folders.fault = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        await desk.prune()
    desk.folders.fault = None
    assert (desk.left, set(desk.folders.folders)) == (set(), {"r"})

    assert (await desk.prune()).file_bytes == 10
    assert desk.folders.folders == {}


async def test_room_is_given_back_to_the_end(desk: Desk) -> None:
    desk.removal.room = 4

    await desk.prune()

    assert desk.removal.finished == [True] * 4


async def test_a_store_that_fails_is_no_result_and_what_went_before_is_gone(desk: Desk) -> None:
    for number in range(2 * BATCH_RUNS):
        await desk.ended(f"r{number}")
    desk.clock.advance(DAY)
    desk.runs.fault, desk.runs.failing = StateUnavailable(retryable=True), "give_back"

    with pytest.raises(StateUnavailable):
        await desk.prune()

    assert desk.left == set()


async def test_runs_are_removed_again_and_again_until_it_is_cancelled(desk: Desk) -> None:
    for number in range(3):
        await desk.ended(f"r{number}")
    told: list[PruneResult] = []
    keeping = asyncio.create_task(
        desk.pruner.keep_pruned(
            PruneRuns(older_than_seconds=0, limit=2),
            every_seconds=0,
            pause_seconds=0,
            told=told.append,
            on_fault=lambda _: None,
        )
    )
    while sum(result.runs for result in told) < 3:
        await until_idle()
    await desk.ended("late")
    while desk.left:
        await until_idle()
    keeping.cancel()

    assert [result.runs for result in told if result.runs] == [2, 1, 1]


async def test_a_store_that_is_away_for_a_while_ends_no_background(desk: Desk) -> None:
    await desk.ended("r")
    desk.runs.fault = StateUnavailable(retryable=True)
    faults: list[StateUnavailable] = []
    keeping = asyncio.create_task(
        desk.pruner.keep_pruned(
            PruneRuns(older_than_seconds=0),
            every_seconds=0,
            pause_seconds=0,
            told=lambda _: None,
            on_fault=faults.append,
        )
    )
    while not faults:
        await until_idle()
    desk.runs.fault = None
    while desk.left:
        await until_idle()
    keeping.cancel()

    assert faults[0].retryable
