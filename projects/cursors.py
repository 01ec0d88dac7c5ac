"""The cursor of a list of projects: the name after which it goes on."""

import base64
from contextlib import suppress

from contract.cursors import cursor_fault, list_identity, seal, unseal
from contract.errors import ValidationFailure
from contract.projects import ProjectQuery
from projects.names import is_name

_KIND = "prj"


def read_projects(query: ProjectQuery) -> str | None:
    """Return the name after which a list goes on. ValidationFailure for a foreign cursor, or an offset with it."""
    if query.cursor is None:
        return None
    if query.offset:
        raise ValidationFailure.at("offset", code="exclusive", message="cannot be given together with cursor")
    (position,) = unseal(query.cursor, _KIND, list_identity(query), shape=(str,))
    with suppress(ValueError):
        name = base64.b64decode(position, validate=True).decode()
        if is_name(name):
            return name
    raise cursor_fault("is not a cursor of this daemon")


def after_project(query: ProjectQuery, name: str) -> str:
    """Make the cursor that goes on after a project."""
    # JSON would write up to twelve characters for one of these.
    return seal(_KIND, list_identity(query), base64.b64encode(name.encode()).decode())
