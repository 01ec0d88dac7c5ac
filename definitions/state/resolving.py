"""How reconciliations end. Runs in a transaction that holds their definitions, after the heads have changed."""

from collections.abc import Iterable, Sequence

from django.db.models import OuterRef, Subquery

from contract.definitions import Resolution
from definitions.models import DefinitionRecord, ReconciliationAttemptRecord, ReconciliationRecord
from definitions.state.locking import later


def resolve(
    reconciliation_ids: Sequence[str], resolution: Resolution, *, actor: str, at: float, reason: str | None = None
) -> None:
    """Resolve pending reconciliations, at most as many as one statement takes, and log it."""
    if not reconciliation_ids:
        return
    newest = DefinitionRecord.objects.filter(id=OuterRef("definition_id")).values("latest_version")
    ReconciliationRecord.objects.filter(reconciliation_id__in=reconciliation_ids).update(
        status="resolved",
        resolution=resolution,
        reason=reason,
        actor=actor,
        result_version=Subquery(newest),
        updated_at=later(at),
        resolved_at=later(at),
    )
    log(
        ReconciliationAttemptRecord(
            reconciliation_id=number, action=resolution, outcome="resolved", actor=actor, detail=reason or "", at=at
        )
        for number in reconciliation_ids
    )


def log(attempts: Iterable[ReconciliationAttemptRecord]) -> None:
    """Add entries to the logs of reconciliations."""
    ReconciliationAttemptRecord.objects.bulk_create(attempts)
