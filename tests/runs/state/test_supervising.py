"""What an executor writes to the run it holds: its process, its evidence, its end; nothing once the lease is lost."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from contract.actions import ExecutionView
from contract.limits import SUMMARY_MAX_CHARS
from contract.runs import TransitionView
from runs.services.execution_ports import LAUNCHES_TOPIC, Lease
from runs.services.following import run_topic
from runs.transitions import TERMINAL
from tests.builders import artifact, graph, message, signal, status, usage
from tests.fakes.clocks import START_AT
from tests.runs.state.launches import child, draft, ending, worker
from tests.runs.state.stores import Store


async def cancelled(store: Store, lease: Lease) -> None:
    await store.writes.request_cancel(lease.run_id, reason=None, at=START_AT)


async def given_back(store: Store, lease: Lease) -> None:
    await store.leases.give_back(lease, at=START_AT)


async def claimed_again(store: Store, lease: Lease) -> None:
    await store.leases.give_back(lease, at=START_AT)
    await store.claim()


async def taken_over(store: Store, lease: Lease) -> None:
    await store.leases.take_over(lease, owner=worker(2), at=START_AT)


async def ended(store: Store, lease: Lease) -> None:
    await store.supervised.end(lease, ending(), at=START_AT)


async def running_and_taken_over(store: Store, lease: Lease) -> None:
    await store.supervised.started(lease, child(), at=START_AT)
    await store.leases.take_over(lease, owner=worker(2), at=START_AT)


Loss = Callable[[Store, Lease], Coroutine[Any, Any, None]]
LOSSES: tuple[Loss, ...] = (cancelled, given_back, claimed_again, taken_over, ended, running_and_taken_over)


async def execution(store: Store) -> ExecutionView:
    view = (await store.detail("r")).execution
    assert view is not None
    return view


def told(moves: tuple[TransitionView, ...]) -> list[tuple[str | None, str, str, bool]]:
    return [(move.from_status, move.to_status, move.actor, move.refused) for move in moves]


async def test_a_started_child_takes_the_run_out_of_the_queue(store: Store) -> None:
    lease = await store.lease("r")
    store.clock.advance(4)

    assert await store.supervised.started(lease, child(), at=START_AT + 4)

    run = await store.detail("r")
    assert (run.status, run.status_reason_code) == ("running", "run.running.started")
    assert (run.started_at, run.updated_at, run.last_activity_at) == (START_AT + 4,) * 3
    assert (run.created_at, run.process) == (START_AT, child())
    assert told(run.transitions) == [(None, "queued", "producer", False), ("queued", "running", "worker", False)]


async def test_a_started_run_stands_in_the_lists_by_its_start(store: Store) -> None:
    await store.queue("r", tags=("t",))
    lease = (await store.claim())["r"].lease
    for run_id in ("before", "after"):
        store.clock.advance(10)
        await store.start(run_id, tags=("t",))

    await store.supervised.started(lease, child(), at=START_AT + 15)

    assert await store.ids(sort="started") == await store.ids(sort="started", tags=("t",)) == ["after", "r", "before"]
    assert await store.ids(started_after=START_AT + 15, started_before=START_AT + 16) == ["r"]


async def test_the_start_of_the_same_child_may_be_said_again_and_that_of_another_not(store: Store) -> None:
    lease = await store.child("r")
    before = await store.detail("r")

    same = await store.supervised.started(lease, child(), at=START_AT + 9)
    other = await store.supervised.started(lease, child(2_000), at=START_AT + 9)

    assert (same, other) == (True, False)
    assert await store.detail("r") == before


async def test_no_child_starts_for_a_run_that_has_ended_under_its_lease(store: Store) -> None:
    lease = await store.child("r")
    await store.record("r", status("completed"))

    assert not await store.supervised.started(lease, child(), at=START_AT)


async def test_evidence_is_stored_as_any_producers(store: Store) -> None:
    lease = await store.child("r")
    store.clock.advance(2)
    batch = (message("a", event_id="1"), signal(), usage(0.5), artifact("report"), graph("x", "y"))

    first = await store.supervised.record(lease, batch, at=START_AT + 2)
    again = await store.supervised.record(lease, (message("a", event_id="1"), message("b")), at=START_AT + 3)

    run = await store.detail("r")
    assert (first, again) == (True, True)
    assert [(entry.seq, entry.content) for entry in run.branches[0].messages] == [(1, "a"), (3, "b")]
    assert (run.message_count, run.signal_count, run.cost_usd, run.last_activity_at) == (2, 1, 0.5, START_AT + 3)
    assert [view.name for view in run.artifacts] == ["report"]
    assert run.graph is not None


@pytest.mark.parametrize("end", TERMINAL)
async def test_an_end_keeps_how_the_process_ended_and_lets_go(store: Store, end: str) -> None:
    lease = await store.child("r")
    how = ending(
        end,
        "run.failed.signal",
        reason_summary="because",
        exit_code=3,
        exit_signal=9,
        stdout_bytes=2**40,
        stderr_bytes=7,
        withheld_bytes=5,
        output_tail="größe\n",
    )

    assert await store.supervised.end(lease, how, at=START_AT + 5)

    run, view = await store.detail("r"), await execution(store)
    assert (run.status, run.ended_at, run.status_reason_code) == (end, START_AT + 5, "run.failed.signal")
    assert run.status_reason_summary == "because"
    assert told(run.transitions)[-1] == ("running", end, "worker", False)
    assert (view.exit_code, view.exit_signal, view.output_tail) == (3, 9, "größe\n")
    assert (view.stdout_bytes, view.stderr_bytes, view.withheld_bytes) == (2**40, 7, 5)
    assert await store.leases.held() == ()


async def test_a_run_whose_process_could_not_be_started_ends_without_a_start(store: Store) -> None:
    lease = await store.lease("r")

    assert await store.supervised.end(lease, ending("failed", "run.failed.missing_executable"), at=START_AT)

    run = await store.detail("r")
    assert (run.status, run.started_at, run.ended_at) == ("failed", None, START_AT)
    view = await execution(store)
    assert (view.exit_code, view.stdout_bytes, view.stderr_bytes, view.withheld_bytes) == (None,) * 4
    assert await store.leases.held() == ()
    assert await store.claim() == {}


async def test_what_a_process_printed_is_unknown_until_it_was_counted(store: Store) -> None:
    lease = await store.child("r")
    before = await execution(store)

    await store.supervised.end(lease, ending(stdout_bytes=0, stderr_bytes=0, withheld_bytes=0), at=START_AT)

    after = await execution(store)
    assert (before.stdout_bytes, before.stderr_bytes, before.withheld_bytes) == (None, None, None)
    assert (after.stdout_bytes, after.stderr_bytes, after.withheld_bytes) == (0, 0, 0)


async def test_a_run_that_somebody_ended_otherwise_keeps_its_status_and_gets_its_exit(store: Store) -> None:
    lease = await store.child("r")
    await store.record("r", status("completed", reason_summary="done"))

    assert await store.supervised.end(lease, ending("failed", "run.failed.exit_nonzero", exit_code=1), at=START_AT + 1)

    run = await store.detail("r")
    assert (run.status, run.ended_at, run.status_reason_summary) == ("completed", START_AT, "done")
    assert told(run.transitions)[-1] == ("completed", "failed", "worker", True)
    assert (await execution(store)).exit_code == 1
    assert await store.leases.held() == ()


async def test_an_end_that_the_child_said_already_is_no_second_move(store: Store) -> None:
    lease = await store.child("r")
    await store.record("r", status("completed"))
    before = (await store.detail("r")).transitions

    assert await store.supervised.end(lease, ending(exit_code=0), at=START_AT + 1)

    run = await store.detail("r")
    assert (run.transitions, run.status_reason_code, run.ended_at) == (before, "run.completed.ok", START_AT)
    assert (await execution(store)).exit_code == 0


async def test_a_cancelled_run_ends_with_the_reason_of_who_asked(store: Store) -> None:
    lease = await store.child("r")
    await store.writes.request_cancel("r", reason="too dear", at=START_AT)

    await store.supervised.end(lease, ending("cancelled", "run.cancelled.requested", exit_signal=15), at=START_AT)

    run = await store.detail("r")
    assert (run.status, run.status_reason_summary) == ("cancelled", "too dear")


async def test_an_end_is_stored_whatever_was_said_of_it(store: Store) -> None:
    lease = await store.child("r")
    said = "\x00\ud800" + "x" * SUMMARY_MAX_CHARS
    how = ending("failed", "run.failed.error", reason_summary=said, output_tail="\x00\udcff end")

    assert await store.supervised.end(lease, how, at=START_AT)

    summary = (await store.detail("r")).status_reason_summary
    assert summary == "��" + "x" * (SUMMARY_MAX_CHARS - 2)
    assert (await execution(store)).output_tail == "�� end"


@pytest.mark.parametrize("lose", LOSSES)
async def test_a_lost_lease_writes_nothing(store: Store, lose: Loss) -> None:
    lease = await store.lease("r")
    await lose(store, lease)
    before = await store.detail("r"), await store.leases.held()
    store.feed.published.clear()

    written = [
        await store.supervised.started(lease, child(), at=START_AT + 1),
        await store.supervised.record(lease, (message(), status("failed")), at=START_AT + 1),
        await store.supervised.end(lease, ending("failed", exit_code=1), at=START_AT + 1),
    ]

    assert written == [False, False, False]
    assert (await store.detail("r"), await store.leases.held()) == before
    assert store.feed.published == []


@pytest.mark.parametrize("lease", [Lease(run_id="unknown", fence=1), Lease(run_id="r", fence=0)])
async def test_a_lease_that_never_was_writes_nothing(store: Store, lease: Lease) -> None:
    await store.queue("r")

    assert not await store.supervised.started(lease, child(), at=START_AT)
    assert not await store.supervised.record(lease, (message(),), at=START_AT)
    assert not await store.supervised.end(lease, ending(), at=START_AT)

    assert (await store.detail("r")).status == "queued"


async def test_who_took_over_writes_on(store: Store) -> None:
    lease = await store.child("r")
    taken = await store.leases.take_over(lease, owner=worker(2), at=START_AT)
    assert taken is not None

    recorded = await store.supervised.record(taken, (message(),), at=START_AT)
    ended_by = await store.supervised.end(taken, ending("failed", "run.failed.worker_lost"), at=START_AT)

    assert (recorded, ended_by) == (True, True)
    assert (await store.detail("r")).status_reason_code == "run.failed.worker_lost"


async def test_each_write_wakes_who_follows_the_run_and_an_end_who_waits_for_room(store: Store) -> None:
    async def topics(write: Coroutine[Any, Any, bool]) -> set[str]:
        store.feed.published.clear()
        await write
        return set(store.feed.published)

    lease = await store.lease("r")

    assert await topics(store.supervised.started(lease, child(), at=START_AT)) == {run_topic("r")}
    assert await topics(store.supervised.record(lease, (message(),), at=START_AT)) == {run_topic("r")}
    assert await topics(store.supervised.end(lease, ending(), at=START_AT)) == {run_topic("r"), LAUNCHES_TOPIC}


async def test_a_key_whose_run_has_ended_launches_nothing_again(store: Store) -> None:
    lease = await store.child("r")
    await store.supervised.end(lease, ending(), at=START_AT)

    again = await store.launches.launch(draft("r"), at=START_AT)

    assert (again.status, again.repeated) == ("completed", True)
    assert await store.claim() == {}
