"""Reading projects, and deciding which one a folder belongs to."""

from typing import Any

import pytest

from contract.errors import NotFound, StateUnavailable, ValidationFailure
from contract.projects import CreateProject, DetectedProject, DetectProject, ProjectQuery
from projects.services.reading import detect_project, get_project, list_projects
from tests.fakes.projects import InMemoryProjects
from tests.fakes.runs import InMemoryRuns

FOLDERS = ("/srv/shop/src", "/srv/shop", "/srv", "/")


@pytest.fixture
def projects() -> InMemoryProjects:
    return InMemoryProjects(InMemoryRuns())


async def make(projects: InMemoryProjects, *names: str, **fields: Any) -> None:
    for name in names:
        await projects.create_project(CreateProject(name=name, **fields), at=1.0)


async def test_a_list_is_walked_by_cursor_to_its_end(projects: InMemoryProjects) -> None:
    await make(projects, "c", "a", "b")
    query, found = ProjectQuery(limit=1), []

    while True:
        page = await list_projects(query=query, projects=projects)
        found += [project.name for project in page.items]
        if page.next_cursor is None:
            break
        query = query.model_copy(update={"cursor": page.next_cursor})

    assert found == ["a", "b", "c"]


async def test_a_foreign_cursor_is_refused_before_the_store_is_asked(projects: InMemoryProjects) -> None:
    with pytest.raises(ValidationFailure):
        await list_projects(query=ProjectQuery(cursor="garbled"), projects=projects)

    assert not projects.runs.calls


@pytest.mark.parametrize("name", ["nobody", "a//b", "..", "", "x" * 201, "a\x00"])
async def test_an_unknown_or_impossible_name_is_not_found(projects: InMemoryProjects, name: str) -> None:
    with pytest.raises(NotFound) as caught:
        await get_project(name=name, projects=projects)

    assert (caught.value.resource, caught.value.identifier) == ("project", name)
    assert bool(projects.runs.calls) == (name == "nobody")


async def test_a_folder_belongs_to_what_it_claims(projects: InMemoryProjects) -> None:
    await make(projects, "there", path="/srv/shop")
    remote = "https://host/team/thing.git"

    for given, expected in (
        ({"configured": "there", "remote_url": remote}, ("there", "config", True)),
        ({"configured": "new"}, ("new", "config", False)),
        ({"remote_url": remote}, ("host/team/thing", "git_remote", False)),
        ({"remote_url": "/srv/thing.git"}, ("there", "path", True)),
        ({}, ("there", "path", True)),
    ):
        found = await detect_project(query=DetectProject(folders=FOLDERS, **given), projects=projects)
        assert (found.name, found.source, found.registered) == expected

    assert list(projects.runs.projects) == ["there"]


async def test_a_folder_that_claims_nothing_belongs_to_the_nearest_path(projects: InMemoryProjects) -> None:
    await make(projects, "all", path="/")
    await make(projects, "shop", path="/srv/shop/")

    found = await detect_project(query=DetectProject(folders=FOLDERS), projects=projects)
    above = await detect_project(query=DetectProject(folders=FOLDERS[2:]), projects=projects)

    assert (found.name, above.name) == ("shop", "all")


async def test_a_folder_of_nobody_has_no_project(projects: InMemoryProjects) -> None:
    found = await detect_project(query=DetectProject(folders=FOLDERS), projects=projects)

    assert found == DetectedProject(name=None, source=None)


async def test_a_store_that_is_away_is_told_of(projects: InMemoryProjects) -> None:
    projects.runs.fault = StateUnavailable(retryable=True)

    for operation in (
        list_projects(query=ProjectQuery(), projects=projects),
        get_project(name="a", projects=projects),
        detect_project(query=DetectProject(folders=FOLDERS), projects=projects),
    ):
        with pytest.raises(StateUnavailable):
            await operation
