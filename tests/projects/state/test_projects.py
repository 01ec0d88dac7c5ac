"""ProjectPort: the same over both stores."""

import pytest

from contract.errors import Conflict, NotFound
from contract.projects import ProjectQuery, ProjectSummary
from projects.services.ports import ProjectPlace
from tests.builders import status
from tests.fakes.clocks import START_AT
from tests.projects.state.stores import Store

REMOTE = "github.com/team/thing"


async def test_a_new_project_is_empty(store: Store) -> None:
    made = await store.create("shop", path="/srv/shop", description="Sells.")

    assert made == ProjectSummary(
        name="shop",
        path="/srv/shop",
        description="Sells.",
        run_count=0,
        running_count=0,
        last_activity_at=None,
        created_at=START_AT,
        updated_at=START_AT,
    )
    assert await store.found("shop") == made


async def test_a_name_is_there_once(store: Store) -> None:
    await store.create("shop")

    with pytest.raises(Conflict) as caught:
        await store.create("shop", path="/elsewhere")

    assert (caught.value.resource, caught.value.actual) == ("project", "shop")
    assert (await store.found("shop")).path is None


async def test_names_that_differ_in_anything_are_different(store: Store) -> None:
    names = ["Shop", "shop", "sh\u00f6p", "sho\u0308p", "shop/a", "shop a", "100%", "a?b#c", "日本/語"]
    for name in names:
        await store.create(name)

    assert await store.names() == sorted(names)
    assert [(await store.found(name)).name for name in names] == names


async def test_a_project_sums_up_its_runs(store: Store) -> None:
    await store.create("shop")
    await store.runs.start("r1", project="shop")
    store.runs.clock.advance(10)
    await store.runs.start("r2", project="shop")
    await store.runs.record("r2", status("completed"))
    store.runs.clock.advance(10)
    await store.queue("r3", "shop")
    await store.runs.start("r4", project="other")
    await store.runs.start("r5")

    shop, other = (await store.projects.list_projects(ProjectQuery(search="o"), after=None)).items[::-1]

    assert (shop.run_count, shop.running_count, shop.last_activity_at) == (3, 1, START_AT + 20)
    assert (other.run_count, other.running_count, other.last_activity_at) == (1, 1, START_AT + 20)
    assert await store.found("shop") == shop


async def test_the_first_run_of_a_project_makes_it(store: Store) -> None:
    store.runs.clock.advance(5)
    await store.runs.start("r1", project="recorded")
    await store.queue("r2", "launched")
    await store.runs.start("r3", project="recorded")

    assert await store.names() == ["launched", "recorded"]
    assert (await store.found("recorded")).created_at == START_AT + 5


async def test_a_run_that_is_refused_makes_no_project(store: Store) -> None:
    await store.runs.start("r1")

    with pytest.raises(Conflict):
        await store.runs.start("r1", project="shop")

    assert await store.names() == []


async def test_pages_go_on_after_a_name(store: Store) -> None:
    for name in ("c", "a", "e", "b", "d"):
        await store.create(name)

    first = await store.projects.list_projects(ProjectQuery(limit=2), after=None)

    assert ([project.name for project in first.items], first.has_next) == (["a", "b"], True)
    assert await store.names(after="b", limit=2) == ["c", "d"]
    assert await store.names(after="d", limit=2) == ["e"]
    assert await store.names(offset=4) == ["e"]


@pytest.mark.parametrize(("search", "found"), [("SHÖP", ["My Shöp"]), ("%", ["100%"]), ("_", []), ("y s", ["My Shöp"])])
async def test_a_search_finds_text_in_the_name_whatever_its_case(store: Store, search: str, found: list[str]) -> None:
    await store.create("My Shöp")
    await store.create("100%")

    assert await store.names(search=search) == found


async def test_an_empty_patch_changes_nothing(store: Store) -> None:
    made = await store.create("shop", path="/a", description="d")
    store.runs.clock.advance(5)

    assert await store.patch("shop") == made
    assert await store.patch("shop", name="shop", path="/a", description="d") == made


async def test_a_patch_changes_what_is_given_and_null_clears(store: Store) -> None:
    await store.create("shop", path="/a", description="d")
    store.runs.clock.advance(5)

    moved = await store.patch("shop", path="/b")
    cleared = await store.patch("shop", description=None, path=None)

    assert moved is not None
    assert (moved.path, moved.description, moved.updated_at) == ("/b", "d", START_AT + 5)
    assert cleared is not None
    assert (cleared.path, cleared.description, cleared.created_at) == (None, None, START_AT)


async def test_updated_at_grows_when_the_clock_does_not(store: Store) -> None:
    made = await store.create("shop")

    first = await store.patch("shop", path="/a")
    store.runs.clock.advance(-60)
    second = await store.patch("shop", path="/b")

    assert first is not None
    assert second is not None
    assert made.updated_at < first.updated_at < second.updated_at


async def test_a_stale_expectation_is_a_conflict(store: Store) -> None:
    made = await store.create("shop")
    changed = await store.patch("shop", path="/a", expected_updated_at=made.updated_at)

    with pytest.raises(Conflict) as caught:
        await store.patch("shop", name="other", expected_updated_at=made.updated_at)

    assert changed is not None
    assert (caught.value.expected, caught.value.actual) == (repr(made.updated_at), repr(changed.updated_at))
    assert await store.names() == ["shop"]


