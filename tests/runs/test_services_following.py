"""Following a run: everything once and in order, first what is recorded, then what happens."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.events import (
    DoneFrame,
    MessageView,
    ShutdownFrame,
)
from contract.limits import STREAM_PAGE_ENTRIES
from runs.cursors import encode_stream
from runs.services.following import run_topic
from runs.services.ports import Entries
from tests.builders import message, messages, signal, status
from tests.fakes.turns import turns, until_idle
from tests.runs.viewers import Scene, Viewer


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    """A scene with one running run; every viewer has left at the end."""
    scene = Scene()
    await scene.start("r")
    yield scene
    scene.follower.stop()
    await until_idle()


async def test_what_is_recorded_comes_before_what_happens(scene: Scene) -> None:
    await scene.record(*messages(3))
    viewer = await scene.watch()

    await scene.happens(*messages(2))

    assert viewer.seqs == [1, 2, 3, 4, 5]
    assert viewer.kinds == ["message"] * 5


async def test_a_backlog_of_many_pages_comes_whole(scene: Scene) -> None:
    count = 2 * STREAM_PAGE_ENTRIES + 7
    await scene.record(*messages(count))

    viewer = await scene.watch()
    await until_idle()

    assert viewer.seqs == list(range(1, count + 1))


async def test_messages_and_signals_are_followed_apart_by_one_order(scene: Scene) -> None:
    await scene.record(message(), signal(), signal(), message())

    told, signalled = await scene.watch(kind="messages"), await scene.watch(kind="signals")

    assert (told.seqs, signalled.seqs) == ([1, 4], [2, 3])


async def test_a_viewer_resumes_after_its_cursor(scene: Scene) -> None:
    await scene.record(*messages(50))
    first = await scene.watch()
    await first.leave()
    await scene.record(*messages(100))

    second = await scene.watch(cursor=first.cursor)

    assert first.seqs == list(range(1, 51))
    assert second.seqs == list(range(51, 151))


async def test_every_frame_carries_the_position_after_it(scene: Scene) -> None:
    await scene.record(*messages(3), status("completed"))

    viewer = await scene.watch()

    assert [frame.cursor for frame in viewer.frames] == [encode_stream("r", seq) for seq in (1, 2, 3, 3)]


async def test_a_signal_stream_s_cursor_resumes_the_message_stream_without_repetition(scene: Scene) -> None:
    await scene.record(message(), signal())
    signalled = await scene.watch(kind="signals")
    await scene.record(message())

    viewer = await scene.watch(cursor=signalled.cursor)

    assert viewer.seqs == [3]


async def test_an_idle_run_greets_with_a_heartbeat_at_once(scene: Scene) -> None:
    viewer = await scene.watch()

    assert viewer.kinds == ["heartbeat"]


async def test_a_run_with_entries_of_the_other_kind_only_greets_with_a_heartbeat(scene: Scene) -> None:
    await scene.record(signal(), signal())

    viewer = await scene.watch(kind="messages")

    assert viewer.kinds == ["heartbeat"]
    assert viewer.cursor == encode_stream("r", 2)


async def test_an_ended_run_is_done_at_once_after_its_backlog(scene: Scene) -> None:
    await scene.record(*messages(2), status("failed", reason_code="run.failed.exit_nonzero"))

    viewer = await scene.watch()

    assert viewer.task.done()
    assert viewer.kinds == ["message", "message", "done"]
    assert viewer.frames[-1].payload == DoneFrame(status="failed", reason_code="run.failed.exit_nonzero")


async def test_a_run_that_ends_is_done_for_all_who_follow(scene: Scene) -> None:
    viewers = [await scene.watch(), await scene.watch(kind="signals")]

    await scene.happens(message(), status("completed"))

    assert [viewer.kinds[-1] for viewer in viewers] == ["done", "done"]
    assert viewers[0].seqs == [1]


async def test_late_evidence_is_read_from_the_cursor_of_done(scene: Scene) -> None:
    await scene.record(message(), status("completed"))
    viewer = await scene.watch()
    await scene.record(message("late"))

    again = await scene.watch(cursor=viewer.cursor)

    assert viewer.kinds == ["message", "done"]
    assert again.kinds == ["message", "done"]
    assert again.seqs == [2]


async def test_viewers_share_one_reader(scene: Scene) -> None:
    await scene.record(*messages(10))
    viewers = [scene.view() for _ in range(20)]
    await until_idle()

    await scene.happens(*messages(5))

    assert all(viewer.seqs == list(range(1, 16)) for viewer in viewers)
    assert (scene.runs.calls["heads"], scene.runs.calls["entries"]) == (2, 2)
    assert scene.feed.subscribers(run_topic("r")) == 1


async def test_viewers_of_many_runs_look_with_one_call(scene: Scene) -> None:
    run_ids = [f"run-{number}" for number in range(30)]
    await scene.start(*run_ids)

    viewers = [scene.view(run_id) for run_id in run_ids]
    await until_idle()

    assert all(viewer.kinds == ["heartbeat"] for viewer in viewers)
    assert scene.runs.calls["heads"] == 1


async def test_a_change_of_another_run_wakes_nobody(scene: Scene) -> None:
    await scene.start("other")
    viewer = await scene.watch()
    calls = scene.runs.calls["heads"]

    await scene.happens(message(), run_id="other")

    assert viewer.seqs == []
    assert scene.runs.calls["heads"] == calls


async def test_a_wake_up_without_cause_yields_nothing(scene: Scene) -> None:
    viewer = await scene.watch()

    scene.feed.publish([run_topic("r")])
    await until_idle()

    assert viewer.kinds == ["heartbeat"]


async def test_an_idle_viewer_gets_heartbeats_and_costs_no_call() -> None:
    scene = Scene(heartbeat_seconds=0.001)
    await scene.start("r")
    frames = scene.follower.follow("r", None, "messages")
    first = await anext(frames)
    calls = scene.runs.calls.total()

    kinds = [(await anext(frames)).payload.type for _ in range(20)]
    await frames.aclose()

    assert first.payload.type == "heartbeat"
    assert kinds == ["heartbeat"] * 20
    assert scene.runs.calls.total() == calls


async def test_heartbeats_keep_the_position() -> None:
    scene = Scene(heartbeat_seconds=0.001)
    await scene.start("r")
    await scene.record(message())
    frames = scene.follower.follow("r", None, "messages")

    seen = [await anext(frames) for _ in range(3)]
    await frames.aclose()

    assert [frame.payload.type for frame in seen] == ["message", "heartbeat", "heartbeat"]
    assert {frame.cursor for frame in seen} == {encode_stream("r", 1)}


async def test_a_slow_viewer_gets_everything_when_it_asks(scene: Scene) -> None:
    await scene.record(message())
    frames = scene.follower.follow("r", None, "messages")
    await anext(frames)

    for _ in range(10):
        await scene.happens(*messages(10))
    await scene.happens(status("completed"))
    rest = [frame async for frame in frames]

    assert len(rest) == 101
    assert rest[-1].payload.type == "done"


async def test_stopping_ends_every_stream_with_a_shutdown_frame(scene: Scene) -> None:
    await scene.start("other")
    await scene.record(message())
    viewers = [await scene.watch(), await scene.watch("other"), await scene.watch(kind="signals")]

    scene.follower.stop()
    await until_idle()

    assert [viewer.frames[-1].payload for viewer in viewers] == [ShutdownFrame()] * 3
    assert all(viewer.task.done() for viewer in viewers)
    assert viewers[0].cursor == encode_stream("r", 1)
    assert scene.feed.topics == set()


async def test_a_viewer_that_comes_while_stopping_is_told_so(scene: Scene) -> None:
    scene.follower.stop()

    viewer = await scene.watch()

    assert viewer.kinds == ["shutdown"]
    assert viewer.task.done()


HAPPENINGS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["message", "signal"]), min_size=1, max_size=4),
        st.integers(0, 12),
        st.sampled_from(["stay", "resume", "join"]),
    ),
    max_size=12,
)


@given(HAPPENINGS, st.sampled_from(["messages", "signals"]))
def test_no_interleaving_of_recording_and_following_loses_or_repeats(
    happenings: list[tuple[list[str], int, str]], kind: Entries
) -> None:
    async def play() -> None:
        scene = Scene()
        await scene.start("r")
        viewers: list[list[Viewer]] = [[scene.view(kind=kind)]]
        for kinds, count, then in happenings:
            await scene.record(*(message() if each == "message" else signal() for each in kinds))
            await turns(count)
            await _play(scene, viewers, then, kind)
        await scene.happens(status("completed"))
        expected = [entry.seq for entry in (scene.runs.runs["r"].signals if kind == "signals" else _messages(scene))]
        for line in viewers:
            assert [seq for viewer in line for seq in viewer.seqs] == expected
            assert line[-1].kinds[-1] == "done"
        assert scene.feed.topics == set()

    asyncio.run(play())


async def _play(scene: Scene, viewers: list[list[Viewer]], then: str, kind: Entries) -> None:
    """Let a viewer drop and resume where it stood, or another one join at the start."""
    if then == "join":
        viewers.append([scene.view(kind=kind)])
    elif then == "resume":
        last = viewers[0][-1]
        await last.leave()
        cursor = last.cursor if last.frames else (viewers[0][-2].cursor if len(viewers[0]) > 1 else None)
        if not last.frames:
            viewers[0].pop()
        viewers[0].append(scene.view(cursor=cursor, kind=kind))


def _messages(scene: Scene) -> list[MessageView]:
    return [stored.view for stored in scene.runs.runs["r"].messages]
