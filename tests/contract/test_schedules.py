"""Schedules on the wire."""

import pytest

from contract.errors import ValidationFailure
from contract.parsing import parse_model
from contract.schedules import SchedulePatch, ScheduleSpec

SPEC = {"trigger": {"kind": "interval", "seconds": 60}, "action": {"kind": "command", "command": ["true"]}}


@pytest.mark.parametrize("name", [" ", " a", "a ", "x\ty", "x\ny", "x\x1b[31m", "a\u2028b", ""])
def test_a_name_is_one_that_people_can_read_and_type(name: str) -> None:
    for model, rest in ((ScheduleSpec, SPEC), (SchedulePatch, {})):
        with pytest.raises(ValidationFailure) as refused:
            parse_model(model, {"name": name, **rest})

        assert [failure.path for failure in refused.value.field_errors] == [("name",)]


@pytest.mark.parametrize("name", ["nightly", "Nächtlich um drei", "a/b", "--help", "每天"])
def test_any_printable_name_is_taken(name: str) -> None:
    assert parse_model(ScheduleSpec, {"name": name, **SPEC}).name == name


@pytest.mark.parametrize(
    ("fields", "path", "said"),
    [
        ({"action": {"kind": "command", "command": "sh"}}, ("action", "command"), "must be a list"),
        ({"action": []}, ("action",), "must be an object"),
    ],
)
def test_another_type_is_said_in_words_of_json(fields: dict[str, object], path: tuple[str, ...], said: str) -> None:
    with pytest.raises(ValidationFailure) as refused:
        parse_model(ScheduleSpec, {"name": "a", **SPEC, **fields})

    assert [(failure.path, failure.message) for failure in refused.value.field_errors] == [(path, said)]
