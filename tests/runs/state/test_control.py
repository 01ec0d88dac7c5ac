"""Moves, cancelling, tags and settlement: guarded, and every accepted or refused move is kept."""

from typing import Any

import pytest

from contract.errors import Conflict, ValidationFailure
from contract.limits import TAGS_PER_RUN_MAX
from contract.runs import CancelResult, TransitionView
from runs.transitions import TERMINAL
from tests.builders import message, status, usage
from tests.fakes.clocks import START_AT
from tests.runs.state.stores import Store


async def moves(store: Store, run_id: str = "r") -> list[TransitionView]:
    items = (await store.pane(run_id, "transitions")).items
    return [item for item in items if isinstance(item, TransitionView)]


def told(found: list[TransitionView]) -> list[tuple[str | None, str, str, bool]]:
    return [(move.from_status, move.to_status, move.actor, move.refused) for move in found]


async def cancelled(store: Store, run_id: str = "r", reason: str | None = None) -> CancelResult | None:
    return await store.writes.request_cancel(run_id, reason=reason, at=store.clock.now())


async def tagged(store: Store, *, add: str = "", remove: str = "", run_id: str = "r") -> tuple[str, ...] | None:
    result = await store.writes.change_tags(
        run_id, add=frozenset(add.split()), remove=frozenset(remove.split()), at=store.clock.now()
    )
    return None if result is None else result.tags


@pytest.mark.parametrize("end", TERMINAL)
async def test_an_end_sets_status_reason_and_instant_together(store: Store, end: str) -> None:
    await store.start("r")
    store.clock.advance(7)

    await store.record("r", status(end, reason_summary="because"))

    run = await store.detail("r")
    assert (run.status, run.ended_at, run.status_reason_summary) == (end, START_AT + 7, "because")
    assert run.status_reason_code == (await moves(store))[-1].reason_code
    assert run.effective_health is None


async def test_moves_out_of_an_end_are_refused_and_kept(store: Store) -> None:
    await store.start("r")
    await store.record("r", status("completed"))
    store.clock.advance(1)

    result = await store.record("r", status("failed", reason_summary="no"), status("running"), status("completed"))

    run = await store.detail("r")
    assert result.refused_transitions == 2
    assert (run.status, run.ended_at, run.status_reason_code) == ("completed", START_AT, "run.completed.ok")
    assert told(await moves(store)) == [
        (None, "running", "producer", False),
        ("running", "completed", "producer", False),
        ("completed", "failed", "producer", True),
        ("completed", "running", "producer", True),
    ]


async def test_late_evidence_of_an_ended_run_is_stored(store: Store) -> None:
    await store.start("r")
    await store.record("r", status("completed"))
    store.clock.advance(1)

    await store.record("r", message(), usage(0.5))

    run = await store.detail("r")
    assert (run.status, run.ended_at, run.message_count, run.cost_usd) == ("completed", START_AT, 1, 0.5)


async def test_a_queued_run_starts_when_its_executor_says(store: Store) -> None:
    await store.queue("r")
    store.clock.advance(3)

    await store.record("r", status("running"))

    run = await store.detail("r")
    assert (run.status, run.started_at, run.created_at) == ("running", START_AT + 3, START_AT)
    assert await store.ids(started_after=START_AT + 3) == ["r"]


async def test_a_queued_run_may_end_without_ever_starting(store: Store) -> None:
    await store.queue("r")

    await store.record("r", status("failed"))

    run = await store.detail("r")
    assert (run.status, run.started_at, run.ended_at) == ("failed", None, START_AT)


async def test_cancelling_a_running_run_marks_it_until_it_obeys(store: Store) -> None:
    await store.start("r")
    store.clock.advance(2)

    result = await cancelled(store)

    assert result == CancelResult(run_id="r", status="running", cancel_requested_at=START_AT + 2)
    assert (await store.record("r", message())).cancel_requested
    assert not (await store.record("r", status("cancelled"))).cancel_requested
    run = await store.detail("r")
    assert (run.status, run.cancel_requested_at) == ("cancelled", START_AT + 2)


async def test_cancelling_a_queued_run_ends_it_at_once(store: Store) -> None:
    await store.queue("r")

    result = await cancelled(store, reason="not needed")

    run = await store.detail("r")
    assert result == CancelResult(run_id="r", status="cancelled", cancel_requested_at=START_AT)
    assert (run.status, run.ended_at, run.status_reason_summary) == ("cancelled", START_AT, "not needed")
    assert (await moves(store))[-1].reason_code == "run.cancelled.before_start"
    assert (await moves(store))[-1].actor == "operator"


async def test_cancelling_again_repeats_the_answer_and_writes_nothing(store: Store) -> None:
    for run_id in ("running", "queued"):
        await (store.start if run_id == "running" else store.queue)(run_id)
        first = await cancelled(store, run_id)
        before = await store.detail(run_id)
        store.clock.advance(5)

        assert await cancelled(store, run_id) == first
        assert await store.detail(run_id) == before


@pytest.mark.parametrize("end", TERMINAL)
async def test_an_ended_run_is_not_cancelled(store: Store, end: str) -> None:
    await store.start("r")
    await store.record("r", status(end))
    before = await store.detail("r")

    with pytest.raises(Conflict) as failure:
        await cancelled(store)

    assert failure.value.actual == end
    assert await store.detail("r") == before


