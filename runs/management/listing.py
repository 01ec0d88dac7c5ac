"""Reads a list to its end, page by page."""

from contract.application import StudioApplication
from contract.base import Page
from contract.limits import LIST_LIMIT_MAX
from contract.runs import RunQuery, RunSummary
from studio_project.terminal import Terminal


async def read_every_page(studio: StudioApplication, query: RunQuery, terminal: Terminal) -> Page[RunSummary]:
    """Return all runs from `query` on as one page. None comes twice, whatever is inserted meanwhile.

    In the order `recent` a run that is updated meanwhile moves to the front, and is missed if it was not read yet.
    """
    step = query.model_copy(update={"limit": LIST_LIMIT_MAX})
    runs: list[RunSummary] = []
    with terminal.progress("reading runs", total=None) as advance:
        while True:
            page = await studio.list_runs(step)
            runs.extend(page.items)
            advance(len(runs), f"{len(runs)} runs")
            if page.next_cursor is None:
                break
            step = step.model_copy(update={"cursor": page.next_cursor, "offset": 0})
    return Page[RunSummary](items=tuple(runs), offset=query.offset, limit=max(1, len(runs)), has_next=False)
