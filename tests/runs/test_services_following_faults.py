"""Following a run when something is wrong, and that nothing is left behind when a viewer goes."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from contract.errors import NotFound, StateUnavailable, ValidationFailure
from runs.cursors import encode_stream
from runs.services.following import run_topic
from tests.builders import message, messages, signal
from tests.fakes.turns import outcome_of, turns, until_idle
from tests.runs.viewers import Scene

UNAVAILABLE = StateUnavailable(retryable=True)
# More turns than a viewer needs from its first step to its wait for news.
_TURNS_TO_WAITING = 40


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    """A scene with one running run, in which nothing is watched and nothing runs any more at the end."""
    scene = Scene()
    await scene.start("r")
    yield scene
    await until_idle()
    assert scene.feed.topics == set()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_an_unknown_run_is_not_found_for_all_who_ask(scene: Scene) -> None:
    viewers = [scene.view("unknown") for _ in range(3)]

    outcomes = [await outcome_of(viewer.task) for viewer in viewers]

    assert all(isinstance(outcome, NotFound) for outcome in outcomes)


async def test_an_impossible_run_id_reaches_no_store(scene: Scene) -> None:
    calls = scene.runs.calls.total()

    outcome = await outcome_of(scene.view("a\x00b").task)

    assert isinstance(outcome, NotFound)
    assert scene.runs.calls.total() == calls


@pytest.mark.parametrize("cursor", ["abc", "-1", str(10**30), encode_stream("other", 1)])
async def test_a_foreign_or_garbled_cursor_reaches_no_store(scene: Scene, cursor: str) -> None:
    calls = scene.runs.calls.total()

    outcome = await outcome_of(scene.view(cursor=cursor).task)

    assert isinstance(outcome, ValidationFailure)
    assert scene.runs.calls.total() == calls


async def test_an_empty_cursor_is_the_start(scene: Scene) -> None:
    await scene.record(message())

    viewer = await scene.watch(cursor="")
    await viewer.leave()

    assert viewer.seqs == [1]


async def test_a_cursor_ahead_of_the_run_is_refused(scene: Scene) -> None:
    await scene.record(message())

    outcome = await outcome_of(scene.view(cursor=encode_stream("r", 2)).task)

    assert isinstance(outcome, ValidationFailure)
    assert outcome.field_errors[0].path == ("cursor",)


async def test_a_store_that_does_not_answer_at_first_is_said(scene: Scene) -> None:
    scene.runs.fault = UNAVAILABLE

    assert await outcome_of(scene.view().task) is UNAVAILABLE


async def test_a_store_that_stops_answering_ends_the_stream(scene: Scene) -> None:
    await scene.record(message())
    viewers = [await scene.watch(), await scene.watch(kind="signals")]

    scene.runs.fault = UNAVAILABLE
    scene.feed.publish([run_topic("r")])

    assert [await outcome_of(viewer.task) for viewer in viewers] == [UNAVAILABLE, UNAVAILABLE]
    assert viewers[0].seqs == [1]


async def test_a_page_that_cannot_be_read_ends_the_stream_and_is_read_afresh_later(scene: Scene) -> None:
    await scene.record(*messages(3))
    scene.runs.fault, scene.runs.failing = UNAVAILABLE, "entries"
    steady = await scene.watch(cursor=encode_stream("r", 3))
    failed = await outcome_of(scene.view().task)

    scene.runs.fault = None
    again = await scene.watch()
    seqs = again.seqs
    for viewer in (steady, again):
        await viewer.leave()

    assert failed is UNAVAILABLE
    assert seqs == [1, 2, 3]
    assert steady.kinds == ["heartbeat"]


async def test_a_slow_viewer_of_a_failed_reader_does_not_keep_others_out(scene: Scene) -> None:
    await scene.record(message())
    slow = scene.follower.follow("r", None, "messages")
    await anext(slow)
    scene.runs.fault = UNAVAILABLE
    scene.feed.publish([run_topic("r")])
    await until_idle()
    scene.runs.fault = None

    viewer = await scene.watch()
    await scene.happens(message())
    await viewer.leave()

    assert viewer.seqs == [1, 2]
    assert await outcome_of(anext(slow)) is UNAVAILABLE


async def test_an_unforeseen_fault_ends_the_stream_too(scene: Scene) -> None:
    viewer = await scene.watch()

    scene.runs.fault = RuntimeError("unforeseen")
    scene.feed.publish([run_topic("r")])

    assert await outcome_of(viewer.task) is scene.runs.fault


async def test_a_run_that_vanishes_ends_the_stream(scene: Scene) -> None:
    viewer = await scene.watch()

    del scene.runs.runs["r"]
    scene.feed.publish([run_topic("r")])

    assert isinstance(await outcome_of(viewer.task), NotFound)


async def test_a_viewer_that_leaves_lets_the_others_stay(scene: Scene) -> None:
    staying, leaving = await scene.watch(), await scene.watch()

    await leaving.leave()
    await scene.happens(message())
    await staying.leave()

    assert (staying.seqs, leaving.seqs) == ([1], [])


async def test_the_last_viewer_that_leaves_ends_the_watching(scene: Scene) -> None:
    frames = scene.follower.follow("r", None, "messages")
    await anext(frames)
    watched = scene.feed.topics

    await frames.aclose()

    assert watched == {run_topic("r")}
    assert scene.feed.topics == set()


async def test_a_run_is_followed_again_after_everybody_left(scene: Scene) -> None:
    await (await scene.watch()).leave()
    await scene.record(message())

    viewer = await scene.watch()
    await viewer.leave()

    assert viewer.seqs == [1]


@pytest.mark.parametrize("cut", range(_TURNS_TO_WAITING))
async def test_cancelling_at_any_point_leaves_nothing_watched(scene: Scene, cut: int) -> None:
    await scene.record(*messages(2), signal())
    viewer = scene.view()

    await turns(cut)
    await viewer.leave()

    assert scene.feed.topics == set()
    assert viewer.seqs == [1, 2][: len(viewer.seqs)]


@pytest.mark.parametrize("cut", range(_TURNS_TO_WAITING))
async def test_cancelling_one_viewer_at_any_point_harms_no_other(scene: Scene, cut: int) -> None:
    await scene.record(*messages(2))
    leaving, staying = scene.view(), scene.view()

    await turns(cut)
    await leaving.leave()
    await scene.happens(message())
    seqs = staying.seqs
    await staying.leave()

    assert seqs == [1, 2, 3]


@pytest.mark.parametrize("cut", range(20))
async def test_cancelling_while_the_store_fails_leaves_nothing_watched(scene: Scene, cut: int) -> None:
    scene.runs.fault = UNAVAILABLE
    viewer = scene.view()

    await turns(cut)
    await viewer.leave()

    assert scene.feed.topics == set()
