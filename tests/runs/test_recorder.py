"""The recorder against a Studio that is away, slow to start, or meets other recorders."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from contract.errors import Conflict, NotFound, StateUnavailable
from contract.events import RecordEvents, RecordResult
from contract.runs import RunSummary, StartRun
from contract.stream_following import BACK_OFF_SECONDS, OPENINGS_MAX, RECONNECTS_MAX
from runs.management.line_source import Piece
from runs.management.recorder import Progress, Recorder
from tests.fakes.studio import InMemoryStudio

AWAY = StateUnavailable(retryable=True, detail="the daemon does not answer")


def lines(*contents: str) -> bytes:
    events = [{"type": "message", "role": "user", "content": content} for content in contents]
    return "".join(f"{json.dumps(event)}\n" for event in events).encode()


async def pieces_of(*pieces: Piece) -> AsyncIterator[Piece]:
    for piece in pieces:
        yield piece


class UnreliableStudio(InMemoryStudio):
    """Fails as often as told before it answers; `loses_answers` does the work and then fails."""

    def __init__(self, failures: int = 0, *, fault: Exception = AWAY, loses_answers: bool = False) -> None:
        super().__init__()
        self.failures = failures
        self.fault = fault
        self.loses_answers = loses_answers

    async def _unreliably(self, call: Callable[[], Any]) -> Any:
        answer = await call() if self.loses_answers else None
        if self.failures > 0:
            self.failures -= 1
            raise self.fault
        return answer or await call()

    async def start_run(self, command: StartRun) -> RunSummary:
        found: RunSummary = await self._unreliably(lambda: InMemoryStudio.start_run(self, command))
        return found

    async def record_events(self, run_id: str, command: RecordEvents) -> RecordResult:
        found: RecordResult = await self._unreliably(lambda: InMemoryStudio.record_events(self, run_id, command))
        return found


class Recording:
    """A recorder and all it said."""

    def __init__(self, studio: InMemoryStudio, *, exists: bool = False, batch_events: int = 2) -> None:
        self.waits: list[float] = []
        self.warnings: list[str] = []
        self.progress: list[Progress] = []
        self.recorder = Recorder(
            studio,
            StartRun(run_id="r1"),
            exists=exists,
            batch_events=batch_events,
            sleep=self._sleep,
            watch=self.progress.append,
            warn=self.warnings.append,
        )

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


async def test_a_pause_sends_what_is_there() -> None:
    studio = InMemoryStudio()
    recording = Recording(studio, batch_events=100)
    seen: list[int] = []

    async def live() -> AsyncIterator[Piece]:
        yield lines("a")
        yield None
        seen.append(len(studio.runs.runs["r1"].messages))
        yield None
        yield lines("b")

    result = await recording.recorder.record(live())

    assert seen == [1]
    assert result.accepted == 2


async def test_an_unended_last_line_is_recorded() -> None:
    recording = Recording(InMemoryStudio())

    result = await recording.recorder.record(pieces_of(lines("a", "b", "c")[:-1]))

    assert result == RecordResult(run_id="r1", accepted=3, duplicates=0, last_seq=3)


async def test_progress_tells_bytes_read_and_what_was_stored() -> None:
    recording = Recording(InMemoryStudio())
    whole = lines("a", "b", "c")

    await recording.recorder.record(pieces_of(whole[:5], whole[5:]))

    assert [(step.read_bytes, step.result.accepted) for step in recording.progress] == [
        (5, 0),
        (5, 2),
        (len(whole), 2),
        (len(whole), 3),
    ]


async def test_a_studio_that_is_away_is_tried_again_with_growing_waits_and_one_warning() -> None:
    studio = UnreliableStudio(failures=3)
    recording = Recording(studio)

    result = await recording.recorder.record(pieces_of(lines("a")))

    assert result.accepted == 1
    assert recording.waits == list(BACK_OFF_SECONDS[:3])
    assert recording.warnings == [
        "the daemon does not answer; trying again",
        "run r1 begins; follow it elsewhere with: studio run tail r1",
    ]


async def test_a_studio_that_never_answers_is_given_up_soon() -> None:
    recording = Recording(UnreliableStudio(failures=1_000))

    with pytest.raises(StateUnavailable):
        await recording.recorder.record(pieces_of(lines("a")))

    assert len(recording.waits) == OPENINGS_MAX - 1


async def test_a_studio_that_answered_before_is_waited_for_at_length() -> None:
    studio = UnreliableStudio()
    recording = Recording(studio, batch_events=1)

    async def goes_away() -> AsyncIterator[Piece]:
        yield lines("a")
        studio.failures = 1_000
        yield lines("b")

    with pytest.raises(StateUnavailable):
        await recording.recorder.record(goes_away())

    assert recording.recorder.result.accepted == 1
    assert len(recording.waits) == RECONNECTS_MAX - 1


async def test_a_fault_that_no_repetition_helps_is_raised_at_once() -> None:
    recording = Recording(UnreliableStudio(failures=1, fault=StateUnavailable(retryable=False)))

    with pytest.raises(StateUnavailable):
        await recording.recorder.record(pieces_of(lines("a")))

    assert recording.waits == []


async def test_answers_that_get_lost_make_no_second_run_and_no_second_event() -> None:
    studio = UnreliableStudio(failures=1, loses_answers=True)
    recording = Recording(studio)

    result = await recording.recorder.record(pieces_of(lines("a", "b")))

    assert list(studio.runs.runs) == ["r1"]
    assert len(studio.runs.runs["r1"].messages) == 2
    assert result.accepted + result.duplicates == 2


async def test_a_run_that_should_exist_is_started_only_when_it_does_not() -> None:
    studio = InMemoryStudio()
    await studio.start_run(StartRun(run_id="r1", name="before"))
    recording = Recording(studio, exists=True)

    await recording.recorder.record(pieces_of(lines("a")))

    assert studio.runs.calls["start_run"] == 1
    assert studio.runs.runs["r1"].command.name == "before"


async def test_another_recorder_that_started_the_run_first_is_no_fault() -> None:
    class RacingStudio(InMemoryStudio):
        async def start_run(self, command: StartRun) -> RunSummary:
            await InMemoryStudio.start_run(self, command)
            raise Conflict("run", None, "r1")

    result = await Recording(RacingStudio(), exists=True).recorder.record(pieces_of(lines("a")))

    assert result.accepted == 1


async def test_a_run_that_cannot_be_found_after_its_start_is_an_error() -> None:
    class ForgetfulStudio(InMemoryStudio):
        async def record_events(self, run_id: str, command: RecordEvents) -> RecordResult:
            raise NotFound("run", run_id)

    with pytest.raises(NotFound):
        await Recording(ForgetfulStudio()).recorder.record(pieces_of(lines("a")))


def test_a_recorder_needs_to_know_its_run() -> None:
    with pytest.raises(ValueError):
        Recorder(
            InMemoryStudio(),
            StartRun(),
            exists=False,
            batch_events=1,
            sleep=Recording(InMemoryStudio())._sleep,
            watch=lambda progress: None,
            warn=lambda text: None,
        )
