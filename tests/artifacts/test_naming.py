"""Files that nobody named get names that fit and are theirs alone."""

from artifacts.naming import name_of_file
from contract.limits import NAME_MAX_CHARS


def test_a_file_is_called_by_its_path() -> None:
    assert name_of_file("out/a.md", set()) == "out/a.md"


def test_a_long_path_is_cut_and_stays_its_own() -> None:
    paths = [f"{'x' * 300}{number}" for number in range(3)]

    names = {name_of_file(path, set()) for path in paths}

    assert len(names) == 3
    assert {len(name) for name in names} == {NAME_MAX_CHARS}


def test_a_name_that_is_taken_is_marked() -> None:
    assert name_of_file("a.md", {"a.md"}).startswith("a.md~")
    assert name_of_file("a.md", {"a.md"}) not in {"a.md", name_of_file("b.md", {"b.md"})}