async def test_a_new_name_keeps_every_run_attached(store: Store) -> None:
    await store.runs.start("r1", project="shop")
    await store.queue("r2", "shop")
    await store.runs.start("r3", project="other")
    before = await store.runs.detail("r1")

    renamed = await store.patch("shop", name=REMOTE)

    assert renamed is not None
    assert (renamed.name, renamed.run_count) == (REMOTE, 2)
    assert await store.labels("r1", "r2", "r3") == [REMOTE, REMOTE, "other"]
    assert (await store.runs.ids(project=REMOTE), await store.runs.ids(project="shop")) == (["r2", "r1"], [])
    assert await store.projects.find_project("shop") is None
    assert await store.names(search="TEAM") == [REMOTE]
    assert (await store.runs.detail("r1")).updated_at == before.updated_at


async def test_a_taken_name_changes_nothing(store: Store) -> None:
    await store.runs.start("r1", project="shop")
    await store.create("other")

    with pytest.raises(Conflict):
        await store.patch("shop", name="other", path="/a")

    assert await store.labels("r1") == ["shop"]
    assert (await store.found("shop")).path is None


async def test_a_project_with_runs_stays_unless_they_are_detached(store: Store) -> None:
    await store.runs.start("r1", project="shop")

    with pytest.raises(Conflict) as caught:
        await store.projects.delete_project("shop", detach=False)
    assert caught.value.actual == "1 run"
    assert await store.labels("r1") == ["shop"]
    deleted = await store.projects.delete_project("shop", detach=True)

    assert deleted is not None
    assert deleted.detached_runs == 1
    assert await store.labels("r1") == [None]
    assert await store.runs.ids(project_is_null=True) == ["r1"]
    assert await store.names() == []


async def test_a_project_without_runs_goes(store: Store) -> None:
    await store.create("shop")

    deleted = await store.projects.delete_project("shop", detach=False)

    assert deleted is not None
    assert (deleted.name, deleted.detached_runs) == ("shop", 0)


async def test_runs_are_assigned_by_id(store: Store) -> None:
    await store.create("shop")
    await store.runs.start("r1")
    await store.runs.start("r2", project="other")
    await store.runs.start("r3", project="shop")

    assert await store.assign("shop", "r1", "r2", "r3", "r1") == 2
    assert await store.labels("r1", "r2", "r3") == ["shop"] * 3
    assert await store.assign("shop", "r1", "r2", "r3") == 0


async def test_an_unknown_run_keeps_all_from_being_assigned(store: Store) -> None:
    await store.create("shop")
    await store.runs.start("r1")

    with pytest.raises(NotFound) as caught:
        await store.assign("shop", "r1", "nobody", "nobody-else")

    assert (caught.value.resource, caught.value.identifier) == ("run", "nobody")
    assert await store.labels("r1") == [None]


async def test_every_run_without_a_project_is_assigned_at_once(store: Store) -> None:
    await store.create("shop")
    await store.runs.start("r1")
    await store.runs.queue("r2")
    await store.runs.start("r3", project="other")

    assert await store.assign("shop", unassigned=True) == 2
    assert await store.labels("r1", "r2", "r3") == ["shop", "shop", "other"]
    assert await store.assign("shop", unassigned=True) == 0


async def test_what_is_not_there_is_none_and_makes_nothing(store: Store) -> None:
    await store.runs.start("r1")

    assert await store.projects.find_project("shop") is None
    assert await store.projects.find_place("shop") is None
    assert await store.patch("shop", path="/a") is None
    assert await store.projects.delete_project("shop", detach=True) is None
    assert await store.assign("shop", "r1") is None
    assert await store.assign("shop", unassigned=True) is None
    assert await store.names() == []
    assert await store.labels("r1") == [None]


async def test_places_are_found_by_name_and_by_the_nearest_folder(store: Store) -> None:
    await store.create("all", path="/srv/")
    await store.create("shop", path="/srv//shop")
    await store.create("the same", path="/srv/shop")
    await store.create("nowhere")
    folders = ("/srv/shop/src", "/srv/shop", "/srv", "/")

    assert await store.projects.find_place("shop") == ProjectPlace("shop", "/srv//shop")
    assert await store.projects.find_place("nowhere") == ProjectPlace("nowhere", None)
    assert await store.projects.find_place_at(folders) == ProjectPlace("shop", "/srv//shop")
    assert await store.projects.find_place_at(folders[2:]) == ProjectPlace("all", "/srv/")
    assert await store.projects.find_place_at(("/",)) is None


async def test_a_moved_project_is_found_where_it_is_now(store: Store) -> None:
    await store.create("shop", path="/old")
    await store.patch("shop", path="/new")

    assert await store.projects.find_place_at(("/old",)) is None
    assert await store.projects.find_place_at(("/new",)) == ProjectPlace("shop", "/new")


async def test_changes_are_told(store: Store) -> None:
    heard = store.runs.feed.subscribe("projects")

    await store.create("shop")

    assert await heard.wait(0)
    heard.close()
