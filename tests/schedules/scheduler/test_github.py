"""What is made of GitHub's answers, against a server that gives them."""

import logging
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from contract.triggers import GithubPollTrigger
from schedules.schedule import PollState
from schedules.scheduler.github import GithubPulls, PollAnswer
from tests.fakes.clocks import FixedClock
from tests.fakes.turns import turns
from tests.schedules.scheduler.github_server import TOKEN, GithubServer, Reply, listing, pull
from tests.schedules.scheduler.rigs import GITHUB, Rig

# 2026-01-01T12:00:00Z
NOON = 1_767_268_800.0
SEEDED = PollState(cursor_at=NOON, seen=())
TRIGGER = GithubPollTrigger(repository="o/n", poll_interval_seconds=60, filters={"event": "pr_opened"})


@pytest.fixture
async def github() -> AsyncIterator[GithubServer]:
    async with GithubServer().listening() as server:
        yield server


def client(github: GithubServer, *, path: str = "", token: str | None = TOKEN, seconds: float = 10.0) -> GithubPulls:
    # A transport of its own: nobody's proxy is asked.
    return GithubPulls(
        api_url=github.url + path,
        token=token,
        clock=FixedClock(NOON),
        transport=httpx.AsyncHTTPTransport(),
        poll_seconds=seconds,
    )


async def answer_of(github: GithubServer, state: PollState = SEEDED, **options: Any) -> PollAnswer:
    pulls = client(github, **options)
    try:
        return await pulls.poll(TRIGGER, state)
    finally:
        await pulls.close()


async def test_pull_requests_are_asked_for_as_github_wants_it(github: GithubServer) -> None:
    github.open(pull(7))

    answer = await answer_of(github, path="/api/v3/")

    (request,) = github.requests
    assert request.target == "/api/v3/repos/o/n/pulls?state=all&sort=updated&direction=desc&per_page=100"
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert (request.headers["user-agent"], request.headers["accept"]) == ("studio", "application/vnd.github+json")
    assert [(event.number, event.at, event.title) for event in answer.events] == [(7, NOON, "change 7")]
    assert answer.fault is None


async def test_without_a_token_none_is_sent(github: GithubServer) -> None:
    await answer_of(github, token=None)

    assert "authorization" not in github.requests[0].headers


async def test_an_unchanged_listing_costs_one_request_without_a_body(github: GithubServer) -> None:
    github.open(pull(7))
    first = await answer_of(github)

    again = await answer_of(github, PollState(cursor_at=NOON, etag=first.etag))

    assert (again.events, again.etag, again.fault) == ((), first.etag, None)
    assert github.requests[1].headers["if-none-match"] == first.etag


async def test_before_the_first_look_a_tag_says_nothing(github: GithubServer) -> None:
    await answer_of(github, PollState(etag="old"))

    assert "if-none-match" not in github.requests[0].headers


async def test_pages_are_read_as_far_as_there_can_be_something_new(github: GithubServer) -> None:
    github.open(*(pull(number, second=number * 10) for number in range(1, 251)))

    everything = await answer_of(github)
    newest = await answer_of(github, PollState(cursor_at=NOON + 2_400))
    seeding = await answer_of(github, PollState())

    assert [len(answer.events) for answer in (everything, newest, seeding)] == [250, 100, 100]
    assert [request.target.partition("&page=")[2] for request in github.requests] == ["", "2", "3", "", ""]
    assert all(request.headers["authorization"] == f"Bearer {TOKEN}" for request in github.requests)


async def test_a_listing_without_end_is_read_up_to_a_bound(github: GithubServer) -> None:
    github.open(*(pull(number) for number in range(1, 1_300)))

    answer = await answer_of(github)

    assert len(github.requests) == 10
    assert len(answer.events) == 1_000


ELSEWHERE = "GitHub leads to another host; nothing was sent there"
NO_LIST = "GitHub's answer cannot be understood: it is no list of pull requests"
NO_JSON = "GitHub's answer cannot be understood: it is no JSON"
LIMITED = "GitHub limits the rate of requests ({})"


