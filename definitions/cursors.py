"""The cursors of definitions, of a history, and of reconciliations: what each holds, and what it belongs to."""

from contract.base import Cursor
from contract.cursors import list_identity, seal, unseal
from contract.definitions import (
    DefinitionKind,
    DefinitionQuery,
    Reconciliation,
    ReconciliationQuery,
    VersionQuery,
)
from contract.errors import ValidationFailure


def read_definitions(query: DefinitionQuery) -> tuple[str, str] | None:
    """Return kind and name after which a list goes on. ValidationFailure for a foreign cursor, or an offset with it."""
    if not _given(query.cursor, query.offset):
        return None
    kind, name = unseal(query.cursor or "", "def", list_identity(query), shape=(str, str))
    return kind, name


def after_definition(query: DefinitionQuery, kind: DefinitionKind, name: str) -> str:
    """Make the cursor that goes on after a definition."""
    return seal("def", list_identity(query), kind, name)


def read_versions(query: VersionQuery, kind: DefinitionKind, name: str) -> int | None:
    """Return the version before which a history goes on. ValidationFailure as above."""
    if not _given(query.cursor, query.offset):
        return None
    (version,) = unseal(query.cursor or "", "ver", f"{kind}/{name}", shape=(int,))
    return int(version)


def after_version(kind: DefinitionKind, name: str, version: int) -> str:
    """Make the cursor that goes on after, that is below, a version."""
    return seal("ver", f"{kind}/{name}", version)


def read_reconciliations(query: ReconciliationQuery) -> tuple[float, str] | None:
    """Return created_at and id before which a list goes on. ValidationFailure as above."""
    if not _given(query.cursor, query.offset):
        return None
    at, last = unseal(query.cursor or "", "rec", list_identity(query), shape=(float, str))
    return at, last


def after_reconciliation(query: ReconciliationQuery, last: Reconciliation) -> str:
    """Make the cursor that goes on after a reconciliation."""
    return seal("rec", list_identity(query), last.created_at, last.id)


def _given(cursor: Cursor | None, offset: int) -> bool:
    if cursor is not None and offset:
        raise ValidationFailure.at("offset", code="exclusive", message="cannot be given together with cursor")
    return cursor is not None
