"""What becomes of versions that somebody is at work on. Runs in a transaction of its caller."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from django.db.models import F, OuterRef, Subquery

from contract.definitions import AttemptOutcome, DefinitionWriteFailure, Resolution
from contract.errors import NotFound
from definitions.models import (
    DefinitionRecord,
    ReconciliationAttemptRecord,
    ReconciliationRecord,
)
from definitions.state.locking import chunks, later, locked, set_write_status
from definitions.state.resolving import log, resolve
from definitions.state.rows import NO_WRITER

# What became of versions, by id; None is written.
Outcomes = Mapping[str, DefinitionWriteFailure | None]
# The versions that were at work until now, by id, with the reconciliation that each has now.
Settled = dict[str, str | None]
Failed = Sequence[tuple[DefinitionRecord, DefinitionWriteFailure]]

_CHANGED_BY_A_FAILURE: Final = ("error_code", "error_detail", "last_observed_sha256", "attempts", "updated_at")


def settle(outcomes: Outcomes, *, at: float, actor: str, new_id: Callable[[], str]) -> Settled:
    """Settle those that are still at work: a few statements for each chunk of them."""
    settled: Settled = {}
    # In one order, so that no two settlers wait for each other.
    for version_ids in chunks(sorted(outcomes)):
        at_work = DefinitionRecord.objects.select_for_update().filter(writer_version_id__in=version_ids)
        found = [(record, outcomes[record.latest_version_id]) for record in at_work.order_by("writer_version_id")]
        written = [record for record, failure in found if failure is None]
        failed = [(record, failure) for record, failure in found if failure is not None]
        settled |= settle_written(written, at=at, actor=actor) if written else {}
        settled |= _settle_failed(failed, at=at, actor=actor, new_id=new_id) if failed else {}
    return settled


def settle_written(
    records: Sequence[DefinitionRecord],
    *,
    at: float,
    actor: str,
    resolution: Resolution = "recovered",
    reason: str | None = None,
) -> Settled:
    """Settle the newest versions of locked definitions as written, and resolve what was pending there."""
    settled = {record.latest_version_id: record.pending_reconciliation_id for record in records}
    set_write_status(list(settled), "written")
    DefinitionRecord.objects.filter(pk__in=[record.pk for record in records]).update(
        **NO_WRITER, file_sha256=F("latest_sha256"), pending_reconciliation_id=None, updated_at=later(at)
    )
    pending = [number for number in settled.values() if number is not None]
    resolve(pending, resolution, actor=actor, at=at, reason=reason)
    return settled


def withdraw(version_id: str, at: float) -> None:
    """Settle a version as superseded; one with a pending reconciliation is failed again, as before it was claimed."""
    record = locked(writer_version_id=version_id)
    if record is None:
        return
    set_write_status([version_id], "superseded" if record.pending_reconciliation_id is None else "failed")
    DefinitionRecord.objects.filter(pk=record.pk).update(**NO_WRITER, updated_at=later(at))


def late_failure(failure: DefinitionWriteFailure, *, at: float, actor: str, new_id: Callable[[], str]) -> str:
    """Return the reconciliation of a version that somebody else has settled already.

    A version that never had one gets one that is resolved from the start: for its caller the write did fail, and what
    it is given an id of says how that ended.
    """
    record = locked(versions__version_id=failure.version_id)
    if record is None:
        raise NotFound("definition version", failure.version_id)
    known = ReconciliationRecord.objects.filter(version__version_id=failure.version_id).order_by("-id").first()
    if known is not None:
        return known.reconciliation_id
    is_written = record.versions.filter(version_id=failure.version_id, write_status="written").exists()
    opened = _opened(record, failure, new_id(), at)
    opened.status, opened.resolution, opened.resolved_at = "resolved", "superseded", at
    opened.save()
    log([_attempt(opened, failure, "opened", actor, at)])
    resolve([opened.reconciliation_id], "recovered" if is_written else "superseded", actor=actor, at=at)
    return opened.reconciliation_id


def _settle_failed(failed: Failed, *, at: float, actor: str, new_id: Callable[[], str]) -> Settled:
    pending = [record.pending_reconciliation_id for record, _ in failed if record.pending_reconciliation_id is not None]
    known = ReconciliationRecord.objects.in_bulk(pending, field_name="reconciliation_id")
    opened, again, attempts = [], [], []
    for record, failure in failed:
        reconciliation = known.get(record.pending_reconciliation_id)
        if reconciliation is None:
            opened.append(_opened(record, failure, new_id(), at))
            attempts.append(_attempt(opened[-1], failure, "opened", actor, at))
        else:
            again.append(_failed_again(reconciliation, failure, at))
            attempts.append(_attempt(reconciliation, failure, "failed", actor, at))
    ReconciliationRecord.objects.bulk_create(opened)
    ReconciliationRecord.objects.bulk_create(
        again, update_conflicts=True, unique_fields=["id"], update_fields=_CHANGED_BY_A_FAILURE
    )
    log(attempts)
    set_write_status([record.latest_version_id for record, _ in failed], "failed")
    _take_over_failures([record.pk for record, _ in failed], at)
    return {found.version_id: found.reconciliation_id for found in (*opened, *again)}


def _opened(
    record: DefinitionRecord, failure: DefinitionWriteFailure, reconciliation_id: str, at: float
) -> ReconciliationRecord:
    return ReconciliationRecord(
        reconciliation_id=reconciliation_id,
        definition_id=record.pk,
        version_id=failure.version_id,
        status="pending",
        error_code=failure.error_code,
        error_detail=failure.detail,
        expected_sha256=failure.expected_sha256,
        observed_sha256=failure.observed_sha256,
        last_observed_sha256=failure.observed_sha256,
        created_at=at,
        updated_at=at,
    )


def _failed_again(
    reconciliation: ReconciliationRecord, failure: DefinitionWriteFailure, at: float
) -> ReconciliationRecord:
    reconciliation.error_code = failure.error_code
    reconciliation.error_detail = failure.detail
    reconciliation.last_observed_sha256 = failure.observed_sha256
    reconciliation.attempts += 1
    reconciliation.updated_at = max(reconciliation.updated_at, at)
    return reconciliation


def _attempt(
    reconciliation: ReconciliationRecord,
    failure: DefinitionWriteFailure,
    outcome: AttemptOutcome,
    actor: str,
    at: float,
) -> ReconciliationAttemptRecord:
    return ReconciliationAttemptRecord(
        reconciliation_id=reconciliation.reconciliation_id,
        outcome=outcome,
        actor=actor,
        detail=failure.detail,
        at=at,
    )


def _take_over_failures(numbers: Sequence[int], at: float) -> None:
    """Let heads know their pending reconciliations and what those saw last."""
    pending = ReconciliationRecord.objects.filter(definition=OuterRef("pk"), status="pending")
    DefinitionRecord.objects.filter(pk__in=numbers).update(
        **NO_WRITER,
        file_sha256=Subquery(pending.values("last_observed_sha256")),
        pending_reconciliation_id=Subquery(pending.values("reconciliation_id")),
        updated_at=later(at),
    )
