"""Projects: made, listed, changed, removed; runs given to them; folders asked about; and what launches make of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from os import getpid
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir
from typing import Any

from contract.application import StudioApplication
from contract.errors import Conflict, NotFound, ValidationFailure
from contract.projects import (
    AssignRuns,
    CreateProject,
    DeleteProject,
    DetectProject,
    PatchProject,
    ProjectQuery,
    ProjectSummary,
)
from contract.runs import RunDetail, RunQuery, RunReadQuery
from tests.parity.catalogue import lonely_scenario, scenario
from tests.parity.launch_scenarios import launch
from tests.parity.run_scenarios import end, places, run_ids, start
from tests.parity.witness import refused

# What a name may hold, and each kind of URL, shell and database might take for something else.
ODD_NAMES = (
    "a b",
    "100%",
    "%2F",
    "%2e%2e",
    "a?b=c",
    "a#b",
    "ä/日本",
    "a:b@c",
    "..a/b..",
    "a+b&c",
    "'\"<i>",
    "~",
    "x;y",
)
# Nothing can be called like this.
IMPOSSIBLE_NAMES = (
    "", ".", "..", "/", "a//b", "/a", "a/", "a/../b", "../runs", "./a", " a", "a ", "a\\b", "a\nb", "a\x00", "\ud800",
    "detect", "assign", "a/assign", "x" * 201, "x" * 5_000,
)  # fmt: skip
SHELL: dict[str, Any] = {"kind": "command", "command": ("sh",)}
FOLDERS = ("/nowhere/to/be", "/nowhere/to", "/nowhere", "/")


async def create(studio: StudioApplication, name: str, **fields: Any) -> ProjectSummary:
    return await studio.create_project(CreateProject(name=name, **fields))


async def names(studio: StudioApplication, **query: Any) -> list[str]:
    return [project.name for project in (await studio.list_projects(ProjectQuery(**query))).items]


async def run_of(studio: StudioApplication, run_id: str) -> RunDetail:
    return await studio.get_run(run_id, RunReadQuery())


@scenario
async def project_is_made_changed_and_removed(studio: StudioApplication, own: str) -> None:
    made = await create(studio, own, path="/srv", description="ñ")
    same = await studio.patch_project(own, PatchProject())
    changed = await studio.patch_project(own, PatchProject(description=None, expected_updated_at=made.updated_at))
    renamed = await studio.patch_project(own, PatchProject(name=f"{own}/new"))
    await refused(NotFound, studio.get_project(own))
    deleted = await studio.delete_project(f"{own}/new", DeleteProject())

    assert same == made
    assert (changed.path, changed.description) == ("/srv", None)
    assert made.updated_at < changed.updated_at < renamed.updated_at
    assert (deleted.name, deleted.detached_runs) == (f"{own}/new", 0)
    assert await names(studio, search=own) == []


@scenario
async def odd_names_are_the_same_names_everywhere(studio: StudioApplication, own: str) -> None:
    for odd in ODD_NAMES:
        name = f"{own}/{odd}"
        await start(studio, f"{own}-{ODD_NAMES.index(odd)}")
        assert (await create(studio, name)).name == name
        assert (await studio.get_project(name)).name == name
        await studio.patch_project(name, PatchProject(description=odd))
        await studio.assign_runs(name, AssignRuns(run_ids=(f"{own}-{ODD_NAMES.index(odd)}",)))
        assert (await run_of(studio, f"{own}-{ODD_NAMES.index(odd)}")).project == name
        assert len((await studio.list_runs(RunQuery(project=name))).items) == 1
        await studio.delete_project(name, DeleteProject(detach=True))

    assert await names(studio, search=own) == []


@scenario
async def names_that_nothing_can_have_are_not_found(studio: StudioApplication, own: str) -> None:
    await start(studio, own)

    for name in (*IMPOSSIBLE_NAMES, own):
        for operation in (
            studio.get_project(name),
            studio.patch_project(name, PatchProject(path="/a")),
            studio.delete_project(name, DeleteProject(detach=True)),
            studio.assign_runs(name, AssignRuns(run_ids=(own,))),
        ):
            assert (await refused(NotFound, operation)).resource == "project"

    assert (await run_of(studio, own)).project is None


@scenario
async def taken_names_and_stale_changes_are_conflicts(studio: StudioApplication, own: str) -> None:
    made = await create(studio, own)
    await create(studio, f"{own}-2")

    taken = await refused(Conflict, create(studio, own))
    also = await refused(Conflict, studio.patch_project(own, PatchProject(name=f"{own}-2")))
    stale = await refused(Conflict, studio.patch_project(own, PatchProject(path="/a", expected_updated_at=1.0)))

    assert [error.resource for error in (taken, also, stale)] == ["project"] * 3
    assert await studio.get_project(own) == made


@scenario
async def projects_are_listed_with_what_their_runs_amount_to(studio: StudioApplication, own: str) -> None:
    for number in range(3):
        await start(studio, f"{own}-{number}", project=f"{own}/b")
    await end(studio, f"{own}-0")
    await create(studio, f"{own}/a")
    await create(studio, f"{own}/c")

    page = await studio.list_projects(ProjectQuery(search=own.upper(), limit=2))
    rest = await studio.list_projects(ProjectQuery(search=own.upper(), limit=2, cursor=page.next_cursor))

    assert [(item.name, item.run_count, item.running_count) for item in (*page.items, *rest.items)] == [
        (f"{own}/a", 0, 0),
        (f"{own}/b", 3, 2),
        (f"{own}/c", 0, 0),
    ]
    assert [item.last_activity_at is None for item in (*page.items, *rest.items)] == [True, False, True]
    assert (page.has_next, rest.has_next, rest.next_cursor) == (True, False, None)


@scenario
async def foreign_cursors_of_projects_are_refused(studio: StudioApplication, own: str) -> None:
    for number in range(2):
        await create(studio, f"{own}/{number}")
    cursor = (await studio.list_projects(ProjectQuery(search=own, limit=1))).next_cursor

    for query in (
        ProjectQuery(cursor=cursor),
        ProjectQuery(cursor="garbled"),
        ProjectQuery(search=own, cursor=cursor, offset=1),
    ):
        await refused(ValidationFailure, studio.list_projects(query))


@scenario
async def new_name_keeps_every_run(studio: StudioApplication, own: str) -> None:
    await start(studio, own, project=own)
    queued = await launch(studio, **SHELL, project=own)

    await studio.patch_project(own, PatchProject(name=f"{own}/new"))
    found = run_ids(await studio.list_runs(RunQuery(project=f"{own}/new")))

    assert set(found) == {own, queued.run_id}
    assert run_ids(await studio.list_runs(RunQuery(project=own))) == []


@scenario
async def project_with_runs_stays_unless_they_are_detached(studio: StudioApplication, own: str) -> None:
    await start(studio, own, project=own)

    conflict = await refused(Conflict, studio.delete_project(own, DeleteProject()))
    deleted = await studio.delete_project(own, DeleteProject(detach=True))

    assert "1 run" in str(conflict)
    assert deleted.detached_runs == 1
    assert (await run_of(studio, own)).project is None


@scenario
async def runs_are_assigned_all_or_none(studio: StudioApplication, own: str) -> None:
    await create(studio, own)
    await start(studio, f"{own}-1")
    await start(studio, f"{own}-2", project=f"{own}-other")

    missing = await refused(NotFound, studio.assign_runs(own, AssignRuns(run_ids=(f"{own}-1", "nobody"))))
    assert (missing.resource, missing.identifier) == ("run", "nobody")
    assert (await run_of(studio, f"{own}-1")).project is None
    both = AssignRuns(run_ids=(f"{own}-1", f"{own}-2"))
    assert [(await studio.assign_runs(own, both)).assigned for _ in range(2)] == [2, 0]
    assert (await studio.get_project(own)).run_count == 2


@lonely_scenario
async def all_runs_without_a_project_are_assigned(studio: StudioApplication, own: str, home: Path) -> None:
    await create(studio, own)
    await start(studio, f"{own}-1")
    await start(studio, f"{own}-2", project=f"{own}-other")
    every = AssignRuns(unassigned=True)

    assert (await studio.assign_runs(own, every)).assigned >= 1
    assert (await studio.assign_runs(own, every)).assigned == 0
    assert [(await run_of(studio, f"{own}-{number}")).project for number in (1, 2)] == [own, f"{own}-other"]


@scenario
async def folders_belong_to_what_they_claim_or_to_a_path(studio: StudioApplication, own: str) -> None:
    place = f"/nowhere/{own}"
    await create(studio, own, path=f"{place}/")

    for given, expected in (
        ({"configured": f"{own}-new"}, (f"{own}-new", "config", False)),
        ({"configured": own, "remote_url": "git@h:a/b"}, (own, "config", True)),
        ({"remote_url": f"https://me@H:1/{own}.git"}, (f"h/{own}", "git_remote", False)),
        ({"remote_url": "../elsewhere"}, (own, "path", True)),
        ({}, (own, "path", True)),
    ):
        found = await studio.detect_project(DetectProject(folders=(f"{place}/src", place, "/nowhere"), **given))
        assert (found.name, found.source, found.registered) == expected
    assert (await studio.detect_project(DetectProject(folders=FOLDERS))).name is None
    assert await names(studio, search=own) == [own]


@scenario
async def launch_is_executed_where_its_project_is(studio: StudioApplication, own: str) -> None:
    await create(studio, own, path="/usr")
    await create(studio, f"{own}-gone", path="/nowhere/at/all")

    placed = await run_of(studio, (await launch(studio, **SHELL, project=own)).run_id)
    given = await run_of(studio, (await launch(studio, **SHELL, project=own, cwd="/")).run_id)
    lost = await refused(ValidationFailure, launch(studio, **SHELL, project=f"{own}-gone"))

    assert placed.execution is not None
    assert given.execution is not None
    assert (placed.execution.cwd, given.execution.cwd) == ("/usr", "/")
    assert places(lost) == [(("cwd",), "folder")]
    assert "the path of project" in str(lost)


@scenario
async def launch_gets_the_project_of_its_folder(studio: StudioApplication, own: str) -> None:
    # Answers name the folder, so it has to be the same for both applications.
    folder = Path(gettempdir(), f"studio-parity-{getpid()}")
    with _made(folder):
        await _launch_in(folder, studio, own)


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    folder.mkdir()
    try:
        yield
    finally:
        rmtree(folder)


def _configure(folder: Path, text: str) -> None:
    (folder / ".studio.toml").write_text(text, encoding="utf-8")


async def _launch_in(folder: Path, studio: StudioApplication, own: str) -> None:
    _configure(folder, f'project = "{own}/found"\n')
    shell: dict[str, Any] = {**SHELL, "cwd": str(folder)}

    found = await run_of(studio, (await launch(studio, **shell)).run_id)
    alone = await run_of(studio, (await launch(studio, **shell, detect_project=False)).run_id)
    _configure(folder, "project = [")
    faulty = await run_of(studio, (await launch(studio, **shell)).run_id)

    assert (found.project, alone.project, faulty.project) == (f"{own}/found", None, None)
    assert (await studio.get_project(f"{own}/found")).run_count == 1


@scenario
async def run_makes_its_project_and_a_refused_one_makes_none(studio: StudioApplication, own: str) -> None:
    await start(studio, own, project=f"{own}/a")
    await refused(Conflict, start(studio, own, project=f"{own}/b"))
    await refused(ValidationFailure, launch(studio, kind="command", command=("rm",), project=f"{own}/c"))

    assert await names(studio, search=own) == [f"{own}/a"]
