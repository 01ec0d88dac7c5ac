"""Making, changing and removing projects, and giving runs to them."""

from collections.abc import Awaitable, Callable

import pytest

from contract.errors import NotFound
from contract.projects import AssignRuns, CreateProject, DeleteProject, PatchProject
from projects.services.changing import assign_runs, create_project, delete_project, patch_project
from tests.builders import start_run
from tests.fakes.clocks import START_AT
from tests.fakes.projects import InMemoryProjects
from tests.fakes.runs import InMemoryRuns

Change = Callable[[InMemoryProjects, str], Awaitable[object]]


@pytest.fixture
def projects() -> InMemoryProjects:
    return InMemoryProjects(InMemoryRuns())


CHANGES: dict[str, Change] = {
    "patch": lambda projects, name: patch_project(
        name=name, command=PatchProject(path="/a"), projects=projects, clock=projects.runs.clock
    ),
    "delete": lambda projects, name: delete_project(name=name, command=DeleteProject(), projects=projects),
    "assign": lambda projects, name: assign_runs(name=name, command=AssignRuns(run_ids=("r",)), projects=projects),
}


async def test_a_project_is_made_changed_and_removed(projects: InMemoryProjects) -> None:
    clock = projects.runs.clock
    await projects.runs.start_run("r", start_run(), at=START_AT)

    made = await create_project(command=CreateProject(name="a/b"), projects=projects, clock=clock)
    changed = await patch_project(name="a/b", command=PatchProject(name="c"), projects=projects, clock=clock)
    assigned = await assign_runs(name="c", command=AssignRuns(unassigned=True), projects=projects)
    deleted = await delete_project(name="c", command=DeleteProject(detach=True), projects=projects)

    assert (made.created_at, changed.name) == (START_AT, "c")
    assert (assigned.assigned, deleted.detached_runs) == (1, 1)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["nobody", "a//b", "../a", "detect", "a\ud800"])
async def test_an_unknown_or_impossible_name_is_not_found_and_not_made(
    projects: InMemoryProjects, change: str, name: str
) -> None:
    await projects.runs.start_run("r", start_run(), at=START_AT)

    with pytest.raises(NotFound):
        await CHANGES[change](projects, name)

    assert projects.runs.projects == {}
