"""What a set of timings comes down to."""

from collections.abc import Sequence
from math import ceil


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that `percent` of all values do not exceed (nearest rank). Needs one value."""
    if not values:
        raise ValueError("no values were measured")
    ordered = sorted(values)
    return ordered[max(1, ceil(len(ordered) * percent / 100)) - 1]


def p50(values: Sequence[float]) -> float:
    """Return the median, by nearest rank."""
    return percentile(values, 50)


def p95(values: Sequence[float]) -> float:
    """Return what one value in twenty exceeds."""
    return percentile(values, 95)


def times_better(ours: float, other: float, *, higher_is_better: bool) -> float:
    """Return how many times better than the other ours is; below 1 it is worse. Values are above zero."""
    good, bad = (ours, other) if higher_is_better else (other, ours)
    return good / bad if bad > 0 else float("inf")
