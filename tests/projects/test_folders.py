"""Folders by their spelling."""

import pytest

from projects.folders import folder_key, nearest


@pytest.mark.parametrize("spelling", ["/a/b/", "/a//b", "//a/b", "/a/./b", "/a/c/../b", "/a/b/."])
def test_spellings_of_one_path_have_one_key(spelling: str) -> None:
    assert folder_key(spelling) == folder_key("/a/b")


def test_different_paths_have_different_keys_of_one_length() -> None:
    keys = {folder_key(path) for path in ("/", "/a", "/a/b", "/A/b", "/é", "/" + "x" * 4_000)}

    assert len(keys) == 6
    assert {len(key) for key in keys} == {64}


def test_the_nearest_is_the_first_that_has_anything() -> None:
    places = {folder_key("/a"): 1, folder_key("/a/b/c"): 2}

    assert nearest(places, ("/a/b/c/d", "/a/b/c/", "/a/b", "/a")) == 2
    assert nearest(places, ("/a/b", "/a")) == 1
    assert nearest(places, ("/",)) is None
    assert nearest(places, ()) is None
