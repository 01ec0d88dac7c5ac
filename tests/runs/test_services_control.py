"""Steering runs: cancel, tags, and settling those whose process is gone."""

import asyncio

import pytest

from contract.errors import Conflict, NotFound, StateUnavailable, ValidationFailure
from contract.runs import CancelRun, ChangeTags
from runs.services.control import cancel_run, change_run_tags, keep_settling, settle_gone_runs
from tests.builders import start_run, status
from tests.fakes.clocks import FixedClock
from tests.fakes.processes import FakeProcesses
from tests.fakes.runs import InMemoryRuns
from tests.fakes.turns import outcome_of, until_idle


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def probe() -> FakeProcesses:
    return FakeProcesses()


@pytest.fixture
def runs(clock: FixedClock, probe: FakeProcesses) -> InMemoryRuns:
    return InMemoryRuns(clock=clock, probe=probe)


async def started(runs: InMemoryRuns, run_id: str, **fields: object) -> None:
    await runs.start_run(run_id, start_run(**fields), at=runs.clock.now())


async def settled(runs: InMemoryRuns, told: list[int] | None = None) -> int:
    progress = [] if told is None else told
    return await settle_gone_runs(runs=runs, probe=runs.probe, clock=runs.clock, progress=progress.append)


async def test_cancelling_a_running_run_marks_it(runs: InMemoryRuns, clock: FixedClock) -> None:
    await started(runs, "r")

    result = await cancel_run(run_id="r", command=CancelRun(), runs=runs, clock=clock)

    assert (result.status, result.cancel_requested_at) == ("running", clock.now())


async def test_cancelling_a_queued_run_ends_it(runs: InMemoryRuns, clock: FixedClock) -> None:
    runs.add_queued("r", start_run(), at=clock.now())

    result = await cancel_run(run_id="r", command=CancelRun(reason="not needed"), runs=runs, clock=clock)

    assert result.status == "cancelled"
    assert runs.runs["r"].reason_summary == "not needed"


async def test_cancelling_again_changes_nothing(runs: InMemoryRuns, clock: FixedClock) -> None:
    await started(runs, "r")
    first = await cancel_run(run_id="r", command=CancelRun(), runs=runs, clock=clock)
    clock.advance(10)

    assert await cancel_run(run_id="r", command=CancelRun(), runs=runs, clock=clock) == first


async def test_an_ended_run_is_not_cancelled(runs: InMemoryRuns, clock: FixedClock) -> None:
    await started(runs, "r")
    await runs.record_events("r", [status("completed")], at=clock.now())

    with pytest.raises(Conflict) as failure:
        await cancel_run(run_id="r", command=CancelRun(), runs=runs, clock=clock)

    assert failure.value.actual == "completed"
    assert runs.runs["r"].cancel_requested_at is None


@pytest.mark.parametrize("run_id", ["unknown", "-rf"])
async def test_a_missing_run_is_not_found(runs: InMemoryRuns, clock: FixedClock, run_id: str) -> None:
    with pytest.raises(NotFound):
        await cancel_run(run_id=run_id, command=CancelRun(), runs=runs, clock=clock)
    with pytest.raises(NotFound):
        await change_run_tags(run_id=run_id, command=ChangeTags(add=("t",)), runs=runs, clock=clock)


async def test_tags_are_added_and_removed_in_one_change(runs: InMemoryRuns, clock: FixedClock) -> None:
    await started(runs, "r", tags=("old", "kept"))

    result = await change_run_tags(
        run_id="r", command=ChangeTags(add=("new",), remove=("old",)), runs=runs, clock=clock
    )

    assert result.tags == ("kept", "new")


async def test_a_tag_to_add_and_to_remove_is_a_fault_at_its_place(runs: InMemoryRuns, clock: FixedClock) -> None:
    await started(runs, "r")
    command = ChangeTags(add=("a", "b"), remove=("b",))

    with pytest.raises(ValidationFailure) as failure:
        await change_run_tags(run_id="r", command=command, runs=runs, clock=clock)

    assert [fault.path for fault in failure.value.field_errors] == [("add", 1)]
    assert runs.runs["r"].tags == ()


async def test_runs_of_gone_processes_fail_and_others_stay(runs: InMemoryRuns, probe: FakeProcesses) -> None:
    gone, living, foreign = probe.start(1), probe.start(2), probe.start(3).model_copy(update={"host": "other"})
    for run_id, process in (("gone", gone), ("living", living), ("foreign", foreign), ("unnamed", None)):
        await started(runs, run_id, process=process)
    probe.end(1)

    count = await settled(runs)

    assert count == 1
    assert {run_id: run.status for run_id, run in runs.runs.items()} == {
        "gone": "failed",
        "living": "running",
        "foreign": "running",
        "unnamed": "running",
    }
    assert runs.runs["gone"].reason_code == "run.failed.process_gone"


async def test_a_reused_pid_does_not_keep_a_run_alive(runs: InMemoryRuns, probe: FakeProcesses) -> None:
    await started(runs, "r", process=probe.start(1, started_at=100.0))
    probe.end(1)
    probe.start(1, started_at=200.0)

    assert await settled(runs) == 1


async def test_settling_twice_settles_once(runs: InMemoryRuns, probe: FakeProcesses) -> None:
    await started(runs, "r", process=probe.start(1))
    probe.end(1)

    assert [await settled(runs), await settled(runs)] == [1, 0]
    assert [move.to_status for move in runs.runs["r"].transitions] == ["running", "failed"]


async def test_progress_is_told_for_every_run_looked_at(runs: InMemoryRuns, probe: FakeProcesses) -> None:
    process = probe.start(1)
    for number in range(1_100):
        await started(runs, f"r{number}", process=process)
    told: list[int] = []

    await settled(runs, told)

    assert sum(told) == 1_100
    assert len(told) > 1


async def test_nothing_to_settle_writes_nothing(runs: InMemoryRuns) -> None:
    await started(runs, "r")

    assert await settled(runs) == 0
    assert "settle_gone" not in runs.calls


async def test_settling_goes_on_over_a_store_that_does_not_answer(runs: InMemoryRuns, probe: FakeProcesses) -> None:
    await started(runs, "r", process=probe.start(1))
    told: list[StateUnavailable] = []
    runs.fault = StateUnavailable(retryable=True)
    keeping = asyncio.create_task(
        keep_settling(runs=runs, probe=probe, clock=runs.clock, every_seconds=0, on_fault=told.append)
    )
    await until_idle()
    probe.end(1)
    runs.fault = None

    await until_idle()
    keeping.cancel()
    outcome = await outcome_of(keeping)

    assert told
    assert runs.runs["r"].status == "failed"
    assert isinstance(outcome, asyncio.CancelledError)
