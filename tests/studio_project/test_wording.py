"""Words that all commands share."""

from datetime import timedelta, timezone

import pytest

from studio_project.wording import clock_time, instant, minute, pairs, size, titled

ZONE = timezone(timedelta(hours=2))
AT = 1_700_000_000.0


def test_instants_are_in_the_reader_s_zone() -> None:
    assert instant(AT, ZONE) == "2023-11-15 00:13:20"
    assert minute(AT, ZONE) == "2023-11-15 00:13"
    assert clock_time(AT, ZONE) == "00:13:20"


def test_what_is_not_known_is_a_dash() -> None:
    assert instant(None, ZONE) == minute(None, ZONE) == size(None) == "-"


@pytest.mark.parametrize(
    ("size_bytes", "words"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (2_560, "2.5 KiB"), (1024 * 1024, "1.0 MiB")],
)
def test_a_size_is_in_its_largest_unit(size_bytes: int, words: str) -> None:
    assert size(size_bytes) == words


def test_pairs_are_below_each_other_without_those_that_say_nothing() -> None:
    lines = pairs([("a", "1"), ("long", "2"), ("none", None), ("empty", "")])

    assert ["".join(part.text for part in line) for line in lines] == ["a     1", "long  2"]
    assert pairs([]) == []


def test_a_title_stands_only_above_something() -> None:
    lines = ["".join(part.text for part in line) for line in titled("log", ["a", "b"])]

    assert lines == ["", "log", "  a", "  b"]
    assert list(titled("log", [])) == []
