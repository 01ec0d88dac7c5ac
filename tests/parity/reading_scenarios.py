"""One run read: its detail by windows, its panes by pages."""

from contract.application import StudioApplication
from contract.errors import ValidationFailure
from contract.runs import EvidenceRequest, Pane, RunReadQuery
from tests.parity.catalogue import scenario
from tests.parity.run_scenarios import PANES, end, message, places, record, start
from tests.parity.witness import refused


@scenario
async def detail_is_read_in_windows_to_the_first_message(studio: StudioApplication, own: str) -> None:
    await start(studio, own)
    await record(studio, own, *(message(number, branch=f"b{number % 2}") for number in range(7)))
    cursor, seen = None, []

    for _ in range(2):
        detail = await studio.get_run(own, RunReadQuery(message_limit=2, cursor=cursor))
        seen += [view.content for branch in detail.branches for view in branch.messages]
        cursor = detail.next_cursor
        await record(studio, own, message("later"))

    assert {*map(str, seen)} == {*map(str, range(7))}
    assert cursor is None


@scenario
async def foreign_cursors_of_a_detail_are_refused(studio: StudioApplication, own: str) -> None:
    for run_id in (own, f"{own}-2"):
        await start(studio, run_id)
        await record(studio, run_id, *map(message, range(5)))
    cursor = (await studio.get_run(own, RunReadQuery(message_limit=2))).next_cursor
    pane = await studio.read_evidence(EvidenceRequest(run_id=own, pane="messages", limit=2))

    for run_id, query in (
        (own, RunReadQuery(message_limit=3, cursor=cursor)),
        (f"{own}-2", RunReadQuery(message_limit=2, cursor=cursor)),
        (own, RunReadQuery(message_limit=2, cursor=pane.next_cursor)),
        (own, RunReadQuery(cursor="garbled")),
        (own, RunReadQuery(cursor="")),
        (own, RunReadQuery(cursor="é🜁 \n")),
    ):
        failure = await refused(ValidationFailure, studio.get_run(run_id, query))
        assert places(failure) == [(("cursor",), "cursor")]


@scenario
async def every_pane_is_read_page_by_page(studio: StudioApplication, own: str) -> None:
    await start(studio, own)
    for number in range(3):
        await record(
            studio,
            own,
            message(number),
            message(number, role="output"),
            {"type": "signal", "kind": "S", "payload": number},
            {"type": "artifact", "kind": "k", "name": f"a{number}"},
        )
    await end(studio, own, "failed")
    await end(studio, own, "completed")

    counts = {pane: len(await _whole_pane(studio, own, pane)) for pane in PANES}

    assert counts == {"messages": 6, "signals": 3, "artifacts": 3, "transitions": 3, "output": 3}


async def _whole_pane(studio: StudioApplication, run_id: str, pane: Pane) -> list[object]:
    items: list[object] = []
    cursor = None
    while True:
        page = await studio.read_evidence(EvidenceRequest(run_id=run_id, pane=pane, limit=2, cursor=cursor))
        items += page.items
        cursor = page.next_cursor
        if not page.has_next:
            return items


@scenario
async def foreign_cursors_of_a_pane_are_refused(studio: StudioApplication, own: str) -> None:
    for run_id in (own, f"{own}-2"):
        await start(studio, run_id)
        await record(studio, run_id, *map(message, range(3)))
    cursor = (await studio.read_evidence(EvidenceRequest(run_id=own, pane="messages", limit=2))).next_cursor

    for request in (
        EvidenceRequest(run_id=own, pane="signals", cursor=cursor),
        EvidenceRequest(run_id=f"{own}-2", pane="messages", cursor=cursor),
        EvidenceRequest(run_id=own, pane="messages", cursor="garbled"),
    ):
        failure = await refused(ValidationFailure, studio.read_evidence(request))
        assert places(failure) == [(("cursor",), "cursor")]
