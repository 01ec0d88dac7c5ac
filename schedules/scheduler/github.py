"""Asks GitHub's REST API for the pull requests of a repository: few requests, bounded in time and size."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

import httpx

from contract.ports import Clock
from contract.triggers import GithubPollTrigger
from schedules.poll_answers import fault_of, next_page, wait_seconds
from schedules.pull_events import PullEvent, UnreadableListing, events_of, is_read_far_enough
from schedules.schedule import PollState

# What GitHub asks clients to send.
_HEADERS: Final = {
    "Accept": "application/vnd.github+json",
    "User-Agent": "studio",
    "X-GitHub-Api-Version": "2022-11-28",
}
_TIMEOUT_SECONDS: Final = 20.0
# With all of its pages: a server that sends a byte now and then is as good as one that sends none.
_POLL_SECONDS: Final = 60.0
# Pages of a hundred: a repository with more changes between two polls than that is polled too rarely.
_PAGES_MAX: Final = 10
_REDIRECTS_MAX: Final = 3
_PAGE_BYTES_MAX: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class PollAnswer:
    """What came of a poll: events and the tag of the listing, or a fault. `wait` seconds nobody is to ask again."""

    events: tuple[PullEvent, ...] = ()
    etag: str | None = None
    wait: float = 0.0
    fault: str | None = None


class _Fault(Exception):
    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait


class GithubPulls:
    """Lists pull requests. The token goes to the configured API and nowhere else, and is never told to anybody."""

    def __init__(
        self,
        *,
        api_url: str,
        token: str | None,
        clock: Clock,
        transport: httpx.AsyncBaseTransport | None = None,
        poll_seconds: float = _POLL_SECONDS,
    ) -> None:
        """Take where to ask, and how long a poll may take; `transport` replaces the network in tests."""
        self._api = httpx.URL(api_url)
        self._clock = clock
        authorization = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._client = httpx.AsyncClient(
            headers=_HEADERS | authorization, transport=transport, timeout=_TIMEOUT_SECONDS, follow_redirects=False
        )
        self._poll_seconds = poll_seconds

    async def poll(self, trigger: GithubPollTrigger, state: PollState) -> PollAnswer:
        """Ask once, page by page as far as there can be something new. Whatever goes wrong is the answer's fault."""
        try:
            async with asyncio.timeout(self._poll_seconds):
                return await self._listed(trigger, state)
        except _Fault as fault:
            return PollAnswer(fault=str(fault), wait=fault.wait)
        except UnreadableListing as fault:
            return PollAnswer(fault=f"GitHub's answer cannot be understood: {fault}")
        except (TimeoutError, httpx.TimeoutException):
            return PollAnswer(fault="GitHub does not answer in time")
        except (httpx.HTTPError, httpx.InvalidURL) as fault:
            # By its kind alone: the text of a network fault may name hosts and URLs of proxies.
            return PollAnswer(fault=f"GitHub cannot be reached ({type(fault).__name__})")

    async def close(self) -> None:
        """Close every connection."""
        await self._client.aclose()

    async def _listed(self, trigger: GithubPollTrigger, state: PollState) -> PollAnswer:
        owner, _, name = trigger.repository.partition("/")
        path = f"{self._api.path.rstrip('/')}/repos/{quote(owner, safe='')}/{quote(name, safe='')}/pulls"
        url: httpx.URL | None = self._api.join(f"{path}?state=all&sort=updated&direction=desc&per_page=100")
        # Without a cursor everything has to be seen once, whatever the tag says.
        known = state.etag if state.cursor_at is not None else None
        events: list[PullEvent] = []
        etag: str | None = None
        wait = 0.0
        for number in range(_PAGES_MAX):
            if url is None:
                break
            answer, body = await self._page(url, {"If-None-Match": known} if known and number == 0 else {})
            wait = max(wait, wait_seconds(answer.status_code, answer.headers, now=self._clock.now()))
            if answer.status_code == httpx.codes.NOT_MODIFIED:
                return PollAnswer(etag=known, wait=wait)
            found, oldest = events_of(body, repository=trigger.repository, filters=trigger.filters)
            events += found
            etag = answer.headers.get("etag") if number == 0 else etag
            following = next_page(answer.headers.get("link"))
            url = None if following is None or is_read_far_enough(oldest, state) else self._own(answer.url, following)
        return PollAnswer(events=tuple(events), etag=etag, wait=wait)

    async def _page(self, url: httpx.URL, headers: dict[str, str]) -> tuple[httpx.Response, Any]:
        for _ in range(_REDIRECTS_MAX + 1):
            async with self._client.stream("GET", url, headers=headers) as answer:
                if answer.has_redirect_location:  # a renamed repository
                    url = self._own(answer.url, answer.headers["location"])
                    continue
                fault = fault_of(answer.status_code, answer.headers)
                if fault is not None:
                    raise _Fault(fault, wait_seconds(answer.status_code, answer.headers, now=self._clock.now()))
                if answer.status_code == httpx.codes.NOT_MODIFIED:
                    return answer, None
                return answer, await _json_of(answer)
        raise _Fault("GitHub redirects again and again")

    def _own(self, base: httpx.URL, target: str) -> httpx.URL:
        """Return where a page or a redirect leads to, if that is the configured API: the token stays here."""
        there = base.join(target)
        if (there.scheme, there.host, there.port) != (self._api.scheme, self._api.host, self._api.port):
            raise _Fault("GitHub leads to another host; nothing was sent there")
        return there


async def _json_of(answer: httpx.Response) -> Any:
    body = bytearray()
    async for piece in answer.aiter_bytes():
        body += piece
        if len(body) > _PAGE_BYTES_MAX:
            raise _Fault("GitHub's answer is too large")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise UnreadableListing("it is no JSON") from None
