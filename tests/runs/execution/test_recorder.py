"""From what a child prints to evidence: in order, in batches that can be stored, of a flood both ends."""

import asyncio
from collections.abc import Callable, Sequence

import psutil
import pytest

from contract.base import FieldFailure
from contract.errors import StateUnavailable, ValidationFailure
from contract.events import MessageEvent, RunEvent, SignalEvent, UsageEvent
from contract.limits import BODY_MAX_BYTES, EVENTS_PER_BATCH_MAX, OUTPUT_HEAD_BYTES, OUTPUT_TAIL_BYTES
from runs.claims import Claim, claim_of
from runs.execution.pipes import Stream
from runs.execution.recorder import OutputRecorder
from runs.output_reading import OutputReader, reader_named
from runs.output_window import OutputLines
from tests.fakes.turns import until_idle
from tests.runs.execution.children import PATIENCE_SECONDS
from tests.runs.execution.scenes import SOON_SECONDS, event_line

USAGE = event_line(type="usage", input_tokens=1)


class Verbose:
    """An OutputReader that makes many events of every line."""

    def __init__(self, *, count: int, chars: int = 1) -> None:
        self._count = count
        self._chars = chars

    def feed(self, line: str) -> Sequence[RunEvent] | None:
        return [MessageEvent(role="assistant", content="€" * self._chars) for _ in range(self._count)]

    def claim(self) -> Claim | None:
        return claim_of("completed")


class Evidence:
    """A recorder, its two streams, and what it has stored."""

    def __init__(self, reader: OutputReader | None = None) -> None:
        self.batches: list[Sequence[RunEvent]] = []
        self.fault: Callable[[Sequence[RunEvent]], Exception | None] = lambda _: None
        self.holds = True
        self.recorder = OutputRecorder(reader or reader_named("events"), self._record, retry_seconds=SOON_SECONDS)
        self._lines: dict[Stream, OutputLines] = {"stdout": OutputLines(), "stderr": OutputLines()}

    async def print(self, text: str | bytes, stream: Stream = "stdout") -> None:
        data = text.encode() if isinstance(text, str) else text
        await self.recorder.take(stream, self._lines[stream].feed(data))

    async def finish(self) -> int:
        for stream, lines in self._lines.items():
            await self.recorder.take(stream, lines.finish())
        return await self.recorder.finish()

    @property
    def events(self) -> list[RunEvent]:
        return [event for batch in self.batches for event in batch]

    def told(self) -> list[tuple[str | None, object]]:
        """Return sender and content of messages, in their order; of other events the type."""
        return [
            (event.sender, event.content) if isinstance(event, MessageEvent) else (None, event.type)
            for event in self.events
        ]

    def text(self, stream: Stream = "stdout") -> str:
        return "".join(str(content) for sender, content in self.told() if sender == stream)

    async def _record(self, batch: Sequence[RunEvent]) -> bool:
        fault = self.fault(batch)
        if fault is not None:
            raise fault
        if self.holds:
            self.batches.append(batch)
        return self.holds


@pytest.fixture
def evidence() -> Evidence:
    return Evidence()


async def test_output_and_events_keep_their_order(evidence: Evidence) -> None:
    await evidence.print(f"one\ntwo\n{USAGE}\nthree\n")
    await evidence.finish()

    assert evidence.told() == [("stdout", "one\ntwo\n"), (None, "usage"), ("stdout", "three\n")]


async def test_the_streams_are_told_apart(evidence: Evidence) -> None:
    await evidence.print("one\n")
    await evidence.print("two\n", "stderr")
    await evidence.print("three")
    await evidence.finish()

    assert evidence.told() == [("stdout", "one\n"), ("stderr", "two\n"), ("stdout", "three")]


async def test_the_standard_error_holds_no_events(evidence: Evidence) -> None:
    await evidence.print(f"{USAGE}\n", "stderr")
    await evidence.finish()

    assert evidence.told() == [("stderr", f"{USAGE}\n")]


async def test_bytes_that_are_no_text_become_text_that_can_be_stored(evidence: Evidence) -> None:
    await evidence.print(b"a\0b\xff\xe2\x82\xac\xe2\x82\n")
    await evidence.finish()

    assert evidence.text() == "a\ufffdb\ufffd€\ufffd\n"


async def test_what_is_printed_together_is_stored_together(evidence: Evidence) -> None:
    for number in range(50):
        await evidence.print(f"{number}\n")
    before = len(evidence.batches)
    await evidence.finish()

    assert (before, len(evidence.batches), len(evidence.events)) == (0, 1, 1)


async def test_what_is_printed_is_stored_without_waiting_for_the_end(evidence: Evidence) -> None:
    stored = asyncio.Event()
    evidence.fault = lambda _: stored.set()
    flushing = asyncio.create_task(evidence.recorder.flush_forever())

    await evidence.print("hello\n")
    async with asyncio.timeout(PATIENCE_SECONDS):
        await stored.wait()
    await until_idle()
    flushing.cancel()
    await asyncio.wait([flushing])

    assert evidence.text() == "hello\n"


