"""The cursors of definitions, histories and reconciliations: each goes on in its own list and in no other."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.cursors import seal
from contract.definitions import DefinitionKind, DefinitionQuery, Reconciliation, ReconciliationQuery, VersionQuery
from contract.errors import ValidationFailure
from contract.limits import CURSOR_MAX_CHARS, SAFE_INTEGER_MAX
from definitions.cursors import (
    after_definition,
    after_reconciliation,
    after_version,
    read_definitions,
    read_reconciliations,
    read_versions,
)
from definitions.names import KINDS

NAMES = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,119}\Z")
LAST = Reconciliation(
    id="rec",
    version_id="v2",
    kind="agent",
    name="a",
    version=2,
    deleted=False,
    relative_path="agents/a.md",
    expected_sha256="new",
    observed_sha256=None,
    error_code="io",
    error_detail="",
    status="pending",
    attempts=1,
    created_at=1_700_000_000.25,
    updated_at=1_700_000_000.25,
)
OF_DEFINITIONS = after_definition(DefinitionQuery(), "agent", "a")
OF_VERSIONS = after_version("agent", "a", 3)
OF_RECONCILIATIONS = after_reconciliation(ReconciliationQuery(), LAST)


@given(st.sampled_from(KINDS), NAMES)
def test_the_place_in_a_list_of_definitions_comes_back(kind: DefinitionKind, name: str) -> None:
    cursor = after_definition(DefinitionQuery(), kind, name)

    assert read_definitions(DefinitionQuery(cursor=cursor)) == (kind, name)
    assert len(cursor) < CURSOR_MAX_CHARS


@given(st.integers(min_value=1, max_value=SAFE_INTEGER_MAX), NAMES)
def test_the_place_in_a_history_comes_back(version: int, name: str) -> None:
    cursor = after_version("playbook", name, version)

    assert read_versions(VersionQuery(cursor=cursor), "playbook", name) == version


def test_the_place_in_a_list_of_reconciliations_comes_back() -> None:
    assert read_reconciliations(ReconciliationQuery(cursor=OF_RECONCILIATIONS)) == (LAST.created_at, "rec")


def test_no_cursor_is_the_beginning_at_any_offset() -> None:
    assert read_definitions(DefinitionQuery(offset=3)) is None
    assert read_versions(VersionQuery(offset=3), "agent", "a") is None
    assert read_reconciliations(ReconciliationQuery(offset=3)) is None


def test_a_cursor_and_an_offset_exclude_each_other() -> None:
    for read in (
        lambda: read_definitions(DefinitionQuery(cursor=OF_DEFINITIONS, offset=1)),
        lambda: read_versions(VersionQuery(cursor=OF_VERSIONS, offset=1), "agent", "a"),
        lambda: read_reconciliations(ReconciliationQuery(cursor=OF_RECONCILIATIONS, offset=1)),
    ):
        with pytest.raises(ValidationFailure) as failure:
            read()

        assert failure.value.field_errors[0].path == ("offset",)


def test_a_cursor_serves_any_page_size() -> None:
    assert read_definitions(DefinitionQuery(cursor=OF_DEFINITIONS, limit=1)) == ("agent", "a")
    assert read_versions(VersionQuery(cursor=OF_VERSIONS, limit=1), "agent", "a") == 3


@pytest.mark.parametrize("fields", [{"kind": "agent"}, {"search": "a"}, {"deleted": True}])
def test_a_cursor_of_definitions_belongs_to_its_filters(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailure):
        read_definitions(DefinitionQuery(cursor=OF_DEFINITIONS, **fields))


@pytest.mark.parametrize("fields", [{"kind": "agent"}, {"name": "a"}, {"status": "pending"}])
def test_a_cursor_of_reconciliations_belongs_to_its_filters(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailure):
        read_reconciliations(ReconciliationQuery(cursor=OF_RECONCILIATIONS, **fields))


@pytest.mark.parametrize(("kind", "name"), [("agent", "b"), ("playbook", "a")])
def test_a_cursor_of_versions_belongs_to_its_definition(kind: DefinitionKind, name: str) -> None:
    with pytest.raises(ValidationFailure):
        read_versions(VersionQuery(cursor=OF_VERSIONS), kind, name)


@pytest.mark.parametrize(
    "cursor", [OF_VERSIONS, OF_RECONCILIATIONS, OF_DEFINITIONS[:-1], "", "x", seal("def", "", "agent", "a")]
)
def test_nothing_else_goes_on_in_a_list_of_definitions(cursor: str) -> None:
    # A copy is not validated: the rule must hold for cursors that the contract's own bounds would keep out as well.
    query = DefinitionQuery().model_copy(update={"cursor": cursor})

    with pytest.raises(ValidationFailure) as failure:
        read_definitions(query)

    assert failure.value.field_errors[0].path == ("cursor",)


@pytest.mark.parametrize("position", [("3",), (3.5,), (True,), (3, 4), ()])
def test_a_position_of_another_form_is_refused(position: tuple[Any, ...]) -> None:
    cursor = seal("ver", "agent/a", *position)

    with pytest.raises(ValidationFailure):
        read_versions(VersionQuery(cursor=cursor), "agent", "a")
