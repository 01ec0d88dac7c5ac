import asyncio
import json
import shutil
from collections.abc import Callable
from io import StringIO
from itertools import islice
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from contract.base import Page
from contract.errors import StateUnavailable, ValidationFailure
from contract.events import (
    MessageView,
    ProcessIdentity,
    RecordEvents,
    RecordResult,
    SignalView,
)
from contract.runs import (
    CancelRun,
    EvidenceRequest,
    Pane,
    RunDetail,
    RunQuery,
    RunReadQuery,
    RunSummary,
)
from runs.demo import folders_at_once, play_demo
from runs.management.commands import demo
from tests.fakes.clocks import START_AT, FixedClock
from tests.fakes.studio import InMemoryStudio

PROCESS = ProcessIdentity(host="here", pid=7, started_at=START_AT)


class Stage:
    """A folder, a Studio, and a demo whose pauses can do something."""

    def __init__(self, root: Path, studio: InMemoryStudio | None = None) -> None:
        self.root = root
        self.studio = studio or InMemoryStudio()
        self.pauses: list[float] = []
        self.told: list[str] = []
        self.at_pause: Callable[[int], object] = lambda _: None

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        happened = self.at_pause(len(self.pauses))
        if asyncio.iscoroutine(happened):
            await happened

    async def play(self) -> str:
        return await play_demo(
            self.studio,
            self.root,
            pace_seconds=0.5,
            clock=FixedClock(),
            pause=self.pause,
            process=PROCESS,
            watch=lambda run_id, text: self.told.append(text),
        )

    async def runs(self) -> Page[RunSummary]:
        return await self.studio.list_runs(RunQuery())

    async def only_run(self) -> RunDetail:
        [run] = (await self.runs()).items
        return await self.studio.get_run(run.run_id, RunReadQuery())

    async def pane(self, pane: Pane) -> list[MessageView | SignalView]:
        run = await self.only_run()
        page = await self.studio.read_evidence(EvidenceRequest(run_id=run.run_id, pane=pane))
        return [item for item in page.items if isinstance(item, MessageView | SignalView)]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    (tmp_path / "src").mkdir()
    (tmp_path / "README.md").write_text("one two three\n", encoding="utf-8")
    (tmp_path / "src" / "a.py").write_text("x = 1\ny = 2\n", encoding="utf-8")
    return Stage(tmp_path)


async def test_a_demo_is_a_completed_run_with_two_branches_that_talk(stage: Stage) -> None:
    run_id = await stage.play()

    run = await stage.only_run()
    assert (run.run_id, run.status, run.tags) == (run_id, "completed", ("demo",))
    assert run.process == PROCESS
    assert [(branch.name, branch.parent) for branch in run.branches] == [("scout", None), ("analyst", "scout")]
    spoken = {
        (view.role, view.sender, view.recipient) for view in await stage.pane("messages") if view.type == "message"
    }
    assert {("user", "user", "scout"), ("tool", "walk", "scout"), ("assistant", "scout", "analyst")} <= spoken
    assert ("assistant", "analyst", "user") in spoken


async def test_the_signals_walk_through_the_graph_in_its_order(stage: Stage) -> None:
    await stage.play()

    run = await stage.only_run()
    assert run.graph is not None
    nodes = [node.id for node in run.graph.nodes]
    signals = [(view.kind, view.op_id) for view in await stage.pane("signals") if view.type == "signal"]
    assert signals[:4] == [("NodeSpawned", node) for node in nodes]
    assert signals[4:] == [(kind, node) for node in nodes for kind in ("NodeStarted", "NodeCompleted")]
    position = {node: number for number, node in enumerate(nodes)}
    assert all(position[edge.source] < position[edge.target] for edge in run.graph.edges)


async def test_the_report_is_an_artifact_and_the_last_message(stage: Stage) -> None:
    await stage.play()

    run = await stage.only_run()
    [artifact] = run.artifacts
    assert (artifact.kind, artifact.name) == ("report", "survey")
    assert isinstance(artifact.content, dict)
    assert artifact.content["languages"] == [
        {"name": "Python", "files": 1, "lines": 2, "size_bytes": 12},
        {"name": "Markdown", "files": 1, "lines": 1, "size_bytes": 14},
    ]
    last = (await stage.pane("messages"))[-1]
    assert last.type == "message"
    assert str(last.content).startswith(f"Survey of {stage.root.name}")


async def test_usage_is_the_words_that_were_read_and_written_and_no_invented_cost(stage: Stage) -> None:
    await stage.play()

    run = await stage.only_run()
    assert run.input_tokens == 9
    assert run.output_tokens == len(stage.told[-1].split())
    assert run.cost_usd is None


