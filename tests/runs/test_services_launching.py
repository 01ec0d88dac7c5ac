"""Launching: an action is queued once for each key, and nothing of what could not be executed."""

from dataclasses import replace
from typing import Any

import pytest

from contract.actions import LaunchResult, LaunchRun
from contract.errors import Conflict, StateUnavailable, ValidationFailure
from contract.projects import CreateProject
from projects.services.placing import ProjectFolders
from runs.actions import LaunchRules
from runs.runtimes import ACTION_KINDS, SHIPPED
from runs.services.launching import LaunchPolicy, launch_run
from tests.fakes.action_sources import FakeSources
from tests.fakes.clocks import START_AT, FixedClock, SequentialIds
from tests.fakes.folders import FakeFolders
from tests.fakes.machines import FakeMachine
from tests.fakes.projects import InMemoryProjects
from tests.fakes.run_launches import InMemoryLaunches
from tests.fakes.run_records import StoredLaunch
from tests.fakes.runs import InMemoryRuns

COMMAND = {"kind": "command", "command": ["make", "all"]}
POLICY = LaunchPolicy(
    rules=LaunchRules(runtimes=SHIPPED, command_allowlist=("make",)),
    root=None,
    deadline_seconds=dict.fromkeys(ACTION_KINDS, 600.0) | {"command": 60.0},
)


class Desk:
    """The operation with everything it needs."""

    def __init__(self, *, folders: tuple[str, ...] = (), usable: tuple[str, ...] = ("claude",)) -> None:
        self.runs = InMemoryRuns()
        self.sources = FakeSources("review")
        self.policy = POLICY
        self._launches = InMemoryLaunches(self.runs)
        self.projects = InMemoryProjects(self.runs)
        self.disk = FakeFolders()
        self.places = ProjectFolders(self.projects, self.disk)
        self.machine = FakeMachine(folders=folders, usable=usable)
        self._clock = FixedClock()
        self._ids = SequentialIds()

    async def launch(self, **fields: Any) -> LaunchResult:
        return await launch_run(
            command=LaunchRun.model_validate(fields),
            policy=self.policy,
            launches=self._launches,
            sources=self.sources,
            projects=self.places,
            machine=self.machine,
            clock=self._clock,
            ids=self._ids,
        )

    async def refused(self, **fields: Any) -> list[tuple[str, str]]:
        """Return path and code of every fault, and see that nothing was stored."""
        with pytest.raises(ValidationFailure) as caught:
            await self.launch(**fields)
        assert self.runs.runs == {}
        return [(".".join(map(str, fault.path)), fault.code) for fault in caught.value.field_errors]

    async def launched(self, **fields: Any) -> StoredLaunch:
        result = await self.launch(**fields)
        launch = self.runs.runs[result.run_id].launch
        assert launch is not None
        return launch


@pytest.fixture
def desk() -> Desk:
    return Desk(folders=("/work/shop", "/"))


async def test_a_launch_waits_in_the_queue(desk: Desk) -> None:
    result = await desk.launch(**COMMAND, name="Build", tags=["b", "a", "b"], invocation_id="cron-1")

    run = desk.runs.runs[result.run_id]
    assert (result.status, result.created_at, result.repeated) == ("queued", START_AT, False)
    assert (run.status, run.command.name, run.command.invocation_id, run.tags) == (
        *("queued", "Build", "cron-1"),
        ("a", "b"),
    )


async def test_the_same_key_again_is_the_same_launch(desk: Desk) -> None:
    first = await desk.launch(**COMMAND, launch_key="nightly-7")
    again = await desk.launch(**COMMAND, launch_key="nightly-7", name="called otherwise")

    assert again == first.model_copy(update={"repeated": True})
    assert list(desk.runs.runs) == [first.run_id]


async def test_the_same_key_for_another_action_is_a_conflict(desk: Desk) -> None:
    await desk.launch(**COMMAND, launch_key="nightly-7")

    with pytest.raises(Conflict):
        await desk.launch(kind="command", command=["make", "clean"], launch_key="nightly-7")


async def test_a_repeat_is_one_whatever_has_become_of_what_it_needed(desk: Desk) -> None:
    play = {"kind": "play", "playbook": "review", "prompt": "go", "cwd": "/work/shop", "launch_key": "nightly-7"}
    first = await desk.launch(**play)
    desk.machine = FakeMachine(folders=(), usable=())
    desk.sources = FakeSources()
    desk.policy = replace(POLICY, rules=LaunchRules(runtimes={}), root="/gone")

    again = await desk.launch(**play)

    assert again == first.model_copy(update={"repeated": True})
    with pytest.raises(Conflict):
        await desk.launch(**play | {"cwd": "/gone"})
    assert list(desk.runs.runs) == [first.run_id]


async def test_a_key_stands_for_nothing_that_was_refused(desk: Desk) -> None:
    assert await desk.refused(**COMMAND, cwd="/gone", launch_key="nightly-7") == [("cwd", "folder")]

    assert not (await desk.launch(**COMMAND, launch_key="nightly-7")).repeated


async def test_without_a_key_each_launch_is_one_of_its_own(desk: Desk) -> None:
    first = await desk.launch(**COMMAND)
    second = await desk.launch(**COMMAND)

    assert first.launch_key != second.launch_key
    assert len(desk.runs.runs) == 2


