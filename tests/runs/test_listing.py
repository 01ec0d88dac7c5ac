"""Rules of a run query that no single field can check."""

from typing import Any

import pytest

from contract.errors import ValidationFailure
from contract.runs import RunQuery
from runs.cursors import ListPosition, encode_list
from runs.listing import check_query
from runs.transitions import STATUSES


def faults_of(query: RunQuery) -> list[tuple[tuple[str | int, ...], str]]:
    with pytest.raises(ValidationFailure) as failure:
        check_query(query)
    return [(fault.path, fault.code) for fault in failure.value.field_errors]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"status": STATUSES},
        {"status": ("running", "running")},
        {"project": "p"},
        {"project_is_null": True},
        {"offset": 100},
    ],
)
def test_a_query_without_contradiction_passes(fields: dict[str, Any]) -> None:
    check_query(RunQuery(**fields))


def test_every_unknown_status_is_named_by_its_place() -> None:
    query = RunQuery(status=("running", "done", "RUNNING"))

    assert faults_of(query) == [(("status", 1), "unknown_status"), (("status", 2), "unknown_status")]


def test_a_project_excludes_no_project() -> None:
    assert faults_of(RunQuery(project="p", project_is_null=True)) == [(("project_is_null",), "exclusive")]


def test_a_cursor_excludes_an_offset() -> None:
    cursor = encode_list(RunQuery(), ListPosition(1.0, 1))

    check_query(RunQuery(cursor=cursor))

    assert faults_of(RunQuery(cursor=cursor, offset=1)) == [(("offset",), "exclusive")]


def test_all_faults_are_told_at_once() -> None:
    query = RunQuery(status=("done",), project="p", project_is_null=True, cursor="x", offset=1)

    assert len(faults_of(query)) == 3


def test_a_garbled_cursor_is_refused() -> None:
    assert faults_of(RunQuery(cursor="x")) == [(("cursor",), "cursor")]
