"""Registering runs and recording what happens in them."""

import pytest

from contract.errors import Conflict, NotFound, ValidationFailure
from contract.events import RecordResult
from runs.services.recording import record_events, start_run
from tests.builders import artifact, batch, message, signal, status
from tests.builders import start_run as a_run
from tests.fakes.clocks import FixedClock, SequentialIds
from tests.fakes.run_files import FakeRunFiles
from tests.fakes.runs import InMemoryRuns


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def runs(clock: FixedClock) -> InMemoryRuns:
    return InMemoryRuns(clock=clock)


async def test_a_run_without_id_gets_a_new_one(runs: InMemoryRuns, clock: FixedClock) -> None:
    ids = SequentialIds()

    first, second = [await start_run(command=a_run(), runs=runs, clock=clock, ids=ids) for _ in range(2)]

    assert {first.run_id, second.run_id} == set(runs.runs)
    assert len(first.run_id) == 16


async def test_a_run_starts_running_at_the_clock_s_instant(runs: InMemoryRuns, clock: FixedClock) -> None:
    run = await start_run(command=a_run(run_id="mine"), runs=runs, clock=clock, ids=SequentialIds())

    assert (run.run_id, run.status, run.started_at) == ("mine", "running", clock.now())


async def test_a_taken_id_is_a_conflict(runs: InMemoryRuns, clock: FixedClock) -> None:
    command = a_run(run_id="mine", name="first")
    await start_run(command=command, runs=runs, clock=clock, ids=SequentialIds())

    with pytest.raises(Conflict) as failure:
        await start_run(command=a_run(run_id="mine", name="second"), runs=runs, clock=clock, ids=SequentialIds())

    assert failure.value.actual == "mine"
    assert runs.runs["mine"].command.name == "first"


async def test_a_batch_is_recorded_and_answered_with_its_last_position(runs: InMemoryRuns, clock: FixedClock) -> None:
    await start_run(command=a_run(run_id="r"), runs=runs, clock=clock, ids=SequentialIds())

    events = batch(message(event_id="m"), signal(), message(event_id="m"))
    result = await record_events(run_id="r", command=events, runs=runs, files=FakeRunFiles(), clock=clock)

    assert result == RecordResult(run_id="r", accepted=2, duplicates=1, last_seq=2)


async def test_a_reason_that_does_not_fit_keeps_the_whole_batch_out(runs: InMemoryRuns, clock: FixedClock) -> None:
    await start_run(command=a_run(run_id="r"), runs=runs, clock=clock, ids=SequentialIds())
    events = batch(message(), status("failed", reason_code="run.completed.ok"))

    with pytest.raises(ValidationFailure) as failure:
        await record_events(run_id="r", command=events, runs=runs, files=FakeRunFiles(), clock=clock)

    assert failure.value.field_errors[0].path == ("events", 1, "reason_code")
    assert not runs.runs["r"].messages


@pytest.mark.parametrize("run_id", ["unknown", "not an id"])
async def test_events_of_a_missing_run_are_refused(runs: InMemoryRuns, clock: FixedClock, run_id: str) -> None:
    with pytest.raises(NotFound):
        await record_events(run_id=run_id, command=batch(message()), runs=runs, files=FakeRunFiles(), clock=clock)


async def test_a_producer_learns_that_it_should_stop(runs: InMemoryRuns, clock: FixedClock) -> None:
    await start_run(command=a_run(run_id="r"), runs=runs, clock=clock, ids=SequentialIds())
    await runs.request_cancel("r", reason=None, at=clock.now())

    told = await record_events(run_id="r", command=batch(message()), runs=runs, files=FakeRunFiles(), clock=clock)
    obeyed = await record_events(
        run_id="r", command=batch(status("cancelled")), runs=runs, files=FakeRunFiles(), clock=clock
    )

    assert (told.cancel_requested, obeyed.cancel_requested) == (True, False)


async def test_files_that_a_batch_names_are_measured_once_it_is_stored(runs: InMemoryRuns, clock: FixedClock) -> None:
    await start_run(command=a_run(run_id="r"), runs=runs, clock=clock, ids=SequentialIds())
    files = FakeRunFiles()
    events = batch(artifact(path="a.md"), message(), artifact("no file"), artifact("b", path="b.md"))

    await record_events(run_id="r", command=events, runs=runs, files=files, clock=clock)
    await record_events(run_id="r", command=batch(artifact()), runs=runs, files=files, clock=clock)

    assert files.measured == [("r", ("a.md", "b.md"))]


async def test_nothing_is_measured_of_a_run_that_is_not_there(runs: InMemoryRuns, clock: FixedClock) -> None:
    files = FakeRunFiles()

    with pytest.raises(NotFound):
        await record_events(run_id="r", command=batch(artifact(path="a")), runs=runs, files=files, clock=clock)

    assert files.measured == []
