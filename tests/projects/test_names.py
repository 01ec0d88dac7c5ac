"""Names: which can be one, and that each is the same one in a URL."""

from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.errors import NotFound
from contract.limits import NAME_MAX_CHARS
from contract.projects import ProjectSummary, project_name_fault
from projects.names import is_name, require_possible
from tests.fakes.daemons import answering, remote

ANSWER = ProjectSummary(
    name="x",
    path=None,
    description=None,
    run_count=0,
    running_count=0,
    last_activity_at=None,
    created_at=0.0,
    updated_at=0.0,
)


@pytest.mark.parametrize(
    "name",
    [
        "shop",
        "github.com/team/thing",
        "100%",
        "a?b#c",
        "日本/語",
        "a b",
        "é",
        "%2F",
        "..a",
        "detect/x",
        "assign/x",
        "a:b@c",
    ],
)
def test_a_name_may_hold_nearly_anything(name: str) -> None:
    assert project_name_fault(name) is None
    assert is_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        " a",
        "a ",
        "a\n",
        "a\tb",
        "a//b",
        "/a",
        "a/",
        ".",
        "..",
        "a/../b",
        "./a",
        "a\\b",
        "detect",
        "assign",
        "a/assign",
    ],
)
def test_a_name_that_a_url_would_change_or_hide_is_none(name: str) -> None:
    assert project_name_fault(name)
    assert not is_name(name)
    with pytest.raises(NotFound):
        require_possible(name)


@pytest.mark.parametrize("name", ["x" * (NAME_MAX_CHARS + 1), "a\x00", "a\ud800"])
def test_text_that_no_store_holds_is_no_name(name: str) -> None:
    assert not is_name(name)


@given(st.text(min_size=1, max_size=30).filter(is_name))
@settings(max_examples=200, deadline=None)
async def test_a_name_is_asked_for_as_one_path_that_means_it_again(name: str) -> None:
    daemon = answering(ANSWER)

    async with remote(daemon) as studio:
        await studio.get_project(name)

    method, _, path = daemon.asked.partition(" ")
    assert (method, unquote(path)) == ("GET", f"/api/v1/projects/{name}")
    assert not {"?", "#", " "} & set(path)


@given(st.text(alphabet="a./\\ %\n", max_size=8))
@settings(max_examples=200, deadline=None)
async def test_what_is_no_name_is_not_asked_for(name: str) -> None:
    daemon = answering(ANSWER)

    async with remote(daemon) as studio:
        if is_name(name):
            await studio.get_project(name)
        else:
            with pytest.raises(NotFound):
                await studio.get_project(name)

    assert bool(daemon.requests) == is_name(name)
