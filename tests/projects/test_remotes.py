"""URLs of git remotes: every way to one place gives one name, and a folder gives none."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.projects import project_name_fault
from projects.remotes import project_of_remote

NAME = "github.com/team/thing"


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/team/thing.git",
        "https://github.com/team/thing",
        "https://github.com/team/thing/",
        "https://GitHub.com/team/thing.git/",
        "http://github.com:8080/team/thing",
        "https://user:p%40ss@github.com:443/team/thing.git",
        "git://github.com/team/thing.git",
        "ssh://git@github.com/team/thing.git",
        "ssh://git@github.com:2222/team/thing.git",
        "git+ssh://git@github.com/team/thing.git",
        "ssh+git://git@github.com/team/thing.git",
        "git@github.com:team/thing.git",
        "git@github.com:/team/thing.git",
        "github.com:team/thing",
        "[git@github.com:22]:team/thing.git",
        "git@[github.com:22]:team/thing.git",
        "  git@github.com:team/thing.git \n",
        "HTTPS://github.com//team//thing.git",
    ],
)
def test_every_way_to_a_place_gives_its_name(url: str) -> None:
    assert project_of_remote(url) == NAME


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://git.example/a/b/c/d.git", "git.example/a/b/c/d"),
        ("ssh://host/~me/thing.git", "host/~me/thing"),
        ("https://host/a%20b/ü.git", "host/a b/ü"),
        ("https://[::1]:3000/team/thing", "::1/team/thing"),
        ("host:thing.git", "host/thing"),
        ("https://host/Team/Thing", "host/Team/Thing"),
        ("https://host/.git.git", "host/.git"),
    ],
)
def test_a_name_is_the_host_and_the_path(url: str, name: str) -> None:
    assert project_of_remote(url) == name


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/srv/git/thing.git",
        "./thing",
        "../thing.git",
        "thing",
        "~/thing",
        "/srv/odd:name",
        "./odd:name",
        "file:///srv/thing.git",
        "C:\\work\\thing",
        "C:/work/thing",
        "ext::sh -c something",
        "persistent-https::https://host/a",
        "https://host",
        "https://host/",
        "https:///a/b",
        "https://[::1/a/b",
        "s3://bucket/thing",
        "https://host/../a",
        "https://host/a/%00",
        "https://host/a/%2e%2e/b",
        "https://host/team/assign",
        "host:",
        "https://host/" + "x" * 300,
    ],
)
def test_a_folder_or_what_no_project_can_be_called_gives_none(url: str) -> None:
    assert project_of_remote(url) is None


@given(st.text(max_size=60) | st.from_regex(r"(https|ssh)://[^/\n]{0,20}/[^\n]{0,30}", fullmatch=True))
@settings(max_examples=400, deadline=None)
def test_any_text_gives_a_possible_name_or_none(url: str) -> None:
    name = project_of_remote(url)

    assert name is None or project_name_fault(name) is None


@given(
    st.lists(st.from_regex(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,10}[A-Za-z0-9_-]", fullmatch=True), min_size=1, max_size=4),
    st.sampled_from(["", "user@", "user:secret@"]),
    st.sampled_from(["", ":8443"]),
    st.sampled_from(["", ".git", ".git/", "/"]),
)
@settings(max_examples=200, deadline=None)
def test_user_port_and_ending_make_no_difference(parts: list[str], user: str, port: str, end: str) -> None:
    path = "/".join(parts)

    expected = project_of_remote(f"https://host.example/{path}")

    assert project_of_remote(f"ssh://{user}host.example{port}/{path}{end}") == expected
    if "assign" not in parts[-1]:
        assert expected == f"host.example/{path.removesuffix('.git')}"
