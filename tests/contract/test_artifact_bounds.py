"""The bounds of previews are the contract's: changing one is a change of it."""

import pytest
from pydantic import ValidationError

from contract import limits
from contract.artifacts import ArtifactQuery


def test_a_preview_has_a_quarter_of_a_mebibyte_unless_asked_and_never_more_than_one() -> None:
    assert ArtifactQuery(artifact_id="a").preview_limit_bytes == 262_144
    assert ArtifactQuery(artifact_id="a", preview_limit_bytes=1_048_576).preview_limit_bytes == 1_048_576
    assert (limits.ARTIFACT_PREVIEW_DEFAULT_BYTES, limits.ARTIFACT_PREVIEW_MAX_BYTES) == (262_144, 1_048_576)
    assert limits.PUBLISHED["artifact_preview_max_bytes"] == 1_048_576


@pytest.mark.parametrize("bytes_", [0, -1, 1_048_577])
def test_no_other_bound_is_taken(bytes_: int) -> None:
    with pytest.raises(ValidationError):
        ArtifactQuery(artifact_id="a", preview_limit_bytes=bytes_)
