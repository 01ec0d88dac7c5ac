"""The demo as a launched run: by its command, and once by the daemon."""

import asyncio
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync
from django.core.management import CommandError, call_command

from contract.actions import LaunchRun
from contract.errors import ValidationFailure
from contract.events import DoneFrame
from contract.runs import RunDetail, RunQuery, RunReadQuery, RunSummary, StartRun
from runs.demo import demo_agent, demo_launch, launch_once
from runs.management.commands import demo
from studio_project.composition import Studio, build_studio
from studio_project.config import StudioConfig, current_config
from studio_project.run_operations import allow_demo
from tests.live import ROOT

pytestmark = pytest.mark.django_db(transaction=True)


class Stage:
    """A folder, a Studio whose allow-list has the agent, and the command `demo`."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "shop"
        self.root.mkdir()
        (self.root / "a.py").write_text("x = 1\n", encoding="utf-8")
        self.agent = str(folder / "agent")
        self.config = self.allowing(self.agent).model_copy(update={"home": folder / "home"})
        self.studio = build_studio(self.config)
        self.out = ""
        self.err = ""

    @staticmethod
    def allowing(*executables: str) -> StudioConfig:
        return current_config().model_copy(update={"command_allowlist": executables})

    def install(self) -> None:
        """Put the agent where it is looked for, as an installation does."""
        script = f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m runs.demo_agent "$@"\n'
        Path(self.agent).write_text(script, encoding="utf-8")
        Path(self.agent).chmod(0o755)

    def __call__(self, *arguments: str) -> int:
        command = demo.Command()
        command.in_process, command.agent = self.open_studio, self.agent
        out, err = StringIO(), StringIO()
        code = 0
        try:
            call_command(command, *arguments, stdout=out, stderr=err)
        except CommandError as end:
            code = end.returncode
        self.out, self.err = out.getvalue(), err.getvalue()
        return code

    def open_studio(self) -> Studio:
        return self.studio

    @property
    def runs(self) -> tuple[RunSummary, ...]:
        return async_to_sync(self.studio.list_runs)(RunQuery(sort="started")).items

    def launch_once(self, folder: Path) -> None:
        async_to_sync(launch_once)(self.studio, folder, agent=self.agent)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path)
    yield stage
    async_to_sync(stage.studio.close)()


def test_the_command_executes_the_agent_and_prints_what_it_says(stage: Stage) -> None:
    stage.install()

    code = stage(str(stage.root), "--pace", "0")

    [run] = stage.runs
    assert (code, run.status, run.name, run.tags) == (0, "completed", "survey of shop", ("demo",))
    assert "Find out what is in the folder shop" in stage.out
    assert "Lines by language" in stage.out
    assert f"run {run.run_id} begins; follow it elsewhere with: studio run tail {run.run_id}\n" in stage.err
    assert f"run {run.run_id} completed (" in stage.err


def test_the_command_prints_the_run_as_json(stage: Stage) -> None:
    stage.install()

    stage(str(stage.root), "--pace", "0", "--json")

    run = RunDetail.model_validate_json(stage.out)
    assert (run.status, run.artifacts[0].name) == ("completed", "survey")
    assert run.execution is not None
    assert (run.execution.exit_code, run.execution.cwd) == (0, str(stage.root))


def test_the_command_leaves_other_runs_in_the_queue(stage: Stage) -> None:
    stage.install()
    stage.launch_once(stage.root)

    stage(str(stage.root), "--pace", "0")

    assert sorted(run.status for run in stage.runs) == ["completed", "queued"]


def test_an_agent_that_is_not_installed_is_the_runs_reason_and_ends_the_command_with_1(stage: Stage) -> None:
    code = stage(str(stage.root))

    [run] = stage.runs
    assert (code, run.status, run.status_reason_code) == (1, "failed", "run.failed.missing_executable")
    assert f"failed: there is no executable {stage.agent} (" in stage.err


def test_what_is_no_folder_launches_nothing(stage: Stage) -> None:
    code = stage(str(stage.root / "none"))

    assert (code, stage.out, stage.err) == (2, "", "error: cwd: No such file or directory\n")
    assert not stage.runs


def test_an_empty_store_gets_the_demo_once(stage: Stage) -> None:
    stage.launch_once(stage.root)
    stage.launch_once(stage.root)

    assert [run.status for run in stage.runs] == ["queued"]


def test_a_store_with_runs_gets_no_demo(stage: Stage) -> None:
    async_to_sync(stage.studio.start_run)(StartRun(run_id="r1"))

    stage.launch_once(stage.root)

    assert [run.run_id for run in stage.runs] == ["r1"]


def test_a_launch_names_the_folder_and_keeps_to_the_pace(tmp_path: Path) -> None:
    launch = demo_launch(tmp_path / "x" / "..", agent="/bin/agent", pace_seconds=0.25, launch_key="k")

    assert launch == LaunchRun(
        kind="command",
        command=("/bin/agent", "--pace=0.25"),
        cwd=str(tmp_path),
        name=f"survey of {tmp_path.name}",
        tags=("demo",),
        launch_key="k",
    )


def test_the_agent_stands_beside_the_interpreter() -> None:
    assert demo_agent() == str(Path(sys.executable).parent / "studio-demo-agent")


@pytest.mark.parametrize("own", [(), ("make",)])
def test_the_agent_is_allowed_beside_what_is_configured_and_in_that_process_only(own: tuple[str, ...]) -> None:
    config = Stage.allowing(*own)

    allowed = allow_demo(config)

    assert allowed.command_allowlist == (*own, demo_agent())
    assert config.command_allowlist == own


async def ended(worker: Studio, run_id: str) -> str | None:
    """Let a worker execute one run to its end; return the reason."""
    working = asyncio.create_task(worker.work(only=run_id))
    async for frame in worker.stream_signals(run_id, None):
        if isinstance(frame.payload, DoneFrame):
            break
    working.cancel()
    await asyncio.wait([working])
    return (await worker.get_run(run_id, RunReadQuery())).status_reason_code


async def test_a_worker_that_may_launch_nothing_executes_the_agent_of_its_own_installation_alone(
    tmp_path: Path,
) -> None:
    strange = str(tmp_path / "studio-demo-agent")
    launcher = build_studio(Stage.allowing(strange, demo_agent()))
    worker = build_studio(Stage.allowing().model_copy(update={"home": tmp_path}))

    own = await launcher.launch_run(demo_launch(tmp_path, agent=demo_agent(), pace_seconds=0))
    other = await launcher.launch_run(demo_launch(tmp_path, agent=strange, pace_seconds=0))

    # The tests may run where the agent is not installed; it is not refused there either.
    assert await ended(worker, own.run_id) in ("run.completed_empty.no_result", "run.failed.missing_executable")
    assert await ended(worker, other.run_id) == "run.failed.refused"
    await launcher.close()
    await worker.close()


async def test_nobody_else_may_launch_the_agent(tmp_path: Path) -> None:
    studio = build_studio(Stage.allowing("make"))

    with pytest.raises(ValidationFailure) as refused:
        await studio.launch_run(demo_launch(tmp_path, agent=demo_agent(), pace_seconds=0))

    await studio.close()
    assert [fault.code for fault in refused.value.field_errors] == ["not_allowed"]
