"""Identifiers that nothing can have are not found, before any store is asked."""

import pytest

from contract.errors import NotFound
from contract.limits import IDENTIFIER_MAX_CHARS
from contract.lookup import require_possible


@pytest.mark.parametrize("identifier", ["r", "0123456789abcdef", "a.b:c_d-e", "x" * IDENTIFIER_MAX_CHARS])
def test_an_identifier_that_a_run_may_have_passes(identifier: str) -> None:
    require_possible("run", identifier)


@pytest.mark.parametrize(
    "identifier",
    ["", ".", "..", "-r", "../etc/passwd", "a b", "a\x00", "a\n", "\ud800", "é", "x" * (IDENTIFIER_MAX_CHARS + 1)],
)
def test_any_other_text_is_not_found(identifier: str) -> None:
    with pytest.raises(NotFound) as failure:
        require_possible("run", identifier)

    assert (failure.value.resource, failure.value.identifier) == ("run", identifier)
