"""The cursor of a list of artifacts: what it holds, and what it belongs to."""

from contract.artifacts import ArtifactListQuery
from contract.cursors import list_identity, seal, unseal
from contract.errors import ValidationFailure


def read_artifacts(query: ArtifactListQuery, owner: str) -> int:
    """Return the row number after which a list goes on, 0 for the start.

    ValidationFailure for a cursor of another list, or an offset with it.
    """
    if query.cursor is None:
        return 0
    if query.offset:
        raise ValidationFailure.at("offset", code="exclusive", message="cannot be given together with cursor")
    (number,) = unseal(query.cursor, "art", f"{owner} {list_identity(query)}", shape=(int,))
    return int(number)


def after_artifact(query: ArtifactListQuery, owner: str, number: int) -> str:
    """Make the cursor that goes on after an artifact."""
    return seal("art", f"{owner} {list_identity(query)}", number)
