"""The queries behind lists: each walks one index in the order of the list, and nothing is counted."""

from typing import Final

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from contract.base import Page
from contract.definitions import (
    DefinitionKind,
    DefinitionVersionSummary,
    Reconciliation,
    ReconciliationQuery,
    VersionQuery,
)
from definitions.models import DefinitionRecord, DefinitionVersionRecord, ReconciliationRecord
from definitions.state import rows
from definitions.state.rows import Row

# Built once: naming the columns of a list is half the work of asking for it.
_SUMMARIES: Final[QuerySet[DefinitionVersionRecord, Row]] = DefinitionVersionRecord.objects.order_by("-version").values(
    *rows.SUMMARY_COLUMNS
)
_VERSIONS: Final[QuerySet[DefinitionVersionRecord, Row]] = DefinitionVersionRecord.objects.values(*rows.VERSION_COLUMNS)
RECONCILIATIONS: Final[QuerySet[ReconciliationRecord, Row]] = ReconciliationRecord.objects.order_by(
    "-created_at", "-reconciliation_id"
).values(*rows.RECONCILIATION_COLUMNS)


def versions_page(
    kind: DefinitionKind, name: str, query: VersionQuery, before: int | None
) -> Page[DefinitionVersionSummary] | None:
    """Return one page of a history. A history is never empty, so only an empty page has to ask whether there is one."""
    found = list(version_walk(kind, name, query, before))
    if not found and not DefinitionRecord.objects.filter(kind=kind, name=name).exists():
        return None
    return Page[DefinitionVersionSummary](
        items=tuple(rows.summary(row, kind=kind, name=name) for row in found[: query.limit]),
        offset=query.offset,
        limit=query.limit,
        has_next=len(found) > query.limit,
    )


def version_walk(
    kind: DefinitionKind, name: str, query: VersionQuery, before: int | None
) -> QuerySet[DefinitionVersionRecord, Row]:
    """Return the rows of one page and one more, newest first."""
    found = _SUMMARIES.filter(definition=_number_of(kind, name))
    if before is not None:
        found = found.filter(version__lt=before)
    return found[query.offset : query.offset + query.limit + 1]


def version_rows(kind: DefinitionKind, name: str, version: int) -> QuerySet[DefinitionVersionRecord, Row]:
    """Return the row of one version with its content, if there is one."""
    return _VERSIONS.filter(definition=_number_of(kind, name), version=version)


def reconciliations_page(query: ReconciliationQuery, before: tuple[float, str] | None) -> Page[Reconciliation]:
    """Return one page of reconciliations."""
    found = list(reconciliation_walk(query, before))
    return Page[Reconciliation](
        items=tuple(map(rows.reconciliation, found[: query.limit])),
        offset=query.offset,
        limit=query.limit,
        has_next=len(found) > query.limit,
    )


def reconciliation_walk(
    query: ReconciliationQuery, before: tuple[float, str] | None
) -> QuerySet[ReconciliationRecord, Row]:
    """Return the rows of one page and one more, newest first."""
    found = _filtered(query)
    if before is not None:
        created_at, number = before
        # The first condition alone bounds the index walk; the second settles ties.
        found = found.filter(
            Q(created_at__lte=created_at) & (Q(created_at__lt=created_at) | Q(reconciliation_id__lt=number))
        )
    return found[query.offset : query.offset + query.limit + 1]


def _filtered(query: ReconciliationQuery) -> QuerySet[ReconciliationRecord, Row]:
    found = RECONCILIATIONS if query.status is None else RECONCILIATIONS.filter(status=query.status)
    if query.kind is not None and query.name is not None:
        return found.filter(definition=_number_of(query.kind, query.name))
    owner = {"kind": query.kind, "name": query.name}
    wanted = {column: value for column, value in owner.items() if value is not None}
    # Asked of each row: a joined condition would make SQLite begin with the definitions and sort what it finds.
    return (
        found.filter(Exists(DefinitionRecord.objects.filter(id=OuterRef("definition_id"), **wanted)))
        if wanted
        else found
    )


def _number_of(kind: DefinitionKind, name: str) -> Subquery:
    """Return the row number of a definition: as one value, not a join, so that its index gives the order."""
    return Subquery(DefinitionRecord.objects.filter(kind=kind, name=name).values("id"))
