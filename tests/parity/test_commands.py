"""A command says the same in process and with --remote, and both what HTTP says, over one and the same database."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from contract.actions import LaunchResult
from contract.artifacts import ArtifactResult, ArtifactSummary, ArtifactVerification
from contract.base import ContractModel, Page
from contract.definitions import (
    DefinitionDetail,
    DefinitionSummary,
    DefinitionVersion,
    DefinitionVersionSummary,
    Reconciliation,
    ReconciliationDetail,
)
from contract.diffs import DefinitionDiff
from contract.projects import ProjectSummary
from contract.runs import InvocationDetail, RunDetail, RunSummary
from contract.schedules import Firing, ScheduleDetail, ScheduleExplanation, ScheduleLimits, ScheduleSummary
from tests.forked_commands import ForkedCommands, forked_commands
from tests.live import TOKEN, LiveDaemon
from tests.parity.reconciliation_scenarios import disk_away
from tests.parity.witness import normalised

RUN = "commands-1"
AGENT = f"/api/v1/definitions/agent/{RUN}"
NIGHTLY = "commands, nightly"
LINK = "commands-link"
STUCK = "commands-stuck"


@pytest.fixture(scope="module")
def told(daemon: LiveDaemon) -> LiveDaemon:
    """The daemon, with a run that has ended: nothing about it depends on when it is looked at."""
    events = [{"type": "message", "role": "user", "content": "Grüße \u202e"}, {"type": "status", "status": "failed"}]
    with _client(daemon) as client:
        start = {"run_id": RUN, "project": "commands", "tags": ["a"], "name": "ñ", "invocation_id": RUN}
        client.post("/api/v1/runs/", json=start).raise_for_status()
        client.post(f"/api/v1/runs/{RUN}/events", json={"events": events}).raise_for_status()
        for content in ("Grüße \r\n", "\u202e\x1b[31m"):
            client.put(AGENT, json={"content": content}).raise_for_status()
        # Due once a year, and disabled: nothing about it depends on the time.
        trigger = {"kind": "cron", "expression": "0 0 1 1 *"}
        nightly = {"name": NIGHTLY, "trigger": trigger, "action": {"kind": "command", "command": ["sh"]}}
        client.post("/api/v1/schedules/", json={**nightly, "enabled": False}).raise_for_status()
    (daemon.home / "agents" / f"{RUN}.md").write_bytes(b"by hand\r\n")
    (daemon.home / "agents" / f"{LINK}.md").symlink_to(daemon.home)
    return daemon


@pytest.fixture(scope="module")
def commands(daemon: LiveDaemon) -> Iterator[ForkedCommands]:
    """What runs commands beside the daemon."""
    with forked_commands(daemon.environment) as commands:
        yield commands


@pytest.fixture(scope="module")
def stuck(told: LiveDaemon) -> str:
    """The reconciliation of a save without a disk."""
    with disk_away(told.home), _client(told) as client:
        response = client.put(f"/api/v1/definitions/agent/{STUCK}", json={"content": "a"})
    return str(response.json()["reconciliation_id"])


@pytest.mark.parametrize(
    ("arguments", "path", "model"),
    [
        (("run", "list", "--project", "commands"), "/api/v1/runs/?project=commands", Page[RunSummary]),
        (("run", "list", "--tag", "nothing-has-this"), "/api/v1/runs/?tags=nothing-has-this", Page[RunSummary]),
        (("run", "show", RUN), f"/api/v1/runs/{RUN}", RunDetail),
        (("invocation", "show", RUN), f"/api/v1/invocations/{RUN}", InvocationDetail),
        (("project", "list", "--search", "commands"), "/api/v1/projects/?search=commands", Page[ProjectSummary]),
        (("project", "show", "commands"), "/api/v1/projects/commands", ProjectSummary),
        (("artifact", "list", RUN), f"/api/v1/runs/{RUN}/artifacts", Page[ArtifactSummary]),
        (("artifact", "list", RUN, "--invocation"), f"/api/v1/invocations/{RUN}/artifacts", Page[ArtifactSummary]),
        (("definition", "list", "--search", RUN), f"/api/v1/definitions/?search={RUN}", Page[DefinitionSummary]),
        (("definition", "show", "agent", RUN), AGENT, DefinitionDetail),
        (("definition", "show", "agent", RUN, "--version", "2"), f"{AGENT}/versions/2", DefinitionVersion),
        (("definition", "history", "agent", RUN), f"{AGENT}/versions/", Page[DefinitionVersionSummary]),
        (("definition", "diff", "agent", RUN, "--from", "1", "--file"), f"{AGENT}/diff?from=1&file=1", DefinitionDiff),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_command_prints_what_http_answers(
    arguments: tuple[str, ...],
    path: str,
    model: type[ContractModel],
    told: LiveDaemon,
    commands: ForkedCommands,
) -> None:
    _assert_same(arguments, path, model, told, commands)


def test_the_command_for_reconciliations_prints_what_http_answers(
    told: LiveDaemon, commands: ForkedCommands, stuck: str
) -> None:
    pending = "/api/v1/reconciliations/?status=pending"

    _assert_same(("definition", "reconcile"), pending, Page[Reconciliation], told, commands)
    one = f"/api/v1/reconciliations/{stuck}"
    _assert_same(("definition", "reconcile", stuck), one, ReconciliationDetail, told, commands)


def test_a_command_on_schedules_prints_what_http_answers(told: LiveDaemon, commands: ForkedCommands) -> None:
    schedules = "/api/v1/schedules/"
    with _client(told) as client:
        [found] = client.get(schedules, params={"search": NIGHTLY}).json()["items"]
    own = f"{schedules}{found['schedule_id']}"

    _assert_same(
        ("schedule", "list", "--search", NIGHTLY),
        f"{schedules}?search={NIGHTLY}",
        Page[ScheduleSummary],
        told,
        commands,
    )
    _assert_same(("schedule", "show", NIGHTLY), own, ScheduleDetail, told, commands)
    _assert_same(("schedule", "firings", NIGHTLY), f"{own}/firings/", Page[Firing], told, commands)
    _assert_same(("schedule", "why", NIGHTLY), f"{own}/why", ScheduleExplanation, told, commands)
    _assert_same(("schedule", "limits"), f"{schedules}limits", ScheduleLimits, told, commands)


def test_a_command_changes_schedules_the_same(told: LiveDaemon, commands: ForkedCommands) -> None:
    names = ("commands-own", "commands-far")
    changes = (
        ("create", "NAME", "command", "--cron", "0 3 1 1 *", "--max-runs", "9", "--", "sh"),
        ("update", "NAME", "--cron", "0 4 1 1 *", "--clear", "max-runs"),
        ("disable", "NAME"),
        ("enable", "NAME"),
        ("skip-next", "NAME"),
        ("delete", "NAME"),
    )
    said: dict[str, list[tuple[int, str, object]]] = {name: [] for name in names}

    for name, where in zip(names, ([], ["--remote", told.url]), strict=True):
        for change in changes:
            verb, *rest = (name if word == "NAME" else word for word in change)
            ended = commands.manage("schedule", verb, "--json", *where, *rest)
            said[name].append((ended.returncode, ended.stderr, _without_instants(ended.stdout, name)))

    assert said[names[0]] == said[names[1]]
    assert {code for code, _, _ in said[names[0]]} == {0}


def test_a_command_changes_the_same(told: LiveDaemon, commands: ForkedCommands, tmp_path: Path) -> None:
    file = tmp_path / "agent.md"
    file.write_bytes(b"as it is\r\n")
    changes = (("save", str(file)), ("rollback", "1"), ("delete", "--actor", "me"), ("snapshot",))
    names = ("commands-in-process", "commands-remote")
    said: dict[str, list[tuple[int, str, object]]] = {name: [] for name in names}

    for name, where in zip(names, ([], ["--remote", told.url]), strict=True):
        for verb, *rest in changes:
            ended = commands.manage("definition", verb, "agent", name, *rest, "--json", *where)
            said[name].append((ended.returncode, ended.stderr, _without_instants(ended.stdout, name)))

    assert said[names[0]] == said[names[1]]
    assert {code for code, _, _ in said[names[0]]} == {0}


def test_a_command_saves_previews_and_verifies_the_same(
    told: LiveDaemon, commands: ForkedCommands, tmp_path: Path
) -> None:
    file = tmp_path / "findings.md"
    file.write_bytes("Grüße \x1b[31m\r\n".encode())
    where: tuple[list[str], ...] = ([], ["--remote", told.url])

    saved = [commands.manage("artifact", "save", RUN, str(file), "--json", *more) for more in where]
    results = [ArtifactResult.model_validate_json(ended.stdout) for ended in saved]
    artifact_id = results[0].id
    for arguments in (
        ("show", artifact_id),
        ("preview", artifact_id),
        ("preview", artifact_id, "--raw"),
        ("verify", RUN),
    ):
        in_process, remote = (commands.manage("artifact", *arguments, *more) for more in where)
        assert (in_process.returncode, in_process.stderr) == (0, "")
        assert (remote.returncode, remote.stdout) == (0, in_process.stdout)
    path = f"/api/v1/runs/{RUN}/artifacts/verification"

    assert (results[0].id, results[0].sha256) == (results[1].id, results[1].sha256)
    _assert_same(("artifact", "show", artifact_id), f"/api/v1/artifacts/{artifact_id}", ArtifactResult, told, commands)
    _assert_same(("artifact", "verify", RUN), path, ArtifactVerification, told, commands)


def test_a_command_launches_the_same(told: LiveDaemon, commands: ForkedCommands) -> None:
    where: tuple[list[str], ...] = ([], ["--remote", told.url])

    launched = [commands.manage("run", "launch", "command", "--json", *more, "--", "sh") for more in where]
    again = [
        commands.manage("run", "launch", "command", "--json", "--launch-key", "commands", *more, "--", "sh")
        for more in where
    ]

    # Only who launches in process can see that nobody works.
    assert [(ended.returncode, ended.stderr.count("\n")) for ended in launched] == [(0, 1), (0, 0)]
    first, second = (normalised(json.loads(ended.stdout)) for ended in launched)
    assert first == second
    results = [LaunchResult.model_validate_json(ended.stdout) for ended in again]
    assert [result.repeated for result in results] == [False, True]
    assert results[0].run_id == results[1].run_id


@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [
        (("run", "launch", "agent", "--cwd", "/nowhere"), 2),
        (("run", "launch", "command", "--", "rm", "-r", "/"), 2),
        (("run", "list", "--status", "finished"), 2),
        (("run", "list", "--limit", "0"), 2),
        (("run", "show", "nobody"), 4),
        (("run", "cancel", RUN), 5),
        (("project", "create", "a//b"), 2),
        (("project", "assign", "commands"), 2),
        (("project", "show", "a//b"), 4),
        (("project", "assign", "commands", "nobody"), 4),
        (("project", "create", "commands"), 5),
        (("project", "delete", "commands"), 5),
        (("schedule", "create", "x", "command", "--cron", "0 0 30 2 *", "--", "rm"), 2),
        (("schedule", "preview", NIGHTLY, "--count", "0"), 2),
        (("schedule", "apply", "README.md"), 2),
        (("schedule", "why", "nobody"), 4),
        (("schedule", "skip-next", NIGHTLY), 5),
        (("schedule", "update", NIGHTLY, "--max-runs", "1", "--expected-updated-at", "7"), 5),
        (("definition", "save", "playbook", "wrong", "README.md"), 2),
        (("definition", "save", "agent", "../x", "README.md"), 2),
        (("artifact", "list", "nobody"), 4),
        (("artifact", "show", "nobody"), 4),
        (("artifact", "preview", "nobody", "--limit", "0"), 2),
        (("artifact", "save", RUN, "README.md", "--path", "../x"), 2),
        (("artifact", "save", RUN, "--path", "none"), 4),
        (("artifact", "save", RUN, "README.md", "--sha256", "0" * 64), 5),
        (("definition", "show", "agent", "nobody"), 4),
        (("definition", "reconcile", "nobody", "--action", "retry_write"), 4),
        (("definition", "save", "agent", RUN, "README.md", "--expected-version", "7"), 5),
        (("definition", "show", "agent", LINK), 6),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_command_fails_the_same(
    arguments: tuple[str, ...], exit_code: int, told: LiveDaemon, commands: ForkedCommands
) -> None:
    in_process = commands.manage(*arguments)
    remote = commands.manage(*arguments, "--remote", told.url)

    assert (in_process.returncode, in_process.stdout) == (exit_code, "")
    # What to do next is told for where the command was asked.
    told_next = remote.stderr.replace(f" --remote {told.url}", "")
    assert (remote.returncode, remote.stdout, told_next) == (exit_code, "", in_process.stderr)


def test_a_write_that_fails_again_fails_the_same(told: LiveDaemon, commands: ForkedCommands, stuck: str) -> None:
    with disk_away(told.home):
        test_a_command_fails_the_same(("definition", "reconcile", stuck, "--action", "retry_write"), 8, told, commands)


def test_a_wrong_token_ends_with_its_own_exit_code(told: LiveDaemon, commands: ForkedCommands) -> None:
    assert commands.manage("run", "list", "--remote", told.url, "--token", "wrong").returncode == 9


def _assert_same(
    arguments: tuple[str, ...], path: str, model: type[ContractModel], told: LiveDaemon, commands: ForkedCommands
) -> None:
    in_process = commands.manage(*arguments, "--json")
    remote = commands.manage(*arguments, "--json", "--remote", told.url)
    with _client(told) as client:
        body = client.get(path).content

    assert (in_process.returncode, in_process.stderr) == (0, "")
    assert in_process.stdout == remote.stdout
    assert json.loads(in_process.stdout) == json.loads(body)
    assert model.model_validate_json(in_process.stdout) == model.model_validate_json(body)


def _without_instants(said: str, name: str) -> object:
    return normalised(json.loads(said.replace(name, "<name>")))


def _client(daemon: LiveDaemon) -> httpx.Client:
    return httpx.Client(base_url=daemon.url, headers={"authorization": f"Bearer {TOKEN}"})