async def test_a_message_of_output_can_be_looked_at(evidence: Evidence) -> None:
    await evidence.print("x" * 300_000 + "\n")
    await evidence.finish()

    assert {len(str(content)) for _, content in evidence.told()[:-1]} == {64 * 1024}
    assert evidence.text() == "x" * 300_000 + "\n"


async def test_a_line_of_many_events_is_stored_in_batches() -> None:
    evidence = Evidence(Verbose(count=2_000))

    await evidence.print("go\n")
    await evidence.finish()

    assert len(evidence.events) == 2_000
    assert max(map(len, evidence.batches)) <= EVENTS_PER_BATCH_MAX


async def test_no_batch_is_more_than_may_be_stored_at_once() -> None:
    evidence = Evidence(Verbose(count=20, chars=300_000))

    await evidence.print("go\n")
    await evidence.finish()

    sizes = [sum(len(event.model_dump_json().encode()) for event in batch) for batch in evidence.batches]
    assert len(evidence.events) == 20
    assert max(sizes) <= BODY_MAX_BYTES


async def test_much_is_not_gathered() -> None:
    evidence = Evidence(Verbose(count=200))

    await evidence.print("go\n")

    assert len(evidence.events) == 200


async def test_an_event_that_is_refused_leaves_a_trace_and_takes_no_other_with_it(evidence: Evidence) -> None:
    def refuse(batch: Sequence[RunEvent]) -> Exception | None:
        is_refused = any(isinstance(event, UsageEvent) for event in batch)
        return ValidationFailure((FieldFailure(path=("x",), code="c", message="too much"),)) if is_refused else None

    evidence.fault = refuse
    await evidence.print(f"one\n{USAGE}\ntwo\n")
    await evidence.finish()

    [_, signal, _] = evidence.events
    assert evidence.told() == [("stdout", "one\n"), (None, "signal"), ("stdout", "two\n")]
    assert isinstance(signal, SignalEvent)
    assert (signal.kind, "too much" in str(signal.payload)) == ("EvidenceRefused", True)


async def test_a_store_that_is_away_makes_the_child_wait_and_loses_nothing(evidence: Evidence) -> None:
    away = [StateUnavailable(retryable=True) for _ in range(3)]
    evidence.fault = lambda _: away.pop() if away else None

    await evidence.print("one\n")
    await evidence.finish()

    assert evidence.told() == [("stdout", "one\n")]


async def test_output_that_is_stored_again_is_known_by_its_id(evidence: Evidence) -> None:
    await evidence.print(f"one\n{USAGE}\ntwo\n")
    await evidence.finish()

    ids = [event.event_id for event in evidence.events]
    assert len({*ids} - {None}) == 3


async def test_nothing_is_stored_any_more_when_the_lease_is_lost(evidence: Evidence) -> None:
    await evidence.print("one\n")
    evidence.holds = False
    await evidence.recorder.flush()
    evidence.holds = True
    await evidence.print("two\n")
    await evidence.finish()

    assert evidence.recorder.lost.is_set()
    assert evidence.events == []


@pytest.mark.parametrize("line", [b"x" * 65_536, b"x" * 99 + b"\n"])
async def test_a_flood_costs_no_memory_and_keeps_both_ends(evidence: Evidence, line: bytes) -> None:
    chunk = (line * (65_536 // len(line) + 1))[: 65_536 // len(line) * len(line)]
    count = 50_000_000 // len(chunk)
    process, peak = psutil.Process(), 0

    before = process.memory_info().rss
    await evidence.print("begin ")
    for number in range(count):
        await evidence.print(chunk)
        peak = max(peak, process.memory_info().rss) if number % 50 == 0 else peak
    await evidence.print("the end\n")
    withheld = await evidence.finish()

    printed = count * len(chunk) + len("begin the end\n")
    assert withheld == printed - OUTPUT_HEAD_BYTES - OUTPUT_TAIL_BYTES
    assert evidence.text().startswith("begin x")
    assert evidence.text().endswith("the end\n")
    assert f"[{withheld:,} bytes of stdout are left out here]\n" in evidence.text()
    assert peak - before < 30_000_000


async def test_events_in_a_flood_are_all_kept(evidence: Evidence) -> None:
    flood = "x" * 99 + "\n"

    for _ in range(3):
        await evidence.print(f"{flood * 10_000}{USAGE}\n")
    withheld = await evidence.finish()

    assert withheld == 3_000_000 - OUTPUT_HEAD_BYTES - OUTPUT_TAIL_BYTES
    assert [type(event) for event in evidence.events].count(UsageEvent) == 3


async def test_the_tail_is_the_end_of_both_streams(evidence: Evidence) -> None:
    await evidence.print("a" * 9_000 + "end of output\n")
    await evidence.print("b" * 9_000 + "end of errors\n", "stderr")
    await evidence.finish()

    output, errors = evidence.recorder.tail().split("\n\n")
    assert (len(output) + 1, len(errors)) == (4_096, 4_096)
    assert output.endswith("end of output")
    assert errors.endswith("end of errors\n")


async def test_the_claim_is_that_of_the_reader() -> None:
    assert Evidence(Verbose(count=0)).recorder.claim == claim_of("completed")
    assert Evidence().recorder.claim is None
