"""Cron expressions in plain words."""

import pytest

from schedules.cron_expressions import read_expression
from schedules.cron_wording import in_words


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("* * * * *", "every minute"),
        ("*/5 * * * *", "every 5 minutes"),
        ("0,30 * * * *", "every 30 minutes"),
        ("*/7 * * * *", "at minutes 0, 7, 14 … 56 of every hour"),
        ("5/15 * * * *", "at minutes 5, 20, 35 and 50 of every hour"),
        ("@hourly", "every hour from 00:00"),
        ("7 * * * *", "every hour from 00:07"),
        ("30 */2 * * *", "every 2 hours from 00:30"),
        ("30 2 * * *", "at 02:30 every day"),
        ("0 9,13 * * *", "at 09:00 and 13:00 every day"),
        ("0 9-17 * * 1-5", "at minute 0 of hours 9 to 17 on Monday to Friday"),
        ("*/15 8-18 * * 1-5", "every 15 minutes of hours 8 to 18 on Monday to Friday"),
        ("* 9 * * *", "every minute of hour 9"),
        ("10-20 * * * *", "at minutes 10 to 20 of every hour"),
        ("@weekly", "at 00:00 on Sunday"),
        ("@monthly", "at 00:00 on day 1 of the month"),
        ("@yearly", "at 00:00 on day 1 of the month in January"),
        ("0 0 * 1 *", "at 00:00 every day in January"),
        ("0 0 * * 6,0", "at 00:00 on Saturday and Sunday"),
        ("0 0 * * 0-7", "at 00:00 every day"),
        ("0 0 1,15 * 5", "at 00:00 on days 1 and 15 of the month or on Friday"),
        ("0 0 1-31 * 5", "at 00:00 every day"),
        ("0 0 1 * 0-6", "at 00:00 every day"),
        ("0 0 13 * */5", "at 00:00 on day 13 of the month if it is Friday or Sunday"),
        ("0 0 */2 * 1", "at 00:00 on days 1, 3, 5 … 31 of the month if it is Monday"),
        ("0 0 *,5 * 1", "at 00:00 on Monday"),
        ("0 0 L * *", "at 00:00 on the last day of the month"),
        ("0 0 15,L,LW * *", "at 00:00 on day 15, the last day and the last day from Monday to Friday of the month"),
        ("0 0 * * MON#2", "at 00:00 on the second Monday of the month"),
        ("0 0 * 1-3,7 3,5L", "at 00:00 on Wednesday and the last Friday of the month in January to March and July"),
    ],
)
def test_an_expression_is_told_by_what_it_matches(expression: str, words: str) -> None:
    assert in_words(read_expression(expression)) == words
