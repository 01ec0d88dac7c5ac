"""Memory of bounded size."""

from runs.recent import Recent


def test_a_value_is_found_by_its_key() -> None:
    recent: Recent[int] = Recent()

    recent.keep("a", 1)

    assert recent.find("a") == 1
    assert recent.find("b") is None
    assert recent.find(None) is None


def test_keeping_says_whether_the_key_is_new() -> None:
    recent: Recent[int] = Recent()

    assert recent.keep("a", 1)
    assert not recent.keep("a", 2)
    assert recent.find("a") == 2


def test_with_one_too_many_the_oldest_is_forgotten() -> None:
    recent: Recent[int] = Recent(entries_max=2)
    for key in ("a", "b", "a", "c"):
        recent.keep(key, 0)

    assert [key for key in ("a", "b", "c") if recent.find(key) is not None] == ["a", "c"]