async def test_each_step_is_recorded_before_its_pause(stage: Stage) -> None:
    counts: list[int] = []

    async def count() -> None:
        run = await stage.only_run()
        counts.append(run.message_count + run.signal_count)

    stage.at_pause = lambda _: count()
    await stage.play()

    assert counts == sorted(counts)
    assert len(set(counts)) == len(counts) > 10
    assert set(stage.pauses) == {0.5}


async def test_a_request_to_cancel_stops_the_demo(stage: Stage) -> None:
    async def cancel() -> None:
        await stage.studio.cancel_run((await stage.only_run()).run_id, CancelRun())

    stage.at_pause = lambda number: cancel() if number == 3 else None
    run_id = await stage.play()

    run = await stage.only_run()
    assert (run.run_id, run.status) == (run_id, "cancelled")
    assert len(stage.pauses) == 3


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, asyncio.CancelledError])
async def test_an_interrupt_aborts_the_run(stage: Stage, interrupt: type[BaseException]) -> None:
    def stop(_: int) -> None:
        raise interrupt

    stage.at_pause = stop

    with pytest.raises(interrupt):
        await stage.play()

    assert (await stage.only_run()).status == "aborted"


async def test_an_unforeseen_fault_fails_the_run_and_is_its_reason(stage: Stage) -> None:
    def stop(_: int) -> None:
        raise RuntimeError("out of tea\n")

    stage.at_pause = stop

    with pytest.raises(RuntimeError):
        await stage.play()

    run = await stage.only_run()
    assert (run.status, run.status_reason_code) == ("failed", "run.failed.error")
    assert run.status_reason_summary == "RuntimeError: out of tea\\x0a"


class Unplugged(InMemoryStudio):
    """Stores nothing any more after the start."""

    async def record_events(self, run_id: str, command: RecordEvents) -> RecordResult:
        raise StateUnavailable(retryable=True)


async def test_a_store_that_is_gone_is_the_error_that_is_raised(stage: Stage) -> None:
    stage.studio = Unplugged()

    with pytest.raises(StateUnavailable):
        await stage.play()


async def test_what_cannot_be_read_is_told_and_not_fatal(stage: Stage) -> None:
    stage.at_pause = lambda number: shutil.rmtree(stage.root / "src") if number == 3 else None

    await stage.play()

    assert (await stage.only_run()).status == "completed"
    failed = [view for view in await stage.pane("signals") if view.type == "signal" and view.kind == "NodeFailed"]
    assert [view.payload for view in failed] == [{"path": "src", "reason": "No such file or directory"}]
    assert any("Could not be read:\nsrc: No such file or directory" in text for text in stage.told)


async def test_a_folder_without_files_completes_empty(tmp_path: Path) -> None:
    stage = Stage(tmp_path)

    await stage.play()

    run = await stage.only_run()
    assert (run.status, run.artifacts) == ("completed_empty", ())
    skipped = [
        view.op_id for view in await stage.pane("signals") if view.type == "signal" and view.kind == "NodeSkipped"
    ]
    assert skipped == ["languages", "largest", "report"]


async def test_what_is_no_folder_registers_no_run(stage: Stage) -> None:
    stage.root = stage.root / "README.md"

    with pytest.raises(ValidationFailure):
        await stage.play()

    assert not (await stage.runs()).items


def test_any_walk_is_told_in_few_steps() -> None:
    assert sum(islice(folders_at_once(), 32)) > 20_000
    assert list(islice(folders_at_once(), 15, 19)) == [1, 2, 4, 8]


def shell(studio: InMemoryStudio, *arguments: str) -> tuple[int, str, str]:
    command = demo.Command()
    command.in_process = lambda: studio
    out, err = StringIO(), StringIO()
    try:
        call_command(command, *arguments, stdout=out, stderr=err)
    except CommandError as end:
        return end.returncode, out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def test_the_command_prints_the_messages_as_they_come(stage: Stage) -> None:
    code, out, err = shell(stage.studio, str(stage.root), "--pace", "0")

    assert code == 0
    assert out.startswith(f"Find out what is in the folder {stage.root.name}")
    assert "Lines by language" in out
    assert "begins; follow it elsewhere with: studio run tail" in err
    assert "completed: " in err


def test_the_command_prints_the_run_as_json(stage: Stage) -> None:
    code, out, _ = shell(stage.studio, str(stage.root), "--pace", "0", "--json")

    assert code == 0
    assert RunDetail.model_validate_json(out).status == "completed"
    assert json.loads(out)["tags"] == ["demo"]


def test_the_command_refuses_what_is_no_folder(tmp_path: Path) -> None:
    assert shell(InMemoryStudio(), str(tmp_path / "none")) == (2, "", "error: folder: is not a folder\n")
