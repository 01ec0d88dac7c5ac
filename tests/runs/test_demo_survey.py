"""The survey's steps, told to a reader of run events and recorded as its run would be."""

import shutil
from itertools import islice
from pathlib import Path

import pytest

from contract.errors import ValidationFailure
from contract.events import MessageView, RecordEvents, SignalView
from contract.runs import EvidenceRequest, Pane, RunDetail, RunReadQuery, StartRun
from runs.demo_survey import Step, folders_at_once, survey
from tests.fakes.studio import InMemoryStudio


class Recorded:
    """A survey of a folder, recorded step by step as the run r1."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.studio = InMemoryStudio()
        self.steps: list[Step] = []

    async def whole(self) -> RunDetail:
        await self.studio.start_run(StartRun(run_id="r1"))
        for step in survey(self.root):
            await self.studio.record_events("r1", RecordEvents(events=tuple(step)))
            self.steps.append(step)
            self.after(len(self.steps))
        return await self.studio.get_run("r1", RunReadQuery())

    def after(self, number: int) -> None:
        """Do nothing to the folder between two steps."""

    async def messages(self) -> list[MessageView]:
        return [view for view in await self._pane("messages") if isinstance(view, MessageView)]

    async def signals(self) -> list[SignalView]:
        return [view for view in await self._pane("signals") if isinstance(view, SignalView)]

    async def _pane(self, pane: Pane) -> tuple[object, ...]:
        return (await self.studio.read_evidence(EvidenceRequest(run_id="r1", pane=pane))).items


class Losing(Recorded):
    """Its folder `src` is gone after the third step."""

    def after(self, number: int) -> None:
        if number == 3:
            shutil.rmtree(self.root / "src")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "README.md").write_text("one two three\n", encoding="utf-8")
    (tmp_path / "src" / "a.py").write_text("x = 1\ny = 2\n", encoding="utf-8")
    return tmp_path


async def test_a_survey_is_a_completed_run_with_two_branches_that_talk(root: Path) -> None:
    recorded = Recorded(root)

    run = await recorded.whole()

    assert run.status == "completed"
    assert [(branch.name, branch.parent) for branch in run.branches] == [("scout", None), ("analyst", "scout")]
    spoken = {(view.role, view.sender, view.recipient) for view in await recorded.messages()}
    assert {("user", "user", "scout"), ("tool", "walk", "scout"), ("assistant", "scout", "analyst")} <= spoken
    assert ("assistant", "analyst", "user") in spoken


async def test_the_signals_walk_through_the_graph_in_its_order(root: Path) -> None:
    recorded = Recorded(root)

    run = await recorded.whole()

    assert run.graph is not None
    nodes = [node.id for node in run.graph.nodes]
    signals = [(view.kind, view.op_id) for view in await recorded.signals()]
    assert signals[:4] == [("NodeSpawned", node) for node in nodes]
    assert signals[4:] == [(kind, node) for node in nodes for kind in ("NodeStarted", "NodeCompleted")]
    position = {node: number for number, node in enumerate(nodes)}
    assert all(position[edge.source] < position[edge.target] for edge in run.graph.edges)


async def test_the_report_is_an_artifact_and_the_last_message(root: Path) -> None:
    recorded = Recorded(root)

    run = await recorded.whole()

    [artifact] = run.artifacts
    assert (artifact.kind, artifact.name) == ("report", "survey")
    assert isinstance(artifact.content, dict)
    assert artifact.content["languages"] == [
        {"name": "Python", "files": 1, "lines": 2, "size_bytes": 12},
        {"name": "Markdown", "files": 1, "lines": 1, "size_bytes": 14},
    ]
    assert str((await recorded.messages())[-1].content).startswith(f"Survey of {root.name}")


async def test_usage_is_the_words_that_were_read_and_written_and_no_invented_cost(root: Path) -> None:
    recorded = Recorded(root)

    run = await recorded.whole()

    assert run.input_tokens == 9
    assert run.output_tokens == len(str((await recorded.messages())[-1].content).split())
    assert run.cost_usd is None


async def test_each_step_tells_something_new(root: Path) -> None:
    recorded = Recorded(root)

    await recorded.whole()

    assert len(recorded.steps) > 10
    assert all(recorded.steps)


async def test_what_cannot_be_read_is_told_and_not_fatal(root: Path) -> None:
    recorded = Losing(root)

    run = await recorded.whole()

    assert run.status == "completed"
    failed = [view.payload for view in await recorded.signals() if view.kind == "NodeFailed"]
    assert failed == [{"path": "src", "reason": "No such file or directory"}]
    texts = [str(view.content) for view in await recorded.messages()]
    assert "Could not be read:\nsrc: No such file or directory" in texts


async def test_a_folder_without_files_completes_empty(tmp_path: Path) -> None:
    recorded = Recorded(tmp_path)

    run = await recorded.whole()

    assert (run.status, run.artifacts) == ("completed_empty", ())
    skipped = [view.op_id for view in await recorded.signals() if view.kind == "NodeSkipped"]
    assert skipped == ["languages", "largest", "report"]


def test_what_is_no_folder_is_refused_before_any_step(root: Path) -> None:
    with pytest.raises(ValidationFailure):
        survey(root / "README.md")


def test_any_walk_is_told_in_few_steps() -> None:
    assert sum(islice(folders_at_once(), 32)) > 20_000
    assert list(islice(folders_at_once(), 15, 19)) == [1, 2, 4, 8]
