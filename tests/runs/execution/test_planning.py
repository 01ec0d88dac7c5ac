"""From a launch to a process: by the runtime it was launched for and the configuration there is now."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contract.actions import ActionFields
from contract.errors import PermissionDenied, StateUnavailable
from runs.actions import LaunchRules
from runs.claude_lines import ClaudeLines
from runs.endings import Verdict
from runs.event_lines import EventLines
from runs.execution.executing import Plan
from runs.execution.planning import LaunchPlanner, clear_abandoned
from runs.runtimes import SHIPPED, Runtime, Template
from runs.services.execution_ports import ClaimedLaunch, Lease, UnreadableAction
from tests.fakes.action_sources import FakeSources
from tests.fakes.run_files import FakeRunFiles

COMMAND = ("build", "all")
# How a child finds the folder of its run.
FILES = {"STUDIO_ARTIFACTS": "/artifacts/r"}


def agent_runtime(name: str, **fields: Any) -> Runtime:
    template = Template(argv=("--prompt={prompt}",), **fields)
    return Runtime(name=name, executable=name, templates={"agent": template}, env={"NAME": name})


class Bench:
    """A planner on a machine with some programs."""

    def __init__(self, folder: Path, *programs: str) -> None:
        self.folder = folder / "launches"
        self.sources = FakeSources("review")
        self.files = FakeRunFiles()
        self.rules = LaunchRules(runtimes=SHIPPED, command_allowlist=("build",))
        self.path = folder / "bin"
        self.path.mkdir()
        for program in programs:
            (self.path / program).touch(mode=0o755)
        self.environment: Mapping[str, str] = {"PATH": str(self.path), "LANG": "C"}

    def planner(self) -> LaunchPlanner:
        return LaunchPlanner(
            rules=self.rules,
            sources=self.sources,
            files=self.files,
            folder=self.folder,
            environment=self.environment,
        )

    async def told(self, launch: ClaimedLaunch) -> Plan | Verdict:
        return await self.planner().plan(launch)

    async def plan(self, launch: ClaimedLaunch) -> Plan:
        plan = await self.told(launch)
        assert isinstance(plan, Plan)
        return plan

    async def refusal(self, launch: ClaimedLaunch) -> tuple[str, str]:
        verdict = await self.told(launch)
        assert isinstance(verdict, Verdict)
        return verdict.reason_code, verdict.reason_summary or ""

    def program(self, name: str) -> str:
        return str(self.path / name)


def launch(*, runtime: str | None = None, cwd: str | None = "/work", **action: Any) -> ClaimedLaunch:
    return ClaimedLaunch(
        lease=Lease(run_id="r", fence=1),
        action=ActionFields.model_validate(action),
        runtime=runtime,
        cwd=cwd,
        deadline_seconds=60.0,
        attempts=1,
    )


def command(*argv: str, **fields: Any) -> ClaimedLaunch:
    return launch(kind="command", command=argv or COMMAND, **fields)


def prompted(runtime: str) -> ClaimedLaunch:
    return launch(kind="agent", prompt="go", runtime=runtime)


def relative(folder: Path) -> str:
    return os.path.relpath(folder)


def is_same(path: str, other: str) -> bool:
    return Path(path).samefile(other)


def looked_at(file: Path) -> tuple[bytes, int]:
    return file.read_bytes(), file.stat().st_mode & 0o777


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, "build", "claude", "codex", "li", "own")


async def test_a_command_is_executed_as_it_is(bench: Bench) -> None:
    plan = await bench.plan(command())

    assert plan.order.argv == (bench.program("build"), "all")
    assert (plan.order.run_id, plan.order.cwd) == ("r", "/work")
    assert plan.order.env == {**bench.environment, **FILES}
    assert plan.order.stdin_text is None
    assert isinstance(plan.reader, EventLines)


async def test_without_a_folder_it_is_that_of_the_worker(bench: Bench) -> None:
    assert (await bench.plan(command(cwd=None))).order.cwd == str(Path.cwd())


async def test_the_folder_of_its_files_is_made_last_and_a_run_without_it_is_not_executed(bench: Bench) -> None:
    await bench.refusal(command("nothing"))
    refused_before = list(bench.files.prepared)
    bench.files.fault = StateUnavailable(retryable=True, detail="the disk is full")

    code, told = await bench.refusal(command())

    assert refused_before == []
    assert (code, "the disk is full" in told) == ("run.failed.spawn", True)


async def test_a_runtime_brings_arguments_environment_and_reader(bench: Bench) -> None:
    bench.rules = LaunchRules(runtimes={**SHIPPED, "own": agent_runtime("own")})

    own = await bench.plan(prompted("own"))
    claude = await bench.plan(prompted("claude"))

    assert own.order.argv == (bench.program("own"), "--prompt=go")
    assert own.order.env == {**bench.environment, **FILES, "NAME": "own"}
    assert (claude.order.stdin_text, type(claude.reader)) == ("go", ClaudeLines)


async def test_the_runtime_is_the_one_it_was_launched_for(bench: Bench) -> None:
    """The first runtime of the configuration would refuse this action: it needs a model."""
    assert (await bench.plan(prompted("codex"))).order.argv[0] == bench.program("codex")


async def test_a_program_in_a_folder_that_is_told_relatively_is_found_from_any_other(bench: Bench) -> None:
    bench.environment = {"PATH": relative(bench.path)}

    found = (await bench.plan(command())).order.argv[0]

    assert (Path(found).is_absolute(), is_same(found, bench.program("build"))) == (True, True)


async def test_a_program_that_is_not_there_is_told(bench: Bench) -> None:
    bench.environment = {"PATH": "/nowhere"}

    assert await bench.refusal(command()) == ("run.failed.missing_executable", "there is no executable build")


async def test_a_runtime_that_is_not_configured_any_more_is_told(bench: Bench) -> None:
    assert await bench.refusal(prompted("gone")) == (
        "run.failed.missing_executable",
        "runtime gone is not configured any more",
    )


async def test_what_a_newer_configuration_refuses_is_not_executed(bench: Bench) -> None:
    bench.rules = LaunchRules(runtimes={"own": agent_runtime("own", any_of=("model",))}, command_allowlist=())

    refused = [await bench.refusal(launch) for launch in (command(), prompted("own"))]

    assert [code for code, _ in refused] == ["run.failed.refused", "run.failed.refused"]
    assert "no executable is allowed" in refused[0][1]
    assert "needs model" in refused[1][1]


async def test_an_action_that_this_version_cannot_read_is_refused(bench: Bench) -> None:
    unreadable = replace(command(), action=UnreadableAction(fault="budget: is not a field here"))

    code, told = await bench.refusal(unreadable)

    assert (code, "budget" in told) == ("run.failed.refused", True)


async def test_a_playbook_is_told_by_its_file(bench: Bench) -> None:
    plan = await bench.plan(launch(kind="play", playbook="review", prompt="go", runtime="li"))

    assert "--file=/home/playbooks/review.playbook.yaml" in plan.order.argv


async def test_a_playbook_that_is_gone_is_told(bench: Bench) -> None:
    gone = launch(kind="play", playbook="gone", prompt="go", runtime="li")

    assert (await bench.refusal(gone))[0] == "run.failed.refused"


async def test_a_playbook_that_cannot_be_read_is_told(bench: Bench) -> None:
    bench.sources.fault = PermissionDenied("it is a symbolic link")
    unreadable = launch(kind="play", playbook="review", prompt="go", runtime="li")

    code, told = await bench.refusal(unreadable)

    assert (code, "symbolic link" in told) == ("run.failed.spawn", True)


async def test_an_inline_flow_is_a_file_of_the_run_until_it_has_ended(bench: Bench) -> None:
    flow = launch(kind="flow_yaml", flow_yaml="prompt: gö\r\n", runtime="li")

    plan = await bench.plan(flow)
    [argument] = [text for text in plan.order.argv if text.startswith("--file=")]
    file = Path(argument.removeprefix("--file="))
    content, mode = looked_at(file)
    await bench.planner().clear(flow)
    await bench.planner().clear(flow)

    assert (content, mode) == ("prompt: gö\r\n".encode(), 0o600)
    assert not file.parent.exists()


async def test_a_flow_that_cannot_be_written_is_told(bench: Bench) -> None:
    bench.folder.write_text("in the way")
    flow = launch(kind="flow_yaml", flow_yaml="prompt: go\n", runtime="li")

    code, told = await bench.refusal(flow)

    assert (code, told.startswith("its files could not be written: ")) == ("run.failed.spawn", True)


async def test_a_flow_whose_runtime_needs_no_file_is_cleared_all_the_same(bench: Bench) -> None:
    await bench.planner().clear(command())

    assert not bench.folder.exists()


async def test_files_of_runs_that_nobody_holds_are_removed(tmp_path: Path) -> None:
    for run_id in ("held", "left"):
        (tmp_path / run_id).mkdir()
        (tmp_path / run_id / "flow.yaml").write_text("prompt: x\n")

    async def held() -> frozenset[str]:
        return frozenset({"held"})

    await clear_abandoned(tmp_path, held)
    await clear_abandoned(tmp_path / "none", held)

    assert names_in(tmp_path) == ["held"]


def names_in(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())
