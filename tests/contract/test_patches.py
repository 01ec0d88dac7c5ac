"""Patches: what is left out stays, null clears, and the wire tells them apart."""

import json

import pytest

from contract.base import ContractModel, ContractPatch
from contract.errors import ValidationFailure
from contract.parsing import parse_model
from contract.projects import PatchProject
from contract.schedules import SchedulePatch

PATCHES: list[type[ContractPatch]] = [PatchProject, SchedulePatch]


class Enclosing(ContractModel):
    """A command that carries a patch."""

    changes: SchedulePatch


@pytest.mark.parametrize("patch", PATCHES)
@pytest.mark.parametrize("body", [{}, {"description": None}, {"name": "a", "description": "b"}])
def test_the_wire_has_what_is_said_and_nothing_else(patch: type[ContractPatch], body: dict[str, object]) -> None:
    parsed = parse_model(patch, body)

    assert json.loads(parsed.model_dump_json()) == body
    assert parse_model(patch, json.loads(parsed.model_dump_json())).model_fields_set == body.keys()


@pytest.mark.parametrize("patch", PATCHES)
def test_what_is_needed_is_not_cleared(patch: type[ContractPatch]) -> None:
    for field in patch.NEEDED:
        with pytest.raises(ValidationFailure) as refused:
            parse_model(patch, {field: None})

        assert [(failure.path, failure.code) for failure in refused.value.field_errors] == [((field,), "null")]


def test_a_patch_within_a_command_keeps_the_parts_that_a_default_gives() -> None:
    changes = {"trigger": {"kind": "interval", "seconds": 5}, "project": None}

    written = json.loads(parse_model(Enclosing, {"changes": changes}).model_dump_json())

    assert written == {"changes": changes}
