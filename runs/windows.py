"""Which messages of a branch a window shows, and how many bytes they carry."""

from contract.limits import EVENT_MAX_BYTES


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
