"""A list that is read to its end."""

from io import StringIO

import pytest

from contract.base import Page
from contract.runs import RunQuery
from studio_project.paging import read_every_page
from studio_project.terminal import Terminal


class Numbers:
    """A list of so many numbers, a page at a time; the cursor is the next number."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.asked: list[RunQuery] = []

    async def read(self, query: RunQuery) -> Page[int]:
        """Return one page."""
        self.asked.append(query)
        start = query.offset if query.cursor is None else int(query.cursor)
        end = min(start + query.limit, self._count)
        more = end < self._count
        return Page[int](
            items=tuple(range(start, end)),
            offset=query.offset,
            limit=query.limit,
            has_next=more,
            next_cursor=str(end) if more else None,
        )


@pytest.mark.parametrize(("count", "calls"), [(0, 1), (3, 1), (4, 2), (7, 3)])
async def test_every_page_is_read_once(count: int, calls: int) -> None:
    numbers = Numbers(count)
    terminal = Terminal(StringIO(), StringIO())

    page = await read_every_page(numbers.read, RunQuery(limit=1), page_size=3, what="numbers", terminal=terminal)

    assert page.items == tuple(range(count))
    assert (page.has_next, page.next_cursor, page.limit) == (False, None, max(1, count))
    assert len(numbers.asked) == calls


async def test_it_begins_where_the_query_does_and_leaves_rows_out_once() -> None:
    terminal = Terminal(StringIO(), StringIO())

    page = await read_every_page(
        Numbers(8).read, RunQuery(offset=2, search="x"), page_size=3, what="numbers", terminal=terminal
    )

    assert (page.items, page.offset) == ((2, 3, 4, 5, 6, 7), 2)
