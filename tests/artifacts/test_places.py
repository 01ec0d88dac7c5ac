"""No path leads out of the folder of its run."""

import pytest

from artifacts.places import display_path, parts_of, place_of
from contract.errors import PermissionDenied


def test_a_place_is_the_run_and_the_path() -> None:
    assert parts_of(place_of("a:b.c", "out/x y.md")) == ("a:b.c", "out", "x y.md")
    assert display_path("r/x") == "artifacts/r/x"


@pytest.mark.parametrize(
    "place",
    [
        "",
        "r",
        "r/",
        "/r/x",
        "../x",
        "r/../x",
        "r/a/../../x",
        "r/./x",
        "r//etc/passwd",
        "r//x",
        "r/x/",
        "r/a\\b",
        "r/..\\x",
        "r/C:\\x",
        "r/C:x",
        "r/\\\\host\\share",
        "r/a\x00b",
        "r/a\nb",
        "r/\ud800",
        ".hidden/x",
        "-r/x",
        "r s/x",
        "\x00/x",
    ],
)
def test_a_path_that_does_not_stay_there_is_refused(place: str) -> None:
    with pytest.raises(PermissionDenied):
        parts_of(place)


@pytest.mark.parametrize("path", ["%2e%2e/x", "%252e%252e%252fx", "..x", "x..", "...", " ", "~", "$HOME", "a:b"])
def test_nothing_is_decoded(path: str) -> None:
    """What looks like a way out and is a name is a name; one sign before a colon alone is a drive elsewhere."""
    if path == "a:b":
        with pytest.raises(PermissionDenied):
            parts_of(f"r/{path}")
    else:
        assert "/".join(parts_of(f"r/{path}")) == f"r/{path}"
