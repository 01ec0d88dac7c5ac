"""Registering runs and recording batches: atomic, in order, each event once."""

from typing import Any

import pytest

from contract.errors import Conflict, ValidationFailure
from contract.events import (
    MessageEvent,
    MessageView,
    RecordEvents,
    RecordResult,
    SignalEvent,
    SignalView,
)
from contract.limits import BRANCHES_PER_RUN_MAX, EVENT_MAX_BYTES
from contract.parsing import parse_model, strict_json_loads
from runs.services.following import run_topic
from tests.builders import artifact, branch, graph, message, messages, signal, start_run, status, usage
from tests.fakes.clocks import START_AT
from tests.runs.state.stores import Store

# Evidence as it may come from any agent, with what each store must give back.
BODIES: dict[str, tuple[str, Any]] = {
    "plain text": ('"hello"', "hello"),
    "empty text": ('""', ""),
    "null": ("null", None),
    "emoji beyond the first plane": ('"🎈👩‍👩‍👧"', "🎈👩‍👩‍👧"),
    "surrogate pair": ('"\\ud83c\\udf88"', "🎈"),
    "controls and line ends": ('"a\\u0001\\r\\n\\t\\u2028\\u007f"', "a\x01\r\n\t\u2028\x7f"),
    "NUL": ('"a\\u0000b"', "a\ufffdb"),
    "lone surrogate": ('"a\\ud800b"', "a\ufffdb"),
    "quotes": ('"\'; DROP TABLE runs; -- \\" \\\\ %s %(x)s"', "'; DROP TABLE runs; -- \" \\ %s %(x)s"),
    "big integer": ("123456789012345678901234567890", 123456789012345678901234567890),
    "floats": ("[1e308, -0.5, 1e-300, 0.1]", [1e308, -0.5, 1e-300, 0.1]),
    "true and one": ("[true, 1, false, 0]", [True, 1, False, 0]),
    "nested": (
        '{"a": [{"b": {"\\u0000": [null, "\\udc00"]}}], "": {}}',
        {"a": [{"b": {"\ufffd": [None, "\ufffd"]}}], "": {}},
    ),
}


def parsed(body: str, **fields: Any) -> RecordEvents:
    """Return the body as message content and as signal payload, through the door that evidence comes in by."""
    raw = (
        f'{{"events": [{{"type": "message", "role": "tool", "content": {body}}},'
        f' {{"type": "signal", "kind": "Done", "payload": {body}}}]}}'
    )
    return parse_model(RecordEvents, strict_json_loads(raw.encode()))


async def test_a_taken_id_is_a_conflict_and_leaves_the_first(store: Store) -> None:
    await store.start("r", name="first", tags=("a",), invocation_id="i")

    with pytest.raises(Conflict) as failure:
        await store.start("r", name="second", tags=("b",), invocation_id="j")

    [run] = (await store.page()).items
    assert (failure.value.resource, failure.value.actual) == ("run", "r")
    assert (run.name, run.tags) == ("first", ("a",))
    assert await store.invocations.get_invocation("j") is None


async def test_a_run_starts_when_its_producer_says(store: Store) -> None:
    run = await store.start("r", started_at=START_AT - 5)

    assert (run.started_at, run.created_at, run.status) == (START_AT - 5, START_AT, "running")


async def test_a_missing_run_records_nothing(store: Store) -> None:
    assert await store.writes.record_events("unknown", [message()], at=START_AT) is None


async def test_positions_go_on_over_batches_and_kinds(store: Store) -> None:
    await store.start("r")

    first = await store.record("r", message("a"), signal(), message("b"))
    second = await store.record("r", signal(), message("c"))

    assert first == RecordResult(run_id="r", accepted=3, duplicates=0, last_seq=3)
    assert second == RecordResult(run_id="r", accepted=2, duplicates=0, last_seq=5)
    found = [(await store.pane("r", "messages")).items, (await store.pane("r", "signals")).items]
    assert [[item.seq for item in items if isinstance(item, MessageView | SignalView)] for items in found] == [
        [1, 3, 5],
        [2, 4],
    ]


async def test_an_event_id_is_accepted_once_in_its_run(store: Store) -> None:
    await store.start("r")
    await store.start("other")

    results = [
        await store.record("r", message("first", event_id="e"), message("again", event_id="e")),
        await store.record("r", signal(event_id="e"), message("new", event_id="f")),
        await store.record("other", message("elsewhere", event_id="e")),
    ]

    assert [(result.accepted, result.duplicates) for result in results] == [(1, 1), (1, 1), (1, 0)]
    contents = [item.content for item in (await store.pane("r", "messages")).items if item.type == "message"]
    assert contents == ["first", "new"]


async def test_a_batch_of_known_events_changes_nothing(store: Store) -> None:
    await store.start("r")
    await store.record("r", message(event_id="e"), status("completed", event_id="s"))
    before = await store.detail("r")
    store.clock.advance(60)

    again = await store.record("r", message(event_id="e"), status("failed", event_id="s"))

    assert (again.accepted, again.duplicates, again.last_seq) == (0, 2, 1)
    assert await store.detail("r") == before


async def test_usage_with_a_known_id_is_not_summed_twice(store: Store) -> None:
    await store.start("r")

    for _ in range(3):
        await store.record("r", usage(0.1, input_tokens=10, event_id="u"))

    [run] = (await store.page()).items
    assert (run.cost_usd, run.input_tokens) == (0.1, 10)


