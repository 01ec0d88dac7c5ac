"""Races on the real database: several writers side by side, each with connections of its own."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from django.db import connection

from contract.errors import Conflict, StudioApplicationError
from contract.events import MessageView, SignalView
from contract.runs import TransitionView
from runs.models import MessageRecord, RunRecord
from runs.transitions import TERMINAL
from studio_project.statedb import StateDB
from tests.builders import message, messages, signal, start_run, status, usage
from tests.fakes.clocks import START_AT
from tests.fakes.turns import outcome_of
from tests.runs.state.other_process import other_process
from tests.runs.state.stores import DATABASE, Store, django_store

WRITERS = 4

pytestmark = DATABASE


@pytest.fixture
async def writers() -> AsyncIterator[list[Store]]:
    """Several stores over one empty database: each writes through a lane of its own, as a process does."""
    stores = [django_store() for _ in range(WRITERS)]
    yield stores
    await asyncio.gather(*(asyncio.to_thread(store.close) for store in stores))


async def positions_in(run_id: str) -> list[int]:
    db = StateDB()
    found = MessageRecord.objects.filter(run__run_id=run_id).order_by("seq").values_list("position", flat=True)
    positions = await db.read(lambda: list(found))
    await asyncio.to_thread(db.close)
    return positions


async def transitions_of(store: Store, run_id: str) -> list[TransitionView]:
    items = (await store.pane(run_id, "transitions")).items
    return [item for item in items if isinstance(item, TransitionView)]


async def test_parallel_batches_to_one_run_leave_no_gap_and_no_double(writers: list[Store]) -> None:
    await writers[0].start("r")

    results = await asyncio.gather(
        *(writers[number % WRITERS].record("r", *messages(3), signal(), usage(0.01)) for number in range(20))
    )

    detail = await writers[0].detail("r", message_limit=1_000)
    items = [*(await writers[0].pane("r", "messages")).items, *(await writers[0].pane("r", "signals")).items]
    seqs = sorted(item.seq for item in items if isinstance(item, MessageView | SignalView))
    assert seqs == list(range(1, 81))
    assert sorted(result.last_seq for result in results) == list(range(4, 81, 4))
    assert await positions_in("r") == list(range(1, 61))
    assert (detail.message_count, detail.signal_count, detail.cost_usd) == (60, 20, 0.2)


async def test_of_racing_ends_exactly_one_is_accepted(writers: list[Store]) -> None:
    await writers[0].start("r")

    results = await asyncio.gather(
        *(writers[number % WRITERS].record("r", status(end)) for number, end in enumerate(TERMINAL))
    )

    run = await writers[0].detail("r")
    moves = await transitions_of(writers[0], "r")
    accepted = [move for move in moves if not move.refused and move.to_status in TERMINAL]
    assert sum(result.refused_transitions for result in results) == len(TERMINAL) - 1
    assert [move.to_status for move in accepted] == [run.status]
    assert run.ended_at is not None


async def test_of_racing_registrations_of_one_id_one_wins(writers: list[Store]) -> None:
    outcomes = await asyncio.gather(
        *(outcome_of(writers[number % WRITERS].start("r", name=f"n{number}")) for number in range(8))
    )

    winners = [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
    assert len(winners) == 1
    assert Counter(type(outcome) for outcome in outcomes)[Conflict] == 7
    assert (await writers[0].detail("r")).name == winners[0].name
    assert len(await transitions_of(writers[0], "r")) == 1


async def test_racing_runs_of_one_new_invocation_all_belong_to_it(writers: list[Store]) -> None:
    await asyncio.gather(*(writers[number % WRITERS].start(f"r{number}", invocation_id="i") for number in range(8)))

    assert (await writers[0].invocation("i")).run_count == 8


async def test_a_batch_sent_many_times_at_once_is_stored_once(writers: list[Store]) -> None:
    await writers[0].start("r")
    events = [message(event_id=f"e{number}") for number in range(10)]

    results = await asyncio.gather(*(writers[number % WRITERS].record("r", *events) for number in range(8)))

    assert sorted(result.accepted for result in results) == [0] * 7 + [10]
    assert len((await writers[0].pane("r", "messages")).items) == 10


async def test_tags_added_side_by_side_are_all_there(writers: list[Store]) -> None:
    await writers[0].start("r")

    await asyncio.gather(
        *(
            writers[number % WRITERS].writes.change_tags(
                "r", add=frozenset({f"t{number}"}), remove=frozenset(), at=START_AT
            )
            for number in range(12)
        )
    )

    assert set((await writers[0].detail("r")).tags) == {f"t{number}" for number in range(12)}
    assert await writers[0].ids(tags=("t0", "t11")) == ["r"]


async def test_a_cancel_that_races_the_end_is_obeyed_or_refused(writers: list[Store]) -> None:
    for number in range(6):
        await writers[0].start(f"r{number}")

    async def race(run_id: str) -> tuple[object, object]:
        cancel = writers[0].writes.request_cancel(run_id, reason=None, at=START_AT)
        return await asyncio.gather(outcome_of(cancel), outcome_of(writers[1].record(run_id, status("completed"))))

    outcomes = await asyncio.gather(*(race(f"r{number}") for number in range(6)))

    for number, (cancel, recorded) in enumerate(outcomes):
        run = await writers[0].detail(f"r{number}")
        assert not isinstance(recorded, StudioApplicationError)
        assert run.status == "completed"
        assert isinstance(cancel, Conflict) == (run.cancel_requested_at is None)


async def test_racing_settlers_settle_each_run_once(writers: list[Store]) -> None:
    run_ids = [f"r{number}" for number in range(20)]
    for run_id in run_ids:
        await writers[0].start(run_id)

    counts = await asyncio.gather(
        *(store.settlement.settle_gone(run_ids, at=START_AT) for store in writers[::2]),
        *(store.settlement.settle_gone(run_ids[::-1], at=START_AT) for store in writers[1::2]),
    )

    assert sum(counts) == 20
    for run_id in run_ids:
        assert [move.to_status for move in await transitions_of(writers[0], run_id)] == ["running", "failed"]


async def test_two_processes_that_write_at_once_lose_nothing(writers: list[Store], tmp_path: Path) -> None:
    for run_id in ("shared", "own"):
        await writers[0].start(run_id)
    settings = connection.settings_dict

    async with other_process(settings, tmp_path / "a") as first, other_process(settings, tmp_path / "b") as second:
        answers = await asyncio.gather(
            first.record("shared", batches=40, size=5),
            second.record("shared", batches=40, size=5),
            *(writers[0].record("own", *messages(2)) for _ in range(40)),
        )

    assert [answer["accepted"] for answer in answers if isinstance(answer, dict)] == [200, 200]
    assert await positions_in("shared") == list(range(1, 401))
    assert (await writers[0].detail("own")).message_count == 80


async def test_the_database_itself_refuses_an_end_without_an_instant(database: Store) -> None:
    await database.writes.start_run("r", start_run(), at=START_AT)
    db = StateDB()

    outcome = await outcome_of(db.write(lambda: RunRecord.objects.filter(run_id="r").update(status="failed")))

    await asyncio.to_thread(db.close)
    assert "run_terminal_iff_ended" in str(outcome)
    assert (await database.detail("r")).status == "running"
