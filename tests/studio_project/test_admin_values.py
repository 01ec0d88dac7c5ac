from datetime import UTC, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from contract.limits import INSTANT_MAX
from studio_project.admin_values import FIELD_MAX_CHARS, cut, excerpt, instant_text, json_text, usd_text


def test_an_instant_is_shown_in_its_zone_with_the_offset() -> None:
    assert instant_text(1_700_000_000.25, ZoneInfo("Europe/Berlin")) == "2023-11-14 23:13:20.250+01:00"


def test_no_instant_is_shown_as_nothing() -> None:
    assert instant_text(None, UTC) == "-"


def test_an_instant_beyond_the_calendar_is_shown_as_its_number() -> None:
    assert instant_text(INSTANT_MAX, timezone(timedelta(hours=1))) == str(INSTANT_MAX)


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ('{"a":[1,"ä"]}', '{\n  "a": [\n    1,\n    "ä"\n  ]\n}'),
        ('"two\\nlines"', "two\nlines"),
        ("not json", "not json"),
        ("null", "null"),
        (None, "-"),
    ],
)
def test_json_is_shown_for_reading(stored: str | None, shown: str) -> None:
    assert json_text(stored) == shown


def test_json_too_deep_to_parse_is_shown_as_it_is() -> None:
    deep = "[" * 200_000

    assert json_text(deep).startswith("[" * FIELD_MAX_CHARS + "\n…")


def test_long_text_is_cut_and_the_rest_is_counted() -> None:
    assert cut("x" * 1_500, 300) == "x" * 300 + "\n… 1,200 more characters"


def test_an_excerpt_is_one_short_line() -> None:
    assert excerpt("one\n  two\tthree") == "one two three"
    assert excerpt("y " * 500).endswith("…")
    assert len(excerpt("y" * 500)) == 161
    assert excerpt(None) == "-"


def test_unknown_cost_is_not_shown_as_zero() -> None:
    assert usd_text(None) == "-"
    assert usd_text(0) == "$0.000000"
    assert usd_text(1_234_567_890) == "$1,234.567890"
