"""Lists: filters, sorts, pages and cursors."""

from typing import Any, get_args

from contract.application import StudioApplication
from contract.errors import NotFound, ValidationFailure
from contract.runs import InvocationQuery, RunQuery, RunReadQuery, RunSort
from tests.parity.catalogue import scenario
from tests.parity.run_scenarios import AT, IMPOSSIBLE_IDS, end, field_codes, places, record, run_ids, start
from tests.parity.witness import refused


async def _three_runs(studio: StudioApplication, own: str) -> None:
    await start(studio, f"{own}-1", project=own, kind="flow", name="100% Äpfel", tags=("x", "y"), started_at=AT + 1)
    await start(studio, f"{own}-2", project=own, agent_name="a_b", tags=("y",), started_at=AT + 3, invocation_id=own)
    await start(studio, f"{own}-3", project=own, playbook_name="p", name="axb", started_at=AT + 2)
    await record(studio, f"{own}-1", {"type": "usage", "cost_usd": 0.5})
    await record(studio, f"{own}-3", {"type": "usage", "cost_usd": 0.25})
    await end(studio, f"{own}-3", "failed")


@scenario
async def every_filter_finds_its_runs(studio: StudioApplication, own: str) -> None:
    await _three_runs(studio, own)
    expected: tuple[tuple[dict[str, Any], set[int]], ...] = (
        ({}, {1, 2, 3}),
        ({"status": ("running",)}, {1, 2}),
        ({"status": ("failed", "queued", "failed")}, {3}),
        ({"playbook": "p"}, {3}),
        ({"tags": ("x", "y")}, {1}),
        ({"tags": ("x", "y"), "tags_match": "any"}, {1, 2}),
        ({"tags": ("none",)}, set()),
        ({"kind": "flow"}, {1}),
        ({"agent": "a_b"}, {2}),
        ({"invocation_id": own}, {2}),
        ({"search": "ÄPFEL"}, {1}),
        ({"search": "%"}, {1}),
        ({"search": "a_b"}, {2}),
        ({"search": "\\"}, set()),
        ({"started_after": AT + 2}, {2, 3}),
        ({"started_before": AT + 2}, {1}),
        ({"started_after": AT + 1, "started_before": AT + 3, "status": ("running",)}, {1}),
    )

    for filters, numbers in expected:
        page = await studio.list_runs(RunQuery(project=own, **filters))
        assert set(run_ids(page)) == {f"{own}-{number}" for number in numbers}, filters


@scenario
async def runs_without_a_project_are_found(studio: StudioApplication, own: str) -> None:
    await start(studio, own, agent_name=own)

    assert run_ids(await studio.list_runs(RunQuery(project_is_null=True, agent=own))) == [own]


@scenario
async def every_sort_has_its_order(studio: StudioApplication, own: str) -> None:
    await _three_runs(studio, own)

    orders = {
        sort: "".join(run_id[-1] for run_id in run_ids(await studio.list_runs(RunQuery(project=own, sort=sort))))
        for sort in get_args(RunSort)
    }

    assert orders == {"recent": "312", "started": "231", "cost": "132"}


@scenario
async def pages_follow_each_other_by_offset_and_by_cursor(studio: StudioApplication, own: str) -> None:
    await _three_runs(studio, own)
    whole = run_ids(await studio.list_runs(RunQuery(project=own)))

    by_offset = [run_ids(await studio.list_runs(RunQuery(project=own, limit=1, offset=offset))) for offset in range(4)]
    by_cursor, cursor = [], None
    for _ in range(2):
        page = await studio.list_runs(RunQuery(project=own, limit=2, cursor=cursor))
        by_cursor += run_ids(page)
        cursor = page.next_cursor

    assert by_offset == [*([run_id] for run_id in whole), []]
    assert by_cursor == whole
    assert cursor is None


@scenario
async def contradicting_filters_are_refused_together(studio: StudioApplication, own: str) -> None:
    query = RunQuery(
        status=("running", "done", "\ufffd"), project=own, project_is_null=True, cursor="garbled", offset=3
    )

    failure = await refused(ValidationFailure, studio.list_runs(query))

    assert places(failure)[:2] == [(("status", 1), "unknown_status"), (("status", 2), "unknown_status")]
    assert {("project_is_null", "exclusive"), ("offset", "exclusive")} <= field_codes(failure.field_errors)


@scenario
async def foreign_cursors_of_a_list_are_refused(studio: StudioApplication, own: str) -> None:
    await _three_runs(studio, own)
    page = await studio.list_runs(RunQuery(project=own, limit=1))
    stream_cursor = (await studio.get_run(f"{own}-1", RunReadQuery())).stream_cursor

    for query in (
        RunQuery(project=f"{own}-other", cursor=page.next_cursor),
        RunQuery(project=own, sort="cost", cursor=page.next_cursor),
        RunQuery(project=own, cursor=stream_cursor),
        RunQuery(project=own, cursor="garbled"),
        RunQuery(project=own, cursor=""),
    ):
        failure = await refused(ValidationFailure, studio.list_runs(query))
        assert places(failure) == [(("cursor",), "cursor")]


@scenario
async def invocations_are_listed_page_by_page(studio: StudioApplication, own: str) -> None:
    for number in range(3):
        await start(studio, f"{own}-{number}", kind=own, invocation_id=f"{own}-i{number}")
    await end(studio, f"{own}-0", "failed")
    seen, cursor = [], None

    for _ in range(2):
        page = await studio.list_invocations(InvocationQuery(kind=own, limit=2, cursor=cursor))
        seen += [invocation.invocation_id[-1] for invocation in page.items]
        cursor = page.next_cursor
    await studio.list_invocations(InvocationQuery(kind=own, offset=2))

    assert seen == ["2", "1", "0"]


@scenario
async def foreign_cursors_of_invocations_are_refused(studio: StudioApplication, own: str) -> None:
    for number in range(2):
        await start(studio, f"{own}-{number}", kind=own, invocation_id=f"{own}-i{number}")
    cursor = (await studio.list_invocations(InvocationQuery(kind=own, limit=1))).next_cursor

    for query in (InvocationQuery(kind=f"{own}-2", cursor=cursor), InvocationQuery(cursor="garbled")):
        failure = await refused(ValidationFailure, studio.list_invocations(query))
        assert places(failure) == [(("cursor",), "cursor")]


@scenario
async def invocation_sums_up_its_runs(studio: StudioApplication, own: str) -> None:
    for number in range(3):
        await start(studio, f"{own}-{number}", kind="flow", invocation_id=own)
    await end(studio, f"{own}-0", "completed")
    await end(studio, f"{own}-1", "timed_out")

    detail = await studio.get_invocation(own)

    assert (detail.status, detail.run_count, detail.open_run_count) == ("running", 3, 1)


@scenario
async def unknown_invocation_is_not_found(studio: StudioApplication, own: str) -> None:
    for invocation_id in (own, *IMPOSSIBLE_IDS):
        missing = await refused(NotFound, studio.get_invocation(invocation_id))
        assert missing.resource == "invocation"
