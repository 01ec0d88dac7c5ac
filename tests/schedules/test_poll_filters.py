"""Which repositories a poll may ask, and which filters its events pass."""

import pytest
from pydantic import JsonValue

from contract.base import FieldFailure
from contract.limits import FIELD_FAILURES_MAX
from schedules.poll_filters import filter_failures, repository_failures


def places(failures: tuple[FieldFailure, ...]) -> list[tuple[tuple[str | int, ...], str]]:
    return [(failure.path, failure.code) for failure in failures]


@pytest.mark.parametrize(
    "repository", ["a/b", "octo-org/Hello.World", "x_acme/y_z", f"{'a' * 39}/{'b' * 100}", "a/.github", "a/b.gitx"]
)
def test_repositories_are_named_as_on_github(repository: str) -> None:
    assert repository_failures(repository) == ()


@pytest.mark.parametrize(
    "repository",
    [
        *("a", "/b", "a/", "a/b/c", "a//b", "a/.", "a/..", "a/b.git", "-a/b", ".a/b", "a b/c", "a/b ", "a/b\n", "ä/b"),
        *("https://github.com/a/b", "a/b?x=1", "a/b#1", "a/%2e%2e", f"{'a' * 40}/b", f"a/{'b' * 101}", "../a"),
    ],
)
def test_what_github_has_no_repository_called_is_refused(repository: str) -> None:
    assert places(repository_failures(repository)) == [(("repository",), "repository")]


def test_filters_have_known_keys_and_fitting_values() -> None:
    assert filter_failures({"event": "pr_opened", "base": "release/1.x", "draft": False, "same_repo_only": True}) == ()
    assert places(filter_failures({"event": "push", "base": "", "draft": "no", "same_repo_only": 1})) == [
        (("filters", "event"), "event"),
        (("filters", "base"), "base"),
        (("filters", "draft"), "draft"),
        (("filters", "same_repo_only"), "same_repo_only"),
    ]
    assert places(filter_failures({"event": ["pr_opened"], "state": "open"})) == [
        (("filters", "event"), "event"),
        (("filters", "state"), "unknown_field"),
    ]


@pytest.mark.parametrize("base", [None, 1, {}, "a b", "a..b", "a@{1}", "-a", "a:b", "a\x00", "a\ud800", "x" * 256])
def test_a_base_is_the_name_of_a_branch(base: JsonValue) -> None:
    assert places(filter_failures({"base": base})) == [(("filters", "base"), "base")]


def test_a_flood_of_filters_is_told_within_bounds() -> None:
    failures = filter_failures({f"k{number}\x00": number for number in range(5_000)})

    assert len(failures) == FIELD_FAILURES_MAX
    assert failures[0].path == ("filters", "k0\\x00")
