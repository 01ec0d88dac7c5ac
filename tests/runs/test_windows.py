"""Windows over a branch's messages, counted from the tail."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.artifacts import ArtifactView
from contract.limits import EVENT_MAX_BYTES, READ_BUDGET_BYTES
from runs.windows import afforded_artifacts, carried_bytes, page_within_budget, window_of


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


def artifact(content_bytes: int) -> ArtifactView:
    return ArtifactView(
        artifact_id="a", kind="k", name="n", content="c", content_bytes=content_bytes, created_at=1.0, updated_at=1.0
    )


def test_contents_beyond_the_budget_are_withheld_and_their_artifacts_stay() -> None:
    found = list(afforded_artifacts(artifact(READ_BUDGET_BYTES // 2) for _ in range(3)))

    assert [(view.content, view.withheld) for view in found] == [("c", False), ("c", False), (None, True)]


def test_a_page_ends_at_its_limit_or_its_bytes_but_is_never_empty() -> None:
    small, large = artifact(1), artifact(EVENT_MAX_BYTES)
    entries = READ_BUDGET_BYTES // EVENT_MAX_BYTES

    assert page_within_budget([], 5) == ([], False)
    assert page_within_budget([(1, small), (2, small)], 2) == ([(1, small), (2, small)], False)
    assert page_within_budget([(1, small), (2, small)], 1) == ([(1, small)], True)
    assert len(page_within_budget([(n, large) for n in range(entries + 5)], 1_000)[0]) == entries
    assert page_within_budget([(1, artifact(10**12))], 5)[0] == [(1, artifact(10**12))]
