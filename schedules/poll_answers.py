"""What an answer of GitHub means for a poller: is it one, when may be asked again, and what is wrong. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from schedules.schedule import PollState

# A poller that meets faults asks less and less often, up to this.
_BACKOFF_SECONDS_MAX: Final = 3_600.0
_BACKOFF_SECONDS_MIN: Final = 30.0
# GitHub's advice where it gives no time: wait at least a minute (its documentation of secondary rate limits).
_LIMITED_SECONDS: Final = 60.0
# A server's word is obeyed up to a day: what asks for more is broken, and a person can do something about it.
_WAIT_SECONDS_MAX: Final = 86_400.0

_SENTENCES: Final = {
    401: "GitHub refuses the token (401): give another one as token in [github] of studio.toml",
    403: "GitHub refuses the request (403): the token may not read this repository",
    404: "there is no such repository, or the token may not see it (404)",
    410: "the repository's pull requests are gone (410)",
}


def fault_of(status: int, headers: Mapping[str, str]) -> str | None:
    """Say what is wrong with an answer of this status (200 and 304: nothing). Header names are lower-case."""
    if status in (200, 304):
        return None
    if status == 429 or (status == 403 and is_limited(headers)):
        return f"GitHub limits the rate of requests ({status})"
    return _SENTENCES.get(status, f"GitHub answers {status}")


def is_limited(headers: Mapping[str, str]) -> bool:
    """Say whether an answer speaks of a rate limit, primary or secondary."""
    return headers.get("x-ratelimit-remaining") == "0" or "retry-after" in headers


def wait_seconds(status: int, headers: Mapping[str, str], *, now: float) -> float:
    """Return how long GitHub wants nobody to ask, 0 when it says nothing of it."""
    asked = [_number(headers.get("x-poll-interval"))]
    if status in (403, 429):
        asked.append(_number(headers.get("retry-after")))
        if headers.get("x-ratelimit-remaining") == "0":
            asked.append(_number(headers.get("x-ratelimit-reset"), less=now))
        if not any(asked) and (status == 429 or is_limited(headers)):
            asked.append(_LIMITED_SECONDS)
    return min(max(asked), _WAIT_SECONDS_MAX)


def failed(poll: PollState, fault: str, *, interval_seconds: float, wait: float, now: float) -> PollState:
    """Return the poller's state after a fault: asked again ever later, and not before the server wants it."""
    failures = poll.failures + 1
    backoff = min(max(interval_seconds, _BACKOFF_SECONDS_MIN) * 2 ** min(failures - 1, 10), _BACKOFF_SECONDS_MAX)
    return replace(
        poll,
        failures=failures,
        fault=fault[:500],
        last_poll_at=now,
        not_before=now + max(backoff, wait, interval_seconds),
    )


def succeeded(poll: PollState, *, etag: str | None, wait: float, now: float) -> PollState:
    """Return the poller's state after an answer that was understood."""
    return replace(
        poll,
        failures=0,
        fault=None,
        last_poll_at=now,
        last_ok_at=now,
        etag=etag if etag is None or len(etag) <= 500 else None,
        not_before=now + wait if wait else None,
    )


def next_page(link: str | None) -> str | None:
    """Return the URL of the next page that a Link header (RFC 8288) names."""
    for part in (link or "").split(","):
        target, _, parameters = part.partition(";")
        if 'rel="next"' in parameters and target.strip().startswith("<") and target.strip().endswith(">"):
            return target.strip()[1:-1]
    return None


def _number(text: str | None, *, less: float = 0.0) -> float:
    try:
        return max(0.0, float(text or 0) - less)
    except ValueError:
        return 0.0
