"""Streams: backlog, live entries, resumption and ends, of messages and of signals alike."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Any, cast

from contract.application import StudioApplication
from contract.errors import NotFound, ValidationFailure
from contract.events import (
    DoneFrame,
    HeartbeatFrame,
    StreamFrame,
)
from contract.limits import CURSOR_MAX_CHARS, EVENTS_PER_BATCH_MAX, STREAM_PAGE_ENTRIES
from contract.runs import (
    EvidenceRequest,
    RunReadQuery,
)
from runs.cursors import encode_stream
from tests.parity.catalogue import scenario
from tests.parity.run_scenarios import IMPOSSIBLE_IDS, end, message, places, record, start
from tests.parity.witness import frames_of, refused

Stream = Callable[[str, str | None], AsyncIterator[StreamFrame]]


def signal(number: int) -> dict[str, Any]:
    return {"type": "signal", "kind": "NodeStarted", "op_id": f"n{number}", "payload": {"number": number}}


def both(studio: StudioApplication) -> tuple[Stream, Stream]:
    return studio.stream_messages, studio.stream_signals


def types(frames: list[StreamFrame]) -> list[str]:
    return [frame.payload.type for frame in frames if not isinstance(frame.payload, HeartbeatFrame)]


async def _mixed_run(studio: StudioApplication, own: str) -> None:
    await start(studio, own)
    await record(studio, own, message("a"), signal(1), message({"b": [1]}), message("c", role="output"), signal(2))


@scenario
async def streams_of_an_ended_run_end_at_once(studio: StudioApplication, own: str) -> None:
    await _mixed_run(studio, own)
    await end(studio, own, "failed", reason_code="run.failed.exit_nonzero")

    messages, signals = [await frames_of(stream(own, None)) for stream in both(studio)]

    assert types(messages) == ["message", "message", "message", "done"]
    assert types(signals) == ["signal", "signal", "done"]


@scenario
async def streams_of_an_empty_run_only_end(studio: StudioApplication, own: str) -> None:
    await start(studio, own)
    await end(studio, own, "completed_empty")

    for stream in both(studio):
        assert types(await frames_of(stream(own, None))) == ["done"]


@scenario
async def streams_resume_after_every_cursor(studio: StudioApplication, own: str) -> None:
    await _mixed_run(studio, own)
    await end(studio, own)
    shown = (await studio.get_run(own, RunReadQuery())).stream_cursor

    for stream in both(studio):
        whole = await frames_of(stream(own, None))
        for position, frame in enumerate(whole[:-1]):
            assert await frames_of(stream(own, frame.cursor)) == whole[position + 1 :]
        assert await frames_of(stream(own, "")) == whole
        assert types(await frames_of(stream(own, shown))) == ["done"]


@scenario
async def cursor_of_one_stream_is_a_position_in_the_other(studio: StudioApplication, own: str) -> None:
    await _mixed_run(studio, own)
    await end(studio, own)
    messages = await frames_of(studio.stream_messages(own, None))

    assert types(await frames_of(studio.stream_signals(own, messages[1].cursor))) == ["signal", "done"]


@scenario
async def streams_are_followed_live_to_the_end(studio: StudioApplication, own: str) -> None:
    for number, stream in enumerate(both(studio)):
        run_id = f"{own}-{number}"
        await start(studio, run_id)
        frames: list[StreamFrame] = []

        async with aclosing(cast(AsyncGenerator[StreamFrame, None], stream(run_id, None))) as live:
            async for frame in live:
                frames.append(frame)
                await _go_on(studio, run_id, len(types(frames)))

        assert len(types(frames)) == 3
        assert isinstance(frames[0].payload, HeartbeatFrame)
        assert isinstance(frames[-1].payload, DoneFrame)


async def _go_on(studio: StudioApplication, run_id: str, seen: int) -> None:
    """Tell the next thing once the one before has been seen, however many heartbeats come between."""
    if seen < 2:
        both_kinds = (message(seen, event_id=f"m{seen}"), {**signal(seen), "event_id": f"s{seen}"})
        await record(studio, run_id, *both_kinds)
    else:
        await end(studio, run_id)


@scenario
async def late_evidence_comes_after_the_end_by_its_cursor(studio: StudioApplication, own: str) -> None:
    await _mixed_run(studio, own)
    await end(studio, own)
    before = await frames_of(studio.stream_messages(own, None))
    await record(studio, own, message("late"), signal(9))

    after = await frames_of(studio.stream_messages(own, before[-1].cursor))

    assert types(after) == ["message", "done"]
    assert len((await studio.read_evidence(EvidenceRequest(run_id=own, pane="messages"))).items) == 4


@scenario
async def streams_are_longer_than_any_page_of_them(studio: StudioApplication, own: str) -> None:
    await start(studio, own)
    count = STREAM_PAGE_ENTRIES + 7
    for first in range(0, count, EVENTS_PER_BATCH_MAX):
        await record(studio, own, *map(message, range(first, min(count, first + EVENTS_PER_BATCH_MAX))))
    await end(studio, own)

    frames = await frames_of(studio.stream_messages(own, None))

    assert len(frames) == count + 1
    assert len({frame.cursor for frame in frames}) == count


@scenario
async def streams_of_an_unknown_run_are_not_found(studio: StudioApplication, own: str) -> None:
    for stream in both(studio):
        for run_id in (own, *IMPOSSIBLE_IDS):
            missing = await refused(NotFound, frames_of(stream(run_id, None)))
            assert missing.resource == "run"


@scenario
async def foreign_cursors_of_a_stream_are_refused(studio: StudioApplication, own: str) -> None:
    for run_id in (own, f"{own}-2"):
        await _mixed_run(studio, run_id)
        await end(studio, run_id)
    frames = await frames_of(studio.stream_messages(own, None))
    pane = await studio.read_evidence(EvidenceRequest(run_id=own, pane="messages", limit=1))

    for stream in both(studio):
        for run_id, cursor in (
            (f"{own}-2", frames[0].cursor),
            (own, pane.next_cursor),
            (own, encode_stream(own, 99)),
            (own, "garbled"),
            (own, "x" * (CURSOR_MAX_CHARS + 1)),
            (own, "\x00"),
            (own, "é"),
        ):
            failure = await refused(ValidationFailure, frames_of(stream(run_id, cursor)))
            assert [path for path, _ in places(failure)] == [("cursor",)]
