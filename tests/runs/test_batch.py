"""Folding a batch of events over a run: values in, effects out."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.errors import ValidationFailure
from contract.events import BranchEvent, MessageEvent, RunEvent, SignalEvent, StatusEvent, UsageEvent
from contract.limits import BRANCHES_PER_RUN_MAX
from runs.batch import BranchState, Effects, RunState, branch_names, check_events, fold, fresh_events
from runs.reasons import default_reason
from runs.transitions import TERMINAL, is_terminal
from tests.builders import artifact, branch, graph, message, messages, signal, status, usage

AT = 1_700_000_000.0
BRANCHES = st.sampled_from(["main", "left", "right"])
EVENT_IDS = st.none() | st.sampled_from(["e1", "e2", "e3", "e4"])
EVENTS = st.one_of(
    st.builds(
        lambda name, role, event_id: message("text", branch=name, role=role, event_id=event_id),
        BRANCHES,
        st.sampled_from(["user", "assistant", "output"]),
        EVENT_IDS,
    ),
    st.builds(lambda event_id: signal(event_id=event_id), EVENT_IDS),
    st.builds(lambda name, model: branch(name, model=model), BRANCHES, st.none() | st.just("m")),
    st.builds(
        lambda cents, tokens: usage(None if cents is None else cents / 100, input_tokens=tokens),
        st.none() | st.integers(0, 10**6),
        st.none() | st.integers(0, 10**9),
    ),
    st.sampled_from(["running", *TERMINAL]).map(status),
)
BATCHES = st.lists(EVENTS, max_size=30)


def folded(*events: RunEvent, state: RunState | None = None) -> Effects:
    return fold(state or RunState(status="running"), events, at=AT)


def stored(state: RunState, effects: Effects) -> RunState:
    """The state that the next batch builds on."""
    return RunState(
        status=effects.status,
        last_seq=effects.last_seq,
        branch_count=effects.branch_count,
        branches={**state.branches, **effects.branches},
        messages_by_role=effects.messages_by_role,
        input_tokens=effects.input_tokens,
        output_tokens=effects.output_tokens,
        cost_micros=effects.cost_micros,
    )


@given(BATCHES, st.integers(0, 10**9))
def test_seq_is_dense_and_grows_over_messages_and_signals_together(events: list[RunEvent], last_seq: int) -> None:
    effects = folded(*events, state=RunState(status="running", last_seq=last_seq))

    seqs = sorted([new.seq for new in effects.messages] + [new.seq for new in effects.signals])
    assert seqs == list(range(last_seq + 1, effects.last_seq + 1))
    assert [new.event for new in effects.messages] == [event for event in events if isinstance(event, MessageEvent)]
    assert [new.event for new in effects.signals] == [event for event in events if isinstance(event, SignalEvent)]


@given(BATCHES, st.integers(0, 50))
def test_positions_are_dense_per_branch_and_go_on_from_what_is_stored(events: list[RunEvent], before: int) -> None:
    state = RunState(status="running", branches={"main": BranchState(message_count=before)}, branch_count=1)

    effects = folded(*events, state=state)

    for name in ("main", "left", "right"):
        first = before if name == "main" else 0
        positions = [new.position for new in effects.messages if new.event.branch == name]
        assert positions == list(range(first + 1, first + len(positions) + 1))


@given(BATCHES)
def test_counters_equal_a_recount(events: list[RunEvent]) -> None:
    effects = folded(*events)

    sent = [event for event in events if isinstance(event, MessageEvent)]
    reports = [event for event in events if isinstance(event, UsageEvent)]
    named = {event.branch for event in sent} | {event.name for event in events if isinstance(event, BranchEvent)}
    priced = [round(report.cost_usd * 10**6) for report in reports if report.cost_usd is not None]
    counted = [report.input_tokens for report in reports if report.input_tokens is not None]
    assert effects.messages_by_role == Counter(event.role for event in sent)
    assert effects.branch_count == len(named) == len(effects.branches)
    assert effects.cost_micros == (sum(priced) if priced else None)
    assert effects.input_tokens == (sum(counted) if counted else None)
    assert effects.usage == reports


@given(BATCHES)
def test_at_most_one_move_ends_the_run_and_none_is_accepted_after_it(events: list[RunEvent]) -> None:
    effects = folded(*events)

    accepted = effects.accepted_moves()
    ends = [move for move in accepted if is_terminal(move.to_status)]
    assert len(ends) <= 1
    assert not ends or accepted[-1] is ends[0]
    assert effects.status == (accepted[-1].to_status if accepted else "running")


@given(BATCHES, BATCHES)
def test_two_batches_leave_the_same_as_both_in_one(first: list[RunEvent], second: list[RunEvent]) -> None:
    start = RunState(status="running")

    middle = stored(start, fold(start, first, at=AT))
    in_two = stored(middle, fold(middle, second, at=AT))

    assert in_two == stored(start, fold(start, [*first, *second], at=AT))


@given(BATCHES, st.sets(st.sampled_from(["e1", "e2", "e9"])))
def test_each_event_id_is_fresh_once_and_events_without_id_always(events: list[RunEvent], known: set[str]) -> None:
    fresh = fresh_events(events, known)

    ids = [event.event_id for event in fresh if event.event_id is not None]
    assert set(ids) == {event.event_id for event in events if event.event_id is not None} - known
    assert len(ids) == len(set(ids))
    assert [event for event in fresh if event.event_id is None] == [e for e in events if e.event_id is None]


def test_of_two_events_with_one_id_the_first_is_kept() -> None:
    first, second = message("first", event_id="e"), message("second", event_id="e")

    assert fresh_events([first, second], ()) == [first]


def test_a_batch_writes_to_the_branches_of_its_messages_and_declarations() -> None:
    events: list[RunEvent] = [message("a", branch="left"), branch("right"), signal(branch="elsewhere"), usage(1.0)]

    assert branch_names(events) == {"left", "right"}


def test_nothing_leaves_everything_as_it_was() -> None:
    state = RunState(status="queued", last_seq=7, branch_count=2, messages_by_role={"user": 3}, cost_micros=5)

    effects = fold(state, (), at=AT)

    assert (effects.status, effects.last_seq, effects.branch_count) == ("queued", 7, 2)
    assert effects.messages_by_role == {"user": 3}
    assert (effects.branches, effects.messages, effects.signals, effects.moves) == ({}, [], [], [])


def test_a_branch_keeps_its_first_instant_and_moves_its_last() -> None:
    before = BranchState(message_count=1, first_message_at=0.0, last_message_at=AT - 10)
    state = RunState(status="running", branches={"main": before}, branch_count=1)

    effects = folded(message("next"), state=state)

    assert effects.branches["main"].first_message_at == 0.0
    assert effects.branches["main"].last_message_at == AT


def test_a_described_branch_keeps_what_is_not_said_again() -> None:
    effects = folded(branch("b", model="m1", provider="p"), branch("b", model="m2", parent="main"), message(branch="b"))

    assert effects.branches["b"] == BranchState(
        parent="main",
        model="m2",
        provider="p",
        message_count=1,
        first_message_at=AT,
        last_message_at=AT,
    )


def test_a_stored_branch_is_not_counted_again() -> None:
    state = RunState(status="running", branches={"main": BranchState(message_count=4)}, branch_count=1)

    assert folded(branch("main", model="m"), state=state).branch_count == 1


def test_a_run_has_a_bounded_number_of_branches() -> None:
    state = RunState(status="running", branch_count=BRANCHES_PER_RUN_MAX - 1)

    assert folded(message(branch="last"), state=state).branch_count == BRANCHES_PER_RUN_MAX
    with pytest.raises(ValidationFailure) as failure:
        folded(message(branch="last"), message(branch="one more"), state=state)

    assert failure.value.field_errors[0].code == "too_many_branches"


def test_artifacts_are_handed_on_and_the_last_graph_stays() -> None:
    reports = [artifact("a"), artifact("b")]

    effects = folded(reports[0], graph("x"), reports[1], graph("y", "z"))

    assert effects.artifacts == reports
    assert effects.graph is not None
    assert [node.id for node in effects.graph.nodes] == ["y", "z"]


def test_a_second_end_is_refused_and_kept_as_a_refusal() -> None:
    effects = folded(status("completed"), status("failed", reason_summary="late"))

    first, second = effects.moves
    assert (first.refused, second.refused) == (False, True)
    assert (second.from_status, second.to_status, second.reason_summary) == ("completed", "failed", "late")
    assert effects.status == "completed"


def test_the_same_end_again_leaves_no_trace() -> None:
    assert len(folded(status("completed"), status("completed")).moves) == 1


@pytest.mark.parametrize("wanted", ["running", *TERMINAL])
def test_a_move_without_reason_gets_the_default_of_its_status(wanted: str) -> None:
    [move] = folded(status(wanted), state=RunState(status="queued")).moves

    assert move.reason_code == default_reason(wanted)


def test_a_given_reason_is_kept() -> None:
    [move] = folded(status("failed", reason_code="run.failed.exit_nonzero", reason_summary="exit code 3")).moves

    assert (move.reason_code, move.reason_summary) == ("run.failed.exit_nonzero", "exit code 3")


def test_a_cancelled_run_carries_the_reason_of_whoever_asked_unless_its_executor_gives_one() -> None:
    state = RunState(status="running", cancel_reason="too dear")

    [silent] = folded(status("cancelled"), state=state).moves
    [speaking] = folded(status("cancelled", reason_summary="stopped"), state=state).moves
    [other] = folded(status("failed"), state=state).moves

    assert [move.reason_summary for move in (silent, speaking, other)] == ["too dear", "stopped", None]


def test_events_whose_reasons_fit_pass() -> None:
    check_events([message(), status("failed", reason_code="run.failed.error"), status("completed")])


def test_every_reason_that_does_not_fit_is_named_by_its_event() -> None:
    events: list[RunEvent] = [
        status("failed", reason_code="run.completed.ok"),
        message(),
        StatusEvent(status="completed", reason_code="nonsense"),
    ]

    with pytest.raises(ValidationFailure) as failure:
        check_events(events)

    assert [fault.path for fault in failure.value.field_errors] == [
        ("events", 0, "reason_code"),
        ("events", 2, "reason_code"),
    ]


def test_many_messages_fold_into_one_branch() -> None:
    effects = folded(*messages(500))

    assert effects.branches["main"].message_count == 500
    assert effects.last_seq == 500
