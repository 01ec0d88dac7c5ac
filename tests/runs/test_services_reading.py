"""Reading runs and invocations: what is checked before a port is reached, and what a missing one becomes."""

import pytest

from contract.errors import NotFound, StateUnavailable, ValidationFailure
from contract.runs import EvidenceRequest, InvocationQuery, RunQuery, RunReadQuery
from runs.cursors import WindowPosition, encode_evidence, encode_window
from runs.services.reading import get_invocation, get_run, list_invocations, list_runs, read_evidence
from tests.builders import message, start_run
from tests.fakes.clocks import START_AT
from tests.fakes.runs import InMemoryRuns


@pytest.fixture
def runs() -> InMemoryRuns:
    return InMemoryRuns()


async def started(runs: InMemoryRuns, *run_ids: str, invocation_id: str | None = None) -> None:
    for number, run_id in enumerate(run_ids):
        await runs.start_run(run_id, start_run(invocation_id=invocation_id), at=START_AT + number)


async def test_runs_are_listed_newest_first(runs: InMemoryRuns) -> None:
    await started(runs, "a", "b", "c")

    page = await list_runs(query=RunQuery(limit=2), runs=runs)

    assert [run.run_id for run in page.items] == ["c", "b"]
    assert page.has_next


async def test_a_list_goes_on_from_its_cursor(runs: InMemoryRuns) -> None:
    await started(runs, "a", "b", "c")
    first = await list_runs(query=RunQuery(limit=2), runs=runs)

    rest = await list_runs(query=RunQuery(limit=2, cursor=first.next_cursor), runs=runs)

    assert [run.run_id for run in rest.items] == ["a"]
    assert rest.next_cursor is None


async def test_a_contradicting_query_reaches_no_store(runs: InMemoryRuns) -> None:
    with pytest.raises(ValidationFailure):
        await list_runs(query=RunQuery(status=("nonsense",)), runs=runs)

    assert not runs.calls


async def test_a_run_is_read_with_its_messages(runs: InMemoryRuns) -> None:
    await started(runs, "r")
    await runs.record_events("r", [message("hello")], at=START_AT)

    detail = await get_run(run_id="r", query=RunReadQuery(), runs=runs)

    assert [view.content for view in detail.branches[0].messages] == ["hello"]


async def test_an_older_window_is_read_by_its_cursor(runs: InMemoryRuns) -> None:
    await started(runs, "r")
    await runs.record_events("r", [message("old"), message("new")], at=START_AT)
    tail = await get_run(run_id="r", query=RunReadQuery(message_limit=1), runs=runs)

    older = await get_run(run_id="r", query=RunReadQuery(message_limit=1, cursor=tail.next_cursor), runs=runs)

    assert [view.content for view in older.branches[0].messages] == ["old"]
    assert older.next_cursor is None


@pytest.mark.parametrize("run_id", ["unknown", "no/such\x00id"])
async def test_a_missing_run_is_not_found(runs: InMemoryRuns, run_id: str) -> None:
    with pytest.raises(NotFound) as detail:
        await get_run(run_id=run_id, query=RunReadQuery(), runs=runs)
    with pytest.raises(NotFound) as pane:
        await read_evidence(request=EvidenceRequest(run_id=run_id, pane="signals"), evidence=runs)

    assert detail.value.identifier == pane.value.identifier == run_id


async def test_a_window_cursor_of_another_run_reaches_no_store(runs: InMemoryRuns) -> None:
    query = RunReadQuery(cursor=encode_window("other", 200, WindowPosition(1, 1)))

    with pytest.raises(ValidationFailure):
        await get_run(run_id="r", query=query, runs=runs)

    assert not runs.calls


async def test_a_window_cursor_ahead_of_the_run_is_refused(runs: InMemoryRuns) -> None:
    await started(runs, "r")

    with pytest.raises(ValidationFailure):
        await get_run(run_id="r", query=RunReadQuery(cursor=encode_window("r", 200, WindowPosition(1, 0))), runs=runs)


async def test_a_pane_goes_on_from_its_cursor(runs: InMemoryRuns) -> None:
    await started(runs, "r")
    await runs.record_events("r", [message(text) for text in "abc"], at=START_AT)
    first = await read_evidence(request=EvidenceRequest(run_id="r", pane="messages", limit=2), evidence=runs)

    request = EvidenceRequest(run_id="r", pane="messages", limit=2, cursor=first.next_cursor)
    rest = await read_evidence(request=request, evidence=runs)

    assert [item.seq for page in (first, rest) for item in page.items if item.type == "message"] == [1, 2, 3]


async def test_a_pane_cursor_of_another_pane_reaches_no_store(runs: InMemoryRuns) -> None:
    cursor = encode_evidence("r", "signals", 1)

    with pytest.raises(ValidationFailure):
        await read_evidence(request=EvidenceRequest(run_id="r", pane="messages", cursor=cursor), evidence=runs)

    assert not runs.calls


async def test_invocations_are_listed_newest_first(runs: InMemoryRuns) -> None:
    await started(runs, "a", invocation_id="first")
    await started(runs, "b", "c", invocation_id="second")

    page = await list_invocations(query=InvocationQuery(), invocations=runs)

    assert [(item.invocation_id, item.run_count) for item in page.items] == [("second", 2), ("first", 1)]


async def test_a_garbled_invocation_cursor_reaches_no_store(runs: InMemoryRuns) -> None:
    with pytest.raises(ValidationFailure):
        await list_invocations(query=InvocationQuery(cursor="x"), invocations=runs)

    assert not runs.calls


async def test_an_invocation_is_read_with_its_runs(runs: InMemoryRuns) -> None:
    await started(runs, "a", "b", invocation_id="i")

    detail = await get_invocation(invocation_id="i", invocations=runs)

    assert [run.run_id for run in detail.runs] == ["b", "a"]
    assert detail.status == "running"


@pytest.mark.parametrize("invocation_id", ["unknown", "../x"])
async def test_a_missing_invocation_is_not_found(runs: InMemoryRuns, invocation_id: str) -> None:
    with pytest.raises(NotFound) as failure:
        await get_invocation(invocation_id=invocation_id, invocations=runs)

    assert failure.value.resource == "invocation"


async def test_a_store_that_does_not_answer_is_said(runs: InMemoryRuns) -> None:
    runs.fault = StateUnavailable(retryable=True)

    with pytest.raises(StateUnavailable):
        await list_runs(query=RunQuery(), runs=runs)