@pytest.mark.parametrize(
    ("reply", "fault", "wait"),
    [
        (
            Reply(status=401),
            "GitHub refuses the token (401): give another one as token in [github] of studio.toml",
            0.0,
        ),
        (
            Reply(status=403, headers={"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOON) + 600)}),
            LIMITED.format(403),
            600.0,
        ),
        (Reply(status=403, headers={"Retry-After": "30"}), LIMITED.format(403), 30.0),
        (Reply(status=403), "GitHub refuses the request (403): the token may not read this repository", 0.0),
        (Reply(status=429, headers={"Retry-After": "120"}), LIMITED.format(429), 120.0),
        (Reply(status=429, headers={"Retry-After": "soon"}), LIMITED.format(429), 60.0),
        (Reply(status=404), "there is no such repository, or the token may not see it (404)", 0.0),
        (Reply(status=410), "the repository's pull requests are gone (410)", 0.0),
        (Reply(status=500), "GitHub answers 500", 0.0),
        (Reply(status=503, body=b"<html>"), "GitHub answers 503", 0.0),
        (Reply(body=b"<html>hello</html>"), NO_JSON, 0.0),
        (Reply(body=b'[{"number": 7'), NO_JSON, 0.0),
        (Reply(body=b"[" * 100_000), NO_JSON, 0.0),
        (Reply(body=b"\xff\xfe"), NO_JSON, 0.0),
        (Reply(body=b'{"message": "hello"}'), NO_LIST, 0.0),
        (Reply(body=b"[1]"), "GitHub's answer cannot be understood: it holds something else than pull requests", 0.0),
        (
            listing([pull(10**30)]),
            "GitHub's answer cannot be understood: a pull request has no number",
            0.0,
        ),
        (Reply(body=b"[]" + b" " * 100, cut=10), "GitHub cannot be reached (RemoteProtocolError)", 0.0),
        (Reply(body=b"", headers={"Content-Length": "abc"}), "GitHub cannot be reached (RemoteProtocolError)", 0.0),
        (Reply(status=301, headers={"Location": "http://evil.example/x"}), ELSEWHERE, 0.0),
        (Reply(status=302, headers={"Location": "https://127.0.0.1/x"}), ELSEWHERE, 0.0),
        (Reply(status=307, headers={"Location": "//evil.example/x"}), ELSEWHERE, 0.0),
        (listing([pull(7, second=9)], headers={"Link": '<http://evil.example/2>; rel="next"'}), ELSEWHERE, 0.0),
    ],
)  # fmt: skip
async def test_each_fault_has_its_sentence_and_its_wait(
    github: GithubServer, reply: Reply, fault: str, wait: float
) -> None:
    github.replies.append(reply)

    answer = await answer_of(github)

    assert (answer.fault, answer.wait, answer.events) == (fault, wait, ())
    assert len(github.requests) == 1


async def test_a_renamed_repository_is_followed_on_the_same_host(github: GithubServer) -> None:
    github.open(pull(7))
    github.replies.append(Reply(status=301, headers={"Location": "/repositories/1/pulls?per_page=100"}))

    answer = await answer_of(github)

    assert [event.number for event in answer.events] == [7]
    assert github.requests[1].target == "/repositories/1/pulls?per_page=100"
    assert github.requests[1].headers["authorization"] == f"Bearer {TOKEN}"


async def test_redirects_end(github: GithubServer) -> None:
    github.replies.extend([Reply(status=302, headers={"Location": "/x"})] * 10)

    assert (await answer_of(github)).fault == "GitHub redirects again and again"
    assert len(github.requests) == 4


async def test_a_server_says_how_often_it_wants_to_be_asked(github: GithubServer) -> None:
    github.headers["X-Poll-Interval"] = "300"

    first = await answer_of(github)
    again = await answer_of(github, PollState(cursor_at=NOON, etag=first.etag))

    assert (first.wait, again.wait) == (300.0, 300.0)


async def test_a_server_that_says_nothing_is_given_up(github: GithubServer) -> None:
    github.replies.append(Reply(held=True))

    assert (await answer_of(github, seconds=0.2)).fault == "GitHub does not answer in time"


async def test_nobody_there_is_a_fault_without_names(github: GithubServer) -> None:
    gone = GithubServer()
    gone.url = "http://127.0.0.1:9"

    assert (await answer_of(gone)).fault == "GitHub cannot be reached (ConnectError)"
    assert not github.requests


async def test_an_answer_without_end_is_too_large(github: GithubServer) -> None:
    github.replies.append(Reply(body=b"[" + b" " * (17 * 1024 * 1024)))

    assert (await answer_of(github)).fault == "GitHub's answer is too large"


async def test_a_title_that_no_action_can_hold_is_made_one_that_it_can(github: GithubServer) -> None:
    github.replies.append(listing([pull(7, title="a\x00b\ud800c" + "x" * 600)]))

    (event,) = (await answer_of(github)).events

    assert event.title == "a\ufffdb\ufffdc" + "x" * 495


async def test_the_token_is_never_told(github: GithubServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    faults = [Reply(status=401, body=TOKEN.encode()), Reply(body=b"<"), Reply(body=b"[]", cut=1), Reply(status=500)]
    github.replies.extend(faults)

    answers = [await answer_of(github) for _ in faults]

    assert caplog.text
    assert TOKEN not in caplog.text
    assert TOKEN not in repr(answers)


async def test_from_the_server_to_the_runs_each_event_fires_once(github: GithubServer) -> None:
    """The whole way: seeded, events of one second, one that shows up late, a limit, and what follows."""
    pulls = client(github)
    rig = Rig(pulls=pulls)
    rig.clock.step(NOON - rig.clock.now())
    rig.add(trigger=GITHUB, action={"kind": "command", "command": ["look", "{{event.number}}"]}, overlap_policy="allow")
    github.open(pull(5))

    async def polled(seconds: float = 60.0) -> list[str]:
        """Let time pass, and wait for the poll that comes due."""
        rig.clock.advance(seconds)
        before = rig.state().poll.last_poll_at
        await rig.scheduler.round()
        while rig.state().poll.last_poll_at == before:
            await turns()
        return [run.action.command[1] for run in rig.runs.started.values()]

    assert await polled(0.0) == []
    github.open(pull(7, second=30), pull(8, second=30))
    assert await polled() == ["7", "8"]
    assert await polled() == ["7", "8"]
    github.replies.append(Reply(status=429, headers={"Retry-After": "300"}))
    assert await polled() == ["7", "8"]
    github.open(pull(9, second=30))
    assert rig.state().next_fire_at == rig.clock.now() + 300
    assert await polled(300.0) == ["7", "8", "9"]
    assert rig.state().poll.fault is None
    await pulls.close()