async def test_a_missing_run_is_none_to_cancel_and_to_tag(store: Store) -> None:
    assert await cancelled(store, "unknown") is None
    assert await tagged(store, add="t", run_id="unknown") is None


async def test_tags_are_a_sorted_set(store: Store) -> None:
    await store.start("r", tags=("b",))

    assert await tagged(store, add="c a b") == ("a", "b", "c")
    assert await tagged(store, remove="b unknown") == ("a", "c")
    assert (await store.detail("r")).tags == ("a", "c")
    assert await store.ids(tags=("b",)) == []
    assert await store.ids(tags=("a", "c")) == ["r"]


async def test_tags_of_any_letters_are_found_exactly(store: Store) -> None:
    await store.start("r", tags=("größe", "🎈", "100%", "Größe"))

    assert (await store.detail("r")).tags == ("100%", "Größe", "größe", "🎈")
    for tag in ("größe", "🎈", "100%"):
        assert await store.ids(tags=(tag,)) == ["r"]
    assert await store.ids(tags=("100",)) == []


async def test_tags_that_change_nothing_leave_the_run_as_it_was(store: Store) -> None:
    await store.start("r", tags=("a",))
    before = await store.detail("r")
    store.clock.advance(1)

    await tagged(store, add="a", remove="b")

    assert await store.detail("r") == before


async def test_changed_tags_move_the_run_to_the_front(store: Store) -> None:
    for run_id in ("r", "newer"):
        await store.start(run_id, tags=("t",))
        store.clock.advance(1)

    await tagged(store, add="u")

    assert await store.ids() == await store.ids(tags=("t",)) == ["r", "newer"]


async def test_too_many_tags_are_refused_and_none_is_added(store: Store) -> None:
    await store.start("r", tags=tuple(f"t{number}" for number in range(TAGS_PER_RUN_MAX)))
    before = await store.detail("r")

    with pytest.raises(ValidationFailure) as failure:
        await tagged(store, add="one-more")

    assert failure.value.field_errors[0].code == "too_many_tags"
    assert await store.detail("r") == before
    assert await tagged(store, add="one-more", remove="t0") is not None


async def test_running_processes_are_paged_and_only_of_running_runs(store: Store) -> None:
    process = store.probe.start(1)
    for number in range(5):
        await store.start(f"r{number}", process=process)
    await store.start("no process")
    await store.queue("waiting")
    await store.record("r2", status("completed"))

    first = await store.settlement.running_processes(after=0, limit=3)
    rest = await store.settlement.running_processes(after=first[-1].number, limit=3)

    assert [run.run_id for run in (*first, *rest)] == ["r0", "r1", "r3", "r4"]
    assert first[0].process == process
    assert await store.settlement.running_processes(after=rest[-1].number, limit=3) == ()


async def test_settling_fails_those_that_still_run(store: Store) -> None:
    for run_id in ("gone", "ended", "tagged"):
        await store.start(run_id, tags=("t",))
    await store.record("ended", status("completed"))
    store.clock.advance(9)

    count = await store.settlement.settle_gone(["gone", "ended", "tagged", "unknown"], at=store.clock.now())

    gone, ended = await store.detail("gone"), await store.detail("ended")
    assert count == 2
    assert (gone.status, gone.status_reason_code, gone.ended_at) == ("failed", "run.failed.process_gone", START_AT + 9)
    assert ended.status == "completed"
    assert told(await moves(store, "gone"))[-1] == ("running", "failed", "system", False)
    assert await store.ids(tags=("t",)) == await store.ids()
    assert await store.settlement.settle_gone(["gone", "tagged"], at=store.clock.now()) == 0


@pytest.mark.parametrize(
    ("process", "quiet_hours", "health"),
    [
        ({"pid": 1}, 0, "healthy"),
        ({"pid": 1}, 2, "idle"),
        ({"pid": 1}, 7, "unresponsive"),
        ({"pid": 2}, 0, "stale"),
        ({"pid": 1, "host": "other"}, 2, "idle"),
        (None, 7, "stale"),
    ],
)
async def test_health_is_judged_by_process_and_activity(
    store: Store, process: dict[str, Any] | None, quiet_hours: float, health: str
) -> None:
    identity = store.probe.start(1)
    await store.start("r", process=None if process is None else identity.model_copy(update=process))
    await store.record("r", message())
    store.clock.advance(quiet_hours * 3_600)

    assert (await store.detail("r")).effective_health == health
    assert (await store.page()).items[0].effective_health == health


async def test_the_reason_of_a_cancellation_is_kept_until_its_executor_obeys(store: Store) -> None:
    await store.start("r")

    await cancelled(store, reason="too dear")
    asked = await store.detail("r")
    await store.record("r", status("cancelled"))

    run = await store.detail("r")
    assert (asked.status, asked.cancel_reason, asked.status_reason_summary) == ("running", "too dear", None)
    assert (run.status, run.status_reason_summary) == ("cancelled", "too dear")
    assert (await moves(store))[-1].reason_summary == "too dear"


async def test_the_reason_of_a_cancellation_does_not_explain_another_end(store: Store) -> None:
    await store.start("r")

    await cancelled(store, reason="too dear")
    await store.record("r", status("completed"))

    assert (await store.detail("r")).status_reason_summary is None
