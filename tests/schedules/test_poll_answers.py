"""What an answer of GitHub means for a poller."""

import pytest

from schedules import poll_answers
from schedules.schedule import PollState

NOW = 1_767_225_600.0


@pytest.mark.parametrize(
    ("status", "headers", "said"),
    [
        (200, {}, None),
        (304, {}, None),
        (401, {}, "token"),
        (403, {}, "may not read"),
        (403, {"x-ratelimit-remaining": "0"}, "limits"),
        (403, {"retry-after": "5"}, "limits"),
        (404, {}, "no such repository"),
        (429, {}, "limits"),
        (500, {}, "500"),
        (502, {}, "502"),
    ],
)
def test_every_status_is_understood(status: int, headers: dict[str, str], said: str | None) -> None:
    fault = poll_answers.fault_of(status, headers)

    assert (fault is None) == (said is None)
    assert said is None or said in str(fault)


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (200, {}, 0),
        (200, {"x-poll-interval": "60"}, 60),
        (304, {"x-poll-interval": "60"}, 60),
        (429, {"retry-after": "120"}, 120),
        (429, {}, 60),
        (403, {"retry-after": "soon"}, 60),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(NOW + 600)}, 600),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(NOW - 600)}, 60),
        (403, {}, 0),
        (500, {"retry-after": "120"}, 0),
        (429, {"retry-after": "999999999"}, 86_400),
    ],
)
def test_what_the_server_wants_is_obeyed(status: int, headers: dict[str, str], seconds: float) -> None:
    assert poll_answers.wait_seconds(status, headers, now=NOW) == pytest.approx(seconds)


def test_faults_in_a_row_are_answered_by_ever_longer_waits_up_to_an_hour() -> None:
    state, waits = PollState(), []

    for _ in range(9):
        state = poll_answers.failed(state, "no", interval_seconds=60, wait=0, now=NOW)
        waits.append((state.not_before or 0) - NOW)

    assert waits == [60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600]
    assert (state.failures, state.fault, state.last_poll_at, state.last_ok_at) == (9, "no", NOW, None)


def test_a_longer_interval_and_the_servers_word_count_more_than_the_backoff() -> None:
    assert poll_answers.failed(PollState(), "x", interval_seconds=7_200, wait=0, now=NOW).not_before == NOW + 7_200
    assert poll_answers.failed(PollState(), "x", interval_seconds=60, wait=900, now=NOW).not_before == NOW + 900


def test_a_success_forgets_the_faults() -> None:
    failed = poll_answers.failed(PollState(etag="old"), "no", interval_seconds=60, wait=0, now=NOW)

    after = poll_answers.succeeded(failed, etag='W/"new"', wait=0, now=NOW + 5)

    assert (after.failures, after.fault, after.not_before, after.etag) == (0, None, None, 'W/"new"')
    assert after.last_ok_at == after.last_poll_at == NOW + 5
    assert poll_answers.succeeded(failed, etag="e" * 501, wait=60, now=NOW).etag is None
    assert poll_answers.succeeded(failed, etag=None, wait=60, now=NOW).not_before == NOW + 60


@pytest.mark.parametrize(
    ("link", "url"),
    [
        (None, None),
        ("", None),
        ('<https://x/2>; rel="next", <https://x/9>; rel="last"', "https://x/2"),
        ('<https://x/1>; rel="prev"', None),
        ('https://x/2; rel="next"', None),
    ],
)
def test_the_next_page_is_the_one_that_the_header_names(link: str | None, url: str | None) -> None:
    assert poll_answers.next_page(link) == url
