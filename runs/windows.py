"""Which messages of a branch a window shows, and how many bytes one answer may carry."""

from collections.abc import Iterable, Iterator
from typing import Any

from contract.artifacts import ArtifactView
from contract.limits import EVENT_MAX_BYTES, READ_BUDGET_BYTES


def window_of(count: int, limit: int, window: int) -> tuple[int, int]:
    """Return the first and last position (1-based, inclusive) of a window counted from the tail.

    `count` messages, `limit` a window; window 0 is the tail. An exhausted branch gives (1, 0): nothing.
    """
    last = count - window * limit
    if last <= 0:
        return 1, 0
    return max(1, last - limit + 1), last


def carried_bytes(size_bytes: int) -> int:
    """Return how much of a body of this size is stored at most: a larger one was cut when it was recorded."""
    return min(size_bytes, EVENT_MAX_BYTES)


def page_within_budget(found: Iterable[tuple[int, Any]], limit: int) -> tuple[list[tuple[int, Any]], bool]:
    """Take up to `limit` entries and as many bytes as one answer may carry, at least one; say whether more follow.

    `found` are (number, view of a message, signal, artifact or transition).
    """
    shown: list[tuple[int, Any]] = []
    used = 0
    for number, item in found:
        used += carried_bytes(getattr(item, "size_bytes", 0) or getattr(item, "content_bytes", 0))
        if len(shown) == limit or (shown and used > READ_BUDGET_BYTES):
            return shown, True
        shown.append((number, item))
    return shown, False


def afforded_artifacts(found: Iterable[ArtifactView]) -> Iterator[ArtifactView]:
    """Withhold the content of artifacts beyond what one answer may carry."""
    remaining = READ_BUDGET_BYTES
    for artifact in found:
        remaining -= artifact.content_bytes
        yield artifact if remaining >= 0 else artifact.model_copy(update={"content": None, "withheld": True})
