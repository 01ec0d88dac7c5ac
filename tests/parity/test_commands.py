"""A command says the same in process and with --remote, and both what HTTP says, over one and the same database."""

import json

import httpx
import pytest

from contract.base import Page
from contract.runs import InvocationDetail, RunDetail, RunSummary
from tests.live import TOKEN, LiveDaemon

RUN = "commands-1"


@pytest.fixture(scope="module")
def told(daemon: LiveDaemon) -> LiveDaemon:
    """The daemon, with a run that has ended: nothing about it depends on when it is looked at."""
    events = [{"type": "message", "role": "user", "content": "Grüße \u202e"}, {"type": "status", "status": "failed"}]
    with _client(daemon) as client:
        start = {"run_id": RUN, "project": "commands", "tags": ["a"], "name": "ñ", "invocation_id": RUN}
        client.post("/api/v1/runs/", json=start).raise_for_status()
        client.post(f"/api/v1/runs/{RUN}/events", json={"events": events}).raise_for_status()
    return daemon


@pytest.mark.parametrize(
    ("arguments", "path", "model"),
    [
        (("run", "list", "--project", "commands"), "/api/v1/runs/?project=commands", Page[RunSummary]),
        (("run", "list", "--tag", "nothing-has-this"), "/api/v1/runs/?tags=nothing-has-this", Page[RunSummary]),
        (("run", "show", RUN), f"/api/v1/runs/{RUN}", RunDetail),
        (("invocation", "show", RUN), f"/api/v1/invocations/{RUN}", InvocationDetail),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_command_prints_what_http_answers(
    arguments: tuple[str, ...],
    path: str,
    model: type[Page[RunSummary]] | type[RunDetail] | type[InvocationDetail],
    told: LiveDaemon,
) -> None:
    in_process = told.manage(*arguments, "--json")
    remote = told.manage(*arguments, "--json", "--remote", told.url)
    with _client(told) as client:
        body = client.get(path).content

    assert (in_process.returncode, in_process.stderr) == (0, "")
    assert in_process.stdout == remote.stdout
    assert json.loads(in_process.stdout) == json.loads(body)
    assert model.model_validate_json(in_process.stdout) == model.model_validate_json(body)


@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [
        (("run", "list", "--status", "finished"), 2),
        (("run", "list", "--limit", "0"), 2),
        (("run", "show", "nobody"), 4),
        (("run", "cancel", RUN), 5),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_command_fails_the_same(arguments: tuple[str, ...], exit_code: int, told: LiveDaemon) -> None:
    in_process = told.manage(*arguments)
    remote = told.manage(*arguments, "--remote", told.url)

    assert (in_process.returncode, in_process.stdout) == (exit_code, "")
    assert (remote.returncode, remote.stdout, remote.stderr) == (exit_code, "", in_process.stderr)


def test_a_wrong_token_ends_with_its_own_exit_code(told: LiveDaemon) -> None:
    assert told.manage("run", "list", "--remote", told.url, "--token", "wrong").returncode == 9


def _client(daemon: LiveDaemon) -> httpx.Client:
    return httpx.Client(base_url=daemon.url, headers={"authorization": f"Bearer {TOKEN}"})
