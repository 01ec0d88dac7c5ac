"""Reads a list to its end, page by page."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from contract.base import ContractModel, Page
from studio_project.terminal import Terminal

Q = TypeVar("Q", bound=ContractModel)
T = TypeVar("T")


async def read_every_page(
    read: Callable[[Q], Awaitable[Page[T]]], query: Q, *, page_size: int, what: str, terminal: Terminal
) -> Page[T]:
    """Return everything from `query` on as one page, read `page_size` entries at a time. No entry comes twice.

    `what` names the entries for those who watch.
    """
    step = query.model_copy(update={"limit": page_size})
    found: list[T] = []
    with terminal.progress(f"reading {what}", total=None) as advance:
        while True:
            page = await read(step)
            found.extend(page.items)
            advance(len(found), f"{len(found)} {what}")
            if page.next_cursor is None:
                break
            step = step.model_copy(update={"cursor": page.next_cursor, "offset": 0})
    whole = {"items": tuple(found), "limit": max(1, len(found)), "has_next": False, "next_cursor": None}
    return page.model_copy(update={"offset": getattr(query, "offset", 0), **whole})
