"""The cursor of a list of artifacts belongs to its owner and filter."""

import pytest

from artifacts.cursors import after_artifact, read_artifacts
from contract.artifacts import ArtifactListQuery
from contract.errors import ValidationFailure


def test_a_list_goes_on_where_it_was_left() -> None:
    query = ArtifactListQuery(kind="report")

    cursor = after_artifact(query, "run r", 7)

    assert read_artifacts(query, "run r") == 0
    assert read_artifacts(query.model_copy(update={"cursor": cursor, "limit": 3}), "run r") == 7


@pytest.mark.parametrize(
    ("fields", "owner"),
    [({}, "run s"), ({}, "invocation r"), ({"kind": "other"}, "run r")],
)
def test_a_foreign_cursor_is_refused(fields: dict[str, str], owner: str) -> None:
    cursor = after_artifact(ArtifactListQuery(), "run r", 7)

    with pytest.raises(ValidationFailure) as refused:
        read_artifacts(ArtifactListQuery(cursor=cursor, **fields), owner)  # type: ignore[arg-type]

    assert refused.value.field_errors[0].path == ("cursor",)


def test_two_positions_are_refused() -> None:
    cursor = after_artifact(ArtifactListQuery(), "run r", 7)

    with pytest.raises(ValidationFailure) as refused:
        read_artifacts(ArtifactListQuery(cursor=cursor, offset=1), "run r")

    assert refused.value.field_errors[0].path == ("offset",)
