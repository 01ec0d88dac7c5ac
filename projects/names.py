"""Names of projects: which can be one."""

from contract.base import unsafe_text
from contract.errors import NotFound
from contract.limits import NAME_MAX_CHARS
from contract.projects import project_name_fault


def is_name(text: str) -> bool:
    """Whether a project can be called so: a name that cannot exist need not be looked up."""
    return 0 < len(text) <= NAME_MAX_CHARS and project_name_fault(text) is None and unsafe_text(text) is None


def require_possible(name: str) -> None:
    """Raise NotFound for text that no project can be called by, so that hostile text never reaches a store."""
    if not is_name(name):
        raise NotFound("project", name)
