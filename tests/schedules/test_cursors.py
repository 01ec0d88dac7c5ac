import pytest

from contract.errors import ValidationFailure
from contract.limits import CURSOR_MAX_CHARS
from contract.schedules import FiringQuery, ScheduleQuery
from schedules.cursors import after_firing, after_schedule, read_firings, read_schedules

AT = 1_700_000_000.123456


def test_no_cursor_is_the_beginning() -> None:
    assert read_schedules(ScheduleQuery(offset=5)) is None
    assert read_firings(FiringQuery(offset=5), "s1") is None


@pytest.mark.parametrize("name", ["nightly", "\x01" * 200, '"' * 200, "🜁" * 200])
def test_a_list_goes_on_after_any_name(name: str) -> None:
    query = ScheduleQuery(enabled=True, limit=1)
    cursor = after_schedule(query, name)

    assert len(cursor) <= CURSOR_MAX_CHARS
    assert read_schedules(query.model_copy(update={"cursor": cursor, "limit": 7})) == name


def test_firings_go_on_after_an_instant_and_a_row() -> None:
    query = FiringQuery(outcome="fired")
    cursor = after_firing(query, "s1", AT, 2**53)

    assert read_firings(query.model_copy(update={"cursor": cursor}), "s1") == (AT, 2**53)


def test_a_cursor_of_another_list_is_refused() -> None:
    schedules = after_schedule(ScheduleQuery(enabled=True), "a")
    firings = after_firing(FiringQuery(), "s1", AT, 1)

    for query in (ScheduleQuery(cursor=schedules), ScheduleQuery(cursor=firings)):
        with pytest.raises(ValidationFailure, match="cursor"):
            read_schedules(query)
    for owner, cursor in (("s2", firings), ("s1", schedules)):
        with pytest.raises(ValidationFailure, match="cursor"):
            read_firings(FiringQuery(cursor=cursor), owner)


def test_a_cursor_takes_no_offset() -> None:
    with pytest.raises(ValidationFailure, match="offset"):
        read_schedules(ScheduleQuery(cursor=after_schedule(ScheduleQuery(), "a"), offset=1))
    with pytest.raises(ValidationFailure, match="offset"):
        read_firings(FiringQuery(cursor=after_firing(FiringQuery(), "s", AT, 1), offset=1), "s")
