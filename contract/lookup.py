"""What need not be looked up: an identifier that nothing can have."""

from contract.base import is_identifier
from contract.errors import NotFound


def require_possible(resource: str, identifier: str) -> None:
    """Raise NotFound for text that no `resource` can be called by, so that hostile text never reaches a store."""
    if not is_identifier(identifier):
        raise NotFound(resource, identifier)
