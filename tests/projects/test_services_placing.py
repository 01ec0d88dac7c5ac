"""What launches ask about projects."""

import pytest

from contract.errors import StateUnavailable, StudioApplicationError, ValidationFailure
from contract.projects import CreateProject
from projects.services.placing import ProjectFolders
from tests.fakes.folders import FakeFolders
from tests.fakes.projects import InMemoryProjects
from tests.fakes.runs import InMemoryRuns


class Desk:
    """The port with what it asks."""

    def __init__(self) -> None:
        self.projects = InMemoryProjects(InMemoryRuns())
        self.disk = FakeFolders()
        self.places = ProjectFolders(self.projects, self.disk)

    async def create(self, name: str, path: str | None = None) -> None:
        await self.projects.create_project(CreateProject(name=name, path=path), at=1.0)


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def test_a_project_has_the_path_that_it_was_given(desk: Desk) -> None:
    await desk.create("shop", "/srv/shop")
    await desk.create("label")

    assert await desk.places.project_path("shop") == "/srv/shop"
    assert await desk.places.project_path("label") is None
    assert await desk.places.project_path("nobody") is None
    assert await desk.places.project_path("a//b") is None


async def test_a_folder_belongs_to_what_it_claims_or_to_the_nearest_path(desk: Desk) -> None:
    await desk.create("shop", "/srv/shop")
    desk.disk.says("/srv/shop/src", configured="wanted")

    assert await desk.places.project_of("/srv/shop/src") == "wanted"
    assert await desk.places.project_of("/srv/shop/doc") == "shop"
    assert await desk.places.project_of("/var") is None


@pytest.mark.parametrize(
    "fault", [ValidationFailure.at("x", code="config", message="is wrong"), StateUnavailable(retryable=True)]
)
async def test_a_detection_that_fails_finds_nothing(desk: Desk, fault: StudioApplicationError) -> None:
    desk.disk.fault = fault

    assert await desk.places.project_of("/srv") is None


async def test_a_store_that_is_away_says_so_of_a_path_and_nothing_of_a_folder(desk: Desk) -> None:
    desk.projects.runs.fault = StateUnavailable(retryable=True)

    assert await desk.places.project_of("/srv") is None
    with pytest.raises(StateUnavailable):
        await desk.places.project_path("shop")
