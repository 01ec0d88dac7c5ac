"""Which cron expressions are taken, and what the others are told."""

from datetime import datetime
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.errors import ValidationFailure
from schedules.cron_expressions import ALIASES, read_expression


def fault_of(text: str) -> tuple[str, str]:
    with pytest.raises(ValidationFailure) as raised:
        read_expression(text)
    (failure,) = raised.value.field_errors
    assert failure.path == ("expression",)
    return failure.code, failure.message


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        ("*/30 * * * * *", "fields", "expected 5 fields, got 6"),
        ("* * * * * *", "fields", "expected 5 fields, got 6"),
        ("0 0 12 * * 2026", "fields", "expected 5 fields, got 6"),
        ("0 0 12 1 1 ? 2026", "fields", "expected 5 fields, got 7"),
        ("* * * *", "fields", "expected 5 fields, got 4"),
        ("nonsense", "fields", "got 1"),
        ("@daily 5", "fields", "got 2"),
        ("@daily * * * *", "field", "minute `@DAILY`"),
        ("@reboot", "unknown_name", "`@reboot`"),
        ("@every", "unknown_name", "@hourly"),
        ("", "empty", "expected 5 fields"),
        ("   ", "empty", "expected 5 fields"),
        ("\t", "empty", "expected 5 fields"),
        ("*/0 * * * *", "field", "minute `*/0`"),
        ("5-5/0 * * * *", "field", "minute `5-5/0`"),
        ("59-0/0 * * * *", "field", "minute `59-0/0`"),
        ("* * * 1/00 *", "field", "month `1/00`"),
        ("60 * * * *", "field", "minute `60` must be made of 0-59"),
        ("* 24 * * *", "field", "hour `24` must be made of 0-23"),
        ("* * 0 * *", "field", "day of month `0`"),
        ("* * 32 * *", "field", "day of month `32`"),
        ("* * * 13 *", "field", "month `13`"),
        ("* * * * 8", "field", "day of week `8`"),
        ("* * * * MONDAY", "field", "day of week `MONDAY`"),
        ("*/-5 * * * *", "field", "minute `*/-5`"),
        ("-5 * * * *", "field", "minute `-5`"),
        ("1.5 * * * *", "field", "minute `1.5`"),
        ("1,,2 * * * *", "field", "minute `1,,2`"),
        ("1, * * * *", "field", "minute `1,`"),
        ("* 20-8 * * *", "field", "hour `20-8`"),
        ("*/5/2 * * * *", "field", "minute `*/5/2`"),
        ("*/90 * * * *", "field", "minute `*/90` has a step beyond 59"),
        ("5-5/2 * * * *", "field", "`5-5`, which is a single value"),
        ("* * L/2 * *", "field", "`L`, which is a single value"),
        ("* * LW/3 * *", "field", "`LW`, which is a single value"),
        ("* * L-3 * *", "field", "day of month `L-3`"),
        ("* * * * MON#6", "field", "day of week `MON#6`"),
        ("* * * * FRIL", "field", "day of week `FRIL`"),
        ("? * * * *", "field", "minute `?`"),
        ("R * * * *", "field", "minute `R`"),
        ("٣ * * * *", "character", "`٣`"),
        ("* * * * \u017fun", "character", "`\u017f`"),
        ("0 0 * *\xa0*", "character", "`\\xa0`"),
        ("0 0 * * *\n* * * * *", "character", "`\\x0a`"),
        ("0 0 * * *\x1b[2J", "character", "`\\x1b`"),
        ("0 0 30 2 *", "never", "`30` in month `2`"),
        ("0 0 31 4 *", "never", "`31` in month `4`"),
        ("0 0 31 2,4,6 *", "never", "`31` in month `2,4,6`"),
        ("0 0 */30 2 MON#5", "never", "weekday `MON#5`"),
        ("0 0 */16 * MON#4", "never", "`*/16`"),
    ],
)
def test_a_wrong_expression_is_told_what_is_wrong_with_which_field(text: str, code: str, told: str) -> None:
    found, message = fault_of(text)

    assert found == code
    assert told in message


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("  0  12 * *\t* ", "0 12 * * *"),
        ("0 12 * jan-Mar mon", "0 12 * 1-3 1"),
        ("05 012 * * *", "5 12 * * *"),
        ("50/5 * * * *", "50,55 * * * *"),
        *ALIASES.items(),
    ],
)
def test_blanks_case_and_names_make_no_difference(text: str, same: str) -> None:
    start = datetime(2026, 1, 1)  # noqa: DTZ001  # on a wall clock: without a zone

    left, right = (list(islice(read_expression(each).walls(start), 20)) for each in (text, same))

    assert left == right
    assert read_expression(text).is_fixed == read_expression(same).is_fixed


@pytest.mark.parametrize(
    ("text", "is_fixed"),
    [
        ("0 2 * * *", True),
        ("0-59 0-23 * * *", True),
        ("* 2 * * *", False),
        ("*/5 2 * * *", False),
        ("5 */2 * * *", False),
    ],
)
def test_an_expression_keeps_a_rhythm_if_its_minute_or_hour_begins_with_a_star(text: str, *, is_fixed: bool) -> None:
    assert read_expression(text).is_fixed is is_fixed


def test_a_long_list_is_read_at_once() -> None:
    assert fault_of("1," * 50_000 + " * * * *")[0] == "field"
    assert fault_of("1 " * 50_000)[0] == "fields"
    assert len(fault_of("1," * 50_000 + " * * * *")[1]) < 500


@given(st.text(max_size=40) | st.text("0123456789*/-,LW#? @SUNJA", max_size=40))
def test_no_text_does_more_than_be_refused(text: str) -> None:
    try:
        expression = read_expression(text)
    except ValidationFailure as failure:
        assert [fault.path for fault in failure.field_errors] == [("expression",)]  # noqa: PT017  # most are refused
    else:
        walls = list(islice(expression.walls(datetime(2026, 2, 28, 23, 59)), 5))  # noqa: DTZ001  # without a zone
        assert all(left < right for left, right in pairwise(walls))
