"""Windows over a branch's messages, counted from the tail."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.limits import EVENT_MAX_BYTES
from runs.windows import carried_bytes, window_of


@pytest.mark.parametrize(
    ("count", "limit", "window", "expected"),
    [
        (0, 10, 0, (1, 0)),
        (5, 10, 0, (1, 5)),
        (10, 10, 0, (1, 10)),
        (25, 10, 0, (16, 25)),
        (25, 10, 1, (6, 15)),
        (25, 10, 2, (1, 5)),
        (25, 10, 3, (1, 0)),
        (20, 10, 2, (1, 0)),
    ],
)
def test_a_window_is_counted_from_the_tail(count: int, limit: int, window: int, expected: tuple[int, int]) -> None:
    assert window_of(count, limit, window) == expected


@given(count=st.integers(0, 300), limit=st.integers(1, 60))
def test_windows_cover_every_message_exactly_once_newest_first(count: int, limit: int) -> None:
    walked: list[int] = []
    for window in range(count // limit + 2):
        first, last = window_of(count, limit, window)
        walked = [*range(first, last + 1), *walked]

    assert walked == list(range(1, count + 1))


@given(count=st.integers(0, 10**6), limit=st.integers(1, 1_000), window=st.integers(0, 10**6))
def test_a_window_is_never_larger_than_its_limit(count: int, limit: int, window: int) -> None:
    first, last = window_of(count, limit, window)

    assert 0 <= last - first + 1 <= limit
    assert first >= 1


@pytest.mark.parametrize(
    ("size_bytes", "carried"), [(0, 0), (EVENT_MAX_BYTES, EVENT_MAX_BYTES), (10**12, EVENT_MAX_BYTES)]
)
def test_a_body_that_was_cut_carries_the_bound(size_bytes: int, carried: int) -> None:
    assert carried_bytes(size_bytes) == carried