async def test_the_runtime_is_chosen_when_it_is_launched(desk: Desk) -> None:
    assert (await desk.launched(kind="agent", prompt="go")).draft.runtime == "claude"
    assert (await desk.launched(kind="agent", prompt="go", runtime="codex")).draft.runtime == "codex"
    assert (await desk.launched(**COMMAND)).draft.runtime is None


async def test_the_deadline_is_the_given_one_or_that_of_the_kind(desk: Desk) -> None:
    assert (await desk.launched(**COMMAND)).draft.deadline_seconds == 60.0
    assert (await desk.launched(kind="agent", prompt="go")).draft.deadline_seconds == 600.0
    assert (await desk.launched(**COMMAND, deadline_seconds=5.0)).draft.deadline_seconds == 5.0


async def test_the_folder_is_the_given_one_or_the_configured_root(desk: Desk) -> None:
    assert (await desk.launched(**COMMAND)).draft.cwd is None
    desk.policy = replace(POLICY, root="/work/shop")
    assert (await desk.launched(**COMMAND)).draft.cwd == "/work/shop"
    assert (await desk.launched(**COMMAND, cwd="/work/shop")).draft.cwd == "/work/shop"


async def test_a_folder_that_cannot_be_used_is_refused(desk: Desk) -> None:
    assert await desk.refused(**COMMAND, cwd="/gone") == [("cwd", "folder")]
    assert await desk.refused(**COMMAND, cwd="shop") == [("cwd", "not_absolute")]


async def test_a_configured_root_that_cannot_be_used_is_not_passed_over(desk: Desk) -> None:
    desk.policy = replace(POLICY, root="/gone")

    assert await desk.refused(**COMMAND) == [("cwd", "folder")]


async def test_the_folder_of_a_project_comes_before_the_configured_root(desk: Desk) -> None:
    desk.policy = replace(POLICY, root="/")
    await desk.projects.create_project(CreateProject(name="shop", path="/work/shop"), at=START_AT)
    await desk.projects.create_project(CreateProject(name="label"), at=START_AT)

    assert (await desk.launched(**COMMAND, project="shop")).draft.cwd == "/work/shop"
    assert (await desk.launched(**COMMAND, project="shop", cwd="/")).draft.cwd == "/"
    assert (await desk.launched(**COMMAND, project="label")).draft.cwd == "/"
    assert (await desk.launched(**COMMAND, project="new")).draft.cwd == "/"


async def test_a_projects_folder_that_cannot_be_used_is_not_passed_over(desk: Desk) -> None:
    desk.policy = replace(POLICY, root="/work/shop")
    await desk.projects.create_project(CreateProject(name="shop", path="/gone"), at=START_AT)

    with pytest.raises(ValidationFailure, match="/gone, the path of project shop: "):
        await desk.launch(**COMMAND, project="shop")
    assert await desk.refused(**COMMAND, project="shop") == [("cwd", "folder")]
    assert (await desk.launched(**COMMAND, project="shop", cwd="/work/shop")).draft.cwd == "/work/shop"


async def test_a_folder_gives_a_launch_its_project(desk: Desk) -> None:
    desk.disk.says("/work/shop", configured="team/shop")

    found = await desk.launched(**COMMAND, cwd="/work/shop")

    assert (found.draft.action.project, found.draft.cwd) == ("team/shop", "/work/shop")
    assert list(desk.runs.projects) == ["team/shop"]
    assert (await desk.launched(**COMMAND, cwd="/work/shop", project="own")).draft.action.project == "own"
    assert (await desk.launched(**COMMAND, cwd="/work/shop", detect_project=False)).draft.action.project is None
    assert (await desk.launched(**COMMAND)).draft.action.project is None


async def test_a_detection_that_fails_fails_no_launch(desk: Desk) -> None:
    desk.disk.fault = ValidationFailure.at(".studio.toml", code="config", message="is wrong")

    assert (await desk.launched(**COMMAND, cwd="/work/shop")).draft.action.project is None


async def test_a_launch_is_the_same_whatever_its_folder_says_meanwhile(desk: Desk) -> None:
    first = await desk.launch(**COMMAND, cwd="/work/shop", launch_key="k")
    desk.disk.says("/work/shop", configured="team/shop")

    assert (await desk.launch(**COMMAND, cwd="/work/shop", launch_key="k")).run_id == first.run_id


async def test_every_fault_is_told_at_once(desk: Desk) -> None:
    assert await desk.refused(kind="play", playbook="gone", command=["x"], cwd="/gone") == [
        ("command", "not_taken"),
        ("playbook", "not_found"),
        ("cwd", "folder"),
    ]


async def test_a_playbook_or_flow_without_a_prompt_needs_that_of_the_action(desk: Desk) -> None:
    assert await desk.refused(kind="play", playbook="review") == [("prompt", "missing")]
    assert await desk.refused(kind="play", playbook="review", prompt=" \n") == [("prompt", "missing")]
    assert await desk.refused(kind="flow_yaml", flow_yaml="steps: {}") == [("prompt", "missing")]
    assert (await desk.launched(kind="play", playbook="review", prompt="go")).draft.runtime == "li"
    assert (await desk.launched(kind="flow_yaml", flow_yaml="steps: {}", prompt="go")).draft.runtime == "li"


async def test_a_store_that_is_away_is_told_of(desk: Desk) -> None:
    desk.runs.fault = StateUnavailable(retryable=True)

    with pytest.raises(StateUnavailable):
        await desk.launch(**COMMAND)
