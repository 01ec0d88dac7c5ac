"""Leases inside a transaction: who may write to a launched run.

Every write takes the run's row first and its launch second, so that none waits for another in a circle.
"""

from runs.models import LaunchRecord, RunRecord
from runs.services.execution_ports import Lease


def held_run(lease: Lease) -> RunRecord | None:
    """Lock the run of a lease, and its launch, until the transaction ends; None when the lease is lost.

    One statement: after waiting for a lock PostgreSQL looks at the rows' new versions, so a fence that grew meanwhile
    is noticed.
    """
    held = RunRecord.objects.filter(run_id=lease.run_id, launch__fence=lease.fence, launch__owner__isnull=False)
    return held.select_related("launch").select_for_update().first()


def let_go(run: RunRecord) -> None:
    """Take a locked run from whoever holds it, if anybody does: it left the queue another way than by a worker."""
    LaunchRecord.objects.filter(run=run, owner__isnull=False).update(owner=None)