async def test_money_adds_up_exactly_and_unknown_is_not_zero(store: Store) -> None:
    await store.start("priced")
    await store.start("unpriced")

    for _ in range(10):
        await store.record("priced", usage(0.1, input_tokens=3), usage(None, output_tokens=2))
    await store.record("unpriced", usage(None))

    unpriced, priced = [await store.detail(run_id) for run_id in ("unpriced", "priced")]
    assert (priced.cost_usd, priced.input_tokens, priced.output_tokens) == (1.0, 30, 20)
    assert (unpriced.cost_usd, unpriced.input_tokens, unpriced.output_tokens) == (None, None, None)
    assert (priced.totals.usage_reports, priced.totals.usage_reports_without_cost) == (20, 10)


async def test_a_batch_that_fails_at_its_last_event_stores_nothing(store: Store) -> None:
    await store.start("r")
    await store.record("r", *(branch(f"b{number}") for number in range(BRANCHES_PER_RUN_MAX - 1)))
    before = await store.detail("r")
    store.clock.advance(1)
    events = (message("lost", event_id="e"), signal(), usage(1.0), artifact(), graph("n"), status("completed"))

    with pytest.raises(ValidationFailure):
        await store.record("r", *events, message(branch="one more"))

    assert await store.detail("r") == before
    assert (await store.pane("r", "messages")).items == ()
    assert (await store.record("r", message(event_id="e"))).accepted == 1


@pytest.mark.parametrize("body", BODIES)
async def test_evidence_comes_back_as_it_was_or_marked(store: Store, body: str) -> None:
    raw, expected = BODIES[body]
    await store.start("r")

    await store.record("r", *parsed(raw).events)

    told = (await store.pane("r", "messages")).items[0]
    signalled = (await store.pane("r", "signals")).items[0]
    shown = (await store.detail("r")).branches[0].messages[0]
    assert isinstance(told, MessageView)
    assert isinstance(signalled, SignalView)
    assert repr(told.content) == repr(signalled.payload) == repr(shown.content) == repr(expected)
    assert told.sanitized == signalled.sanitized == ("\ufffd" in repr(expected))


async def test_a_body_over_the_bound_is_cut_and_says_its_size(store: Store) -> None:
    await store.start("r")
    size = EVENT_MAX_BYTES + 1
    whole = {"role": "output", "content": "ä" * size}

    await store.record("r", MessageEvent.model_validate(whole), SignalEvent(kind="Big", payload=["x" * size]))

    [told] = (await store.pane("r", "output")).items
    [signalled] = (await store.pane("r", "signals")).items
    assert isinstance(told, MessageView)
    assert isinstance(signalled, SignalView)
    assert (told.withheld, told.size_bytes, told.content) == (True, 2 * size, "ä" * (EVENT_MAX_BYTES // 4))
    assert signalled.withheld
    assert signalled.payload == f'["{"x" * (EVENT_MAX_BYTES // 4 - 2)}'


async def test_the_size_of_a_body_cannot_be_understated(store: Store) -> None:
    await store.start("r")
    raw = b'{"events": [{"type": "message", "role": "user", "content": "four", "size_bytes": 0}]}'

    await store.record("r", *parse_model(RecordEvents, strict_json_loads(raw)).events)

    [told] = (await store.pane("r", "messages")).items
    assert isinstance(told, MessageView)
    assert told.size_bytes == 4


async def test_every_field_of_an_event_comes_back(store: Store) -> None:
    await store.start("r")
    store.clock.advance(1)

    await store.record(
        "r",
        message("hi", branch="b", role="user", sender="s", recipient="t", message_id="m", event_id="e", at=5.5),
        signal(kind="NodeFailed", op_id="o", branch="c", event_id="f", at=6.5, payload={"error": "x"}),
    )

    [told] = (await store.pane("r", "messages")).items
    [signalled] = (await store.pane("r", "signals")).items
    recorded_at = START_AT + 1
    assert told == MessageView(
        seq=1,
        branch="b",
        role="user",
        content="hi",
        sender="s",
        recipient="t",
        message_id="m",
        event_id="e",
        at=5.5,
        recorded_at=recorded_at,
        size_bytes=2,
    )
    assert signalled == SignalView(
        seq=2,
        kind="NodeFailed",
        op_id="o",
        branch="c",
        payload={"error": "x"},
        event_id="f",
        at=6.5,
        recorded_at=recorded_at,
        size_bytes=13,
    )


async def test_counters_of_the_list_equal_what_was_recorded(store: Store) -> None:
    await store.start("r")
    await store.record("r", *messages(3), signal(), branch("side"))
    store.clock.advance(5)
    await store.record("r", message(branch="side"), *messages(2, branch="third"), signal())

    [run] = (await store.page()).items

    assert (run.message_count, run.signal_count, run.branch_count) == (6, 2, 3)
    assert run.last_activity_at == run.updated_at == START_AT + 5


async def test_the_instant_of_change_never_goes_back(store: Store) -> None:
    await store.start("r")
    store.clock.step(-100)

    await store.record("r", message())

    [run] = (await store.page()).items
    assert run.updated_at == START_AT


async def test_every_change_is_published_after_it_was_made(store: Store) -> None:
    await store.start("r")
    await store.record("r", message())
    await store.writes.request_cancel("r", reason=None, at=START_AT)
    await store.writes.change_tags("r", add=frozenset("t"), remove=frozenset(), at=START_AT)

    assert store.feed.published == [run_topic("r")] * 4


async def test_a_whole_batch_of_the_largest_number_is_stored(store: Store) -> None:
    await store.start("r")

    result = await store.record("r", *(message(event_id=f"e{number}") for number in range(500)))

    assert (result.accepted, result.last_seq) == (500, 500)
    assert (await store.detail("r")).branches[0].message_count == 500


async def test_runs_registered_together_keep_the_order_of_their_registration(store: Store) -> None:
    for run_id in ("c", "a", "b"):
        await store.writes.start_run(run_id, start_run(), at=START_AT)

    assert await store.ids() == ["b", "a", "c"]
